/**
 * The default store: one file in the data directory, crash-safe, written by this process only. Keys are held in memory, values
 * are not.
 *
 *   commit (`lmdb/commits.ts`) → journal, durable and visible ──later, in batches (`lmdb/backlog.ts`)──▶ tables (`lmdb/table-writes.ts`)
 */

import { type Cancel, type Clock, systemClock } from '@plat-dev/lib/clock';
import type { Random } from '@plat-dev/lib/random';
import type { Ticker } from '@plat-dev/lib/ticker';
import {
  type ChangeRecord,
  Compacted,
  type Engine,
  type Entry,
  FutureRevision,
  type Hold,
  type Operation,
  type RangeRequest,
  type RangeResult,
  StoreUnavailable,
  type Subscriber,
} from '../engine.ts';
import type { HistoryPolicy, HistoryStore } from '../history.ts';
import type { StoreMark, StoreOwner } from '../store-mark.ts';
import { type Due, Expiry } from './expiry.ts';
import { HeldRevisions } from './held-revisions.ts';
import { Backlog } from './lmdb/backlog.ts';
import { Commits, type Committed } from './lmdb/commits.ts';
import { Compactor } from './lmdb/compactor.ts';
import { checkRoom, freeBytes, freeBytesNow, writeError } from './lmdb/errors.ts';
import { HistoryReader } from './lmdb/history-reader.ts';
import { leaveCleanEnd, readBoot } from './lmdb/journal/clean-end.ts';
import { Journal } from './lmdb/journal/journal.ts';
import { type DirectoryLock, lockDirectory } from './lmdb/lock.ts';
import { MetaDamage, readMark, readNumberRow, writeNumberRow } from './lmdb/meta.ts';
import { NewestVersions } from './lmdb/newest.ts';
import { damagedInUse, type PageCheck, PageLook } from './lmdb/pages/page-look.ts';
import { dueExpiries, IndexDamage, newestRevision, Reader } from './lmdb/reader.ts';
import { recover } from './lmdb/repair/recover.ts';
import { finishReplacing } from './lmdb/replace.ts';
import { RunningRecord } from './lmdb/running-record.ts';
import type { Tables } from './lmdb/table.ts';
import { TableWrites } from './lmdb/table-writes.ts';
import { damagedStore, openTables, prepareDirectory } from './lmdb/tables.ts';
import { DEFAULT_RETENTION_MS, everyRetentionInterval } from './retention.ts';
import { Subscriptions } from './subscriptions.ts';

export interface LmdbOptions {
  readonly dataDir: string;
  readonly clock?: Clock;
  readonly random?: Random;
  /** How long superseded versions stay readable. */
  readonly historyRetentionMs?: number;
  /** Which superseded versions outlast compaction; undefined: none. */
  readonly history?: HistoryPolicy;
  /** Free bytes of the disk that holds a directory; read before each transaction. */
  readonly freeBytes?: (directory: string) => number;
  /** For measurements only: resolves before the data is durable. */
  readonly unsafeNoSync?: boolean;
  /** Names this start of the machine, as its system does if not given. */
  readonly boot?: string;
  /** The identity of the server; undefined for tools, which open any store. */
  readonly owner?: StoreOwner | undefined;
  /** Called with damage that is found while the store is open, for the log. */
  readonly notice?: (message: string) => void;
  /** Called when all pages of the file were checked while the store is open, for the log. */
  readonly checked?: (result: PageCheck) => void;
}

/** A write that takes longer than this fails the health check. */
const SLOWEST_MS = 10_000;
/** Delay after a start until the keys of a file that was closed cleanly are read: a start has more important work. */
export const FILL_AFTER_MS = 1000;

/** Throws when the directory cannot be used: in use by another server, not writable, a damaged or unknown file. */
export async function openLmdbEngine(options: LmdbOptions): Promise<Engine> {
  prepareDirectory(options.dataDir);
  const lock = await lockDirectory(options.dataDir);
  try {
    const finished = finishReplacing(options.dataDir);
    if (finished !== undefined) options.notice?.(finished);
    const tables = await openTables(options.dataDir, options);
    try {
      await recover(tables, options);
      return new LmdbEngine(tables, lock, options);
    } catch (error) {
      await tables.close();
      throw error instanceof MetaDamage || error instanceof IndexDamage ? damagedStore(options.dataDir, error) : error;
    }
  } catch (error) {
    await lock.release();
    throw error;
  }
}

