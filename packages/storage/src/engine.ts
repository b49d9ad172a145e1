import type { HistoryStore } from './history.ts';
import type { StoreMark } from './store-mark.ts';

/**
 * The store: a small multi-version key-value contract. All layers above use only this file; `engine.suite.ts` holds
 * every engine to it.
 *
 * One revision counts all commits. A commit is atomic, may hold several operations, and gets the next revision:
 *
 *   commit([put a=1])                        → revision 1
 *   commit([put b=1, put c=1])               → revision 2      both entries carry revision 2
 *   commit([delete a expecting 1])           → revision 3
 *   commit([put b=2 expecting 1])            → throws CommitConflict, nothing is written, no revision is used
 *
 *   get('a', 2) → 1      get('a') → undefined
 *   range({ prefix: '' , at: 2 }) → a, b, c           range({ prefix: '' }) → b, c
 *   changes({ after: 1, prefix: '' }) → put b, put c (revision 2), delete a (revision 3)
 *   compact(2); range({ prefix: '', at: 1 }) → throws Compacted        range({ prefix: '', at: 2 }) → a, b, c
 *
 * A commit resolves only when it is durable, and becomes visible to reads and subscribers no earlier than that.
 * Conflicts are reported only when the write they lost against is visible, so that a retry reads the newer state.
 * Expectations are checked against the state before the commit, and one commit writes a key at most once. A commit that
 * changes nothing (only checks, deletes of absent keys) uses no revision and resolves to the newest one.
 * An exclusive engine calls the subscribers that have caught up before it resolves the commit.
 * Keys are printable ASCII text of 1 to 1,024 characters, ordered by bytes. Values are opaque; callers must not change a buffer that they gave or got.
 *
 * An unreadable value never fails a read: it is delivered in its place, empty and marked, so that the
 * others can be served. Its key, revision and `created` are correct; it can be deleted and replaced like any other:
 *
 *   get('a') → { key: 'a', value: empty, revision: 3, created: 1, unreadable: { reason: 'its checksum is wrong' } }
 *   range({ prefix: '' }) → a (unreadable), b, c        changes({ after: 2, prefix: '' }) → put a (unreadable)
 *   commit([delete a expecting 3]) → revision 4
 */
export interface Entry {
  readonly key: string;
  /** Empty when `unreadable`. */
  readonly value: Buffer;
  /** Revision of the commit that wrote this value. */
  readonly revision: number;
  /** Revision of the commit that created the key (since its last deletion). */
  readonly created: number;
  /** When the engine deletes the key, in milliseconds since 1970; absent: never, or `expiries` was not requested. */
  readonly expires?: number;
  /** Present only when the value cannot be read. */
  readonly unreadable?: Unreadable;
}

/** Why a value cannot be read. The reason is shown to clients and in the log: it holds nothing of the value. */
export interface Unreadable {
  readonly reason: string;
}

export type Operation =
  | {
      readonly type: 'put';
      readonly key: string;
      readonly value: Buffer;
      /** Revision that the key must have now; 0: it must not exist; undefined: any. */
      readonly expect?: number;
      /** Revision at which the key was created, where the caller knows it: a shared engine can then deliver the change with its answer. */
      readonly created?: number;
      /** The engine deletes the key about this many seconds later (as a commit of its own). */
      readonly ttlSeconds?: number;
      /** Who makes the change, for history (`history.ts`): opaque to the engine, and kept as long as the version. */
      readonly note?: Buffer | undefined;
      /** The span of the request that makes the change, as in the header of that name: a shared engine passes it on with its call. */
      readonly traceparent?: string | undefined;
    }
  | {
      readonly type: 'delete';
      readonly key: string;
      readonly expect?: number;
      readonly created?: number;
      readonly note?: Buffer | undefined;
      readonly traceparent?: string | undefined;
    }
  /** Writes nothing; the commit fails unless the key has this revision. */
  | { readonly type: 'check'; readonly key: string; readonly expect: number };

export interface ChangeRecord {
  readonly type: 'put' | 'delete';
  readonly key: string;
  /** Value written; undefined for a delete, empty when `unreadable`. */
  readonly value: Buffer | undefined;
  readonly revision: number;
  /** Revision at which the key was created; for a put, `created === revision` means it is new. */
  readonly created: number;
  /** Present only when the value of a put cannot be read. */
  readonly unreadable?: Unreadable;
}

/** A value in another form, from which it is made again when it is read. */
export interface KeptValue {
  stored(): Buffer;
}

export interface RangeRequest {
  readonly prefix: string;
  /** Start at this key (inclusive), which must lie within the prefix. */
  readonly from?: string;
  /** Revision to read at; undefined: the newest. */
  readonly at?: number;
  readonly limit?: number;
  /** `count` is not needed, and may be less than it is: a reader that pages through everything must not have the rest counted each time. */
  readonly uncounted?: boolean;
  /** Entries include their expiry: for backups. */
  readonly expiries?: boolean;
}
export interface RangeResult {
  readonly entries: Entry[];
  /** Revision at which the range was read. */
  readonly revision: number;
  /** Whether keys remain after the last entry (because of `limit`). */
  readonly more: boolean;
  /** Number of keys from the first to the end of the prefix, entries included. */
  readonly count: number;
}

