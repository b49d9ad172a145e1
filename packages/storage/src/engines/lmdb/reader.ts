/**
 * Reads of the store file. A read takes at most a few milliseconds of a turn of the event loop; a longer one continues in
 * the next turn. No snapshot of the database is held meanwhile: versions are distinguished by their revisions, and those
 * that a read still needs are safe as long as its revision is not compacted.
 */
import { nextTurn } from '@plat-dev/lib/next-turn';
import { workTime } from '@plat-dev/lib/slices';
import type { ChangeRecord, Entry, RangeRequest, RangeResult } from '../../engine.ts';
import { startOf } from '../operations.ts';
import { type DamagedRecord, isSound, type Position, type StoredRecord, type Version, type VersionKey, type VersionRow } from './format.ts';
import { readNumberRow } from './meta.ts';
import type { Tables } from './table.ts';

/** How long a read may block the event loop at a time, in milliseconds. */
export const TURN_MS = 3;
/** Steps between two reads of the clock. */
const STEPS = 32;
/** Limits of what is passed to a subscriber in one turn. */
const SLICE_CHANGES = 500;
const SLICE_BYTES = 4 * 2 ** 20;
/** Comes after every character of a key. */
export const AFTER_ALL = '\x7f';
/** Comes before every key. */
export const BEFORE_ALL = ' ';
/** Older versions of a key that are read one by one; beyond them the next key is searched. */
export const SKIP_ROWS = 16;
/** A revision that no version reaches: its key sorts before the newest version of a key. */
const NEWEST = Number.MAX_SAFE_INTEGER;

export interface ReaderState {
  readonly revision: number;
  /** Throws when the store is closed, or the revision is in the future or compacted. */
  checkReadable(at: number | undefined): void;
}

export class Reader {
  readonly #tables: Tables;
  readonly #state: ReaderState;

  constructor(tables: Tables, state: ReaderState) {
    this.#tables = tables;
    this.#state = state;
  }

  /** The newest revision in the file. */
  get revision(): number {
    return this.#state.revision;
  }

  /** The version of a key that was current at a revision; it may mark the key as deleted. */
  versionAt(name: string, at: number): Version | undefined {
    for (const { key, value } of this.#tables.versions.getRange({ start: { name, revision: at }, end: `${name}\x01`, limit: 1 })) {
      // The bounds are those of the key alone, since nothing else stands between it and the next character.
      checkRow(key as VersionKey, value);
      return versionOf(value, (key as VersionKey).revision);
    }
    return undefined;
  }

  /** The newest version of a key in the file; it may mark the key as deleted. */
  newestVersion(name: string): Version | undefined {
    return this.versionAt(name, NEWEST);
  }

  /** The newest version of every key in the file, or of those after one; it may mark the key as deleted. */
  *newestVersions(after?: string): Iterable<[string, Version]> {
    let last = after;
    let start: VersionKey | string | undefined = after === undefined ? BEFORE_ALL : { name: after, revision: 0 };
    while (start !== undefined) {
      const rows: Iterable<{ key: VersionKey | string; value: VersionRow }> = this.#tables.versions.getRange({ start, end: AFTER_ALL });
      start = undefined;
      let skipped = 0;
      for (const { key, value } of rows) {
        const { name, revision } = key as VersionKey;
        checkRow(key as VersionKey, value);
        if (name !== last) {
          last = name;
          skipped = 0;
          yield [name, versionOf(value, revision)];
        } else if (++skipped > SKIP_ROWS) {
          start = { name, revision: 0 };
          break;
        }
      }
    }
  }

