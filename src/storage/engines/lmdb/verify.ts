/** Whether everything that was written to a data directory can be read. Nothing is changed, and the library is not asked. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding } from './findings.ts';
import {
  expiryKeys,
  FORMAT,
  isSound,
  positionKeys,
  readRecord,
  type VersionFacts,
  type VersionKey,
  versionKeys,
  versionValues,
} from './format.ts';
import { hasJournal, inspectJournal } from './journal-read.ts';
import { lockDirectory } from './lock.ts';
import { MetaDamage, readMark, readNumberRow } from './meta.ts';
import { walkPages } from './pages.ts';
import { checkHeader, FILE } from './tables.ts';

/** A record by its place. */
export type Place = `${number}.${number}`;
export const placeOf = (revision: number, index: number): Place => `${revision}.${index}`;

/** What the file holds, as far as it can be read: everything but the values. */
export interface Inventory {
  readonly findings: readonly Finding[];
  readonly meta: ReadonlyMap<string, string>;
  /** Newest version of every key, by the index. */
  readonly newest: ReadonlyMap<string, VersionFacts & { readonly revision: number }>;
  /** Records that are whole: key and how much they hold. */
  readonly records: ReadonlyMap<
    Place,
    { readonly key: string; readonly bytes: number; readonly deleted: boolean; readonly created: number }
  >;
  readonly versions: number;
  /** The newest revision that the tables name. */
  readonly revision: number;
  /** The highest revision that is named anywhere, the journal included. */
  readonly highest: number;
}

/** Throws when a server uses the directory, or there is no store. */
export async function verifyDirectory(directory: string): Promise<Finding[]> {
  const lock = await lockDirectory(directory);
  try {
    return [...inventoryOf(directory).findings];
  } finally {
    await lock.release();
  }
}

