/**
 * The default store: one file in the data directory, crash-safe, written by this process only. That is why it can number
 * revisions and judge expectations in memory, against writes that are not durable yet, and needs the disk only for
 * durability. Keys are held in memory, values are not.
 *
 *   commit → judged and numbered at once → waits for its group → one transaction, one fsync → visible → answered
 */

import { type Clock, systemClock } from '../../lib/clock.ts';
import {
  type ChangeRecord,
  CommitConflict,
  Compacted,
  type Engine,
  type Entry,
  FutureRevision,
  type Operation,
  type RangeRequest,
  type RangeResult,
  StoreUnavailable,
  type Subscriber,
} from '../engine.ts';
import { Expiry } from './expiry.ts';
import { type PendingChange, prepareChange, writeChange } from './lmdb/change.ts';
import { Compactor, readMeta } from './lmdb/compactor.ts';
import { checkRoom, freeBytes, writeError } from './lmdb/errors.ts';
import { type DirectoryLock, lockDirectory } from './lmdb/lock.ts';
import { NewestVersions } from './lmdb/newest.ts';
import { dueExpiries, newestRevision, Reader } from './lmdb/reader.ts';
import { openTables, prepareDirectory, type Tables } from './lmdb/tables.ts';
import { GroupWriter, type Job } from './lmdb/writer.ts';
import { checkOperations } from './operations.ts';
import { DEFAULT_RETENTION_MS, everyRetentionInterval } from './retention.ts';
import { Subscriptions } from './subscriptions.ts';

export interface LmdbOptions {
  readonly dataDir: string;
  readonly clock?: Clock;
  /** How long superseded versions stay readable. */
  readonly historyRetentionMs?: number;
  /** Free bytes of the disk that holds a directory; asked before each transaction. */
  readonly freeBytes?: (directory: string) => number;
  /** For measurements only: answers before the data is safe. */
  readonly unsafeNoSync?: boolean;
}

/** Commits that may wait for the disk; further ones are refused. More than requests may be in flight. */
const MOST_WAITING = 20_000;
/** As many as the index within a commit can count. */
const MOST_OPERATIONS = 65_535;
/** A transaction that takes longer than this makes the store count as not answering. */
const SLOWEST_MS = 10_000;

interface Waiting extends Job {
  /** Revision of the commit; 0 for writes that are no commit. */
  readonly revision: number;
  readonly changes: readonly PendingChange[];
  resolve(): void;
  reject(error: Error): void;
}

