/** `plat why slow`: the last requests that took long, and where their time went. */
import { bool, choice, FlagError } from '@plat-dev/lib/flags';
import { jsonText } from '@plat-dev/lib/json-text';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { paintFor } from '../output/colours.ts';
import { page } from '../output/pager.ts';
import { withServer } from '../work.ts';
import { askWhy } from './ask.ts';
import { slowText } from './slow-text.ts';

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
      const { status } = await askWhy(work, 'SlowRequestSearch', spec);
      const { requests = [] } = status;
      if (options.output === 'json') io.out(`${jsonText({ requests }, 4)}\n`);
      else if (requests.length === 0) io.err('note: the server remembers no slow requests\n');
      else await page(io, slowText(status, paintFor(io)));
      return 0;
    });
  },
});
