/**
 * The table `meta`: the metadata of the store.
 *
 *   format      decimal text, the only row without a checksum: every release must be able to read it
 *   mark        JSON of a StoreMark
 *   compacted   oldest revision that can be read
 *   pruned      compaction has removed everything possible up to here
 *   history     JSON of a HistoryRow
 *   closed      newest revision at a clean shutdown; absent while a server runs
 *   migrating   present while rows are migrated to this format
 *   repaired    revision up to which a repair made the store
 *
 * All but `format` are text, a space and the CRC-32 of name, space and text in hexadecimal.
 */

import { jsonText } from '@plat-dev/lib/json-text';
import { crc32 } from '../../crc32.ts';
import { parseMark, type StoreMark } from '../../store-mark.ts';
import type { MetaTable } from './table.ts';

export type MetaNumber = 'compacted' | 'pruned' | 'closed';
export type MetaName = MetaNumber | 'format' | 'mark' | 'history' | 'migrating' | 'repaired';

export class MetaDamage extends Error {
  readonly row: string;
  constructor(row: string) {
    super(`the row ${row} of its table meta is damaged`);
    this.row = row;
  }
}

const sumOf = (name: string, text: string): string =>
  crc32(Buffer.from(`${name} ${text}`))
    .toString(16)
    .padStart(8, '0');

export const sealed = (name: MetaName, text: string): Buffer => Buffer.from(`${text} ${sumOf(name, text)}`);

function unsealed(meta: MetaTable, name: MetaName): string | undefined {
  const row = meta.get(name);
  if (row === undefined) return undefined;
  const space = row.lastIndexOf(' ');
  const text = row.slice(0, Math.max(space, 0));
  if (sumOf(name, text) !== row.slice(space + 1)) throw new MetaDamage(name);
  return text;
}

/** Throws MetaDamage. */
export function readNumberRow(meta: MetaTable, name: MetaNumber): number | undefined {
  const text = unsealed(meta, name);
  return text === undefined ? undefined : Number(text);
}

/** Throws MetaDamage. */
export function readMark(meta: MetaTable): StoreMark | undefined {
  const text = unsealed(meta, 'mark');
  if (text === undefined) return undefined;
  const mark = parseMark(text);
  if (mark === undefined) throw new MetaDamage('mark');
  return mark;
}

/** How far the passes over kept versions have come (`kept-versions.ts`). */
export interface HistoryRow {
  /** The rules by which the versions were kept. */
  readonly policy: string;
  /** Bytes of all kept versions. */
  readonly bytes: number;
  /** For each retention in milliseconds, and for `oldest`: everything up to this revision is done. */
  readonly passes: ReadonlyMap<string, number>;
}

/** Throws MetaDamage. */
export function readHistoryRow(meta: MetaTable): HistoryRow | undefined {
  const text = unsealed(meta, 'history');
  if (text === undefined) return undefined;
  const row = JSON.parse(text) as Omit<HistoryRow, 'passes'> & { readonly passes: [string, number][] };
  return { ...row, passes: new Map(row.passes) };
}
/** Within a transaction. */
export function writeHistoryRow(meta: MetaTable, row: HistoryRow): void {
  meta.put('history', sealed('history', asciiJson({ ...row, passes: [...row.passes] })));
}

/** Within a transaction. */
export function writeNumberRow(meta: MetaTable, name: MetaNumber, value: number): void {
  meta.put(name, sealed(name, String(value)));
}
/** Within a transaction. The text of a mark may be any; the table's is Latin-1. */
export function writeMark(meta: MetaTable, mark: StoreMark): void {
  meta.put('mark', sealed('mark', asciiJson(mark)));
}
const asciiJson = (value: unknown): string =>
  jsonText(value).replace(/[^ -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