/** Throws when the directory cannot be used: in use by another server, not writable, a damaged or foreign file. */
export async function openLmdbEngine(options: LmdbOptions): Promise<Engine> {
  prepareDirectory(options.dataDir);
  const lock = await lockDirectory(options.dataDir);
  try {
    return new LmdbEngine(await openTables(options.dataDir, options), lock, options);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

class LmdbEngine implements Engine {
  readonly name = 'lmdb';
  readonly exclusive = true;
  revision: number;
  compacted: number;
  readonly #dataDir: string;
  readonly #clock: Clock;
  readonly #lock: DirectoryLock;
  readonly #tables: Tables;
  readonly #reader: Reader;
  readonly #newest: NewestVersions;
  readonly #writer: GroupWriter<Waiting>;
  readonly #compactor: Compactor;
  readonly #subscriptions: Subscriptions;
  readonly #expiry: Expiry;
  readonly #stopRetention: () => void;
  /** The newest revision given to a commit; those after `revision` are not durable yet. */
  #assigned: number;
  #closing: Promise<void> | undefined;

  constructor(tables: Tables, lock: DirectoryLock, options: LmdbOptions) {
    const { dataDir, clock = systemClock, historyRetentionMs = DEFAULT_RETENTION_MS, freeBytes: free = freeBytes } = options;
    this.#tables = tables;
    this.#lock = lock;
    this.#dataDir = dataDir;
    this.#clock = clock;
    this.compacted = readMeta(tables, 'compacted');
    this.revision = Math.max(this.compacted, newestRevision(tables));
    this.#assigned = this.revision;
    this.#reader = new Reader(tables, this.#readerState());
    this.#newest = new NewestVersions(this.#reader);
    this.#writer = new GroupWriter<Waiting>(tables, {
      durable: (jobs) => this.#publish(jobs),
      failed: (jobs, error) => this.#refuse(jobs, error),
      monotonic: () => clock.monotonic(),
      admit: (bytes) => checkRoom(dataDir, free(dataDir), bytes),
    });
    this.#compactor = new Compactor(tables, this.#compactionState());
    this.#subscriptions = new Subscriptions({ slice: (after) => this.#reader.slice(after), currentRevision: () => this.revision });
    this.#expiry = new Expiry(clock, {
      due: (until, limit) => dueExpiries(tables, until, limit),
      expire: async (key, revision) => void (await this.commit([{ type: 'delete', key, expect: revision }])),
    });
    const first = dueExpiries(tables, -1, 1).next;
    if (first !== undefined) this.#expiry.expect(first);
    this.#stopRetention = everyRetentionInterval(clock, historyRetentionMs, (before) => this.#compactor.toTime(before).catch(() => {}));
    // What fails here is tried again by the retention, and a disk that fails shows itself to those who write.
    this.#compactor.resume().catch(() => {});
  }

  async currentRevision(): Promise<number> {
    this.#checkOpen();
    return this.revision;
  }

  async get(key: string, at?: number): Promise<Entry | undefined> {
    this.#checkReadable(at);
    const version = this.#reader.versionAt(key, at ?? this.revision);
    return version === undefined || version.deleted ? undefined : this.#reader.entry(key, version);
  }

  async range(request: RangeRequest): Promise<RangeResult> {
    this.#checkReadable(request.at);
    return this.#reader.range(request);
  }

  async changes({ after, prefix, limit }: { after: number; prefix: string; limit?: number }): Promise<ChangeRecord[]> {
    this.#checkReadable(after);
    return this.#reader.changes(after, prefix, limit);
  }

  async commit(operations: readonly Operation[], assigned?: (revision: number) => void): Promise<{ revision: number }> {
    this.#checkOpen();
    checkOperations(operations);
    if (operations.length > MOST_OPERATIONS) throw new TypeError(`a commit has more than ${MOST_OPERATIONS} operations`);
    if (this.#writer.waiting >= MOST_WAITING) throw new StoreUnavailable('too many writes wait for the disk');
    for (const { key, expect } of operations) {
      if (expect === undefined) continue;
      const newest = this.#newest.of(key);
      if ((newest === undefined || newest.deleted ? 0 : newest.revision) === expect) continue;
      // The one who lost may read at once what the winner wrote.
      await this.#visible(newest?.revision ?? 0);
      throw new CommitConflict(key);
    }
    const changes = this.#prepare(operations);
    if (changes.length === 0) {
      const revision = this.#assigned;
      await this.#visible(revision);
      return { revision };
    }
    const revision = ++this.#assigned;
    for (const { change, version } of changes) this.#newest.set(change.key, version);
    assigned?.(revision);
    await this.#write(revision, changes);
    return { revision };
  }

  subscribe(after: number, deliver: Subscriber, failed: (error: Error) => void): () => void {
    return this.#subscriptions.subscribe(after, deliver, failed);
  }

  async compact(revision: number): Promise<void> {
    this.#checkOpen();
    if (revision > this.revision) throw new FutureRevision(this.revision);
    await this.#compactor.toRevision(revision);
  }

  async ping(): Promise<void> {
    this.#checkOpen();
    const { busyFor, broken } = this.#writer;
    if (broken !== undefined) throw writeError(this.#dataDir, broken.error);
    if (busyFor > SLOWEST_MS) {
      throw new StoreUnavailable(`the disk of ${this.#dataDir} has not confirmed a write for ${Math.round(busyFor / 1000)} seconds`);
    }
    this.#tables.meta.get('format');
  }

  async stats(): Promise<Record<string, number>> {
    this.#checkOpen();
    return {
      ...this.#tables.stats(),
      waiting_commits: this.#writer.waiting,
      subscribers: this.#subscriptions.count,
      revision: this.revision,
      compacted_revision: this.compacted,
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#expiry.stop();
    this.#stopRetention();
    // Commits that were accepted are finished; the flag that refuses new ones is set by the caller in this same turn.
    await this.#writer.idle();
    this.#subscriptions.end(new StoreUnavailable('the store is closed'));
    await this.#tables.close();
    await this.#lock.release();
  }

  /** What the operations change. Nothing is written or numbered yet. */
  #prepare(operations: readonly Operation[]): PendingChange[] {
    const changes: PendingChange[] = [];
    const at = { revision: this.#assigned + 1, time: this.#clock.now() };
    for (const operation of operations) {
      if (operation.type === 'check') continue;
      const change = prepareChange(operation, this.#newest.of(operation.key), { ...at, index: changes.length });
      if (change !== undefined) changes.push(change);
    }
    return changes;
  }

  /** Resolves when the changes are durable. Changes are numbered in the order of these calls. */
  #write(revision: number, changes: readonly PendingChange[]): Promise<void> {
    let bytes = 0;
    for (const { record } of changes) bytes += record.length;
    return this.#enqueue(revision, changes, bytes, () => {
      for (const change of changes) writeChange(this.#tables, change);
    });
  }

  #enqueue(revision: number, changes: readonly PendingChange[], bytes: number, write: () => void): Promise<void> {
    return new Promise((resolve, reject) => this.#writer.add({ revision, changes, bytes, write, resolve, reject }));
  }

  /** Resolves when a revision that was given out is visible. */
  #visible(revision: number): Promise<void> {
    // What is written after it becomes durable after it, or together with it.
    return revision <= this.revision ? Promise.resolve() : this.#enqueue(0, [], 0, () => {});
  }

  #publish(jobs: readonly Waiting[]): void {
    const changes: ChangeRecord[] = [];
    let revision = this.revision;
    for (const job of jobs) {
      if (job.revision === 0) continue;
      revision = job.revision;
      for (const { change, version } of job.changes) {
        changes.push(change);
        this.#newest.durable(change.key, version);
        if (version.expires > 0) this.#expiry.expect(version.expires);
      }
    }
    if (revision !== this.revision) {
      this.revision = revision;
      this.#subscriptions.publish(changes, revision);
    }
    for (const job of jobs) job.resolve();
  }

  /** Nothing of the jobs was written: their revisions are given out anew. */
  #refuse(jobs: readonly Waiting[], cause: unknown): void {
    this.#assigned = this.revision;
    this.#newest.forgetAfter(this.revision);
    const error = writeError(this.#dataDir, cause);
    for (const job of jobs) job.reject(error);
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new StoreUnavailable('the store is closed');
  }

  #checkReadable(at: number | undefined): void {
    this.#checkOpen();
    if (at === undefined) return;
    if (at > this.revision) throw new FutureRevision(this.revision);
    if (at < this.compacted) throw new Compacted(this.compacted);
  }

  #readerState() {
    const engine = this;
    return {
      get revision() {
        return engine.revision;
      },
      checkReadable: (at: number | undefined) => engine.#checkReadable(at),
    };
  }

  #compactionState() {
    const engine = this;
    return {
      get revision() {
        return engine.revision;
      },
      get compacted() {
        return engine.compacted;
      },
      set compacted(revision: number) {
        engine.compacted = revision;
      },
      get stopped() {
        return engine.#closing !== undefined;
      },
      write: (bytes: number, fill: () => void) => engine.#enqueue(0, [], bytes, fill),
    };
  }
}
