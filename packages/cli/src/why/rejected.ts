/** `plat why rejected`: what admission does with the objects of files, step by step, and who refuses them. */
import { errorOf } from '@plat-dev/client/transport';
import { type AdmissionTrace, admissionTrace, explainedWrite, explanationHeader } from '@plat-dev/client/why';
import { bool } from '@plat-dev/lib/flags';
import { own } from '@plat-dev/lib/own';
import { command } from '../command.ts';
import { isSecrets, maskedError, maskedText } from '../objects/secret-errors.ts';
import { paintFor } from '../output/colours.ts';
import { shownName, type Work } from '../work.ts';
import { type ExplainedObject, explainedFileFlags, explainFiles } from './explained-files.ts';
import { rejectionText } from './rejection-text.ts';

export const whyRejected = command({
  usage: '-f FILE|DIR|URL|- | -k DIR [flags]',
  summary: 'Explain what admission does with the objects of files, and who refuses them.',
  flags: {
    ...explainedFileFlags,
    Asking: { create: bool(false, 'Create the objects rather than apply them.'), ...explainedFileFlags.Asking },
  },
  more: `
The objects are written as a dry run: nothing is stored. Besides the rights to write them it takes the verb explain on them.

Examples:
  plat why rejected -f web.yaml
  plat why rejected -f pod.yaml --create --as=system:serviceaccount:team:deployer
  plat why rejected -k overlays/test -o json

Exit codes:
  0   an object is refused, and it is explained by whom
  1   all objects are accepted, or the question failed
  2   the command line is wrong
`,
  run: ({ options, args }, io) =>
    explainFiles(args, options, io, {
      words: 'why rejected',
      explain: (work, target, manager) => traceOf(work, target, manager, options.create),
      text: (trace) => rejectionText(trace, paintFor(io)),
      holds: ({ refusal }) => refusal !== undefined,
    }),
});

async function traceOf(work: Work, { ref, object }: ExplainedObject, manager: string, create: boolean): Promise<AdmissionTrace> {
  const { resource } = ref;
  const request = explainedWrite({ ...ref, object, manager, create });
  const answer = await work.session.transport.open({ ...request, signal: work.signal, ...work.session.timeout });
  const explanation = own(answer.headers, explanationHeader);
  const refusal = answer.status >= 300 ? await errorOf(answer) : undefined;
  if (refusal === undefined) answer.body.destroy();
  const shownRefusal = refusal !== undefined && isSecrets(resource) ? maskedError(refusal) : refusal;
  const trace = admissionTrace(shownName(resource, ref.name), typeof explanation === 'string' ? explanation : undefined, shownRefusal);
  if (!isSecrets(resource)) return trace;
  const steps = trace.steps.map((step) => (step.refused === undefined ? step : { ...step, refused: maskedText(step.refused) }));
  return { ...trace, steps };
}
