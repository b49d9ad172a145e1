/** `plat options`: lists the global flags. */
import { flagHelp } from '../lib/flags.ts';
import { command } from './command.ts';
import { noArguments } from './config/files.ts';
import { connectFlags } from './connect.ts';

const table = { 'Global flags': connectFlags };

export const options = command({
  usage: '',
  summary: 'List the global flags.',
  flags: {},
  async run({ args }, io) {
    noArguments(args);
    io.out(flagHelp(table, io.width));
    return 0;
  },
});
