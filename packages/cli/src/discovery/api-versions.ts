/** `plat api-versions`: lists the API versions of the server, one per line. */
import { FlagError } from '@plat-dev/lib/flags';
import { command } from '../command.ts';
import { connectFlags } from '../global-flags.ts';
import { withServer } from '../work.ts';

const flags = { Connecting: connectFlags };

export const apiVersions = command({
  usage: '[flags]',
  summary: 'List the API versions of the server as group/version, sorted.',
  flags: flags,
  more: `
Examples:
  plat api-versions
  plat api-versions | grep apps
  plat api-versions --context test

Exit codes:
  0   the versions are listed
  1   the request failed
  2   the command line is wrong
`,
  async run({ options, args }, io) {
    if (args.length > 0) throw new FlagError(`api-versions takes no arguments, but got ${JSON.stringify(args[0])}`);
    return withServer(options, io, async (work) => {
      work.discovery.refresh();
      for (const version of [...(await work.discovery.groupVersions())].sort()) io.out(`${version}\n`);
      return 0;
    });
  },
});
