/** `plat store stat`: what a store or a backup holds, counted. */
import type { BackupStat } from '@plat-dev/compose/store/store-tools';
import { FlagError, file } from '@plat-dev/lib/flags';
import { command, type IO } from '../command.ts';
import { shownBytes } from '../terminal/shown-bytes.ts';
import { demandPath, demandPlace, exitCodes, noArguments, outputFlag, placeFlags } from './place.ts';

const flags = { Stat: { from: file('Backup to look at, in place of a store.'), ...outputFlag }, Store: placeFlags };

export const stat = command({
  usage: '(--data-dir DIRECTORY | --etcd-servers URL,… | --from FILE) [flags]',
  summary: 'Show what a store or a backup holds: identity, revisions, objects and bytes of each collection.',
  flags,
  more: `
Examples:
  plat store stat --data-dir .plat
  plat store stat --etcd-servers http://127.0.0.1:2379
  plat store stat --from plat.backup -o json
${exitCodes()}`,
  async run({ options, givenFlags, args }, io) {
    noArguments(args);
    const tools = await import('@plat-dev/compose/store/store-tools');
    if (options.from !== undefined) {
      if (givenFlags.has('data-dir') || givenFlags.has('etcd-servers')) throw new FlagError('--from names a backup: leave the store out');
      const { header, trailer, collections } = await tools.statBackup(demandPath(options.from, 'from', io));
      const { entries: objects, encrypted, unreadableCount } = trailer;
      print({ ...header, objects, encrypted, unreadable: unreadableCount }, collections, options.output, io);
      return 0;
    }
    const place = demandPlace(options, givenFlags, io);
    const { collections, ...facts } =
      place.type === 'directory' ? await tools.statDataDirectory(place.dataDir) : await tools.statPlace(place);
    print(facts, collections, options.output, io);
    return 0;
  },
});

function print(facts: Readonly<Record<string, unknown>>, collections: BackupStat['collections'], output: string, io: IO): void {
  if (output === 'json') {
    io.out(`${JSON.stringify({ ...facts, collections })}\n`);
    return;
  }
  const knownFacts = Object.entries(facts).filter(([, value]) => value !== undefined);
  const names = [...knownFacts.map(([name]) => name), ...Object.keys(collections)];
  const width = Math.max(...names.map((name) => name.length)) + 2;
  for (const [name, value] of knownFacts) io.out(`${name.padEnd(width)}${value}\n`);
  io.out('\n');
  for (const [name, { objects, bytes }] of Object.entries(collections))
    io.out(`${name.padEnd(width)}${String(objects).padStart(8)}  ${shownBytes(bytes)}\n`);
}
