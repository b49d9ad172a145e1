/**
 * History of the store in memory: superseded versions that outlast compaction. A key has its versions oldest first; all of them together
 * are in the order in which they were superseded, so that the oldest is dropped first where there are too many bytes.
 */
import { SortedMap } from '@plat-dev/lib/sorted-map';
import type { KeptValue } from '../../engine.ts';
import type { HistoryPolicy, HistoryRule, KeptVersion } from '../../history.ts';

/** A version whose value may have another form; it becomes bytes when it is read. */
export type HistoryVersion = Omit<KeptVersion, 'value'> & { readonly value: Buffer | KeptValue | undefined };

export interface SupersededVersion {
  readonly version: HistoryVersion;
  readonly supersededAt: number;
}
interface KeptRow extends SupersededVersion {
  readonly expires: number;
  readonly bytes: number;
}
interface KeyHistory {
  readonly rows: KeptRow[];
  bytes: number;
}

/** Approximate overhead of a version in addition to its value and its note. */
const VERSION_BYTES = 256;

export class MemoryHistory {
  readonly #policy: HistoryPolicy | undefined;
  readonly #now: () => number;
  #keys = new SortedMap<KeyHistory>();
  #rows = new Set<KeptRow>();
  #bytes = 0;

  constructor(policy: HistoryPolicy | undefined, from: readonly SupersededVersion[], now: () => number) {
    this.#policy = policy;
    this.#now = now;
    for (const row of from) this.keep(row);
  }

  get size(): number {
    return this.#rows.size;
  }
  get bytes(): number {
    return this.#bytes;
  }

  /** Calls `visit` with the versions of a key whose time is not over, newest first, until it returns false. Returns whether it never did. */
  eachVersion(key: string, visit: (version: HistoryVersion) => boolean): boolean {
    const now = this.#now();
    const rows = this.#keys.get(key)?.rows ?? [];
    for (let index = rows.length - 1; index >= 0; index--) {
      const { version, expires } = rows[index] as KeptRow;
      if (expires > now && !visit(version)) return false;
    }
    return true;
  }

  /** Calls `visit` with each key from one on, in their order, until it returns false. */
  eachKey(from: string, visit: (key: string) => boolean): void {
    this.#keys.each(from, (_, key) => visit(key));
  }

  all(): SupersededVersion[] {
    return [...this.#rows];
  }

  /** Keeps a version for as long as its rule says. Versions of a key come oldest first. */
  keep({ version, supersededAt }: SupersededVersion): void {
    const rule = this.#policy?.ruleOf(version.key);
    if (rule === undefined) return;
    const keptVersion = rule.values || version.value === undefined ? version : { ...version, value: undefined };
    const bytes = VERSION_BYTES + version.key.length + sizeOf(keptVersion.value) + (version.note?.length ?? 0);
    const row: KeptRow = { version: keptVersion, supersededAt, expires: supersededAt + rule.retentionMs, bytes };
    const history = this.#keys.get(version.key) ?? { rows: [], bytes: 0 };
    if (history.rows.length === 0) this.#keys.set(version.key, history);
    history.rows.push(row);
    history.bytes += bytes;
    this.#rows.add(row);
    this.#bytes += bytes;
    this.#dropSurplus(history, rule);
  }

  /** Adds versions that are older than all of the store: the history of their keys is made anew. */
  add(versions: readonly KeptVersion[]): void {
    const now = this.#now();
    const versionsByKey = new SortedMap<Map<number, SupersededVersion>>();
    const rowsOf = (key: string): Map<number, SupersededVersion> => {
      const rows = versionsByKey.get(key) ?? new Map<number, SupersededVersion>();
      versionsByKey.set(key, rows);
      return rows;
    };
    for (const version of versions) rowsOf(version.key).set(version.revision, { version, supersededAt: now });
    for (const row of this.#rows) rowsOf(row.version.key).set(row.version.revision, row);
    const rows: SupersededVersion[] = [];
    versionsByKey.each('', (byRevision) => {
      const ordered = [...byRevision.values()].sort((one, other) => one.version.revision - other.version.revision);
      for (const [index, row] of ordered.entries()) rows.push({ ...row, supersededAt: endOf(row, ordered[index + 1]) });
      return true;
    });
    this.#keys = new SortedMap();
    this.#rows = new Set();
    this.#bytes = 0;
    for (const row of rows.sort((one, other) => one.supersededAt - other.supersededAt)) this.keep(row);
  }

  /** Drops the versions whose time is over. */
  dropExpired(): void {
    const now = this.#now();
    for (const row of this.#rows) if (row.expires <= now) this.#drop(row);
  }

  #dropSurplus(history: KeyHistory, { mostBytesPerKey }: HistoryRule): void {
    while (history.bytes > mostBytesPerKey) this.#drop(history.rows[0] as KeptRow);
    const mostBytes = this.#policy?.mostBytes ?? 0;
    for (const row of this.#rows) {
      if (this.#bytes <= mostBytes) return;
      this.#drop(row);
    }
  }

  #drop(row: KeptRow): void {
    this.#rows.delete(row);
    this.#bytes -= row.bytes;
    const { key } = row.version;
    const history = this.#keys.get(key) as KeyHistory;
    history.rows.splice(history.rows.indexOf(row), 1);
    history.bytes -= row.bytes;
    if (history.rows.length === 0) this.#keys.delete(key);
  }
}

/** A deletion is superseded when it is made; another version by the next one of its key. */
function endOf({ version, supersededAt }: SupersededVersion, next: SupersededVersion | undefined): number {
  if (version.type === 'delete') return version.time;
  return next?.version.time ?? supersededAt;
}

const sizeOf = (value: Buffer | KeptValue | undefined): number => {
  if (value === undefined) return 0;
  return Buffer.isBuffer(value) ? value.length : value.stored().length;
};
