/** `plat why slow`: the last requests that took long, and where their time went. */
import type { SlowRequestSearch } from '@plat-dev/kinds/explain/schema/slow-requests';
import { bool, choice, FlagError } from '@plat-dev/lib/flags';
import { jsonText } from '@plat-dev/lib/json-text';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { paintFor } from '../output/colours.ts';
import { page } from '../output/pager.ts';
import { printable } from '../output/print-table.ts';
import { withServer } from '../work.ts';
import { askWhy } from './ask.ts';

type SlowRequest = NonNullable<NonNullable<SlowRequestSearch['status']>['requests']>[number];
type Step = NonNullable<SlowRequest['steps']>[number];

export const whySlow = command({
  usage: '[flags]',
  summary: 'Show the last requests that took long, and where their time went.',
  flags: {
    Asking: { 'all-users': bool(false, 'Show the requests of all users, which takes the verb list on slowrequestsearches.') },
    Printing: { output: choice('text', ['text', 'json'], 'Output format.', { short: 'o' }) },
    Connecting: connectFlags,
  },
  more: `
The server remembers the last requests that took as long as its flag --slow-request-threshold, until it is restarted.

Examples:
  plat why slow
  plat why slow --all-users
  plat why slow -o json
`,
  async run({ options, args }, io) {
    if (args.length > 0) throw new FlagError(`why slow takes no arguments, but got ${JSON.stringify(args[0])}`);
    return withServer(options, io, async (work) => {
      const spec = options.allUsers ? { allUsers: true } : {};
      const { status } = await askWhy<SlowRequestSearch>(work, 'SlowRequestSearch', 'slowrequestsearches', spec);
      const requests = status?.requests ?? [];
      const paint = paintFor(io);
      if (options.output === 'json') io.out(`${jsonText({ requests }, 4)}\n`);
      else if (requests.length === 0) io.err('note: the server remembers no slow requests\n');
      else await page(io, requests.map((request) => `${headOf(request)}\n${stepLines(request, (text) => paint(text, 'red'))}`).join('\n'));
      return 0;
    });
  },
});

const headOf = ({ time, method, path, code, milliseconds, user, auditID }: SlowRequest): string =>
  printable(`${String(time)}  ${method} ${path}  ${code}  ${milliseconds} ms  ${user}  audit id ${auditID}`);

/** The longest step is painted; webhooks are parts of admission. */
function stepLines({ steps = [] }: SlowRequest, paint: (text: string) => string): string {
  const longest = Math.max(...steps.map(({ milliseconds }) => milliseconds));
  const line = ({ name, webhook, milliseconds }: Step): string => {
    const text = `${webhook ? `  webhook ${webhook}` : name === 'webhook' ? '  a webhook' : name}`;
    const shown = `  ${printable(text).padEnd(40)} ${`${milliseconds} ms`.padStart(12)}`;
    return milliseconds === longest ? paint(shown) : shown;
  };
  return steps.map((step) => `${line(step)}\n`).join('');
}