  entry(key: string, { revision, index, created }: Version): Entry {
    return this.#entry(key, revision, index, created);
  }
  /** The row of the index was checked with its key, and the record contains its position: so both belong together. */
  #entry(key: string, revision: number, index: number, created: number): Entry {
    const stored = this.#tables.recordValues.get({ revision, index });
    if (stored !== undefined && 'value' in stored && stored.revision === revision && stored.index === index)
      return { key, value: stored.value, revision, created };
    return { key, value: NOTHING, revision, created, unreadable: { reason: damageOf(stored) } };
  }

  async range(request: RangeRequest): Promise<RangeResult> {
    const { prefix, limit = Number.POSITIVE_INFINITY, at = this.#state.revision, uncounted = false, expiries = false } = request;
    const first = startOf(request);
    const entries: Entry[] = [];
    let count = 0;
    let start: VersionKey | string | undefined = first === '' ? BEFORE_ALL : first;
    let until = workTime() + TURN_MS;
    while (start !== undefined) {
      this.#state.checkReadable(at);
      let steps = 0;
      let done: string | undefined;
      let skipped = 0;
      let isTurnOver = false;
      let next: VersionKey | undefined;
      for (const { key, value } of this.#tables.versions.getRange({ start, end: prefix + AFTER_ALL })) {
        const { name, revision } = key as VersionKey;
        if (++steps % STEPS === 0 && workTime() > until) {
          next = { name, revision };
          isTurnOver = true;
          break;
        }
        if (name === done && ++skipped > SKIP_ROWS) {
          next = { name, revision };
          break;
        }
        checkRow(key as VersionKey, value);
        // Versions are ordered newest first: the first one that is old enough counts, and hides those before it.
        if (revision > at || name === done || name < first) continue;
        done = name;
        skipped = 0;
        if (value.deleted) continue;
        count++;
        if (entries.length < limit) {
          const entry = this.#entry(name, revision, value.index, value.created);
          entries.push(expiries && value.expires > 0 ? { ...entry, expires: value.expires } : entry);
        } else if (uncounted) break;
      }
      // A turn may end between two keys or within one; keys must not be counted twice.
      start = next !== undefined && next.name === done ? { name: next.name, revision: 0 } : next;
      if (!isTurnOver) continue;
      await nextTurn();
      until = workTime() + TURN_MS;
    }
    return { entries, revision: at, more: count > entries.length, count };
  }

  async changes(after: number, prefix: string, limit = Number.POSITIVE_INFINITY): Promise<ChangeRecord[]> {
    const changeRecords: ChangeRecord[] = [];
    const until = this.#state.revision;
    let reached = after;
    while (reached < until && changeRecords.length < limit) {
      if (reached !== after) await nextTurn();
      this.#state.checkReadable(after);
      reached = this.#collect(changeRecords, reached, until, prefix, limit);
    }
    return changeRecords;
  }

  /** The next changes after a revision, as many as one turn may read, and the last of their revisions. */
  slice(after: number): { changes: ChangeRecord[]; revision: number } {
    this.#state.checkReadable(after);
    const changes: ChangeRecord[] = [];
    const revision = this.#collect(changes, after, this.#state.revision, '', SLICE_CHANGES);
    return { changes, revision };
  }

  /** Collects whole commits; returns the last revision that was read. */
  #collect(changeRecords: ChangeRecord[], after: number, until: number, prefix: string, limit: number): number {
    const end = workTime() + TURN_MS;
    let bytes = 0;
    let reached = after;
    const bounds = { start: { revision: after + 1, index: 0 }, end: { revision: until + 1, index: 0 } };
    for (const { key, value } of this.#tables.records.getRange(bounds)) {
      const { revision } = key;
      if (revision !== reached) {
        if (reached !== after && (changeRecords.length >= limit || bytes > SLICE_BYTES || workTime() > end)) return reached;
        reached = revision;
      }
      const change =
        'damage' in value || value.revision !== revision || value.index !== key.index ? this.damaged(key, value) : changeOf(value);
      if (change === undefined || !change.key.startsWith(prefix)) continue;
      bytes += change.value?.length ?? 0;
      changeRecords.push(change);
    }
    // Revisions without a record are those of keys whose deletion is compacted already; nothing is missed.
    return until;
  }

  /** The known parts of a change whose record is unreadable: the index has its key. Undefined if there is no such row. */
  damaged(position: Position, record: StoredRecord | DamagedRecord | undefined): ChangeRecord | undefined {
    for (const { key, value } of this.#tables.versions.getRange({ start: BEFORE_ALL, end: AFTER_ALL })) {
      const { name, revision } = key as VersionKey;
      if (revision !== position.revision || value.index !== position.index || !isSound(key as VersionKey, value)) continue;
      const { deleted, created } = value;
      if (deleted) return { type: 'delete', key: name, value: undefined, revision, created };
      return { type: 'put', key: name, value: NOTHING, revision, created, unreadable: { reason: damageOf(record) } };
    }
    return undefined;
  }
}

const NOTHING = Buffer.alloc(0);

export function damageOf(record: object | undefined): string {
  if (record === undefined) return 'its record is missing';
  return 'damage' in record ? String(record.damage) : 'its record is that of another';
}

/** Made field by field: a spread of the row costs several times as much, for every key of the store at its start. */
const versionOf = ({ deleted, index, created, expires }: VersionRow, revision: number): Version => ({
  revision,
  index,
  created,
  deleted,
  expires,
});

/** The index must be right: keys that are not in it are not found. */
export class IndexDamage extends Error {
  readonly key: string;
  readonly revision: number;
  constructor({ name, revision }: VersionKey) {
    super(`its index is damaged at the key ${JSON.stringify(name)} of revision ${revision}`);
    this.key = name;
    this.revision = revision;
  }
}
export function checkRow(key: VersionKey, row: VersionRow): void {
  if (!isSound(key, row)) throw new IndexDamage(key);
}

/**
 * The newest revision in the tables. A record whose position is not certain does not count; the index and the rows of
 * `meta` have its revision as well.
 */
export function newestRevision(tables: Tables): number {
  const markedRevision = Math.max(readNumberRow(tables.meta, 'compacted') ?? 0, readNumberRow(tables.meta, 'closed') ?? 0);
  for (const { key, value } of tables.recordFacts.getRange({ reverse: true, limit: 1 })) {
    if (!('damage' in value) && value.revision === key.revision) return Math.max(markedRevision, key.revision);
    return Math.max(markedRevision, newestInIndex(tables));
  }
  return markedRevision;
}
function newestInIndex(tables: Tables): number {
  let newest = 0;
  for (const { key, value } of tables.versions.getRange({ start: BEFORE_ALL, end: AFTER_ALL })) {
    const { revision } = key as VersionKey;
    if (revision > newest && isSound(key as VersionKey, value)) newest = revision;
  }
  return newest;
}

/** Keys that had expired at `until`, the oldest first, at most `limit`; and when the next one after those expires. */
export function dueExpiries(tables: Tables, until: number, limit: number) {
  const due: { key: string; revision: number; index: number; expires: number }[] = [];
  for (const { key, value } of tables.expiries.getRange({})) {
    if (key.expires > until || due.length >= limit) return { due, next: key.expires };
    due.push({ ...key, key: value });
  }
  return { due, next: undefined };
}

function changeOf({ deleted, key, value, created, revision }: StoredRecord): ChangeRecord {
  return { type: deleted ? 'delete' : 'put', key, value: deleted ? undefined : value, revision, created };
}
