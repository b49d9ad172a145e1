/**
 * The store in memory, for tests and throw-away servers: the same semantics as the durable engines, without durability.
 * A key holds its versions, oldest first; the log holds the changes of each commit.
 */

import { type Clock, systemClock } from '@plat-dev/lib/clock';
import { nextTurn } from '@plat-dev/lib/next-turn';
import { SortedMap } from '@plat-dev/lib/sorted-map';
import { Ticker } from '@plat-dev/lib/ticker';
import {
  type ChangeRecord,
  CommitConflict,
  Compacted,
  type Engine,
  type Entry,
  FutureRevision,
  type Hold,
  type KeptValue,
  type Operation,
  type RangeRequest,
  type RangeResult,
  StoreUnavailable,
  type Subscriber,
} from '../engine.ts';
import type { HistoryPolicy, HistoryStore, KeptVersion } from '../history.ts';
import { Expiry } from './expiry.ts';
import { HeldRevisions } from './held-revisions.ts';
import { type HistoryVersion, MemoryHistory, type SupersededVersion } from './memory-history.ts';
import { memoryHistoryStore } from './memory-history-reads.ts';
import { checkOperations, startOf } from './operations.ts';
import { DEFAULT_RETENTION_MS, everyRetentionInterval } from './retention.ts';
import { Subscriptions } from './subscriptions.ts';

export interface MemoryOptions {
  readonly clock?: Clock;
  /** How long superseded versions stay readable. */
  readonly historyRetentionMs?: number;
  /** Maximum bytes of retained changes, whatever their age. */
  readonly historyBytes?: number;
  /** Which superseded versions outlast compaction; undefined: none. */
  readonly history?: HistoryPolicy;
  /** Initial content of the store, including history. It is not changed: any number of stores may start from it. */
  readonly from?: MemoryState | undefined;
}

/** The content of a store at a time. Values are shared with the store; lists and indexes are not. */
export interface MemoryState {
  readonly revision: number;
  readonly compacted: number;
  readonly versions: SortedMap<Version[]>;
  readonly log: readonly LoggedCommit[];
  readonly logStart: number;
  readonly logBytes: number;
  readonly expiries: SortedMap<Expiring>;
  /** Versions that outlasted compaction. */
  readonly history: readonly SupersededVersion[];
}

export interface MemoryEngine extends Engine {
  readonly name: 'memory';
  /** The current content of the store; later changes of the store do not show in it. */
  state(): MemoryState;
  /**
   * Resets the store to a snapshot, as one commit: newer keys are deleted, changed and deleted ones are put. The revision
   * keeps rising, and subscribers are called as for any commit. Unchanged keys keep their revision.
   */
  restore(state: MemoryState): Promise<{ revision: number }>;
  /** The value of a key before a commit; undefined if there was none or it is compacted. */
  valueBefore(key: string, revision: number): Buffer | undefined;
}
/** History is for watches that resume and paginated lists: both start again if it is gone. */
const DEFAULT_HISTORY_BYTES = 64 * 1024 * 1024;
/** How often versions are looked at whose time in history may be over: it is counted in hours and days. */
const HISTORY_INTERVAL_MS = 10 * 60_000;
/** Approximate overhead of a change in addition to its value: its key, its record and its version. */
const CHANGE_BYTES = 512;

interface Expiring {
  readonly key: string;
  readonly revision: number;
  readonly at: number;
}
interface Version {
  readonly revision: number;
  readonly created: number;
  /** undefined: the key was deleted. A subscriber may keep it in another form. */
  value: Buffer | KeptValue | undefined;
  /** When the key is to be deleted, in milliseconds; 0: never. */
  readonly expires: number;
  /** When it was written, in milliseconds. */
  readonly time: number;
  readonly note: Buffer | undefined;
}
interface LoggedChange {
  readonly key: string;
  readonly version: Version;
}
interface LoggedCommit {
  readonly time: number;
  readonly changes: readonly LoggedChange[];
  readonly bytes: number;
}
/** Maximum commits that are read, or compacted, in one turn of the event loop. */
const SLICE = 1_000;

