/** `plat why rejected`: what admission does with the objects of files, step by step, and who refuses them. */
import { errorOf } from '@plat-dev/client/transport';
import { type AdmissionTrace, admissionTrace, explainedWrite, explanationHeader } from '@plat-dev/client/why';
import { bool, choice } from '@plat-dev/lib/flags';
import { jsonText } from '@plat-dev/lib/json-text';
import { own } from '@plat-dev/lib/own';
import { command } from '../command.ts';
import { isSecrets, maskedError, maskedText } from '../objects/secret-errors.ts';
import { paintFor } from '../output/colours.ts';
import { fieldManager } from '../program.ts';
import { shownName, type Work, withServer } from '../work.ts';
import { checkFiles, type ExplainedObject, explainedFileFlags, explainedObjects } from './explained-files.ts';
import { rejectionText } from './rejection-text.ts';

export const whyRejected = command({
  usage: '-f FILE|DIR|URL|- | -k DIR [flags]',
  summary: 'Explain what admission does with the objects of files, and who refuses them.',
  flags: {
    Objects: explainedFileFlags.Objects,
    Asking: { create: bool(false, 'Create the objects rather than apply them.'), ...explainedFileFlags.Asking },
    Printing: { output: choice('text', ['text', 'json'], 'Output format.', { short: 'o' }) },
    Connecting: explainedFileFlags.Connecting,
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
  async run({ options, args }, io) {
    checkFiles('why rejected', args, options);
    const manager = fieldManager(io, 'apply --server-side', options.fieldManager);
    return withServer(options, io, async (work) => {
      const traces: AdmissionTrace[] = [];
      for (const target of await explainedObjects(work, options)) traces.push(await traceOf(work, target, manager, options.create));
      if (options.output === 'json') io.out(`${jsonText({ objects: traces }, 4)}\n`);
      else for (const trace of traces) io.out(rejectionText(trace, paintFor(io)));
      return traces.some(({ refusal }) => refusal !== undefined) ? 0 : 1;
    });
  },
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
