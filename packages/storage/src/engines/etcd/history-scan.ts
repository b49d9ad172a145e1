/** Reads rows of history: by key, by revision, and with their values. */
import type { Entry } from '../../engine.ts';
import type { KeptVersion } from '../../history.ts';
import type { Connection } from './connection.ts';
import { indexStart, type RowSummary, rowKeyOf, rowsOfKey, summaryOf, versionOf } from './history-rows.ts';
import { endOfPrefix, type Keyspace } from './keyspace.ts';
import { encodeRange, type Method, type RangeAnswer, rangeMethod } from './messages.ts';
import { encodeGets, getsMethod } from './transactions.ts';

/** Maximum rows that one request reads without their values. */
export const MOST_ROWS_OF_PAGE = 5_000;
/** Maximum rows, and about as many bytes, that one request reads with their values. */
const MOST_ROWS_WITH_VALUES = 100;
const MOST_BYTES_WITH_VALUES = 4 * 1024 * 1024;

export interface RowPage {
  readonly rows: readonly RowSummary[];
  readonly more: boolean;
  /** The next page begins here. */
  readonly nextStart: string;
}

export class RowScan {
  readonly root: string;
  readonly #connection: Connection;
  readonly #range: Method<RangeAnswer>;
  readonly #gets: Method<Entry[]>;

  constructor(connection: Connection, { history }: Keyspace) {
    this.root = history;
    this.#connection = connection;
    this.#range = rangeMethod({ root: history });
    this.#gets = getsMethod(history);
  }

  /** Rows from a key of etcd up to another one, in the order of those keys. */
  async page(start: string, end: string, limit = MOST_ROWS_OF_PAGE): Promise<RowPage> {
    const { entries, more } = await this.#connection.read(this.#range, encodeRange({ key: start, end, limit, keysOnly: true }));
    const rows = entries.map(summaryOf).filter((row) => row !== undefined);
    return { rows, more, nextStart: `${this.root}${entries.at(-1)?.key ?? ''}\0` };
  }

  /** All rows of a key, newest first. Their number is bounded by the bytes that are kept of a key. */
  async ofKey(key: string): Promise<RowSummary[]> {
    const start = rowsOfKey(this.root, key);
    return newestFirst(await this.#all(start, endOfPrefix(start)));
  }

  /** Rows of keys that begin with a prefix, in the order of keys. */
  byKey(prefix: string, from: string, limit?: number): Promise<RowPage> {
    return this.page(`${this.root}k/${from}`, endOfPrefix(`${this.root}k/${prefix}`), limit);
  }

  /** Rows whose writers knew a revision of at least `first` and below `end`; undefined if they are too many for one request. */
  async byBase(first: number, end: number): Promise<readonly RowSummary[] | undefined> {
    const [start, stop] = [indexStart(this.root, first), indexStart(this.root, end)];
    if (end - first <= 1) return this.#all(start, stop);
    const { rows, more } = await this.page(start, stop);
    return more ? undefined : rows;
  }

  /** The row with the lowest base of at least `first` and below `end`. */
  async firstByBase(first: number, end: number): Promise<RowSummary | undefined> {
    return (await this.page(indexStart(this.root, first), indexStart(this.root, end), 1)).rows[0];
  }

  /** The versions of rows, in their order. Those that were swept meanwhile are left out. */
  async versions(rows: readonly RowSummary[]): Promise<KeptVersion[]> {
    const versions: KeptVersion[] = [];
    const isOneKey = rows.every(({ key }) => key === rows[0]?.key);
    const mostRows = isOneKey ? MOST_ROWS_OF_PAGE : MOST_ROWS_WITH_VALUES;
    for (let start = 0; start < rows.length; ) {
      let end = start;
      for (let bytes = 0; end < rows.length && end - start < mostRows && bytes < MOST_BYTES_WITH_VALUES; end++) {
        bytes += (rows[end] as RowSummary).bytes;
      }
      const batch = rows.slice(start, end);
      const values = new Map((await this.#entries(batch, isOneKey)).map(({ key, value }) => [key, value]));
      for (const row of batch) {
        const value = values.get(rowKeyOf('', row));
        if (value !== undefined) versions.push(versionOf(row, value));
      }
      start = end;
    }
    return versions;
  }

  /** Rows of one key that follow each other are a range, which takes etcd less than as many single keys. */
  async #entries(rows: readonly RowSummary[], isOneKey: boolean): Promise<readonly Entry[]> {
    const keys = rows.map((row) => rowKeyOf(this.root, row));
    if (!isOneKey) return this.#connection.read(this.#gets, encodeGets(keys));
    keys.sort();
    const [first = '', last = ''] = [keys[0], keys.at(-1)];
    return (await this.#connection.read(this.#range, encodeRange({ key: first, end: `${last}\0` }))).entries;
  }

  async #all(start: string, end: string): Promise<RowSummary[]> {
    const rows: RowSummary[] = [];
    for (let next = start; ; ) {
      const page = await this.page(next, end);
      for (const row of page.rows) rows.push(row);
      if (!page.more) return rows;
      next = page.nextStart;
    }
  }
}

export const newestFirst = (rows: readonly RowSummary[]): RowSummary[] => rows.toSorted((one, other) => other.revision - one.revision);
