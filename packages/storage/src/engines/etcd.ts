/**
 * The store in etcd v3, for several servers on one store. Etcd's revision is the engine's: a commit is one transaction,
 * with the last revisions of its keys as preconditions; subscribers follow a watch.
 */

import { type Clock, systemClock } from '@plat-dev/lib/clock';
import { type Random, systemRandom } from '@plat-dev/lib/random';
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
import type { HistoryStore } from '../history.ts';
import type { StoreMark, StoreOwner } from '../store-mark.ts';
import { Commits } from './etcd/commits.ts';
import { Compaction } from './etcd/compaction.ts';
import { Connection } from './etcd/connection.ts';
import { CallFailure, CLOSED, unavailable } from './etcd/errors.ts';
import { Feeds } from './etcd/feeds.ts';
import { EtcdHistory } from './etcd/history.ts';
import { RowMaker } from './etcd/history-rows.ts';
import { RowScan } from './etcd/history-scan.ts';
import { HistorySweep, SWEEP_INTERVAL_MS } from './etcd/history-sweep.ts';
import { type Keyspace, keyspaceOf } from './etcd/keyspace.ts';
import { Leases } from './etcd/leases.ts';
import { Login } from './etcd/login.ts';
import { checkMark } from './etcd/mark.ts';
import {
  compactMethod,
  EMPTY_REQUEST,
  encodeCompact,
  encodeRange,
  type Method,
  memberStatus,
  type RangeAnswer,
  rangeMethod,
} from './etcd/messages.ts';
import { NewestRevision } from './etcd/newest.ts';
import { oldestRevision } from './etcd/oldest.ts';
import { addressesOf, DEFAULT_PREFIX, DEFAULT_REQUEST_TIMEOUT_MS, type EtcdOptions } from './etcd/options.ts';
import { OwnValues } from './etcd/own-values.ts';
import { Reads } from './etcd/reads.ts';
import { SharedHolds } from './etcd/shared-holds.ts';
import { skipRevisions } from './etcd/skip.ts';
import { DEFAULT_RETENTION_MS } from './retention.ts';

export type { EtcdOptions } from './etcd/options.ts';

