/** The operations of `plat store` on stores that it opens itself: a data directory that is not in use, or a prefix in etcd. */

import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemClock } from '@plat-dev/lib/clock';
import { own, setOwn } from '@plat-dev/lib/own';
import { productVersion } from '@plat-dev/lib/version';
import { identities } from '@plat-dev/meta/identity';
import type { RestoredDirectory } from '@plat-dev/storage/backup/directory';
import { type BytesDone, checkNew, fileChunks, namingFile, writePrivateFile } from '@plat-dev/storage/backup/file';
import { BackupError, type BackupHeader, type BackupTrailer } from '@plat-dev/storage/backup/format';
import { type BackupSummary, readBackup, verifyBackup } from '@plat-dev/storage/backup/read';
import { checkEmpty, checkRestored, clearStore, restoreInto } from '@plat-dev/storage/backup/restore';
import { historyPages, snapshotPages } from '@plat-dev/storage/backup/snapshot';
import { backupChunks } from '@plat-dev/storage/backup/write';
import { Compacted, type Engine, type Entry } from '@plat-dev/storage/engine';
import type { EtcdAccess } from '@plat-dev/storage/engines/index';
import { openEngine } from '@plat-dev/storage/engines/index';
import { lockDirectory } from '@plat-dev/storage/engines/lmdb/lock';
import type { DirectoryStat, Finding, Repair } from '@plat-dev/storage/engines/lmdb/repair/findings';
import { hasStore, interrupted, isReplacing, storeFiles } from '@plat-dev/storage/engines/lmdb/replace';
import { KEEP_ALL_HISTORY } from '@plat-dev/storage/history';
import type { StoreOwner } from '@plat-dev/storage/store-mark';
import { identityIn, storeOwner } from './store.ts';

export { type BytesDone, checkNew } from '@plat-dev/storage/backup/file';

export type Place = { readonly type: 'directory'; readonly dataDir: string } | { readonly type: 'etcd'; readonly etcd: EtcdAccess };

/** History of a store that a tool opens: nothing is compacted meanwhile. */
const RETENTION_MS = 24 * 60 * 60_000;
/** How long the revision that is read is held. */
const HOLD_MS = 60 * 60_000;

export interface BackupResult {
  readonly file: string;
  readonly bytes: number;
  readonly header: BackupHeader;
  readonly trailer: BackupTrailer;
}

/** Advice for a directory that a server uses, by operation. */
const ASK_SERVER = 'or leave --data-dir out: then the running server is asked';
const USE_BACKUP = 'or make a backup of the running server with `plat store backup`, and name that with --from';

/** Throws unless there is a store that is not in use. */
async function openPlace(place: Place): Promise<Engine> {
  if (place.type === 'etcd') return openEtcd(place.etcd);
  demandStore(place.dataDir);
  return explained(() => openEngine({ store: 'lmdb', dataDir: place.dataDir, historyRetentionMs: RETENTION_MS }), ASK_SERVER);
}

/** A wrong prefix must not look like an empty store. */
async function openEtcd(etcd: EtcdAccess): Promise<Engine> {
  const engine = await openEngine({ store: 'etcd', dataDir: '', etcd, historyRetentionMs: 0 });
  try {
    const { entries } = await engine.range({ prefix: '', limit: 1, uncounted: true });
    if (entries.length > 0) return engine;
    throw new Error(`there is no store in etcd at ${etcd.servers.join(', ')} below ${etcd.prefix}: check --etcd-servers and --etcd-prefix`);
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** Adds advice for a directory that a server uses; `otherwise` is the way without stopping it. */
export async function explained<T>(open: () => Promise<T>, otherwise?: string): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const { message } = error as Error;
    if (!message.includes('is in use by another server')) throw error;
    const problem = message.replace(/; stop that one.*$/, '').replace('another server', 'a server');
    throw new Error(`${problem}: stop it first${otherwise === undefined ? '' : `, ${otherwise}`}`, { cause: error });
  }
}

/** Closes the store when the work ends or fails. */
export async function withPlace<T>(place: Place, work: (engine: Engine) => Promise<T>): Promise<T> {
  const engine = await openPlace(place);
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}

/** The entries at one revision. */
export async function withSnapshot<T>(
  engine: Engine,
  work: (header: BackupHeader, pages: AsyncIterable<readonly Entry[]>) => Promise<T>,
): Promise<T> {
  await checkRestored(engine);
  const hold = await engine.hold(HOLD_MS);
  try {
    const identity = await identityIn(engine);
    const header: BackupHeader = {
      productVersion,
      ...(identity !== undefined && { identity }),
      ...(engine.mark !== undefined && { storeId: engine.mark.id }),
      engine: engine.name,
      revision: hold.revision,
      compacted: engine.compacted,
      createdAt: new Date(systemClock.now()).toISOString(),
    };
    return await work(header, snapshotPages(engine, hold.revision));
  } finally {
    await hold.release();
  }
}

