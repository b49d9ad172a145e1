/** `plat store repair`: a damaged directory becomes one that a server starts on, with everything that can be read. */
import { bool, FlagError, text } from '@plat-dev/lib/flags';
import { command } from '../command.ts';
import { demandPath, exitCodes, noArguments, outputFlag } from './place.ts';

const flags = {
  Repair: {
    'data-dir': text('', 'Data directory of a stopped server.', { value: 'DIRECTORY' }),
    yes: bool(false, 'Repair. Without it only what would be kept and lost is shown.'),
    ...outputFlag,
  },
};

/** Lost objects that are shown; -o json has all. */
const MOST_SHOWN = 100;

export const repair = command({
  usage: '--data-dir DIRECTORY [--yes] [flags]',
  summary:
    'Repair a damaged data directory: every object that can be read is kept, the damaged files are moved aside, and what is lost is named.',
  flags,
  more: `
Examples:
  plat store repair --data-dir .plat            show what would be lost
  plat store repair --data-dir .plat --yes      repair
  plat store repair --data-dir .plat -o json    for programs

An intact backup is better than a repair: \`plat store restore --force\`. Files are moved aside, never deleted.
${exitCodes('objects were lost, or would be')}`,
  async run({ options, args }, io) {
    noArguments(args);
    if (options.dataDir === '') throw new FlagError('which directory? Name it with --data-dir');
    const { repairPlace } = await import('@plat-dev/compose/store/store-tools');
    const done = await repairPlace(demandPath(options.dataDir, 'data-dir', io), !options.yes);
    const { findings, movedTo, keptObjects, lost, revision } = done;
    // Objects of a file with a damaged header cannot be named.
    const nothingLeft = keptObjects === 0 && findings.some(({ startsAnyway }) => !startsAnyway);
    if (options.output === 'json') io.out(`${JSON.stringify({ ...done, dryRun: !options.yes })}\n`);
    else if (findings.length === 0) io.out(`${options.dataDir} is whole: ${keptObjects} objects; there is nothing to repair\n`);
    else {
      const { printFindings } = await import('./verify.ts');
      printFindings(findings, io);
      for (const { key, revision: at, reason } of lost.slice(0, MOST_SHOWN))
        io.out(`lost: ${key}${at === 0 ? '' : `, revision ${at}`}: ${reason}\n`);
      if (lost.length > MOST_SHOWN) io.out(`… and ${lost.length - MOST_SHOWN} more; -o json names all\n`);
      const outcome = options.yes ? 'were kept' : 'would be kept';
      const missing = nothingLeft
        ? 'the rest cannot be read, and how many that are is not known'
        : `${lost.length} ${options.yes ? 'were lost' : 'would be lost'}`;
      io.out(`${keptObjects} objects ${outcome}, ${missing}; revisions go on from ${revision}\n`);
      io.out(options.yes ? `the damaged files are in ${movedTo}\n` : 'nothing was changed: --yes repairs\n');
    }
    return lost.length > 0 || nothingLeft ? 3 : 0;
  },
});
