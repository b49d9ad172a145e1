/**
 * History: versions that stay readable after the revisions around them were compacted, each with a note of who made it.
 *
 * A write carries its note (`Operation.note`). Compaction leaves alone the superseded versions that the policy keeps: watches and
 * lists at old revisions end as before (`compacted`), history goes on.
 *
 *   commit([put a=1, note alice])             → revision 1
 *   commit([put a=2 expecting 1, note bob])   → revision 2
 *   commit([delete a expecting 2, note bob])  → revision 3
 *   compact(3); get('a', 1)                   → throws Compacted
 *   history.versions({ prefix: 'a', limit: 2 }) → delete a (3, bob), put a=2 (2, bob), next 2
 *   history.versions({ prefix: 'a', before: 2, limit: 2 }) → put a=1 (1, alice)
 *   history.at({ prefix: '', at: 2 })         → a=2
 */

export interface KeptVersion {
  readonly type: 'put' | 'delete';
  readonly key: string;
  readonly revision: number;
  /** Revision at which the key was created. */
  readonly created: number;
  /** When it was written, in milliseconds since 1970. */
  readonly time: number;
  /** What the writer noted; undefined if it noted nothing. */
  readonly note: Buffer | undefined;
  /** The value of a put; undefined where only the note is kept. Empty when `unreadable`. */
  readonly value: Buffer | undefined;
  readonly unreadable?: { readonly reason: string };
}

export interface VersionsRequest {
  /** Keys that begin with this, or with `exact` the key itself. */
  readonly prefix: string;
  readonly exact?: boolean;
  /** Only versions of earlier revisions. */
  readonly before?: number;
  /** Rounded up to whole commits. */
  readonly limit: number;
}
export interface VersionsResult {
  /** Newest first. There may be fewer than the limit: a call does bounded work. */
  readonly versions: KeptVersion[];
  /** The next call goes on before this revision; undefined: nothing older is kept. */
  readonly next: number | undefined;
}

export interface AtRequest {
  readonly prefix: string;
  /** Start at this key (inclusive). */
  readonly from?: string;
  readonly at: number;
  readonly limit: number;
}
export interface AtResult {
  /** For each key the newest kept version up to the revision, in the order of keys; deleted keys are left out. */
  readonly versions: KeptVersion[];
  /** The next call starts from this key; undefined: there is no further one. */
  readonly next: string | undefined;
}

export interface HistoryStore {
  versions(request: VersionsRequest): Promise<VersionsResult>;
  at(request: AtRequest): Promise<AtResult>;
  /** The newest revision that was written at or before a time; 0 if that is before everything that is kept. */
  revisionAt(time: number): Promise<number>;
  /**
   * Adds versions of a backup, in any order; those that no rule keeps are left out. Their revisions lie before those of this store
   * (`skipTo` was called), and before those of their keys in it.
   */
  add(versions: readonly KeptVersion[]): Promise<void>;
}

/** Which superseded versions are kept, and for how long. Asked for each key: it must be fast. */
export interface HistoryPolicy {
  /**
   * Names the rules. A store that was kept by other rules is looked through again, as it is at each start if this is undefined:
   * versions that were kept already are removed, or lose their values, as these rules say.
   */
  readonly id?: string;
  /** The rule of a key; undefined: its history is not kept. */
  ruleOf(key: string): HistoryRule | undefined;
  /** Bytes of all that is kept; the oldest goes first. */
  readonly mostBytes: number;
}
export interface HistoryRule {
  /** Counts from when the version was superseded. */
  readonly retentionMs: number;
  /** Without values only notes outlast compaction. */
  readonly values: boolean;
  /** Bytes of the superseded versions of one key; the oldest go first. */
  readonly mostBytesPerKey: number;
}

/** For a restore: the server that uses the store then applies its own rules. */
export const KEEP_ALL_HISTORY: HistoryPolicy = {
  id: 'everything',
  ruleOf: () => ({ retentionMs: Number.POSITIVE_INFINITY, values: true, mostBytesPerKey: Number.POSITIVE_INFINITY }),
  mostBytes: Number.POSITIVE_INFINITY,
};
