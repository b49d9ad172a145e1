/** `plat store verify`: whether everything that was written can be read. */
import { FlagError, file } from '../../lib/flags.ts';
import { command } from '../command.ts';
import { demandPath, exitCodes, noWords, outputFlag } from './place.ts';

const flags = { Verify: { from: file('Backup to check.'), ...outputFlag } };

export const verify = command({
  usage: '--from FILE [flags]',
  summary: 'Check a backup for damage. Nothing is changed.',
  flags,
  more: exitCodes(),
  async run({ options, words }, io) {
    noWords(words);
    if (options.from === undefined) throw new FlagError('which backup? Name it with --from FILE');
    const { statBackup } = await import('../../compose/store-tools.ts');
    const { header, trailer } = await statBackup(demandPath(options.from, 'from', io));
    if (options.output === 'json') io.out(`${JSON.stringify({ ...header, ...trailer })}\n`);
    else
      io.out(
        `${options.from} is whole: ${trailer.entries} entries at revision ${header.revision}, identity ${header.identity ?? 'unknown'}\n`,
      );
    return 0;
  },
});
