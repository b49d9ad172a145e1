/** Ranges of any size, read in pages of bounded size. */
import type { Clock } from '@plat-dev/lib/clock';
import type { Entry, RangeRequest, RangeResult } from '../../engine.ts';
import { startOf } from '../operations.ts';
import type { Connection } from './connection.ts';
import { CallFailure } from './errors.ts';
import { endOfPrefix, type Keyspace } from './keyspace.ts';
import {
  encodeLease,
  encodeRange,
  type LeasedEntry,
  leaseTimeToLive,
  type Method,
  type RangeAnswer,
  type RangeQuery,
  rangeMethod,
} from './messages.ts';

/** Keys of the first page, whose size is unknown, and maximum keys of a page. */
const FIRST_PAGE = 1_000;
const LARGEST_PAGE = 10_000;
/** Target size of the following pages. Etcd scans the whole range for every page, so that few are better. */
const PAGE_BYTES = 8 * 1024 * 1024;
/** A page that is too large is requested again with this fraction of its keys. */
const SMALLER = 1 / 8;

export class Reads {
  readonly #connection: Connection;
  readonly #method: Method<RangeAnswer>;
  readonly #leasedMethod: Method<RangeAnswer>;
  readonly #root: string;
  readonly #clock: Clock;

  constructor(connection: Connection, keyspace: Keyspace, clock: Clock) {
    this.#connection = connection;
    this.#method = rangeMethod(keyspace);
    this.#leasedMethod = rangeMethod(keyspace, true);
    this.#root = keyspace.root;
    this.#clock = clock;
  }

  async get(key: string, at: number | undefined): Promise<{ readonly entry: Entry | undefined; readonly revision: number }> {
    const { entries, revision } = await this.read({ key: this.#root + key, ...revisionOf(at) });
    return { entry: entries[0], revision };
  }

  /** Throws CallFailure; `compacted` also when the revision of the first page is compacted before the last one is read. */
  async range(request: RangeRequest): Promise<RangeResult> {
    if (request.expiries !== true) return this.#range(request, this.#method);
    const result = await this.#range(request, this.#leasedMethod);
    return { ...result, entries: await this.#withExpiries(result.entries) };
  }

  /** Entries with a lease are grouped by it; leases are shared, so that each is looked up once. */
  async #withExpiries(entries: readonly LeasedEntry[]): Promise<Entry[]> {
    const ends = new Map<bigint, number>();
    const entriesWithExpiry: Entry[] = [];
    for (const { lease, ...entry } of entries) {
      if (lease === undefined) {
        entriesWithExpiry.push(entry);
        continue;
      }
      let expires = ends.get(lease);
      if (expires === undefined) {
        expires = this.#clock.now() + (await this.#connection.read(leaseTimeToLive, encodeLease(lease))) * 1000;
        ends.set(lease, expires);
      }
      entriesWithExpiry.push({ ...entry, expires });
    }
    return entriesWithExpiry;
  }

  async #range(request: RangeRequest, method: Method<RangeAnswer>): Promise<RangeResult> {
    const { prefix, at, limit = Number.POSITIVE_INFINITY } = request;
    const end = endOfPrefix(this.#root + prefix);
    let key = this.#root + startOf(request);
    let revision = at;
    let count: number | undefined;
    let pageKeys = FIRST_PAGE;
    const entries: Entry[] = [];
    if (limit < 1) {
      const page = await this.read({ key, end, countOnly: true, ...revisionOf(at) });
      return { entries, revision: at ?? page.revision, more: page.count > 0, count: page.count };
    }
    for (;;) {
      const keys = Math.min(pageKeys, limit - entries.length);
      let page: RangeAnswer;
      try {
        page = await this.read({ key, end, limit: keys, ...revisionOf(revision) }, method);
      } catch (error) {
        if (!(error instanceof CallFailure && error.reason === 'answer-too-large') || keys <= 1) throw error;
        pageKeys = Math.max(1, Math.floor(keys * SMALLER));
        continue;
      }
      revision ??= page.revision;
      count ??= page.count;
      if (entries.length === 0 && !page.more) return { entries: page.entries, revision, more: false, count };
      for (const entry of page.entries) entries.push(entry);
      if (!page.more || entries.length >= limit) return { entries, revision, more: page.more, count };
      key = `${this.#root}${(entries.at(-1) as Entry).key}\0`;
      pageKeys = Math.max(1, Math.min(LARGEST_PAGE, Math.floor((PAGE_BYTES * page.entries.length) / page.bytes)));
    }
  }

  /**
   * A read of the newest state is linearizable, so that it misses no completed write. A read
   * at a revision need not be, unless the member lags behind.
   */
  async read(query: RangeQuery, method: Method<RangeAnswer> = this.#method): Promise<RangeAnswer> {
    if (!query.serializable) return this.#connection.read(method, encodeRange(query));
    try {
      return await this.#connection.read(method, encodeRange(query));
    } catch (error) {
      if (!(error instanceof CallFailure && error.reason === 'future')) throw error;
      return this.#connection.read(method, encodeRange({ ...query, serializable: false }));
    }
  }
}

/** Etcd counts from 1, its empty state, and treats 0 as the newest revision. */
function revisionOf(at: number | undefined): { revision?: number; serializable?: boolean } {
  return at === undefined ? {} : { revision: Math.max(1, at), serializable: true };
}
