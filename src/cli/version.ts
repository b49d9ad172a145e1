import { apiRelease, productVersion } from '../version.ts';
import type { Command } from './command.ts';

export const version: Command = {
  usage: '',
  summary: 'Show the version of this program and of the API that it speaks.',
  help: () => '',
  async run(_, io) {
    io.out(`plat ${productVersion} (API v${apiRelease}, Node ${process.version})\n`);
    return 0;
  },
};
