/**
 * History on etcd, read from its rows. What has no row, because the server that wrote it kept no history, is served as long as etcd
 * itself has it: the present version of a key always, and the state at revisions that are not compacted.
 */
import { Compacted, type Entry } from '../../engine.ts';
import type { AtRequest, AtResult, HistoryPolicy, HistoryStore, KeptVersion, VersionsRequest, VersionsResult } from '../../history.ts';
import { startOf } from '../operations.ts';
import type { Connection } from './connection.ts';
import { CallFailure } from './errors.ts';
import { type HistoryRow, MOST_OPERATIONS, type RowSummary, rowOfVersion, sizeOfRow } from './history-rows.ts';
import { newestFirst, type RowScan } from './history-scan.ts';
import type { Reads } from './reads.ts';
import { encodeRows, transaction } from './transactions.ts';

export interface HistoryContext {
  readonly connection: Connection;
  /** What is added is chosen by it; undefined for tools, which add everything. */
  readonly policy: HistoryPolicy | undefined;
  readonly scan: RowScan;
  readonly reads: Reads;
  /** The oldest revision that etcd can read. */
  compacted(): number;
  currentRevision(): Promise<number>;
  /** Makes a failure of etcd an error of the contract, and learns from it what is compacted. */
  orThrow<Result>(call: Promise<Result>, at?: number): Promise<Result>;
}

/**
 * A writer knows the newest revision but for this many when it commits. So rows of later revisions are not behind those that are
 * further away than that, in the order in which they lie.
 */
export const MOST_BEHIND = 4_096;
/** Rows that a call reads from the index; then the next call goes on. */
const MOST_SCANNED = 20_000;
/** How often a state is read again because its revision was compacted meanwhile. */
const MOST_ATTEMPTS = 3;
/** Maximum bytes of rows that are added in one transaction. */
const MOST_ADDED_BYTES = 512 * 1024;

export class EtcdHistory implements HistoryStore {
  readonly #context: HistoryContext;
  readonly #scan: RowScan;

  constructor(context: HistoryContext) {
    this.#context = context;
    this.#scan = context.scan;
  }

  versions(request: VersionsRequest): Promise<VersionsResult> {
    return this.#context.orThrow(request.exact === true ? this.#versionsOfKey(request) : this.#versionsOfPrefix(request));
  }

  async at(request: AtRequest): Promise<AtResult> {
    for (let attempt = 1; ; attempt++) {
      const readable = Math.max(request.at, this.#context.compacted());
      try {
        return await this.#context.orThrow(this.#at(request, readable), readable);
      } catch (error) {
        // Compacted meanwhile: the rows have it.
        if (!(error instanceof Compacted) || attempt === MOST_ATTEMPTS) throw error;
      }
    }
  }

  revisionAt(time: number): Promise<number> {
    return this.#context.orThrow(this.#revisionAt(time));
  }

  async add(versions: readonly KeptVersion[]): Promise<void> {
    const rows = versions.flatMap((version) => this.#rowsToAdd(version));
    for (let start = 0; start < rows.length; ) {
      let end = start;
      for (let bytes = 0; end < rows.length && end - start < MOST_OPERATIONS / 2; end++) {
        bytes += sizeOfRow(rows[end] as HistoryRow);
        if (bytes > MOST_ADDED_BYTES && end > start) break;
      }
      await this.#context.orThrow(this.#addRows(rows.slice(start, end)));
      start = end;
    }
  }

  #rowsToAdd(version: KeptVersion): HistoryRow[] {
    const { policy, scan } = this.#context;
    const rule = policy?.ruleOf(version.key);
    if (policy !== undefined && rule === undefined) return [];
    return [rowOfVersion(scan.root, rule?.values === false ? { ...version, value: undefined } : version)];
  }

  /** A repeated write changes nothing. A version that is too large for etcd is added without its value. */
  async #addRows(rows: readonly HistoryRow[]): Promise<void> {
    try {
      await this.#context.connection.read(transaction, encodeRows(rows));
    } catch (error) {
      const isTooLarge = error instanceof CallFailure && error.reason === 'request-too-large';
      if (!isTooLarge || rows.every(({ value }) => value === undefined)) throw error;
      await this.#addRows(rows.map((row) => ({ ...row, value: undefined })));
    }
  }

  async #versionsOfKey({ prefix: key, before = Number.POSITIVE_INFINITY, limit }: VersionsRequest): Promise<VersionsResult> {
    const rows = (await this.#scan.ofKey(key)).filter(({ revision }) => revision < before);
    const present = await this.#presentVersion(key, rows[0]?.revision ?? 0, before);
    const rowsOfPage = rows.slice(0, Math.max(1, limit) - (present === undefined ? 0 : 1));
    const versions = await this.#completed(rowsOfPage);
    if (present !== undefined) versions.unshift(present);
    const last = rowsOfPage.at(-1)?.revision ?? present?.revision;
    return { versions, next: rows.length > rowsOfPage.length ? last : undefined };
  }

