/** `plat options`: the flags that every command has which talks to a server. */
import { flagHelp } from '../lib/flags.ts';
import { command } from './command.ts';
import { noWords } from './config/files.ts';
import { connectFlags } from './connect.ts';

const table = { 'Every command that talks to a server has these flags': connectFlags };

export const options = command({
  usage: '',
  summary: 'Show the flags that every command has which talks to a server.',
  flags: {},
  async run({ words }, io) {
    noWords(words);
    io.out(flagHelp(table, io.width));
    return 0;
  },
});
