/** `plat why rejected`: what admission does with the objects of files, step by step, and who refuses them. */
import { pathOf, queryOf } from '@plat-dev/client/dynamic';
import { errorOf } from '@plat-dev/client/transport';
import { bool, choice } from '@plat-dev/lib/flags';
import { jsonText } from '@plat-dev/lib/json-text';
import { own } from '@plat-dev/lib/own';
import { ApiError } from '@plat-dev/meta/errors';
import { parseExact } from '@plat-dev/schema/json/parse';
import { command } from '../command.ts';
import { isSecrets, maskedError, maskedText } from '../objects/secret-errors.ts';
import { type Paint, paintFor } from '../output/colours.ts';
import { printable } from '../output/print-table.ts';
import { fieldManager } from '../program.ts';
import { shownName, type Work, withServer } from '../work.ts';
import { checkFiles, type ExplainedObject, explainedFileFlags, explainedObjects } from './explained-files.ts';

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
      const traces: Trace[] = [];
      for (const target of await explainedObjects(work, options)) traces.push(await traceOf(work, target, manager, options.create));
      if (options.output === 'json') io.out(`${jsonText({ objects: traces }, 4)}\n`);
      else for (const trace of traces) io.out(textOf(trace, paintFor(io)));
      return traces.some(({ refusal }) => refusal !== undefined) ? 0 : 1;
    });
  },
});

/** A step of the header `X-Plat-Explain`; `left_out` stands for steps that did not fit. */
interface Step {
  readonly step?: string;
  readonly phase?: string;
  readonly round?: number;
  readonly ms?: number;
  readonly patch?: readonly { readonly op: string; readonly path: string; readonly value?: unknown }[];
  readonly changed?: readonly string[];
  readonly more?: number;
  readonly refused?: string;
  readonly note?: string;
  readonly left_out?: number;
}
interface Trace {
  readonly object: string;
  readonly steps: readonly Step[];
  readonly refusal?: {
    readonly code: number;
    readonly reason: string;
    readonly message: string;
    /** Fields that validation found at fault. */
    readonly causes?: readonly { readonly field?: string; readonly message?: string }[];
  };
}

const explainHeader = 'X-Plat-Explain';

async function traceOf(work: Work, { ref, object }: ExplainedObject, manager: string, create: boolean): Promise<Trace> {
  const { resource, namespace, name } = ref;
  const shown = shownName(resource, name);
  const query = queryOf({ dryRun: 'All', fieldManager: manager, force: create ? undefined : true });
  const answer = await work.session.transport.open({
    method: create ? 'POST' : 'PATCH',
    path: `${create ? pathOf(resource, namespace) : pathOf(resource, namespace, name)}?${query}`,
    headers: {
      accept: 'application/json',
      'content-type': create ? 'application/json' : 'application/apply-patch+yaml',
      [explainHeader]: 'patch',
    },
    body: jsonText(object),
    signal: work.signal,
    ...work.session.timeout,
  });
  const told = own(answer.headers, explainHeader.toLowerCase());
  const refusal = answer.status >= 300 ? await errorOf(answer) : undefined;
  if (refusal === undefined) answer.body.destroy();
  const shownRefusal = refusal !== undefined && isSecrets(resource) ? maskedError(refusal) : refusal;
  // Without the right, and before admission, the request is refused as any other.
  if (typeof told !== 'string') throw shownRefusal ?? new Error('the server does not explain admission: it is no plat server');
  const steps = (parseExact(told) as Step[]).map((step) =>
    step.refused !== undefined && isSecrets(resource) ? { ...step, refused: maskedText(step.refused) } : step,
  );
  return { object: shown, steps, ...(shownRefusal instanceof ApiError && { refusal: refusalOf(shownRefusal) }) };
}
function refusalOf({ code, reason, message, details }: ApiError): NonNullable<Trace['refusal']> {
  const causes = (details?.causes ?? [])
    .filter((cause) => cause.reason !== 'AdmissionStep')
    .map(({ field, message: text }) => ({ field, message: text }));
  return { code, reason, message, ...(causes.length > 0 && { causes: causes as NonNullable<Trace['refusal']>['causes'] & object }) };
}

// ---- text --------------------------------------------------------------------------------------------------------

/** Values are cut at so many characters. */
const MOST_VALUE = 100;

function textOf({ object, steps, refusal }: Trace, paint: Paint): string {
  const refuser = steps.findLast(({ refused }) => refused !== undefined)?.step;
  const other = refusal?.code === 422 ? 'validation' : 'the server, not by admission';
  const verdict = refusal === undefined ? paint('accepted', 'green') : paint(`refused by ${printable(refuser ?? other)}`, 'red');
  const lines = [`${object}: ${verdict}`, ''];
  for (const step of steps) lines.push(...stepLines(step, paint));
  if (refusal !== undefined) lines.push('', printable(`${refusal.message} (${refusal.code} ${refusal.reason})`));
  for (const { field = '', message = '' } of (refuser === undefined && refusal?.causes) || [])
    lines.push(printable(`  ${field}: ${message}`));
  return `${lines.join('\n')}\n`;
}
function stepLines(
  { step, phase = '', round, ms = 0, patch = [], changed = [], more, refused, note, left_out }: Step,
  paint: Paint,
): string[] {
  if (step === undefined) return [`  ${left_out ?? 0} further steps are left out`];
  const again = round === undefined ? '' : ' again';
  const lines = [`  ${(phase + again).padEnd(14)}${`${ms.toFixed(3)} ms`.padStart(12)}  ${printable(step)}`];
  const detail = (text: string, colour?: 'red' | 'yellow'): void => void lines.push(`${' '.repeat(30)}${paint(printable(text), colour)}`);
  for (const { op, path, value } of patch) detail(`${op} ${path}${value === undefined ? '' : ` ${cut(jsonText(value))}`}`);
  for (const text of changed) detail(`changed ${text}`);
  if (more !== undefined) detail(`and ${more} more`);
  if (note !== undefined) detail(note, 'yellow');
  if (refused !== undefined) detail(`refused: ${refused}`, 'red');
  return lines;
}
const cut = (text: string): string => (text.length > MOST_VALUE ? `${text.slice(0, MOST_VALUE)}…` : text);
