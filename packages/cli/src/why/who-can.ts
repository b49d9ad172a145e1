/** `plat who can`: the subjects that may do something. */
import { choice } from '@plat-dev/lib/flags';
import { actionFlags, actionOf, verbAndTarget } from '../auth/asked-action.ts';
import { command } from '../command.ts';
import { commandGroup } from '../command-group.ts';
import { connectFlags } from '../connect.ts';
import { printable } from '../output/print-table.ts';
import { withServer } from '../work.ts';
import { subjectsText } from './access-text.ts';
import { askWhy, printAnswer } from './ask.ts';

const table = {
  Asking: actionFlags,
  Printing: { output: choice('table', ['table', 'json', 'yaml'], 'Output format.', { short: 'o' }) },
  Connecting: connectFlags,
};

const can = command({
  usage: 'VERB TYPE | TYPE/NAME | /PATH [flags]',
  summary: 'List the users, groups and service accounts that may do something.',
  flags: table,
  more: `
Bindings that you may not list are left out; a warning says so.

Examples:
  plat who can delete pods -n team
  plat who can get secrets/token -n team
  plat who can get /metrics
`,
  async run({ options, args }, io) {
    const { verb, target } = verbAndTarget(args, 'plat who can');
    return withServer(options, io, async (work) => {
      const spec = await actionOf(work, verb, target, options);
      const answer = await askWhy(work, 'SubjectSearch', spec);
      for (const text of answer.status.incomplete ?? []) io.err(`Warning: the list is not complete: ${printable(text)}\n`);
      await printAnswer(io, options.output, answer, () => subjectsText(answer.status));
      return 0;
    });
  },
});

export const who = commandGroup(
  'who',
  'List who may do something.',
  [{ name: 'can', summary: 'List the users, groups and service accounts that may do something.', load: async () => can }],
  ['plat who can delete pods -n team', 'plat who can get secrets/token -n team', 'plat who can get /metrics'],
);