export async function backupPlace(place: Place, file: string, written?: BytesDone): Promise<BackupResult> {
  checkNew(file);
  return withPlace(place, (engine) => backupEngine(engine, file, written));
}

function backupEngine(engine: Engine, file: string, written?: BytesDone): Promise<BackupResult> {
  return withSnapshot(engine, (header, pages) =>
    writeBackup(backupChunks(header, pages, historyPages(engine, header.revision)), file, written),
  );
}

/** Writes a backup to a file; one that cannot be verified by reading it back is removed. */
export async function writeBackup(chunks: AsyncIterable<Buffer>, file: string, written?: BytesDone): Promise<BackupResult> {
  let summary: BackupSummary | undefined;
  const verify = async (backupFile: string): Promise<void> => {
    summary = await verifyBackup(fileChunks(backupFile));
  };
  const bytes = await writePrivateFile(file, chunks, verify, written);
  return { file, bytes, ...(summary as BackupSummary) };
}

export interface RestorePlaceOptions {
  readonly force: boolean;
  readonly skipRevisions: number | undefined;
  readonly acceptLowerRevisions: boolean;
  /** Called while the backup is read, which happens more than once. */
  readonly read?: BytesDone;
}

export async function restorePlace(
  file: string,
  place: Place,
  { force, skipRevisions, acceptLowerRevisions, read }: RestorePlaceOptions,
): Promise<RestoredDirectory> {
  const open = (): AsyncIterable<Buffer> => fileChunks(file, read);
  const options = { clock: systemClock, skipRevisions };
  if (place.type === 'directory') {
    const { restoreDirectory } = await import('@plat-dev/storage/backup/directory');
    const store = { owner: await ownerOf(file) };
    return explained(() => restoreDirectory(open, { ...options, dataDir: place.dataDir, store, force }));
  }
  const owner = await ownerOf(file);
  const engine = await openEngine({
    store: 'etcd',
    dataDir: '',
    etcd: place.etcd,
    historyRetentionMs: 0,
    history: KEEP_ALL_HISTORY,
    owner,
  });
  try {
    if (force) await checkUnused(engine);
    const movedTo = force ? await setAside(engine, file) : undefined;
    await checkEmpty(engine).catch((error: unknown) => {
      if (!(error instanceof BackupError) || force) throw error;
      throw new BackupError(
        `${error.message}: name another --etcd-prefix, or replace what is there with --force, which keeps a backup of it`,
      );
    });
    return { ...(await restoreInto(engine, open, { ...options, lowerRevisions: acceptLowerRevisions })), movedTo };
  } finally {
    await engine.close();
  }
}

/** Each server on etcd renews a key, which expires 15 seconds after the last renewal. */
const SERVERS = 'cluster/servers/';

/** Nothing is deleted while a server runs: it would write between the deletes and the restored objects. */
async function checkUnused(engine: Engine): Promise<void> {
  const { entries } = await engine.range({ prefix: SERVERS });
  if (entries.length === 0) return;
  const servers = entries.map(({ key }) => key.slice(SERVERS.length).replace('/', ' port '));
  throw new BackupError(
    `the store is in use by ${servers.length === 1 ? 'a server' : 'servers'} (${servers.join(', ')}), and nothing was changed: stop every server on it first; one that was killed is forgotten after 15 seconds`,
  );
}

/** The new store records the identity of the backup. */
async function ownerOf(file: string): Promise<StoreOwner | undefined> {
  const { header } = await namingFile(file, () => verifyBackup(fileChunks(file)));
  const { identity } = header;
  if (identity === undefined) return undefined;
  const builtInIdentity = own(identities, identity);
  // Of a custom identity only the name is known here.
  return builtInIdentity === undefined ? { identity, productVersion, traces: [] } : storeOwner(builtInIdentity);
}

/** Data in etcd cannot be moved: it is backed up next to the file, then deleted. A part of an earlier restore is not kept. */
async function setAside(engine: Engine, file: string): Promise<string | undefined> {
  const { entries } = await engine.range({ prefix: '', limit: 1, uncounted: true });
  if (entries.length === 0) return undefined;
  const whole = await checkRestored(engine).then(
    () => true,
    () => false,
  );
  const aside = whole
    ? join(dirname(file), `replaced-${new Date(systemClock.now()).toISOString().replaceAll(/[:.]/g, '-')}.backup`)
    : undefined;
  if (aside !== undefined) await backupEngine(engine, aside);
  await clearStore(engine);
  return aside;
}

export interface BackupStat extends BackupSummary {
  readonly collections: Readonly<Record<string, { readonly objects: number; readonly bytes: number }>>;
}

