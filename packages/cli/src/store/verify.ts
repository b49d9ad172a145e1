/** `plat store verify`: whether everything that was written can be read. */
import { FlagError, file, text } from '@plat-dev/lib/flags';
import { command, type IO } from '../command.ts';
import { demandPath, exitCodes, noArguments, outputFlag } from './place.ts';
import { whileReading } from './while-reading.ts';

const flags = {
  Verify: {
    'data-dir': text('', 'Data directory of a stopped server.', { value: 'DIRECTORY' }),
    from: file('Backup to check.'),
    ...outputFlag,
  },
};

export const verify = command({
  usage: '(--data-dir DIRECTORY | --from FILE) [flags]',
  summary: 'Check a data directory or a backup for damage. Nothing is changed.',
  flags,
  more: `
Examples:
  plat store verify --data-dir .plat
  plat store verify --from plat.backup
  plat store verify --data-dir .plat -o json
${exitCodes('the directory is damaged: what is wrong, and where, is printed')}  The exit code of a damaged backup is 1.
`,
  async run({ options, args }, io) {
    noArguments(args);
    if ((options.from === undefined) === (options.dataDir === '')) throw new FlagError('what to check? Name it with --data-dir or --from');
    const tools = await import('@plat-dev/compose/store/store-tools');
    if (options.from === undefined) {
      const findings = await tools.verifyPlace(demandPath(options.dataDir, 'data-dir', io));
      if (options.output === 'json') io.out(`${JSON.stringify({ findings })}\n`);
      else if (findings.length === 0) io.out(`${options.dataDir} is whole\n`);
      else {
        printFindings(findings, io);
        const count = findings.length === 1 ? '1 finding' : `${findings.length} findings`;
        io.out(`${count}; \`plat store repair --data-dir ${options.dataDir}\` shows what can be kept, and changes nothing\n`);
      }
      return findings.length === 0 ? 0 : 3;
    }
    const { header, trailer } = await whileReading(io, demandPath(options.from, 'from', io), tools.statBackup);
    if (options.output === 'json') io.out(`${JSON.stringify({ ...header, ...trailer })}\n`);
    else {
      io.out(
        `${options.from} is whole: ${trailer.entries} entries at revision ${header.revision}, identity ${header.identity ?? 'unknown'}\n`,
      );
    }
    return 0;
  },
});

interface ReportedProblem {
  readonly file: string;
  readonly message: string;
  readonly offset?: number;
  readonly key?: string;
  readonly revision?: number;
  readonly startsAnyway: boolean;
}
export function printFindings(findings: readonly ReportedProblem[], io: IO): void {
  for (const { file: name, message, offset, key, revision, startsAnyway } of findings) {
    const place = [name, offset === undefined ? '' : `byte ${offset}`, key ?? '', revision === undefined ? '' : `revision ${revision}`];
    io.out(`${place.filter((part) => part !== '').join(', ')}: ${message}${startsAnyway ? '' : ' (a server does not start)'}\n`);
  }
}
