/** Slow requests and where their time went, in words. */
import type { AnswerStatus } from '@plat-dev/client/why';
import { type Paint, plain } from '../output/colours.ts';
import { printable } from '../output/print-table.ts';

type SlowRequest = NonNullable<AnswerStatus<'SlowRequestSearch'>['requests']>[number];
type Step = NonNullable<SlowRequest['steps']>[number];

export const slowText = ({ requests = [] }: AnswerStatus<'SlowRequestSearch'>, paint: Paint = plain): string =>
  requests.map((request) => `${headOf(request)}\n${stepLines(request, paint)}`).join('\n');

const headOf = ({ time, method, path, code, milliseconds, user, auditID }: SlowRequest): string =>
  printable(`${String(time)}  ${method} ${path}  ${code}  ${milliseconds} ms  ${user}  audit id ${auditID}`);

/** The longest step is painted; webhooks are parts of admission. */
function stepLines({ steps = [] }: SlowRequest, paint: Paint): string {
  const longest = Math.max(...steps.map(({ milliseconds }) => milliseconds));
  const line = ({ name, webhook, milliseconds }: Step): string => {
    const text = `${webhook ? `  webhook ${webhook}` : name === 'webhook' ? '  a webhook' : name}`;
    const shown = `  ${printable(text).padEnd(40)} ${`${milliseconds} ms`.padStart(12)}`;
    return milliseconds === longest ? paint(shown, 'red') : shown;
  };
  return steps.map((step) => `${line(step)}\n`).join('');
}
