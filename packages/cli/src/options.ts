/** `plat options`: lists the global flags. */
import { FlagError, flagHelp } from '@plat-dev/lib/flags';
import { command } from './command.ts';
import { connectFlags } from './global-flags.ts';
import { isStock } from './program.ts';
import { shownHelp } from './terminal/help-text.ts';

const table = { 'Global flags': connectFlags };

export const options = command({
  usage: '',
  summary: 'List the global flags.',
  flags: {},
  more: flagHelp(table, 100, true),
  async run({ args }, io) {
    if (args.length > 0 && !isStock(io)) throw new FlagError(`options takes no arguments, but got ${JSON.stringify(args[0])}`);
    io.out(shownHelp(`All commands that connect to a server have these flags.\n\n${flagHelp(table, io.width, true)}`, io));
    return 0;
  },
});