  /** The version that a key has now, if it is newer than its rows. */
  async #presentVersion(key: string, newestRow: number, before: number): Promise<KeptVersion | undefined> {
    const { entry } = await this.#context.reads.get(key, undefined);
    return entry !== undefined && entry.revision > newestRow && entry.revision < before ? withoutRow(entry) : undefined;
  }

  async #versionsOfPrefix(request: VersionsRequest): Promise<VersionsResult> {
    const { prefix, before = Number.POSITIVE_INFINITY } = request;
    const page = await this.#scan.byKey(prefix, prefix);
    const scanned = page.more
      ? await this.#newestOfPrefix(request)
      : { rows: page.rows.filter(({ revision }) => revision < before), unread: 0 };
    const rows = newestFirst(scanned.rows);
    const rowsOfPage = wholeCommits(rows, Math.max(1, request.limit));
    const versions = await this.#completed(rowsOfPage);
    if (rows.length > rowsOfPage.length) return { versions, next: rowsOfPage.at(-1)?.revision };
    return { versions, next: scanned.unread > 0 ? scanned.unread + 1 : undefined };
  }

  /** Rows of keys that begin with a prefix, from the newest on: all of them down to the revision `unread`, and no older ones. */
  async #newestOfPrefix({ prefix, before = Number.POSITIVE_INFINITY, limit }: VersionsRequest): Promise<{
    rows: readonly RowSummary[];
    unread: number;
  }> {
    let end = Math.min(before, (await this.#context.currentRevision()) + 1);
    let width = 2 * MOST_BEHIND;
    let scanned = 0;
    const rows: RowSummary[] = [];
    for (;;) {
      const start = Math.max(0, end - width);
      const page = await this.#scan.byBase(start, end);
      if (page === undefined) {
        width = Math.ceil(width / 4);
        continue;
      }
      for (const row of page) if (row.key.startsWith(prefix) && row.revision < before) rows.push(row);
      scanned += page.length;
      end = start;
      const unread = start === 0 ? 0 : start + MOST_BEHIND;
      const readRows = rows.filter(({ revision }) => revision > unread);
      const hasEnough = readRows.length > limit || (scanned > MOST_SCANNED && unread < before - 1);
      if (start === 0 || hasEnough) return { rows: readRows, unread };
      if (page.length < MOST_BEHIND / 4) width *= 4;
    }
  }

  /** `readable`: the revision, or the oldest one that etcd can read. */
  async #at(request: AtRequest, readable: number): Promise<AtResult> {
    const { prefix, at, limit } = request;
    const from = startOf(request);
    const state = await this.#context.reads.range({ prefix, from, at: readable, limit: limit + 1, uncounted: true });
    const entries = new Map(state.entries.map((entry) => [entry.key, entry]));
    const { rows, end } = await this.#rowsFrom(prefix, from);
    const lastKey = smaller(state.more ? state.entries.at(-1)?.key : undefined, end);
    const keys = at === readable ? [...entries.keys()] : [...new Set([...entries.keys(), ...rows.keys()])].sort();
    const found: (RowSummary | Entry)[] = [];
    for (const key of keys) {
      if (lastKey !== undefined && key > lastKey) break;
      const version = newestVersion(entries.get(key), rows.get(key) ?? [], at);
      if (version !== undefined) found.push(version);
    }
    const versions = await this.#completed(found.slice(0, limit));
    if (found.length > limit) return { versions, next: (found[limit] as RowSummary | Entry).key };
    // The first key that may follow.
    return { versions, next: lastKey === undefined ? undefined : `${lastKey} ` };
  }

  /** Rows of keys from one on, by key, as far as one request goes: up to the key `end`, or to the last. */
  async #rowsFrom(prefix: string, from: string): Promise<{ rows: ReadonlyMap<string, RowSummary[]>; end: string | undefined }> {
    const page = await this.#scan.byKey(prefix, from);
    const rows = new Map<string, RowSummary[]>();
    for (const row of page.rows) {
      const rowsOfKey = rows.get(row.key);
      if (rowsOfKey === undefined) rows.set(row.key, [row]);
      else rowsOfKey.push(row);
    }
    const end = page.more ? page.rows.at(-1)?.key : undefined;
    if (end !== undefined) rows.set(end, await this.#scan.ofKey(end));
    return { rows, end };
  }

  /** Halves the range of bases that holds the first row after the time; each step asks for one row. */
  async #revisionAt(time: number): Promise<number> {
    let start = 0;
    let end = (await this.#context.currentRevision()) + 1;
    let revision = 0;
    while (start < end) {
      const middle = Math.floor((start + end) / 2);
      const row = await this.#scan.firstByBase(middle, end);
      if (row === undefined || row.time > time) end = middle;
      else {
        revision = Math.max(revision, await this.#newestOfBase(row.base, time));
        start = row.base + 1;
      }
    }
    return revision;
  }

  async #newestOfBase(base: number, time: number): Promise<number> {
    const rows = (await this.#scan.byBase(base, base + 1)) ?? [];
    return Math.max(0, ...rows.filter((row) => row.time <= time).map(({ revision }) => revision));
  }

  /** Versions with what the rows lack: values that only etcd has, and when a key was created. */
  async #completed(found: readonly (RowSummary | Entry)[]): Promise<KeptVersion[]> {
    const stored = await this.#scan.versions(found.filter((one): one is RowSummary => 'name' in one));
    const entries = found.filter((one): one is Entry => !('name' in one));
    const versions = entries.length === 0 ? stored : merged(found, stored, entries);
    const lookups = new Lookups(this.#context);
    return Promise.all(versions.map((version) => lookups.complete(version)));
  }
}

/** Looks up what rows lack, once for all versions of a key. */
class Lookups {
  readonly #context: HistoryContext;
  readonly #entries = new Map<string, Promise<Entry | undefined>>();
  readonly #rows = new Map<string, Promise<RowSummary[]>>();

  constructor(context: HistoryContext) {
    this.#context = context;
  }

  async complete(version: KeptVersion): Promise<KeptVersion> {
    const { type, key, revision } = version;
    const value = type === 'put' && version.value === undefined ? await this.#valueInEtcd(key, revision) : version.value;
    const created = version.created === 0 ? await this.#createdAt(key, revision) : version.created;
    return value === version.value && created === version.created ? version : { ...version, value, created };
  }

  /** The value of a version that is not compacted. */
  async #valueInEtcd(key: string, revision: number): Promise<Buffer | undefined> {
    const entry = await this.#entryAt(key, Math.max(revision, this.#context.compacted()));
    return entry?.revision === revision ? entry.value : undefined;
  }

  /** The writer did not know it: the put that follows the last delete, as far as there are rows. */
  async #createdAt(key: string, revision: number): Promise<number> {
    const entry = await this.#entryAt(key, undefined);
    if (entry !== undefined && entry.created <= revision) return entry.created;
    let created = revision;
    for (const row of await once(this.#rows, key, () => this.#context.scan.ofKey(key))) {
      if (row.revision >= revision) continue;
      if (row.type === 'delete') break;
      created = row.revision;
      if (row.isNew) break;
    }
    return created;
  }

  #entryAt(key: string, at: number | undefined): Promise<Entry | undefined> {
    return once(this.#entries, `${at ?? ''} ${key}`, async () => {
      try {
        return (await this.#context.reads.get(key, at)).entry;
      } catch (error) {
        if (!(error instanceof CallFailure && error.reason === 'compacted') || at === undefined) throw error;
        return this.#entryAt(key, undefined);
      }
    });
  }
}