export function openMemoryEngine(options: MemoryOptions = {}): MemoryEngine {
  return new InMemory(options);
}

/** Throws for an engine that keeps its state elsewhere. */
export function asMemoryEngine(engine: Engine): MemoryEngine {
  if (engine instanceof InMemory) return engine;
  throw new Error(`only a store in memory can be copied and reset; this one is ${engine.name}: start the server with the store "memory"`);
}

class InMemory implements MemoryEngine {
  readonly name = 'memory';
  readonly exclusive = true;
  revision = 0;
  compacted = 0;
  readonly #clock: Clock;
  readonly #versions: SortedMap<Version[]>;
  /** Commits after `#logStart`, oldest first. */
  #log: LoggedCommit[] = [];
  /** Revision before the first commit of the log; at most `compacted`, since the log is trimmed step by step. */
  #logStart = 0;
  #logBytes = 0;
  readonly #historyBytes: number;
  /** Size of the log in bytes at which its oldest commits are compacted. */
  #forgetAt: number;
  readonly #subscriptions: Subscriptions;
  readonly #expiry: Expiry;
  readonly #expiries: SortedMap<Expiring>;
  readonly #retention: Ticker;
  readonly #expiredHistory: Ticker;
  readonly #holds: HeldRevisions;
  readonly #kept: MemoryHistory;
  readonly history: HistoryStore;
  #closed = false;

