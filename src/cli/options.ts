/** `plat options`: the flags that every command has which talks to a server. */
import { flagHelp, parseFlags } from '../lib/flags.ts';
import type { Command } from './command.ts';
import { noWords } from './config/files.ts';
import { connectFlags } from './connect.ts';

const table = { 'Every command that talks to a server has these flags': connectFlags };

export const options: Command = {
  usage: '',
  summary: 'Show the flags that every command has which talks to a server.',
  help: () => '',
  async run(args, io) {
    noWords(parseFlags({}, args).words);
    io.out(flagHelp(table, io.width));
    return 0;
  },
};
