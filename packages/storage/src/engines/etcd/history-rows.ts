/**
 * Rows of history. A commit writes one for each change that is kept, in the same transaction, and an empty entry of an index:
 *
 *   /registry/plat+history/k/<key>\0<name>     the row: created, note, value
 *   /registry/plat+history/t/<name>\0<key>     its entry in the index by revision
 *
 * The revision of a commit is known only when it is done: it is the revision at which etcd wrote the row. So a name begins with the
 * newest revision that the writer knew before (`base`), by which rows lie nearly in the order of revisions. The rest of a name is
 * what can be known of a version without reading it:
 *
 *   <base>-<unique>-<time>-<c|p|d>-<bytes>     c: the put that created the key, p: another put, d: a delete
 *   <base>-<unique>-<time>-<c|p|d>-<bytes>-<revision>     of a backup: the revision that it had
 */
import type { Clock } from '@plat-dev/lib/clock';
import type { Random } from '@plat-dev/lib/random';
import type { Entry, Operation } from '../../engine.ts';
import type { HistoryPolicy, KeptVersion } from '../../history.ts';

interface RowName {
  readonly key: string;
  readonly name: string;
}

export interface HistoryRow extends RowName {
  /** Prefix of all rows. */
  readonly root: string;
  /** 0: not known when it was written. */
  readonly created: number;
  readonly note: Buffer | undefined;
  readonly value: Buffer | undefined;
}

/** What the key of a row says. */
export interface RowSummary extends RowName {
  readonly base: number;
  readonly time: number;
  readonly type: 'put' | 'delete';
  /** Whether it is known to have created the key. */
  readonly isNew: boolean;
  readonly bytes: number;
  readonly revision: number;
}

/** Bytes before the note and the value: the format, `created`, the length of the note or -, and whether there is a value. */
const FORMAT = '1';
const LINE_END = 0x0a;
/** Enough for every revision that is exact in JavaScript. */
const BASE_DIGITS = 14;

/** Etcd accepts this many operations in a transaction, by default. */
export const MOST_OPERATIONS = 128;
const OPERATIONS_OF_ROW = 2;

export const rowsOfKey = (root: string, key: string): string => `${root}k/${key}\0`;
export const rowKeyOf = (root: string, { key, name }: RowName): string => `${root}k/${key}\0${name}`;
export const indexKeyOf = (root: string, { key, name }: RowName): string => `${root}t/${name}\0${key}`;
/** The first key of the index that may have this base. */
export const indexStart = (root: string, base: number): string => `${root}t/${baseText(base)}`;

const baseText = (base: number): string => base.toString(16).padStart(BASE_DIGITS, '0');

export function headerOf({ created, note, value }: HistoryRow): string {
  return `${FORMAT} ${created} ${note === undefined ? '-' : note.length} ${value === undefined ? '-' : 'v'}\n`;
}

/** At most so many bytes of a request. */
export function sizeOfRow({ root, key, name, note, value }: HistoryRow): number {
  return 2 * (root.length + key.length + name.length) + (note?.length ?? 0) + (value?.length ?? 0) + OPERATION_ROOM;
}
const OPERATION_ROOM = 128;

/** Makes the rows of commits. */
export class RowMaker {
  readonly #policy: HistoryPolicy;
  readonly #root: string;
  readonly #clock: Clock;
  readonly #writer: string;
  #count = 0;

  constructor(policy: HistoryPolicy, root: string, clock: Clock, random: Random) {
    this.#policy = policy;
    this.#root = root;
    this.#clock = clock;
    this.#writer = random.uuid().slice(0, 8);
  }

  /** For each operation its row, if it has one; undefined if none has. `newest`: the newest revision that is known. */
  rowsOf(operations: readonly Operation[], newest: number): readonly (HistoryRow | undefined)[] | undefined {
    let rows: (HistoryRow | undefined)[] | undefined;
    let room = MOST_OPERATIONS - operations.length;
    let start = '';
    for (const [index, operation] of operations.entries()) {
      if (room < OPERATIONS_OF_ROW) break;
      // A key that expires is deleted by etcd itself, without a row: its history would have no end.
      if (operation.type === 'check' || (operation.type === 'put' && operation.ttlSeconds !== undefined)) continue;
      const rule = this.#policy.ruleOf(operation.key);
      if (rule === undefined) continue;
      if (rows === undefined) {
        rows = new Array(operations.length).fill(undefined);
        start = this.#startOfNames(operations, newest);
      }
      rows[index] = this.#row(operation, start, rule.values);
      room -= OPERATIONS_OF_ROW;
    }
    return rows;
  }