class LmdbEngine implements Engine {
  readonly name = 'lmdb';
  readonly exclusive = true;
  compacted: number;
  readonly history: HistoryStore;
  readonly #dataDir: string;
  readonly #free: (directory: string) => number;
  readonly #clock: Clock;
  readonly #lock: DirectoryLock;
  readonly #tables: Tables;
  readonly #reader: Reader;
  readonly #newest: NewestVersions;
  readonly #journal: Journal;
  readonly #commits: Commits;
  readonly #backlog: Backlog;
  readonly #writes: TableWrites;
  readonly #compactor: Compactor;
  readonly #subscriptions: Subscriptions;
  readonly #expiry: Expiry;
  readonly #retention: Ticker;
  readonly #holds: HeldRevisions;
  readonly #pages: PageLook;
  readonly #running: RunningRecord;
  readonly #notice: LmdbOptions['notice'];
  #cancelFill: Cancel | undefined;
  #filling: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  /** The tables record that a server runs, so that a missing journal is noticed. */
  #opened: Promise<void> | undefined;

  constructor(tables: Tables, lock: DirectoryLock, options: LmdbOptions) {
    const { dataDir, clock = systemClock, historyRetentionMs = DEFAULT_RETENTION_MS, freeBytes: free = freeBytes } = options;
    this.#tables = tables;
    this.#lock = lock;
    this.#dataDir = dataDir;
    this.#free = free;
    this.#clock = clock;
    this.#holds = new HeldRevisions(clock);
    this.compacted = readNumberRow(tables.meta, 'compacted') ?? 0;
    const revision = newestRevision(tables);
    this.#reader = new Reader(tables, this.#readerState());
    // A file that was not closed cleanly is checked as a whole first.
    this.#newest = new NewestVersions(this.#reader, tables.uncheckedStarts === undefined, (error) => this.#readError(error));
    this.#journal = new Journal(dataDir, options.unsafeNoSync !== true);
    this.#backlog = new Backlog(tables, revision, { write: (bytes, fill) => this.#writes.write(bytes, fill) }, clock);
    const disk = { dataDir, free: options.freeBytes === undefined ? freeBytesNow(dataDir, clock) : () => free(dataDir), clock };
    this.#writes = new TableWrites(tables, { ...disk, onWritten: () => this.#running.changed() });
    this.#commits = new Commits(revision, {
      ...disk,
      newest: this.#newest,
      journal: this.#journal,
      backlog: this.#backlog,
      markOpen: () => this.#markOpen(),
      published: (records, newest) => this.#subscriptions.publish(records, newest),
      expires: (time) => this.#expiry.expect(time),
    });
    this.#compactor = new Compactor(tables, this.#compactionState(), options.history);
    this.history = this.#historyStore();
    this.#subscriptions = new Subscriptions({ slice: (after) => this.#slice(after), currentRevision: () => this.revision });
    this.#expiry = new Expiry(clock, {
      due: (until, limit) => this.#due(until, limit),
      expire: async (key, revision) => void (await this.commit([{ type: 'delete', key, expect: revision }])),
    });
    const first = dueExpiries(tables, -1, 1).next;
    if (first !== undefined) this.#expiry.expect(first);
    this.#retention = everyRetentionInterval(
      clock,
      historyRetentionMs,
      (revision) => this.#forgetBefore(revision).catch(() => {}),
      () => true,
    );
    this.#notice = options.notice;
    this.#fillLater();
    this.#pages = new PageLook(tables, dataDir, clock, {
      damaged: (damage) => this.#stopWrites(damage),
      checked: (result) => {
        options.checked?.(result);
        this.#running.changed();
      },
    });
    const isChecked = () => this.#pages.uncheckedStarts === 0 && this.#newest.isComplete;
    this.#running = new RunningRecord(dataDir, clock, options.boot ?? readBoot(), isChecked);
    this.#markOpen().catch(() => {});
    // A failure is retried by the retention, and a failing disk is reported by writes.
    this.#compactor.resume().catch(() => {});
  }

  get revision(): number {
    return this.#commits.revision;
  }

  get mark(): StoreMark | undefined {
    return readMark(this.#tables.meta);
  }

  async currentRevision(): Promise<number> {
    this.#checkOpen();
    return this.revision;
  }

  async get(key: string, at?: number): Promise<Entry | undefined> {
    this.#checkReadable(at);
    const when = at ?? this.revision;
    await this.#backlog.applyTo(when);
    this.#checkReadable(at);
    const version = this.#reader.versionAt(key, when);
    return version === undefined || version.deleted ? undefined : this.#reader.entry(key, version);
  }

  async range(request: RangeRequest): Promise<RangeResult> {
    this.#checkReadable(request.at);
    const at = request.at ?? this.revision;
    await this.#backlog.applyTo(at);
    return this.#reader.range({ ...request, at }).catch((error: unknown) => Promise.reject(this.#readError(error)));
  }

  async changes({ after, prefix, limit }: { after: number; prefix: string; limit?: number }): Promise<ChangeRecord[]> {
    this.#checkReadable(after);
    await this.#backlog.applyTo(this.revision);
    return this.#reader.changes(after, prefix, limit);
  }

  /** Not an async function: each of those costs a promise, and several turns of the queue of promises, more. */
  commit(operations: readonly Operation[], assigned?: (revision: number) => void): Promise<Committed> {
    try {
      this.#checkOpen();
      return this.#commits.commit(operations, assigned);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  subscribe(after: number, deliver: Subscriber, failed: (error: Error) => void): () => void {
    return this.#subscriptions.subscribe(after, deliver, failed);
  }

  async compact(revision: number): Promise<void> {
    this.#checkOpen();
    if (revision > this.revision) throw new FutureRevision(this.revision);
    await this.#backlog.applyTo(revision);
    await this.#compactor.toRevision(revision);
  }

  async hold(milliseconds: number): Promise<Hold> {
    this.#checkOpen();
    const release = this.#holds.add(this.revision, milliseconds);
    return { revision: this.revision, release: async () => release() };
  }

  async skipTo(revision: number): Promise<void> {
    this.#checkOpen();
    if (this.#subscriptions.count > 0) throw new Error('revisions cannot be left out while the store is followed');
    await this.#commits.idle();
    if (revision <= this.revision) return;
    await this.compact(this.revision);
    await this.#compactor.skipTo(revision);
    this.#backlog.skipTo(revision);
    this.#commits.skipTo(revision);
  }

  get refusing(): string | undefined {
    try {
      checkRoom(this.#dataDir, this.#free(this.#dataDir), this.#backlog.bytes);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }

  async ping(): Promise<void> {
    this.#checkOpen();
    for (const { busyFor, broken } of [this.#commits, this.#writes]) {
      if (broken !== undefined) throw writeError(this.#dataDir, broken.error);
      if (busyFor > SLOWEST_MS) {
        throw new StoreUnavailable(`the disk of ${this.#dataDir} has not confirmed a write for ${Math.round(busyFor / 1000)} seconds`);
      }
    }
    if (this.#tables.isReadable) this.#tables.meta.get('format');
  }

  async stats(): Promise<Record<string, number>> {
    this.#checkOpen();
    const stats = this.#tables.stats();
    return {
      ...stats,
      kept_versions: stats.kept_versions + this.#backlog.count,
      history_bytes: this.#compactor.keptBytes,
      waiting_commits: this.#commits.waiting,
      subscribers: this.#subscriptions.count,
      unchecked_starts: this.#pages.uncheckedStarts,
      damaged_pages: this.#pages.damagedPages,
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
    this.#retention.close();
    this.#cancelFill?.();
    await this.#filling;
    await this.#pages.stop();
    // Accepted commits are finished; the flag that refuses new ones is set by the caller in this same turn of the loop.
    await this.#commits.idle();
    this.#subscriptions.end(new StoreUnavailable('the store is closed'));
    // Changes that cannot be written to the tables now stay in the journal for the next start.
    const done = await this.#opened
      ?.then(() => this.#backlog.applyTo(this.revision))
      .then(() => this.#writes.write(100, () => writeNumberRow(this.#tables.meta, 'closed', this.revision)))
      .then(
        () => true,
        () => false,
      );
    this.#backlog.stop();
    await this.#writes.idle();
    await this.#running.close();
    await this.#tables.close();
    this.#journal.close(done === true);
    if (done === true) await leaveCleanEnd(this.#dataDir, this.#pages.uncheckedStarts);
    await this.#lock.release();
  }

  /** Reads the keys of a file that was closed cleanly, and so checks its index. */
  #fillLater(): void {
    if (this.#newest.isComplete) return;
    this.#cancelFill = this.#clock.after(FILL_AFTER_MS, () => {
      this.#filling = this.#newest
        .fill(() => this.#closing !== undefined)
        .then(() => this.#running.changed())
        .catch((error: unknown) => {
          // The file is opened again after the disk was full: it is read later.
          if (this.#readError(error) === error && this.#closing === undefined) this.#fillLater();
        });
    });
  }
  /** The error for a read that failed. Damage of the index stops all writes: keys that are not in it are not found. */
  #readError(error: unknown): Error {
    if (!(error instanceof IndexDamage)) return error as Error;
    const damage = new StoreUnavailable(damagedInUse(this.#dataDir, error.message));
    this.#stopWrites(damage);
    return damage;
  }
  #stopWrites(damage: StoreUnavailable): void {
    const isKnown = this.#commits.broken !== undefined;
    this.#commits.stop(damage);
    this.#writes.stop(damage);
    this.#running.stop();
    if (!isKnown) this.#notice?.(damage.message);
  }

  #markOpen(): Promise<void> {
    this.#opened ??= this.#writes
      .write(100, () => void this.#tables.meta.remove('closed'))
      .catch((error: unknown) => {
        this.#opened = undefined;
        throw error;
      });
    return this.#opened;
  }

  #slice(after: number): { changes: ChangeRecord[]; revision: number } {
    // The next turn retries.
    if (after < this.#backlog.applied && !this.#tables.isReadable) return { changes: [], revision: after };
    return after < this.#backlog.applied ? this.#reader.slice(after) : this.#backlog.slice(after);
  }

  async #due(until: number, limit: number): Promise<Due> {
    await this.#backlog.applyTo(this.revision);
    const { due, next } = dueExpiries(this.#tables, until, limit);
    // The index by key decides when a key expires: a row that differs is damaged or stale, and is removed.
    const wrong = due.filter(({ key, revision, expires }) => {
      const newest = this.#newest.of(key);
      return newest?.revision === revision && newest.expires !== expires;
    });
    if (wrong.length === 0) return { due, next };
    await this.#writes.write(wrong.length * 100, () => {
      for (const { expires, revision, index } of wrong) this.#tables.expiries.remove({ expires, revision, index });
    });
    return { due: due.filter((one) => !wrong.includes(one)), next };
  }

  async #forgetBefore(time: number): Promise<void> {
    await this.#backlog.applyTo(this.revision);
    await this.#compactor.toTime(time);
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new StoreUnavailable('the store is closed');
  }

  #checkReadable(at: number | undefined): void {
    this.#checkOpen();
    if (!this.#tables.isReadable) throw new StoreUnavailable('the store file is opened again after the disk was full; try again');
    if (at === undefined) return;
    if (at > this.revision) throw new FutureRevision(this.revision);
    if (at < this.compacted) throw new Compacted(this.compacted);
  }

  #historyStore(): HistoryStore {
    const reader = new HistoryReader(this.#tables, this.#reader, () => this.#checkReadable(undefined));
    const read = async <T>(from: () => T | Promise<T>): Promise<T> => {
      this.#checkReadable(undefined);
      await this.#backlog.applyTo(this.revision);
      return Promise.resolve()
        .then(from)
        .catch((error: unknown) => Promise.reject(this.#readError(error)));
    };
    return {
      versions: (request) => read(() => reader.versions(request)),
      at: (request) => read(() => reader.at(request)),
      revisionAt: (time) => read(() => reader.revisionAt(time)),
      add: (versions) => read(() => this.#compactor.add(versions)),
    };
  }

  #readerState() {
    const engine = this;
    return {
      get revision() {
        return engine.#backlog.applied;
      },
      checkReadable: (at: number | undefined) => engine.#checkReadable(at),
    };
  }

  #compactionState() {
    const engine = this;
    return {
      get revision() {
        return engine.#backlog.applied;
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
      now: () => engine.#clock.now(),
      bound: (revision: number) => engine.#holds.bound(revision),
      write: (bytes: number, fill: () => void) => engine.#writes.write(bytes, fill),
    };
  }
}