  constructor(options: MemoryOptions) {
    const { clock = systemClock, historyRetentionMs = DEFAULT_RETENTION_MS, historyBytes = DEFAULT_HISTORY_BYTES, from } = options;
    this.#versions = from?.versions.copy(copyVersions) ?? new SortedMap();
    this.#expiries = from?.expiries.copy() ?? new SortedMap();
    if (from !== undefined) {
      this.revision = from.revision;
      this.compacted = from.compacted;
      this.#log = from.log.slice();
      this.#logStart = from.logStart;
      this.#logBytes = from.logBytes;
    }
    this.#clock = clock;
    this.#historyBytes = historyBytes;
    this.#forgetAt = historyBytes;
    this.#holds = new HeldRevisions(clock);
    this.#kept = new MemoryHistory(options.history, from?.history ?? [], () => clock.now());
    this.history = memoryHistoryStore({
      checkOpen: () => this.#checkOpen(),
      history: this.#kept,
      readableOf: (key) => this.#versions.get(key)?.map((version) => historyVersion(key, version)) ?? [],
      eachKey: (start, visit) => this.#versions.each(start, (_, key) => visit(key)),
      add: (versions) => this.#addHistory(versions),
    });
    this.#subscriptions = new Subscriptions({ slice: (after) => this.#slice(after), currentRevision: () => this.revision });
    this.#expiry = new Expiry(clock, {
      due: async (until, limit) => this.#due(until, limit),
      expire: async (key, revision) => void (await this.commit([{ type: 'delete', key, expect: revision }])),
    });
    this.#retention = everyRetentionInterval(
      clock,
      historyRetentionMs,
      (revision) => this.#forgetBefore(revision),
      () => this.compacted < this.revision,
    );
    this.#expiredHistory = new Ticker(clock, HISTORY_INTERVAL_MS, () => {
      this.#kept.dropExpired();
      return this.#kept.size > 0;
    });
    if (this.#kept.size > 0) this.#expiredHistory.start();
    const { next } = this.#due(Number.NEGATIVE_INFINITY, 0);
    if (next !== undefined) this.#expiry.expect(next);
  }

  async currentRevision(): Promise<number> {
    this.#checkOpen();
    return this.revision;
  }

  async get(key: string, at?: number): Promise<Entry | undefined> {
    this.#checkReadable(at);
    return entryAt(key, this.#versions.get(key), at ?? this.revision);
  }

  async range(request: RangeRequest): Promise<RangeResult> {
    this.#checkReadable(request.at);
    const { prefix, at = this.revision, limit = Number.POSITIVE_INFINITY, uncounted = false, expiries = false } = request;
    const entries: Entry[] = [];
    let count = 0;
    this.#versions.each(startOf(request), (versions, key) => {
      if (!key.startsWith(prefix)) return false;
      const entry = entryAt(key, versions, at, expiries);
      if (entry === undefined) return true;
      count++;
      if (entries.length < limit) entries.push(entry);
      return !(uncounted && count > limit);
    });
    return { entries, revision: at, more: count > entries.length, count };
  }

  async commit(operations: readonly Operation[], assigned?: (revision: number) => void): Promise<{ revision: number }> {
    this.#checkOpen();
    checkOperations(operations);
    for (const { key, expect } of operations) {
      if (expect !== undefined && (this.#current(key)?.revision ?? 0) !== expect) throw new CommitConflict(key);
    }
    const revision = this.revision + 1;
    const time = this.#clock.now();
    const changes: ChangeRecord[] = [];
    const logged: LoggedChange[] = [];
    let bytes = 0;
    for (const operation of operations) {
      const version = this.#apply(operation, revision, time);
      if (version === undefined) continue;
      const { key } = operation;
      const value = operation.type === 'put' ? operation.value : undefined;
      logged.push({ key, version });
      changes.push(changeOf(key, version, value));
      bytes += CHANGE_BYTES + (value?.length ?? 0) + (version.note?.length ?? 0);
    }
    if (changes.length === 0) return { revision: this.revision };
    this.#log.push({ time, changes: logged, bytes });
    this.#logBytes += bytes;
    this.revision = revision;
    this.#retention.start();
    assigned?.(revision);
    this.#subscriptions.publish(changes, revision);
    if (this.#logBytes > this.#forgetAt) this.#forgetOldest();
    return { revision };
  }

  async changes({ after, prefix, limit }: { after: number; prefix: string; limit?: number }): Promise<ChangeRecord[]> {
    this.#checkReadable(after);
    const changeRecords: ChangeRecord[] = [];
    for (let index = after - this.#logStart; index < this.#log.length; index++) {
      if (limit !== undefined && changeRecords.length >= limit) break;
      for (const { key, version } of (this.#log[index] as LoggedCommit).changes)
        if (key.startsWith(prefix)) changeRecords.push(changeOf(key, version, bytesOf(version)));
    }
    return changeRecords;
  }

  subscribe(after: number, deliver: Subscriber, failed: (error: Error) => void): () => void {
    return this.#subscriptions.subscribe(after, deliver, failed);
  }

  async compact(revision: number): Promise<void> {
    this.#checkOpen();
    if (revision > this.revision) throw new FutureRevision(this.revision);
    const bound = this.#holds.bound(revision);
    if (bound <= this.compacted) return;
    this.compacted = bound;
    while (this.#logStart < this.compacted) {
      const forgotten = this.#log.splice(0, Math.min(SLICE, this.compacted - this.#logStart));
      for (const { changes, bytes } of forgotten) {
        this.#logStart++;
        this.#logBytes -= bytes;
        for (const { key } of changes) this.#prune(key, this.#logStart);
      }
      if (this.#logStart < this.compacted) await nextTurn();
    }
  }

  async hold(milliseconds: number): Promise<Hold> {
    this.#checkOpen();
    const release = this.#holds.add(this.revision, milliseconds);
    return { revision: this.revision, release: async () => release() };
  }

  async skipTo(revision: number): Promise<void> {
    this.#checkOpen();
    if (this.#subscriptions.count > 0) throw new Error('revisions cannot be left out while the store is followed');
    if (revision <= this.revision) return;
    await this.compact(this.revision);
    this.#log = [];
    this.#logBytes = 0;
    this.revision = revision;
    this.compacted = revision;
    this.#logStart = revision;
  }

  state(): MemoryState {
    this.#checkOpen();
    return {
      revision: this.revision,
      compacted: this.compacted,
      versions: this.#versions.copy(copyVersions),
      log: this.#log.slice(),
      logStart: this.#logStart,
      logBytes: this.#logBytes,
      expiries: this.#expiries.copy(),
      history: this.#kept.all(),
    };
  }

  async restore(state: MemoryState): Promise<{ revision: number }> {
    const operations: Operation[] = [];
    this.#versions.each('', (_, key) => {
      if (this.#current(key) !== undefined && currentOf(state.versions.get(key)) === undefined) operations.push({ type: 'delete', key });
      return true;
    });
    const now = this.#clock.now();
    state.versions.each('', (versions, key) => {
      const then = currentOf(versions);
      if (then === undefined || isSame(then, this.#current(key))) return true;
      const value = bytesOf(then) as Buffer;
      const ttl = then.expires > 0 && { ttlSeconds: Math.max(0, then.expires - now) / 1000 };
      operations.push({ type: 'put', key, value, ...ttl });
      return true;
    });
    return this.commit(operations);
  }

  valueBefore(key: string, revision: number): Buffer | undefined {
    return entryAt(key, this.#versions.get(key), revision - 1)?.value;
  }

  keepAs(key: string, revision: number, value: KeptValue): void {
    const newest = this.#versions.get(key)?.at(-1);
    if (newest?.revision === revision && newest.value !== undefined) newest.value = value;
  }

  async ping(): Promise<void> {
    this.#checkOpen();
  }

  async stats(): Promise<Record<string, number>> {
    return {
      keys: this.#versions.size,
      kept_commits: this.#log.length,
      history_bytes: this.#kept.bytes,
      subscribers: this.#subscriptions.count,
    };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#expiry.stop();
    this.#retention.close();
    this.#expiredHistory.close();
    this.#subscriptions.end(new StoreUnavailable('the store is closed'));
  }

  #apply(operation: Operation, revision: number, time: number): Version | undefined {
    const { type, key } = operation;
    if (type === 'check') return undefined;
    const current = this.#current(key);
    if (type === 'delete' && current === undefined) return undefined;
    if (current !== undefined && current.expires > 0) this.#expiries.delete(expiryKey(current.expires, key));
    const created = current?.created ?? revision;
    const value = type === 'put' ? operation.value : undefined;
    const expires = type === 'put' && operation.ttlSeconds !== undefined ? time + operation.ttlSeconds * 1000 : 0;
    const version: Version = { revision, created, value, expires, time, note: operation.note };
    const versions = this.#versions.get(key);
    if (versions === undefined) this.#versions.set(key, [version]);
    else versions.push(version);
    if (expires > 0) {
      this.#expiries.set(expiryKey(expires, key), { key, revision, at: expires });
      this.#expiry.expect(expires);
    }
    return version;
  }

  #current(key: string): Version | undefined {
    return currentOf(this.#versions.get(key));
  }

  /** Drops the versions of a key that were superseded up to a revision. */
  #prune(key: string, revision: number): void {
    const versions = this.#versions.get(key);
    if (versions === undefined) return;
    let oldestVisible = versions.length - 1;
    while (oldestVisible > 0 && (versions[oldestVisible] as Version).revision > revision) oldestVisible--;
    const oldest = versions[oldestVisible] as Version;
    const isGone = oldest.value === undefined && oldest.revision <= revision;
    const remainingVersions = versions.length - oldestVisible - (isGone ? 1 : 0);
    this.#keepHistory(key, versions, versions.length - remainingVersions);
    if (remainingVersions === 0) this.#versions.delete(key);
    // A list that had several versions has room for more than a dozen.
    else if (remainingVersions === 1 && versions.length > 1) this.#versions.set(key, [versions.at(-1) as Version]);
    else versions.splice(0, versions.length - remainingVersions);
  }

  /** The first versions of a key go into its history. A deletion is superseded when it is made. */
  #keepHistory(key: string, versions: readonly Version[], count: number): void {
    for (let index = 0; index < count; index++) {
      const version = versions[index] as Version;
      const next = version.value === undefined ? version : (versions[index + 1] as Version);
      this.#kept.keep({ version: historyVersion(key, version), supersededAt: next.time });
    }
    if (this.#kept.size > 0) this.#expiredHistory.start();
  }

  #addHistory(versions: readonly KeptVersion[]): void {
    this.#kept.add(versions);
    this.#expiredHistory.start();
  }

  #slice(after: number): { changes: ChangeRecord[]; revision: number } {
    this.#checkReadable(after);
    const commits = this.#log.slice(after - this.#logStart, after - this.#logStart + SLICE);
    const changes = commits.flatMap((commit) => commit.changes.map(({ key, version }) => changeOf(key, version, bytesOf(version))));
    return { changes, revision: after + commits.length };
  }

  #due(until: number, limit: number): { due: { key: string; revision: number }[]; next: number | undefined } {
    const due: { key: string; revision: number }[] = [];
    let next: number | undefined;
    this.#expiries.each('', (expiry) => {
      if (expiry.at > until || due.length >= limit) {
        next = expiry.at;
        return false;
      }
      due.push(expiry);
      return true;
    });
    return { due, next };
  }

  /** Compacts an eighth of the limit, so that this is done now and then; held revisions stay for now. */
  #forgetOldest(): void {
    const eighth = this.#historyBytes / 8;
    let remainingBytes = this.#logBytes;
    let count = 0;
    while (count < this.#log.length - 1 && remainingBytes > this.#historyBytes - eighth)
      remainingBytes -= (this.#log[count++] as LoggedCommit).bytes;
    this.#forgetAt = Number.POSITIVE_INFINITY;
    void this.compact(this.#logStart + count).finally(() => {
      this.#forgetAt = Math.max(this.#historyBytes, this.#logBytes + eighth);
    });
  }

  async #forgetBefore(time: number): Promise<void> {
    this.#kept.dropExpired();
    let revision = this.compacted;
    while (revision < this.revision && (this.#log[revision - this.#logStart] as LoggedCommit).time <= time) revision++;
    if (!this.#closed) await this.compact(revision);
  }

  #checkOpen(): void {
    if (this.#closed) throw new StoreUnavailable('the store is closed');
  }

  #checkReadable(at: number | undefined): void {
    this.#checkOpen();
    if (at === undefined) return;
    if (at > this.revision) throw new FutureRevision(this.revision);
    if (at < this.compacted) throw new Compacted(this.compacted);
  }
}

const copyVersions = (versions: Version[]): Version[] => versions.slice();

const bytesOf = ({ value }: Version): Buffer | undefined => (value === undefined || Buffer.isBuffer(value) ? value : value.stored());

const historyVersion = (key: string, { revision, created, time, note, value }: Version): HistoryVersion => ({
  type: value === undefined ? 'delete' : 'put',
  key,
  revision,
  created,
  time,
  note,
  value,
});

const changeOf = (key: string, { revision, created }: Version, value: Buffer | undefined): ChangeRecord => ({
  type: value === undefined ? 'delete' : 'put',
  key,
  value,
  revision,
  created,
});

/** Whether two versions have one value. A version that was restored has a copy of it. */
function isSame(one: Version, other: Version | undefined): boolean {
  if (other === undefined) return false;
  if (one.value === other.value) return true;
  const [value, compared] = [bytesOf(one), bytesOf(other)];
  return one.expires === other.expires && value !== undefined && compared !== undefined && value.equals(compared);
}

function currentOf(versions: readonly Version[] | undefined): Version | undefined {
  const last = versions?.at(-1);
  return last?.value === undefined ? undefined : last;
}

function entryAt(key: string, versions: readonly Version[] | undefined, at: number, expiries = false): Entry | undefined {
  if (versions === undefined) return undefined;
  for (let index = versions.length - 1; index >= 0; index--) {
    const version = versions[index] as Version;
    const { revision, created, expires } = version;
    if (revision > at) continue;
    const value = bytesOf(version);
    if (value === undefined) return undefined;
    return expiries && expires > 0 ? { key, value, revision, created, expires } : { key, value, revision, created };
  }
  return undefined;
}

function expiryKey(at: number, key: string): string {
  return `${String(at).padStart(16, '0')} ${key}`;
}
