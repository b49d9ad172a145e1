/** `plat api-versions`: groups and versions of the server, one a line. */
import { FlagError } from '../lib/flags.ts';
import { command } from './command.ts';
import { connectFlags } from './connect.ts';
import { withServer } from './work.ts';

const flags = { Connecting: connectFlags };

export const apiVersions = command({
  usage: '[flags]',
  summary: 'Show the groups and versions that the server serves, sorted, as apiVersion has them.',
  flags: flags,
  more: `
Exit codes:
  0   they are shown
  1   the server did not answer
  2   the command line is wrong
`,
  async run({ options, words }, io) {
    if (words.length > 0) throw new FlagError(`api-versions takes no words, but was given ${JSON.stringify(words[0])}`);
    return withServer(options, io, async (work) => {
      for (const version of [...(await work.discovery.groupVersions())].sort()) io.out(`${version}\n`);
      return 0;
    });
  },
});
