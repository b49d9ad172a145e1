/** `plat store restore`: an empty data directory or etcd gets what a backup holds. */
import { bool, FlagError, file, flag, readInteger } from '@plat-dev/lib/flags';
import { command } from '../command.ts';
import { demandPath, demandPlace, exitCodes, noArguments, outputFlag, placeFlags } from './place.ts';
import { whileReading } from './while-reading.ts';

const flags = {
  Restore: {
    from: file('Backup to restore.'),
    force: bool(false, 'Replace an existing store: its files are moved aside; for etcd a backup is written next to the file.'),
    'skip-revisions': flag<number | undefined>(
      undefined,
      'Number of revisions to skip after that of the backup; must be more than were written since.',
      'NUMBER',
      (value) => readInteger(value, 0, 1_000_000_000_000),
      { defaultText: '1000000000; 10000 for etcd' },
    ),
    'accept-lower-revisions': bool(false, 'For an etcd that cannot skip so many: allow lower revisions than before. Restart all clients.'),
    ...outputFlag,
  },
  Store: placeFlags,
};

export const restore = command({
  usage: '--from FILE (--data-dir DIRECTORY | --etcd-servers URL,…) [flags]',
  summary: 'Fill an empty store from a backup. The whole file is checked before anything is written.',
  flags,
  more: `
Examples:
  plat store restore --from plat.backup --data-dir .plat
  plat store restore --from plat.backup --etcd-servers http://127.0.0.1:2379 --etcd-prefix /registry/plat
  plat server --store memory --restore-from plat.backup

Objects keep their names and uids and get new resource versions, greater than any from before. Watches from before end
with 410, and clients list again. Stop every server on the store first. An interrupted restore into etcd (exit code 1)
leaves a store that servers refuse: run it again with --force.
${exitCodes()}`,
  async run({ options, givenFlags, args }, io) {
    noArguments(args);
    const from = demandPath(options.from, 'from', io);
    const place = demandPlace(options, givenFlags, io);
    if (options.acceptLowerRevisions && place.type !== 'etcd')
      throw new FlagError('--accept-lower-revisions has no effect without --etcd-servers');
    if (options.acceptLowerRevisions && givenFlags.has('skip-revisions'))
      throw new FlagError('--accept-lower-revisions and --skip-revisions exclude each other');
    const { restorePlace } = await import('@plat-dev/compose/store/store-tools');
    const { header, trailer, revision, expired, movedTo } = await whileReading(io, from, (backup, read) =>
      restorePlace(backup, place, { ...options, read }),
    );
    const facts = {
      entries: trailer.entries - expired,
      expired,
      encrypted: trailer.encrypted,
      identity: header.identity,
      revision,
      movedTo,
    };
    if (options.output === 'json') io.out(`${JSON.stringify(facts)}\n`);
    else {
      const where = place.type === 'directory' ? place.dataDir : `etcd at ${options.etcdServers.join(', ')}, prefix ${options.etcdPrefix}`;
      io.out(`${facts.entries} entries are in ${where}; revisions go on from ${revision}\n`);
      if (movedTo !== undefined) io.out(`the previous store is in ${movedTo}\n`);
      if (header.identity !== undefined) io.out(`start the server with --identity ${header.identity}\n`);
      if (trailer.encrypted > 0)
        io.out(`${trailer.encrypted} values are encrypted: the server needs the --encryption-provider-config from before\n`);
    }
    return 0;
  },
});
