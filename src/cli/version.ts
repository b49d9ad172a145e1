import { apiRelease, productVersion } from '../lib/version.ts';
import { command } from './command.ts';

export const version = command({
  usage: '',
  summary: 'Show the version of this program and of the API that it speaks.',
  flags: {},
  async run(_, io) {
    io.out(`plat ${productVersion} (API v${apiRelease}, Node ${process.version})\n`);
    return 0;
  },
});