/** Resolves when etcd has responded. Throws StoreUnavailable when it does not, TypeError for invalid options. */
export async function openEtcd(options: EtcdOptions): Promise<Engine> {
  const engine = new EtcdEngine(options);
  try {
    await engine.open(options.owner);
    return engine;
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** Throws TypeError for a user without a password, or a password without a user. */
function loginOf({ username, passwordFile }: EtcdOptions): Login | undefined {
  if (username === undefined && passwordFile === undefined) return undefined;
  if (username === undefined || passwordFile === undefined)
    throw new TypeError('a user of etcd needs a password file, and the file a user');
  return new Login({ name: username, passwordFile });
}

/** How often a range of the newest state is restarted because its revision was compacted meanwhile. */
const MOST_RANGE_ATTEMPTS = 3;
/** How old the newest known revision may be when a commit writes history. */
const STALE_MS = 1_000;

class EtcdEngine implements Engine {
  readonly name = 'etcd';
  readonly exclusive = false;
  /** The newest revision in any response of etcd. */
  revision = 0;
  compacted = 0;
  mark: StoreMark | undefined;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #keyspace: Keyspace;
  readonly #connection: Connection;
  readonly #rangeMethod: Method<RangeAnswer>;
  readonly #ownValues = new OwnValues();
  readonly #reads: Reads;
  readonly #commits: Commits;
  readonly #newest: NewestRevision;
  readonly #holds: SharedHolds;
  readonly #feeds: Feeds;
  readonly #retentionMs: number;
  readonly #notice: (message: string) => void;
  readonly #options: EtcdOptions;
  readonly #rows: RowMaker | undefined;
  readonly #rowScan: RowScan;
  readonly history: HistoryStore;
  /** When etcd last answered. */
  #answeredAt = 0;
  #compaction: Compaction | undefined;
  #sweep: HistorySweep | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: EtcdOptions) {
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
    this.#notice = options.notice ?? (() => {});
    this.#retentionMs = options.historyRetentionMs ?? DEFAULT_RETENTION_MS;
    this.#keyspace = keyspaceOf(options.prefix ?? DEFAULT_PREFIX);
    this.#connection = new Connection(addressesOf(options), {
      timeoutMs: options.requestTimeoutMs ?? DEFAULT_REQUEST_TIMEOUT_MS,
      mostAnswerBytes: options.mostAnswerBytes,
      login: loginOf(options),
      // Etcd answers by the time of the machine, whatever the clock of the server.
      clock: systemClock,
      random: this.#random,
    });
    this.#rangeMethod = rangeMethod(this.#keyspace);
    this.#reads = new Reads(this.#connection, this.#keyspace, this.#clock);
    this.#options = options;
    this.#rows = options.history && new RowMaker(options.history, this.#keyspace.history, this.#clock, this.#random);
    this.#rowScan = new RowScan(this.#connection, this.#keyspace);
    this.history = this.#makeHistory();
    this.#commits = this.#makeCommits();
    const question = encodeRange({ key: this.#keyspace.barrier, countOnly: true });
    this.#newest = new NewestRevision(async () => (await this.#connection.read(this.#rangeMethod, question)).revision);
    this.#holds = new SharedHolds(this.#connection, this.#keyspace, this.#rangeMethod, this.#random);
    this.#feeds = this.#makeFeeds();
  }

  #makeCommits(): Commits {
    return new Commits({
      connection: this.#connection,
      root: this.#keyspace.root,
      leases: new Leases(this.#connection, this.#clock),
      ownValues: this.#ownValues,
      rowsOf: (operations) => this.#rows?.rowsOf(operations, this.revision),
      committed: (changes, revision) => this.#feeds.committed(changes, revision),
    });
  }

  #makeFeeds(): Feeds {
    return new Feeds({
      connection: this.#connection,
      keyspace: this.#keyspace,
      clock: this.#clock,
      ownValues: this.#ownValues,
      currentRevision: () => this.#newest.get(),
      arrived: (revision) => {
        this.revision = Math.max(this.revision, revision);
      },
      compacted: (revision) => this.#compactedTo(revision),
      notice: this.#notice,
    });
  }

  #makeHistory(): HistoryStore {
    return new EtcdHistory({
      connection: this.#connection,
      policy: this.#options.history,
      scan: this.#rowScan,
      reads: this.#reads,
      compacted: () => this.compacted,
      currentRevision: () => this.currentRevision(),
      orThrow: async (call, at) => {
        this.#checkOpen();
        return this.#orThrow(call, at);
      },
    });
  }

  async open(owner?: StoreOwner): Promise<void> {
    await this.currentRevision();
    await this.#checkMark(owner);
    this.compacted = await this.#oldest();
    this.#sweep = this.#makeSweep();
    if (this.#retentionMs <= 0) return;
    this.#compaction = new Compaction({
      connection: this.#connection,
      clock: this.#clock,
      record: this.#keyspace.compaction,
      retentionMs: this.#retentionMs,
      newestSeen: () => this.revision,
      bound: (revision) => this.#holds.bound(revision),
      compact: (revision) => this.compact(revision),
      notice: this.#notice,
    });
  }

  /** A server without a policy, and a tool, deletes nothing. */
  #makeSweep(): HistorySweep | undefined {
    const { history: policy, historySweepMs: intervalMs = SWEEP_INTERVAL_MS } = this.#options;
    if (policy === undefined) return undefined;
    return new HistorySweep({
      connection: this.#connection,
      scan: this.#rowScan,
      range: this.#rangeMethod,
      policy,
      record: this.#keyspace.sweep,
      intervalMs,
      clock: this.#clock,
      random: this.#random,
      newestSeen: () => this.revision,
      notice: this.#notice,
    });
  }

  async #checkMark(owner: StoreOwner | undefined): Promise<void> {
    const range = this.#rangeMethod;
    const context = {
      connection: this.#connection,
      keyspace: this.#keyspace,
      range,
      owner,
      newId: () => this.#random.uuid(),
      now: this.#clock.now,
    };
    this.mark = await this.#orThrow(checkMark(context));
    await this.currentRevision();
  }

  async currentRevision(): Promise<number> {
    this.#checkOpen();
    return this.#answered(await this.#orThrow(this.#newest.get()));
  }

  async get(key: string, at?: number): Promise<Entry | undefined> {
    this.#checkOpen();
    this.#checkKept(at);
    const { entry, revision } = await this.#orThrow(this.#reads.get(key, at), at);
    this.#answered(revision);
    return entry;
  }

  async range(request: RangeRequest): Promise<RangeResult> {
    this.#checkOpen();
    this.#checkKept(request.at);
    for (let attempt = 1; ; attempt++) {
      try {
        const result = await this.#reads.range(request);
        this.#answered(result.revision);
        return result;
      } catch (error) {
        const again = error instanceof CallFailure && error.reason === 'compacted' && request.at === undefined;
        if (!again || attempt === MOST_RANGE_ATTEMPTS) throw await this.#contractError(error, request.at);
      }
    }
  }

  async commit(operations: readonly Operation[]): Promise<{ revision: number }> {
    this.#checkOpen();
    if (operations.length === 0) return { revision: await this.currentRevision() };
    // Rows lie in the order of the revisions that their writers knew: without a watch that may be an old one.
    if (this.#rows !== undefined && this.#feeds.size === 0 && this.#isStale()) await this.currentRevision();
    return { revision: this.#answered(await this.#commits.commit(operations)) };
  }

  async changes({
    after,
    prefix,
    limit = Number.POSITIVE_INFINITY,
  }: {
    after: number;
    prefix: string;
    limit?: number;
  }): Promise<ChangeRecord[]> {
    const newest = await this.currentRevision();
    if (after > newest) throw new FutureRevision(newest);
    this.#checkKept(after);
    if (after === newest) return [];
    return this.#feeds.changes(after, newest, prefix, limit);
  }

  subscribe(after: number, deliver: Subscriber, failed: (error: Error) => void): () => void {
    return this.#feeds.subscribe(after, deliver, failed);
  }

  async compact(revision: number): Promise<void> {
    this.#checkOpen();
    const bound = await this.#orThrow(this.#holds.bound(revision));
    if (bound <= this.compacted) return;
    try {
      await this.#connection.read(compactMethod, encodeCompact(bound));
    } catch (error) {
      // Another server has compacted as far, or further.
      if (!(error instanceof CallFailure && error.reason === 'compacted')) throw await this.#contractError(error, bound);
    }
    this.#compactedTo(bound);
  }

  async hold(milliseconds: number): Promise<Hold> {
    const revision = await this.currentRevision();
    const release = await this.#orThrow(this.#holds.add(revision, milliseconds));
    return { revision, release: () => this.#orThrow(release()) };
  }

  async skipTo(revision: number): Promise<void> {
    const newest = await this.currentRevision();
    const reached = this.#answered(await this.#orThrow(skipRevisions(this.#connection, this.#keyspace, newest, revision)));
    await this.compact(reached);
  }

  async ping(): Promise<void> {
    await this.currentRevision();
  }

  async stats(): Promise<Record<string, number>> {
    this.#checkOpen();
    const status = await this.#orThrow(this.#connection.read(memberStatus, EMPTY_REQUEST));
    return {
      database_bytes: status.databaseBytes,
      database_bytes_in_use: status.databaseBytesInUse,
      raft_index: status.raftIndex,
      raft_applied_index: status.raftAppliedIndex,
      raft_term: status.raftTerm,
      alarms: status.errors.length,
      subscribers: this.#feeds.size,
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#compaction?.stop();
    this.#sweep?.stop();
    await this.#commits.settled();
    this.#connection.close();
    this.#feeds.close();
  }

  /** Records a revision that a caller now knows, and may wait for. */
  #answered(revision: number): number {
    if (this.#feeds.size === 0) this.#answeredAt = this.#clock.monotonic();
    if (revision > this.revision) this.revision = revision;
    this.#feeds.need(revision);
    return revision;
  }

  #isStale(): boolean {
    return this.#clock.monotonic() - this.#answeredAt > STALE_MS;
  }

  #oldest(): Promise<number> {
    return this.#orThrow(oldestRevision(this.#connection, this.#keyspace, this.#rangeMethod, this.#feeds.watch()));
  }

  async #orThrow<Result>(call: Promise<Result>, at?: number): Promise<Result> {
    try {
      return await call;
    } catch (error) {
      throw await this.#contractError(error, at);
    }
  }

  async #contractError(error: unknown, at = 0): Promise<unknown> {
    if (!(error instanceof CallFailure)) return error;
    if (error.reason === 'future') return new FutureRevision(await this.currentRevision());
    if (error.reason !== 'compacted') return unavailable(error, false);
    if (at >= this.compacted) this.#compactedTo(Math.max(at + 1, await this.#oldest()));
    return new Compacted(this.compacted);
  }

  #compactedTo(revision: number): void {
    this.compacted = Math.max(this.compacted, revision);
  }

  /** Another server may have announced a compaction that etcd has not made yet: it applies to all. */
  #checkKept(at: number | undefined): void {
    if (at !== undefined && at < this.compacted) throw new Compacted(this.compacted);
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new StoreUnavailable(CLOSED);
  }
}