function once<Result>(results: Map<string, Promise<Result>>, key: string, ask: () => Promise<Result>): Promise<Result> {
  let result = results.get(key);
  if (result === undefined) {
    result = ask();
    results.set(key, result);
  }
  return result;
}

/** A version of which there is no row: when it was written is not known. */
function withoutRow({ key, revision, created, value }: Entry): KeptVersion {
  return { type: 'put', key, revision, created, time: 0, note: undefined, value };
}

/** The newest version of a key up to a revision: its row if there is one; undefined if it was deleted or is not known. */
function newestVersion(entry: Entry | undefined, rows: readonly RowSummary[], at: number): RowSummary | Entry | undefined {
  let newest: RowSummary | undefined;
  for (const row of rows) if (row.revision <= at && row.revision > (newest?.revision ?? 0)) newest = row;
  if (entry !== undefined && entry.revision <= at) return newest?.revision === entry.revision ? newest : entry;
  return newest?.type === 'delete' ? undefined : newest;
}

function merged(found: readonly (RowSummary | Entry)[], stored: readonly KeptVersion[], entries: readonly Entry[]): KeptVersion[] {
  const byKey = new Map([...stored, ...entries.map(withoutRow)].map((version) => [version.key, version]));
  return found.map(({ key }) => byKey.get(key)).filter((version) => version !== undefined);
}

/** The first rows, rounded up to whole commits. */
function wholeCommits(rows: readonly RowSummary[], limit: number): readonly RowSummary[] {
  let end = Math.min(limit, rows.length);
  while (end < rows.length && rows[end]?.revision === rows[end - 1]?.revision) end++;
  return rows.slice(0, end);
}

function smaller(one: string | undefined, other: string | undefined): string | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one < other ? one : other;
}
