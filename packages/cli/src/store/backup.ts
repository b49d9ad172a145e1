/** `plat store backup`: of a running server, a data directory, or etcd. */
import type { BackupResult } from '@plat-dev/compose/store/store-tools';
import { file } from '@plat-dev/lib/flags';
import { command, type IO } from '../command.ts';
import { type ConnectOptions, connectFlags } from '../connect.ts';
import { Progress } from '../terminal/progress.ts';
import { shownBytes } from '../terminal/shown-bytes.ts';
import { withServer } from '../work.ts';
import { demandPath, exitCodes, noArguments, outputFlag, placeFlags, placeOf } from './place.ts';

const flags = {
  Backup: { to: file('File to write. It is made readable for its owner alone, and never overwritten.'), ...outputFlag },
  Store: placeFlags,
  Connecting: connectFlags,
};

export const backup = command({
  usage: '--to FILE [--data-dir DIRECTORY | --etcd-servers URL,…] [flags]',
  summary:
    'Write everything that is stored to a file, as it is at one moment. Without --data-dir and --etcd-servers the running server is backed up.',
  flags,
  more: `
Examples:
  plat store backup --to plat.backup                          of the running server
  plat store backup --to plat.backup --data-dir .plat         of a server that is stopped
  plat store backup --to plat.backup --etcd-servers http://127.0.0.1:2379

The file holds all secrets, encrypted only where the store encrypts them. It does not hold keys, certificates and
tokens of the data directory: copy these, too. A running server requires the right to get the path /store/backup.
${exitCodes('the backup was written, but objects that cannot be read are not in it')}`,
  async run({ options, givenFlags, args }, io) {
    noArguments(args);
    const to = demandPath(options.to, 'to', io);
    const place = placeOf(options, givenFlags, io);
    const tools = await import('@plat-dev/compose/store/store-tools');
    tools.checkNew(to);
    const progress = new Progress(io);
    const written = progress.bytes('writing');
    const finished = async (backup: Promise<BackupResult>): Promise<number> =>
      report(await backup.finally(() => progress.clear()), options.output, io);
    if (place !== undefined) return finished(tools.backupPlace(place, to, written));
    return online(options, io, (chunks) => finished(tools.writeBackup(chunks, to, written)));
  },
});

/** Passes on the stream of the running server. */
export function online(options: ConnectOptions, io: IO, take: (chunks: AsyncIterable<Buffer>) => Promise<number>): Promise<number> {
  return withServer(options, io, async ({ session, signal }) => {
    const { errorOf } = await import('@plat-dev/client/transport');
    const answer = await session.transport.open({ path: '/store/backup', signal, ...session.timeout });
    if (answer.status >= 300) throw await errorOf(answer);
    return take(answer.body);
  });
}

function report({ file: backupFile, bytes, header, trailer }: BackupResult, output: string, io: IO): number {
  const { entries, encrypted, unreadableCount, unreadable } = trailer;
  if (output === 'json')
    io.out(`${JSON.stringify({ file: backupFile, bytes, ...header, entries, encrypted, unreadableCount, unreadable })}\n`);
  else {
    const secret = encrypted > 0 ? ` (${encrypted} encrypted)` : '';
    io.out(`${backupFile}: ${entries} entries${secret} at revision ${header.revision}, ${shownBytes(bytes)}\n`);
  }
  if (unreadableCount === 0) return 0;
  const more = unreadableCount > unreadable.length ? ', …' : '';
  io.err(
    `plat: ${unreadableCount === 1 ? '1 object cannot be read and is' : `${unreadableCount} objects cannot be read and are`} not in the backup: ${unreadable.join(', ')}${more}; see \`plat store verify\`\n`,
  );
  return 3;
}