/** The content of a backup file; it is read to its end. */
export const statBackup = (file: string, read?: BytesDone): Promise<BackupStat> => namingFile(file, () => countBackup(file, read));

async function countBackup(file: string, read: BytesDone | undefined): Promise<BackupStat> {
  const collections: Record<string, { objects: number; bytes: number }> = {};
  let header: BackupHeader | undefined;
  for await (const part of readBackup(fileChunks(file, read))) {
    if (part.type === 'header') header = part.header;
    else if (part.type === 'trailer') return { header: header as BackupHeader, trailer: part.trailer, collections };
    else if (part.type === 'entries') for (const { key, value } of part.entries) count(collections, key, value.length);
  }
  throw new BackupError('the backup has no end');
}

export interface StoreStat {
  readonly engine: string;
  readonly identity: string | undefined;
  readonly revision: number;
  readonly compactedRevision: number;
  readonly objects: number;
  readonly unreadable: number;
  readonly collections: BackupStat['collections'];
}

/** How often a count begins again because the history was compacted meanwhile. */
const MOST_COUNTS = 5;

/** The content of a store, read by its engine. It is only read: nothing is held, since that is a write in etcd. */
export async function statPlace(place: Place): Promise<StoreStat> {
  return withPlace(place, async (engine) => {
    await checkRestored(engine);
    for (let times = 1; ; times++) {
      try {
        return await countStore(engine);
      } catch (error) {
        if (!(error instanceof Compacted) || times === MOST_COUNTS) throw error;
      }
    }
  });
}

async function countStore(engine: Engine): Promise<StoreStat> {
  const revision = await engine.currentRevision();
  const collections: Record<string, { objects: number; bytes: number }> = {};
  let [objects, unreadable] = [0, 0];
  for await (const page of snapshotPages(engine, revision)) {
    for (const { key, value, unreadable: why } of page) {
      objects++;
      if (why !== undefined) unreadable++;
      count(collections, key, value.length);
    }
  }
  const identity = await identityIn(engine);
  return { engine: engine.name, identity, revision, compactedRevision: engine.compacted, objects, unreadable, collections };
}

/** `core/pods/default/web` counts as `core/pods`. */
function count(collections: Record<string, { objects: number; bytes: number }>, key: string, bytes: number): void {
  const name = key.split('/').slice(0, 2).join('/');
  const counts = own(collections, name) ?? { objects: 0, bytes: 0 };
  setOwn(collections, name, { objects: counts.objects + 1, bytes: counts.bytes + bytes });
}

/** Throws when there is no store, or a server uses it. */
export async function verifyPlace(dataDir: string): Promise<readonly Finding[]> {
  demandStore(dataDir);
  const { verifyDirectory } = await import('@plat-dev/storage/engines/lmdb/repair/verify');
  return explained(() => verifyDirectory(dataDir), USE_BACKUP);
}

/** The facts of the store in a directory; `identity` is taken from the objects if the store does not record it. */
export async function statDataDirectory(dataDir: string): Promise<DirectoryStat> {
  demandStore(dataDir);
  const { statDirectory } = await import('@plat-dev/storage/engines/lmdb/stat');
  const stat = await explained(() => statDirectory(dataDir), USE_BACKUP);
  if (stat.format === 0 && stat.objects === 0)
    throw new Error(`nothing of the store file in ${dataDir} can be read: see \`plat store verify --data-dir ${dataDir}\``);
  return stat;
}

/** `dryRun`: the repair is made of a copy within the directory, which is then removed. */
export async function repairPlace(dataDir: string, dryRun: boolean): Promise<Repair> {
  demandStore(dataDir);
  const { repairDirectory } = await import('@plat-dev/storage/engines/lmdb/repair/repair');
  const label = new Date(systemClock.now()).toISOString().replaceAll(/[:.]/g, '-');
  if (!dryRun) return explained(() => repairDirectory(dataDir, { label }));
  const copy = join(dataDir, `store.dry-run-${process.pid}`);
  const lock = await explained(() => lockDirectory(dataDir));
  try {
    if (isReplacing(dataDir)) throw new Error(interrupted(dataDir));
    mkdirSync(copy, { mode: 0o700 });
    for (const name of storeFiles(dataDir)) cpSync(join(dataDir, name), join(copy, name));
    const done = await repairDirectory(copy, { label }).catch((error: unknown) => {
      throw new Error((error as Error).message.replaceAll(copy, dataDir), { cause: error });
    });
    const findings = done.findings.map((finding) => ({ ...finding, message: finding.message.replaceAll(copy, dataDir) }));
    return { ...done, findings, movedTo: undefined };
  } finally {
    rmSync(copy, { recursive: true, force: true });
    await lock.release();
  }
}

function demandStore(dataDir: string): void {
  if (!hasStore(dataDir)) throw new Error(`there is no store in ${dataDir}: no file store.mdb`);
}
