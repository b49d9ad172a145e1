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
import { Expiries } from './memory/expiries.ts';
import { MemoryHistory } from './memory/history.ts';
import { memoryHistoryStore } from './memory/history-reads.ts';
import { CommitLog } from './memory/log.ts';
import { copyVersions, type MemoryState, restoringOperations } from './memory/state.ts';
import { changeOf, currentOf, entryAt, type Version } from './memory/version.ts';
import { checkOperations, startOf } from './operations.ts';
import { DEFAULT_RETENTION_MS, everyRetentionInterval } from './retention.ts';
import { Subscriptions } from './subscriptions.ts';

export type { MemoryState } from './memory/state.ts';

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
  revision: number;
  compacted: number;
  readonly #clock: Clock;
  readonly #versions: SortedMap<Version[]>;
  readonly #log: CommitLog;
  readonly #historyBytes: number;
  /** Size of the log in bytes at which its oldest commits are compacted. */
  #forgetAt: number;
  readonly #subscriptions: Subscriptions;
  readonly #expiry: Expiry;
  readonly #expiries: Expiries;
  readonly #retention: Ticker;
  readonly #expiredHistory: Ticker;
  readonly #holds: HeldRevisions;
  readonly #kept: MemoryHistory;
  readonly history: HistoryStore;
  #closed = false;

  constructor(options: MemoryOptions) {
    const { clock = systemClock, historyRetentionMs = DEFAULT_RETENTION_MS, historyBytes = DEFAULT_HISTORY_BYTES, from } = options;
    this.revision = from?.revision ?? 0;
    this.compacted = from?.compacted ?? 0;
    this.#versions = from === undefined ? new SortedMap() : copyVersions(from.versions);
    this.#expiries = new Expiries(from?.expiries);
    this.#log = new CommitLog(from?.log);
    this.#clock = clock;
    this.#historyBytes = historyBytes;
    this.#forgetAt = historyBytes;
    this.#holds = new HeldRevisions(clock);
    this.#kept = new MemoryHistory(options.history, from?.history ?? [], () => clock.now());
    this.history = memoryHistoryStore({
      checkOpen: () => this.#checkOpen(),
      currentRevision: () => this.revision,
      readable: {
        eachKey: (start, visit) => this.#versions.each(start, (_, key) => visit(key)),
        eachVersion: (key, visit) => {
          const versions = this.#versions.get(key) ?? [];
          for (let index = versions.length - 1; index >= 0; index--) if (!visit(versions[index] as Version)) return false;
          return true;
        },
      },
      kept: this.#kept,
      add: (versions) => this.#addHistory(versions),
    });
    this.#subscriptions = new Subscriptions({ slice: (after) => this.#slice(after), currentRevision: () => this.revision });
    this.#expiry = new Expiry(clock, {
      due: async (until, limit) => this.#expiries.due(until, limit),
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
    const { next } = this.#expiries.due(Number.NEGATIVE_INFINITY, 0);
    if (next !== undefined) this.#expiry.expect(next);
  }

  async currentRevision(): Promise<number> {
    this.#checkOpen();
    return this.revision;
  }

  async get(key: string, at?: number): Promise<Entry | undefined> {
    this.#checkReadable(at);
    return entryAt(this.#versions.get(key), at ?? this.revision);
  }

  async range(request: RangeRequest): Promise<RangeResult> {
    this.#checkReadable(request.at);
    const { prefix, at = this.revision, limit = Number.POSITIVE_INFINITY, uncounted = false, expiries = false } = request;
    const entries: Entry[] = [];
    let count = 0;
    this.#versions.each(startOf(request), (versions, key) => {
      if (!key.startsWith(prefix)) return false;
      const entry = entryAt(versions, at, expiries);
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
    const versions: Version[] = [];
    let bytes = 0;
    for (const operation of operations) {
      const version = this.#apply(operation, revision, time);
      if (version === undefined) continue;
      versions.push(version);
      if (operation.type === 'put') bytes += operation.value.length;
    }
    if (versions.length === 0) return { revision: this.revision };
    const changes = versions.map(changeOf);
    this.#log.add(time, versions, bytes);
    this.revision = revision;
    this.#retention.start();
    assigned?.(revision);
    this.#subscriptions.publish(changes, revision);
    if (this.#log.bytes > this.#forgetAt) this.#forgetOldest();
    return { revision };
  }

  async changes({ after, prefix, limit }: { after: number; prefix: string; limit?: number }): Promise<ChangeRecord[]> {
    this.#checkReadable(after);
    return this.#log.changes(after, prefix, limit);
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
    while (this.#log.start < this.compacted) {
      this.#log.drop(this.compacted, (key, dropped) => this.#prune(key, dropped));
      if (this.#log.start < this.compacted) await nextTurn();
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
    this.#log.restart(revision);
    this.revision = revision;
    this.compacted = revision;
  }

  state(): MemoryState {
    this.#checkOpen();
    return {
      revision: this.revision,
      compacted: this.compacted,
      versions: copyVersions(this.#versions),
      log: this.#log.state(),
      expiries: this.#expiries.state(),
      history: this.#kept.all(),
    };
  }

  async restore(state: MemoryState): Promise<{ revision: number }> {
    return this.commit(restoringOperations(this.#versions, state, this.#clock.now()));
  }

  valueBefore(key: string, revision: number): Buffer | undefined {
    return entryAt(this.#versions.get(key), revision - 1)?.value;
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
    if (current !== undefined && current.expires > 0) this.#expiries.delete(current);
    const created = current?.created ?? revision;
    const value = type === 'put' ? operation.value : undefined;
    const expires = type === 'put' && operation.ttlSeconds !== undefined ? time + operation.ttlSeconds * 1000 : 0;
    const version: Version = { type, key, revision, created, value, expires, time, note: operation.note };
    const versions = this.#versions.get(key);
    if (versions === undefined) this.#versions.set(key, [version]);
    else versions.push(version);
    if (expires > 0) {
      this.#expiries.add(version);
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
    this.#keepHistory(versions, versions.length - remainingVersions);
    if (remainingVersions === 0) this.#versions.delete(key);
    // A list that had several versions has room for more than a dozen.
    else if (remainingVersions === 1 && versions.length > 1) this.#versions.set(key, [versions.at(-1) as Version]);
    else versions.splice(0, versions.length - remainingVersions);
  }

  /** The first versions of a key go into its history. A deletion is superseded when it is made. */
  #keepHistory(versions: readonly Version[], count: number): void {
    for (let index = 0; index < count; index++) {
      const version = versions[index] as Version;
      const next = version.value === undefined ? version : (versions[index + 1] as Version);
      this.#kept.keep({ version, supersededAt: next.time });
    }
    if (this.#kept.size > 0) this.#expiredHistory.start();
  }

  #addHistory(versions: readonly KeptVersion[]): void {
    this.#kept.add(versions);
    this.#expiredHistory.start();
  }

  #slice(after: number): { changes: ChangeRecord[]; revision: number } {
    this.#checkReadable(after);
    return this.#log.slice(after);
  }

  /** Compacts an eighth of the limit, so that this is done now and then; held revisions stay for now. */
  #forgetOldest(): void {
    const eighth = this.#historyBytes / 8;
    const revision = this.#log.revisionLeaving(this.#historyBytes - eighth);
    this.#forgetAt = Number.POSITIVE_INFINITY;
    void this.compact(revision).finally(() => {
      this.#forgetAt = Math.max(this.#historyBytes, this.#log.bytes + eighth);
    });
  }

  async #forgetBefore(time: number): Promise<void> {
    this.#kept.dropExpired();
    if (!this.#closed) await this.compact(this.#log.revisionAt(time, this.compacted));
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