/** Called with the changes of one or more whole commits, in order. `revision` may run ahead of the last change (progress). */
export type Subscriber = (changes: readonly ChangeRecord[], revision: number) => void;

export interface Engine {
  readonly name: 'memory' | 'lmdb' | 'etcd';
  /** The mark of the store; undefined if it has none. */
  readonly mark?: StoreMark | undefined;
  /** True when this process is the only writer: the newest revision is then known without a round trip. */
  readonly exclusive: boolean;
  /** The newest revision that is durable here (for a shared engine: the newest seen). 0 or more. */
  readonly revision: number;
  /** Oldest revision that can be read; changes after it are still known. */
  readonly compacted: number;
  /** The newest revision of the store itself: a round trip for a shared engine, at once for an exclusive one. */
  currentRevision(): Promise<number>;
  get(key: string, at?: number): Promise<Entry | undefined>;
  range(request: RangeRequest): Promise<RangeResult>;
  /**
   * Throws CommitConflict, or StoreUnavailable when the outcome is unknown or the store refuses to write.
   *
   * An exclusive engine calls `assigned` with the revision of the commit before this call returns, long before the commit is
   * durable: another commit may already expect that revision, and fails when this one does. A shared engine does not call it.
   */
  commit(operations: readonly Operation[], assigned?: (revision: number) => void): Promise<{ revision: number }>;
  /**
   * Changes after a revision, oldest first, up to the newest. Throws Compacted when some are compacted. A limit is
   * rounded up to whole commits, so that the caller can go on after the last revision it got.
   */
  changes(request: { after: number; prefix: string; limit?: number }): Promise<ChangeRecord[]>;
  /**
   * Delivers every change after `after`, in order, without gaps. `failed` is called once if that is no longer possible
   * (history compacted, engine closed). Neither is called before this returns nor after the returned function was called.
   */
  subscribe(after: number, deliver: Subscriber, failed: (error: Error) => void): () => void;
  /** Versions that outlast compaction, and all that are not compacted. */
  readonly history: HistoryStore;
  /** Compacts history before a revision; values current at it stay readable. Does nothing if that was done already. */
  compact(revision: number): Promise<void>;
  /**
   * Keeps the newest revision readable: nothing is compacted beyond it, by whatever server, until `release` is called or
   * the time is over. For reads that take longer than history is retained.
   */
  hold(milliseconds: number): Promise<Hold>;
  /**
   * Skips revisions: the newest one becomes at least `revision`, and history up to there is compacted. For a store
   * without subscribers: restored objects must get revisions that no client has seen.
   *
   *   commit([put a=1]) → revision 1      skipTo(100)      commit([put a=2]) → revision 101      get('a', 1) → throws Compacted
   */
  skipTo(revision: number): Promise<void>;
  /**
   * Whether an unchanged value is to be written again: an encrypting store has it under a key that is
   * no longer the one for writing. Absent if there is no such case.
   */
  isOutdated?(key: string): Promise<boolean>;
  /**
   * A subscriber keeps the value that it was just called with in another form: an engine in memory keeps that one too, instead of a
   * second copy. Absent if there is no such case.
   */
  keepAs?(key: string, revision: number, value: KeptValue): void;
  /** Why nothing can be written though the store runs (its disk is full); undefined or absent while writes are accepted. */
  readonly refusing?: string | undefined;
  /** A cheap liveness test for health checks. Throws when the store does not respond. */
  ping(): Promise<void>;
  /** Bytes on disk and the like, for metrics. */
  stats(): Promise<Record<string, number>>;
  close(): Promise<void>;
}

/** A revision that stays readable. */
export interface Hold {
  readonly revision: number;
  release(): Promise<void>;
}

export class CommitConflict extends Error {
  /** Key of the first operation whose expectation failed. */
  readonly key: string;
  constructor(key: string) {
    super(`the key ${key} has another revision than expected`);
    this.name = 'CommitConflict';
    this.key = key;
  }
}
export class Compacted extends Error {
  readonly oldest: number;
  constructor(oldest: number) {
    super(`the revision is no longer kept; the oldest is ${oldest}`);
    this.name = 'Compacted';
    this.oldest = oldest;
  }
}
/** The requested revision lies in the future. */
export class FutureRevision extends Error {
  readonly current: number;
  constructor(current: number) {
    super(`the revision has not been written yet; the newest is ${current}`);
    this.name = 'FutureRevision';
    this.current = current;
  }
}
export class StoreUnavailable extends Error {
  /** Whether a write may have happened nevertheless. */
  readonly inDoubt: boolean;
  constructor(message: string, options?: ErrorOptions & { readonly inDoubt?: boolean }) {
    super(message, options);
    this.name = 'StoreUnavailable';
    this.inDoubt = options?.inDoubt === true;
  }
}
/** The write is larger than the store accepts. Nothing was written, and a retry fails as well. */
export class WriteTooLarge extends StoreUnavailable {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'WriteTooLarge';
  }
}
/** The store has no room, and accepts writes again when there is. Nothing was written, unless `inDoubt` says otherwise. */
export class StoreFull extends StoreUnavailable {
  constructor(message: string, options?: ErrorOptions & { readonly inDoubt?: boolean }) {
    super(message, options);
    this.name = 'StoreFull';
  }
}
