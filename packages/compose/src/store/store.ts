/** The store of a server before it serves: restored from a backup if the options say so, and refused if it is incomplete. */

import type { Log } from '@plat-dev/lib/log';
import { productVersion } from '@plat-dev/lib/version';
import { type Identity, identities } from '@plat-dev/meta/identity';
import { namingFile } from '@plat-dev/storage/backup/file';
import type { BackupHeader } from '@plat-dev/storage/backup/format';
import { BackupError } from '@plat-dev/storage/backup/format';
import { checkRestored, type Restored } from '@plat-dev/storage/backup/restore';
import type { Engine } from '@plat-dev/storage/engine';
import type { StoreOwner } from '@plat-dev/storage/store-mark';
import type { Base } from '../base.ts';
import type { ServerOptions } from '../config/server-options.ts';

/** The system namespace is the first object of every store, and named after the identity. */
export const storeOwner = (identity: Identity): StoreOwner => ({
  identity: identity.name,
  productVersion,
  traces: [identity, ...Object.values(identities)].map(({ name, namespaces }) => ({
    identity: name,
    key: `core/namespaces/${namespaces.system}`,
  })),
});

type RestoreFlags = Pick<ServerOptions, 'restoreFrom' | 'store' | 'dataDir'>;

/** Before the store is opened: a directory is restored as a whole or not at all. */
export async function restoreDirectoryFirst({ restoreFrom, store, dataDir }: RestoreFlags, { identity, clock, log }: Base): Promise<void> {
  if (restoreFrom === undefined || store !== 'lmdb') return;
  const { restoreDirectory } = await import('@plat-dev/storage/backup/directory');
  const { hasStore } = await import('@plat-dev/storage/engines/lmdb/replace');
  if (hasStore(dataDir))
    throw new BackupError(`${dataDir} has a store already: start without --restore-from to use it, or name an empty --data-dir`);
  const open = await checkedBackup(restoreFrom, identity.name);
  const options = { dataDir, store: { owner: storeOwner(identity) }, force: false, clock };
  report(await namingFile(restoreFrom, () => restoreDirectory(open, options)), log);
}

/** When it is open. */
export async function prepareStore(engine: Engine, { restoreFrom, store }: RestoreFlags, { identity, clock, log }: Base): Promise<void> {
  if (restoreFrom === undefined || store === 'lmdb') return checkRestored(engine);
  const { restoreInto } = await import('@plat-dev/storage/backup/restore');
  const open = await checkedBackup(restoreFrom, identity.name);
  report(await namingFile(restoreFrom, () => restoreInto(engine, open, { clock })), log);
}

function report({ header, trailer, revision, expired }: Restored, log: Log): void {
  const { revision: backedUp, createdAt } = header;
  log.info('store restored', { objects: trailer.entries - expired, backupRevision: backedUp, createdAt, revision });
}

/** How to open a backup file, once its identity is checked. */
async function checkedBackup(path: string, identity: string): Promise<() => AsyncIterable<Buffer>> {
  const { fileChunks } = await import('@plat-dev/storage/backup/file');
  const { readBackup } = await import('@plat-dev/storage/backup/read');
  await namingFile(path, async () => {
    for await (const part of readBackup(fileChunks(path))) {
      if (part.type === 'header') checkIdentity(part.header, identity);
      break;
    }
  });
  return () => fileChunks(path);
}

/** Throws BackupError for a backup of another identity. */
function checkIdentity({ identity }: BackupHeader, requiredIdentity: string): void {
  if (identity === undefined || identity === requiredIdentity) return;
  throw new BackupError(
    `the backup is of the identity ${identity}, and cannot be restored under ${requiredIdentity}, where objects have other names: use \`plat store export\` and \`plat store import\`, which convert them`,
  );
}

/** The identity of a store, as recorded or by the system namespace that every server creates; undefined for one that no server has used. */
export async function identityIn(engine: Pick<Engine, 'get' | 'mark'>): Promise<string | undefined> {
  if (engine.mark?.identity !== undefined) return engine.mark.identity;
  for (const { name, namespaces } of Object.values(identities)) {
    if ((await engine.get(`core/namespaces/${namespaces.system}`)) !== undefined) return name;
  }
  return undefined;
}