  #startOfNames(operations: readonly Operation[], newest: number): string {
    let base = newest;
    for (const { expect } of operations) if (expect !== undefined && expect > base) base = expect;
    return `${baseText(base)}-${this.#writer}${(this.#count++).toString(36)}-${this.#clock.now().toString(36)}`;
  }

  #row(operation: Exclude<Operation, { type: 'check' }>, start: string, withValue: boolean): HistoryRow {
    const { key, note } = operation;
    const isPut = operation.type === 'put';
    const value = isPut && withValue ? operation.value : undefined;
    const kind = isPut ? (operation.expect === 0 ? 'c' : 'p') : 'd';
    const name = `${start}-${kind}-${bytesText(key, note, value)}`;
    return { root: this.#root, key, name, created: operation.created ?? 0, note, value };
  }
}

function bytesText(key: string, note: Buffer | undefined, value: Buffer | undefined): string {
  return (key.length + (note?.length ?? 0) + (value?.length ?? 0)).toString(36);
}

/** The row of a commit with its note alone. */
export function withoutValue(row: HistoryRow): HistoryRow {
  const { key, name, note } = row;
  return { ...row, name: name.slice(0, name.lastIndexOf('-') + 1) + bytesText(key, note, undefined), value: undefined };
}

/** The row of a version from a backup. The same version always gets the same row. */
export function rowOfVersion(root: string, version: KeptVersion): HistoryRow {
  const { key, revision, created, time, note, value } = version;
  const kind = version.type === 'delete' ? 'd' : created === revision ? 'c' : 'p';
  const numbers = [time.toString(36), kind, bytesText(key, note, value), revision.toString(36)].join('-');
  return { root, key, name: `${baseText(Math.max(0, revision - 1))}-backup-${numbers}`, created, note, value };
}

/** Reads the key of a row or of its entry in the index, without the root; undefined if it is none. */
export function summaryOf(stored: Pick<Entry, 'key' | 'revision'>): RowSummary | undefined {
  const separator = stored.key.indexOf('\0');
  if (separator < 0) return undefined;
  const [first, second] = [stored.key.slice(2, separator), stored.key.slice(separator + 1)];
  const [key, name] = stored.key.startsWith('k/') ? [first, second] : [second, first];
  const [base, , time, kind, bytes, revision] = name.split('-');
  if (base === undefined || time === undefined || kind === undefined || bytes === undefined) return undefined;
  return {
    key,
    name,
    base: Number.parseInt(base, 16),
    time: Number.parseInt(time, 36),
    type: kind === 'd' ? 'delete' : 'put',
    isNew: kind === 'c',
    bytes: Number.parseInt(bytes, 36),
    revision: revision === undefined ? stored.revision : Number.parseInt(revision, 36),
  };
}

/** A version from its row. `created` is 0 where the writer did not know it. */
export function versionOf(summary: RowSummary, stored: Buffer): KeptVersion {
  const { type, key, revision, time, isNew } = summary;
  const lineEnd = stored.indexOf(LINE_END);
  const [format, created = '0', noteLength = '-', valueMark] = stored.toString('latin1', 0, Math.max(0, lineEnd)).split(' ');
  if (format !== FORMAT) return { type, key, revision, created: 0, time, note: undefined, value: undefined };
  const noteEnd = lineEnd + 1 + (noteLength === '-' ? 0 : Number(noteLength));
  return {
    type,
    key,
    revision,
    created: isNew ? revision : Number(created),
    time,
    note: noteLength === '-' ? undefined : stored.subarray(lineEnd + 1, noteEnd),
    value: valueMark === 'v' ? stored.subarray(noteEnd) : undefined,
  };
}
