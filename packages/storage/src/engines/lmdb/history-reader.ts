/** Reads of history in the store file: versions by key from the index, those of several keys from the end of the log. */
import { nextTurn } from '@plat-dev/lib/next-turn';
import { workTime } from '@plat-dev/lib/slices';
import type { AtRequest, AtResult, KeptVersion, VersionsRequest, VersionsResult } from '../../history.ts';
import { startOf } from '../operations.ts';
import type { Position, VersionKey, VersionRow } from './format.ts';
import { AFTER_ALL, BEFORE_ALL, checkRow, damageOf, type Reader, SKIP_ROWS, TURN_MS } from './reader.ts';
import type { Tables } from './table.ts';

/** Limits of one call: records of other keys that are passed over, and bytes of values. */
const MOST_RECORDS = 20_000;
const MOST_BYTES = 4 * 2 ** 20;
/** Rows between two looks at the clock. */
const STEPS = 32;
const LAST_INDEX = 65_535;
const NOTHING = Buffer.alloc(0);

export class HistoryReader {
  readonly #tables: Tables;
  readonly #reader: Reader;
  readonly #checkOpen: () => void;

  /** `checkOpen` throws when the file cannot be read. */
  constructor(tables: Tables, reader: Reader, checkOpen: () => void) {
    this.#tables = tables;
    this.#reader = reader;
    this.#checkOpen = checkOpen;
  }

  versions(request: VersionsRequest): Promise<VersionsResult> {
    return request.exact ? this.#versionsOfKey(request) : this.#versionsOfPrefix(request);
  }

  async #versionsOfKey({ prefix: name, before = Number.MAX_SAFE_INTEGER, limit }: VersionsRequest): Promise<VersionsResult> {
    const versions: KeptVersion[] = [];
    let bytes = 0;
    for (let start: number | undefined = before - 1; start !== undefined; await nextTurn()) {
      this.#checkOpen();
      const until = workTime() + TURN_MS;
      const from: number = start;
      start = undefined;
      for (const { key, value } of this.#tables.versions.getRange({ start: { name, revision: from }, end: `${name}\x01` })) {
        const { revision } = key as VersionKey;
        checkRow(key as VersionKey, value);
        if (versions.length >= limit || bytes > MOST_BYTES) return { versions, next: versions.at(-1)?.revision };
        const version = this.#version(name, revision, value);
        bytes += version.value?.length ?? 0;
        versions.push(version);
        if (versions.length % STEPS === 0 && workTime() > until) {
          start = revision - 1;
          break;
        }
      }
    }
    return { versions, next: undefined };
  }

  async #versionsOfPrefix({ prefix, before = Number.MAX_SAFE_INTEGER, limit }: VersionsRequest): Promise<VersionsResult> {
    const versions: KeptVersion[] = [];
    let bytes = 0;
    let records = 0;
    let reached = before;
    for (let start: Position | undefined = { revision: before - 1, index: LAST_INDEX }; start !== undefined; await nextTurn()) {
      this.#checkOpen();
      const until = workTime() + TURN_MS;
      const from: Position = start;
      start = undefined;
      for (const { key: position, value: facts } of this.#tables.recordFacts.getRange({ start: from, reverse: true })) {
        if (position.revision !== reached) {
          if (versions.length >= limit || bytes > MOST_BYTES || records >= MOST_RECORDS) return { versions, next: reached };
          if (records % STEPS === 0 && records > 0 && workTime() > until) {
            start = { revision: position.revision, index: LAST_INDEX };
            records++;
            break;
          }
          reached = position.revision;
        }
        records++;
        const version = 'damage' in facts ? this.#damaged(position) : facts.key.startsWith(prefix) ? this.#stored(position) : undefined;
        if (version === undefined || !version.key.startsWith(prefix)) continue;
        bytes += version.value?.length ?? 0;
        versions.push(version);
      }
    }
    return { versions, next: undefined };
  }

  async at(request: AtRequest): Promise<AtResult> {
    const { prefix, at, limit } = request;
    const first = startOf(request);
    const versions: KeptVersion[] = [];
    let bytes = 0;
    let done: string | undefined;
    let until = workTime() + TURN_MS;
    let start: VersionKey | string | undefined = first === '' ? BEFORE_ALL : first;
    while (start !== undefined) {
      this.#checkOpen();
      let steps = 0;
      let skipped = 0;
      let isTurnOver = false;
      const from: VersionKey | string = start;
      start = undefined;
      for (const { key, value } of this.#tables.versions.getRange({ start: from, end: prefix + AFTER_ALL })) {
        const { name, revision } = key as VersionKey;
        isTurnOver = ++steps % STEPS === 0 && workTime() > until;
        const isOther = name === done || revision > at;
        if (isTurnOver || (isOther && ++skipped > SKIP_ROWS)) {
          start = { name, revision: name === done ? 0 : Math.min(revision, at) };
          break;
        }
        checkRow(key as VersionKey, value);
        if (isOther || name < first) continue;
        done = name;
        skipped = 0;
        const version = this.#version(name, revision, value);
        if (version.type === 'delete') continue;
        if (versions.length >= limit || bytes > MOST_BYTES) return { versions, next: name };
        bytes += version.value?.length ?? 0;
        versions.push(version);
      }
      if (!isTurnOver) continue;
      await nextTurn();
      until = workTime() + TURN_MS;
    }
    return { versions, next: undefined };
  }

  /** Times rise with the revisions. */
  revisionAt(time: number): number {
    this.#checkOpen();
    let low = 0;
    for (let high = this.#reader.revision; low < high; ) {
      const middle = Math.ceil((low + high) / 2);
      const record = this.#firstFrom(middle, high);
      if (record === undefined || record.time > time) high = middle - 1;
      else low = record.revision;
    }
    return low;
  }

  /** The first intact record of a revision or a later one. */
  #firstFrom(revision: number, until: number): { readonly revision: number; readonly time: number } | undefined {
    const bounds = { start: { revision, index: 0 }, end: { revision: until + 1, index: 0 } };
    for (const { key, value } of this.#tables.recordFacts.getRange(bounds))
      if (!('damage' in value)) return { revision: key.revision, time: value.time };
    return undefined;
  }

  #version(key: string, revision: number, { index, created, deleted }: VersionRow): KeptVersion {
    const stored = this.#stored({ revision, index });
    if (stored !== undefined) return stored;
    const unreadable = { reason: damageOf(this.#tables.records.get({ revision, index })) };
    return { type: deleted ? 'delete' : 'put', key, revision, created, time: 0, note: undefined, value: NOTHING, unreadable };
  }

  #stored(position: Position): KeptVersion | undefined {
    const record = this.#tables.records.get(position);
    if (record === undefined || 'damage' in record || record.revision !== position.revision || record.index !== position.index)
      return undefined;
    const { deleted, dropped, key, revision, created, time, note, value } = record;
    return { type: deleted ? 'delete' : 'put', key, revision, created, time, note, value: deleted || dropped ? undefined : value };
  }

  #damaged(position: Position): KeptVersion | undefined {
    const change = this.#reader.damaged(position, this.#tables.records.get(position));
    return change === undefined ? undefined : { ...change, time: 0, note: undefined };
  }
}
