/**
 * Writes the content of a backup into an empty store of any engine.
 *
 * Everything gets new revisions, greater than any that a client can have seen: those of the backup, and as many more as may
 * have been assigned after it was made. So a client that resumes from an earlier revision gets 410, and lists again. History has the
 * versions of the backup with their own revisions, before those that the restore writes.
 */
import type { Clock } from '@plat-dev/lib/clock';
import type { Engine, Operation } from '../engine.ts';
import type { KeptVersion } from '../history.ts';
import { type BackupEntry, BackupError, type BackupVersion } from './format.ts';
import { type BackupSummary, readBackup, verifyBackup } from './read.ts';

/** Revisions to skip after that of the backup: more than may have been assigned since it was made. */
export const SKIPPED_REVISIONS = 1_000_000_000;
/** The same for etcd, whose revision can only be increased by writes. */
export const SKIPPED_REVISIONS_ETCD = 10_000;

/** Limits of a commit that every engine takes. */
const COMMIT_OPERATIONS = 100;
const COMMIT_BYTES = 1024 * 1024;

/** Present during a restore: a store that has it is not used. No collection has this prefix. */
const UNFINISHED = 'restore-unfinished';

/** Opens the same backup again each time. */
export type OpenBackup = () => AsyncIterable<Buffer>;

export interface RestoreOptions {
  readonly clock: Clock;
  /** Revisions to skip after that of the backup; else as many as fit the engine. */
  readonly skipRevisions?: number | undefined;
  /**
   * Revisions may be lower than before: for an engine that cannot skip so many. Lists at an earlier revision are then
   * refused as in the future, and watches from one get no events: all clients must be restarted.
   */
  readonly lowerRevisions?: boolean;
}
export interface Restored extends BackupSummary {
  /** The first revision that the store can be read at. */
  readonly revision: number;
  /** Entries that had expired meanwhile, and were skipped. */
  readonly expired: number;
}

/** Nothing is written before the whole backup was read and verified. Throws BackupError. */
export async function restoreInto(engine: Engine, open: OpenBackup, options: RestoreOptions): Promise<Restored> {
  const { clock, skipRevisions, lowerRevisions = false } = options;
  const summary = await verifyBackup(open());
  await checkEmpty(engine);
  const skipped = skipRevisions ?? (engine.name === 'etcd' ? SKIPPED_REVISIONS_ETCD : SKIPPED_REVISIONS);
  if (!lowerRevisions) await engine.skipTo(summary.header.revision + skipped);
  await engine.commit([{ type: 'put', key: UNFINISHED, value: Buffer.from(summary.trailer.sha256), expect: 0 }]);
  const { commits, expired } = batches(clock.now());
  const finishEntries = async (): Promise<void> => {
    for (const commit of commits()) await engine.commit(commit);
  };
  for await (const part of readBackup(open())) {
    if (part.type === 'entries') for (const entry of part.entries) for (const commit of commits(entry)) await engine.commit(commit);
    // Where revisions are lower than before, old ones are not older ones.
    if (part.type === 'versions' && !lowerRevisions) {
      await finishEntries();
      await engine.history.add(await keptVersions(engine, part.versions));
    }
    // The file may have changed since it was checked.
    if (part.type === 'trailer' && part.trailer.sha256 !== summary.trailer.sha256)
      throw new BackupError('the backup changed while it was read');
  }
  await finishEntries();
  const { revision } = await engine.commit([{ type: 'delete', key: UNFINISHED }]);
  await engine.compact(revision);
  return { ...summary, revision, expired: expired() };
}

/** The versions with their values; that of an entry which has expired is lost, its note is not. */
async function keptVersions(engine: Engine, versions: readonly BackupVersion[]): Promise<KeptVersion[]> {
  const restored: KeptVersion[] = [];
  for (const { isEntry, ...version } of versions) {
    if (version.key === UNFINISHED) continue;
    restored.push(isEntry ? { ...version, value: (await engine.get(version.key))?.value } : version);
  }
  return restored;
}

/** Throws BackupError unless the store is empty. */
export async function checkEmpty(engine: Engine): Promise<void> {
  await checkRestored(engine);
  const { entries } = await engine.range({ prefix: '', limit: 1, uncounted: true });
  if (entries.length > 0) throw new BackupError('the store is not empty, and nothing is restored into it');
}

/** Throws BackupError for a store with an unfinished restore. */
export async function checkRestored(engine: Pick<Engine, 'get'>): Promise<void> {
  if ((await engine.get(UNFINISHED)) !== undefined) {
    throw new BackupError(
      'a restore into this store was not finished, and it holds only a part: run `plat store restore` again with --force',
    );
  }
}

/** Deletes everything. */
export async function clearStore(engine: Engine): Promise<void> {
  for (;;) {
    const { entries } = await engine.range({ prefix: '', limit: COMMIT_OPERATIONS, uncounted: true });
    // The mark of an incomplete store is deleted last.
    const keys = entries.map(({ key }) => key).filter((key) => key !== UNFINISHED);
    if (keys.length === 0) break;
    await engine.commit(keys.map((key) => ({ type: 'delete', key })));
  }
  await engine.commit([{ type: 'delete', key: UNFINISHED }]);
}

/** Groups entries into commits: `commits(entry)` returns the full ones, `commits()` the last one. */
function batches(now: number) {
  let waiting: Operation[] = [];
  let bytes = 0;
  let expired = 0;
  const full = (): Operation[][] => {
    const commit = waiting;
    waiting = [];
    bytes = 0;
    return commit.length === 0 ? [] : [commit];
  };
  const commits = (entry?: BackupEntry): Operation[][] => {
    if (entry === undefined) return full();
    const { key, value, expires } = entry;
    if (key === UNFINISHED) return [];
    if (expires > 0 && expires <= now) {
      expired++;
      return [];
    }
    const done = waiting.length >= COMMIT_OPERATIONS || bytes + value.length > COMMIT_BYTES ? full() : [];
    const put = { type: 'put', key, value, expect: 0 } as const;
    waiting.push(expires > 0 ? { ...put, ttlSeconds: Math.max(1, Math.ceil((expires - now) / 1000)) } : put);
    bytes += value.length;
    return done;
  };
  return { commits, expired: () => expired };
}
