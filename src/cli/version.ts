import { apiRelease, apiReleases, productVersion } from '../lib/version.ts';
import { command } from './command.ts';

export const version = command({
  usage: '',
  summary: 'Show the version of this program and of the API that it serves.',
  flags: {},
  async run(_, io) {
    const [first, last] = [apiReleases[0], apiReleases.at(-1)];
    io.out(`plat ${productVersion} (API v${apiRelease}, v${first} to v${last} with --api-release, Node ${process.version})\n`);
    return 0;
  },
});