/** The directory must be locked. Throws when there is no store. */
export function inventoryOf(directory: string): Inventory {
  const path = join(directory, FILE);
  if (!existsSync(path) || statSync(path).size === 0) throw new Error(`there is no store in ${directory}`);
  const findings: Finding[] = [];
  const meta = new Map<string, string>();
  const records: Map<Place, { key: string; bytes: number; deleted: boolean; created: number }> = new Map();
  const damaged = new Map<Place, string>();
  const newest = new Map<string, VersionFacts & { revision: number }>();
  const rows = new Map<Place, VersionKey>();
  const expiries: { key: string; expires: number; revision: number }[] = [];
  let highest = 0;
  let versions = 0;
  const report = (finding: Omit<Finding, 'file'> & { file?: string }): void => void findings.push({ file: FILE, ...finding });
  try {
    checkHeader(path);
  } catch (error) {
    report({ kind: 'file', message: (error as Error).message, startsAnyway: false });
    return { findings, meta, newest, records, versions, revision: highest, highest };
  }
  const { problems } = walkPages(path, (table, key, value) => {
    if (table === 'meta') meta.set(key.toString('latin1'), value.toString('latin1'));
    else if (table === 'records') {
      const { revision, index } = positionKeys.readKey(key, 0, key.length);
      const record = readRecord(value);
      if ('damage' in record) damaged.set(placeOf(revision, index), record.damage);
      else if (record.revision !== revision || record.index !== index)
        damaged.set(placeOf(revision, index), 'its record is that of another');
      else {
        records.set(placeOf(revision, index), {
          key: record.key,
          bytes: record.value.length,
          deleted: record.deleted,
          created: record.created,
        });
        highest = Math.max(highest, revision);
      }
    } else if (table === 'versions') {
      const row = versionKeys.readKey(key, 0, key.length) as VersionKey;
      const facts = versionValues.decode(value);
      versions++;
      if (!isSound(row, facts)) {
        report({ kind: 'version', key: row.name, revision: row.revision, message: 'a row of the index is damaged', startsAnyway: false });
        return;
      }
      highest = Math.max(highest, row.revision);
      rows.set(placeOf(row.revision, facts.index), row);
      const known = newest.get(row.name);
      if (known === undefined || known.revision < row.revision) newest.set(row.name, { ...facts, revision: row.revision });
    } else if (table === 'expiries') expiries.push({ ...expiryKeys.readKey(key, 0, key.length), key: value.toString('latin1') });
  });
  for (const { offset, page, table, message } of problems)
    report({
      kind: 'page',
      offset,
      message: `page ${page}${table === '' ? '' : ` of the table ${table}`}: ${message}`,
      startsAnyway: false,
    });
  const old = Number(meta.get('format')) < FORMAT || meta.has('migrating');
  if (old) return { findings, meta, newest, records, versions, revision: highest, highest };
  if (meta.get('format') !== String(FORMAT)) report({ kind: 'meta', message: 'the format cannot be read', startsAnyway: false });
  highest = Math.max(highest, ...metaFindings(meta, report));
  for (const [place, damage] of damaged) {
    const row = rows.get(place);
    const current = row !== undefined && newest.get(row.name)?.revision === row.revision;
    const what = current ? 'an object cannot be read' : 'a superseded version cannot be read';
    report({ kind: 'record', ...named(row, place), message: `${what}: ${damage}`, startsAnyway: true });
  }
  for (const [place, row] of rows) {
    const record = records.get(place);
    if (record === undefined && !damaged.has(place))
      report({ kind: 'record', ...named(row, place), message: 'an object cannot be read: its record is missing', startsAnyway: true });
    else if (record !== undefined && record.key !== row.name)
      report({
        kind: 'version',
        ...named(row, place),
        message: 'a row of the index leads to the record of another key',
        startsAnyway: false,
      });
  }
  for (const [place, { key }] of records)
    if (!rows.has(place))
      report({
        kind: 'version',
        key,
        revision: Number(place.split('.')[0]),
        message: 'a record has no row in the index',
        startsAnyway: false,
      });
  const due = new Set(expiries.map(({ key, expires, revision }) => `${key} ${revision} ${expires}`));
  for (const [key, { revision, expires, deleted }] of newest)
    if (!deleted && expires > 0 && !due.delete(`${key} ${revision} ${expires}`))
      report({ kind: 'expiry', key, revision, message: 'an object that expires has no row that says so', startsAnyway: true });
  for (const row of due)
    report({
      kind: 'expiry',
      key: row.split(' ')[0] as string,
      message: 'a row says that a key expires that does not',
      startsAnyway: true,
    });
  const journal = journalFindings(directory, meta, highest, report);
  return { findings, meta, newest, records, versions, revision: highest, highest: Math.max(highest, journal) };
}

function named(row: VersionKey | undefined, place: Place): { key?: string; revision: number } {
  return row === undefined ? { revision: Number(place.split('.')[0]) } : { key: row.name, revision: row.revision };
}

type Report = (finding: Omit<Finding, 'file'> & { file?: string }) => void;

/** Revisions that the rows of `meta` name. */
function metaFindings(meta: ReadonlyMap<string, string>, report: Report): number[] {
  const found: number[] = [];
  const table = { get: (name: string) => meta.get(name) } as Parameters<typeof readMark>[0];
  for (const read of [
    () => void readMark(table),
    ...(['compacted', 'pruned', 'closed'] as const).map((name) => () => void found.push(readNumberRow(table, name) ?? 0)),
  ]) {
    try {
      read();
    } catch (error) {
      if (!(error instanceof MetaDamage)) throw error;
      report({ kind: 'meta', message: error.message, startsAnyway: false });
    }
  }
  return found;
}

/** The highest revision that the journal names. */
function journalFindings(directory: string, meta: ReadonlyMap<string, string>, after: number, report: Report): number {
  if (!hasJournal(directory)) {
    if (!meta.has('closed'))
      report({ kind: 'journal', message: 'the last server did not end in order, and its journal is missing', startsAnyway: false });
    return after;
  }
  const { problems, highest } = inspectJournal(directory, after);
  for (const { file, offset, from, message } of problems)
    report({ kind: 'journal', file: file.slice(directory.length + 1), offset, revision: from, message, startsAnyway: false });
  return highest;
}
