/** Whether everything in a data directory can be read. Nothing is changed, and the library is not used. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  type DamagedRecord,
  expiryKeys,
  FIRST_CHECKED_FORMAT,
  FORMAT,
  isSound,
  type Position,
  positionKeys,
  readRecord,
  type StoredRecord,
  type Version,
  type VersionKey,
  versionKeys,
  versionValues,
} from '../format.ts';
import { checkNotAlone, inspectJournal, missingFiles } from '../journal/journal-read.ts';
import { lockDirectory } from '../lock.ts';
import { MetaDamage, readHistoryRow, readMark, readNumberRow } from '../meta.ts';
import type { RowPlace } from '../pages/page-file.ts';
import type { Visit } from '../pages/page-walk.ts';
import { walkPages } from '../pages/pages.ts';
import { interrupted, isReplacing, REPLACING } from '../replace.ts';
import { FILE } from '../tables.ts';
import type { Finding } from './findings.ts';

/** A record by its position. */
export type Place = `${number}.${number}`;
export const placeOf = (revision: number, index: number): Place => `${revision}.${index}`;

export interface FoundRecord extends Position {
  readonly key: string;
  readonly bytes: number;
  /** The key is deleted by it, or it is a version of a backup: nothing of it is current. */
  readonly deleted: boolean;
  readonly created: number;
  readonly place: RowPlace;
}

/** The readable content of the file, except the values. */
export interface Inventory {
  readonly findings: readonly Finding[];
  readonly meta: ReadonlyMap<string, string>;
  /** Newest version of every key, by the index. */
  readonly newest: ReadonlyMap<string, Version>;
  /** Intact records: key and size. */
  readonly records: ReadonlyMap<Place, FoundRecord>;
  /** When the version at a position expires. */
  readonly expiries: ReadonlyMap<Place, number>;
  readonly versions: number;
  /** Whether the rows have no checksums: they are of an older format. */
  readonly old: boolean;
  /** Whether anything of the file can be read. */
  readonly legible: boolean;
  /** The newest revision in the tables. */
  readonly revision: number;
  /** The highest revision found anywhere, including the journal. */
  readonly highest: number;
  /** Revisions beyond it that may have been assigned, if it is not known what is lost. */
  readonly unknown: number;
}

/** Throws when a server uses the directory, or there is no store. */
export async function verifyDirectory(directory: string): Promise<Finding[]> {
  const lock = await lockDirectory(directory);
  try {
    // Files of two stores are in place, or none.
    if (isReplacing(directory)) return [{ kind: 'file', file: REPLACING, message: interrupted(directory), startsAnyway: true }];
    return [...inventoryOf(directory).findings];
  } finally {
    await lock.release();
  }
}

/** The directory must be locked. Throws when there is no store. `salvage`: also searches rows of broken pages. */
export function inventoryOf(directory: string, salvage = false): Inventory {
  const path = join(directory, FILE);
  if (!existsSync(path) || statSync(path).size === 0) {
    checkNotAlone(directory);
    throw new Error(`there is no store in ${directory}`);
  }
  const findings: Finding[] = [];
  const report: Report = (finding) => void findings.push({ file: FILE, ...finding });
  const rows = new FoundRows();
  const walk = walkPages(path, { visit: rows.visit, salvage });
  reportPages(walk, rows, report);
  const { meta, newest, records, expiries, versions } = rows;
  const format = Number(meta.get('format'));
  const old = format < FIRST_CHECKED_FORMAT || meta.has('migrating');
  const inventory = { findings, meta, newest, records, expiries, versions, old, legible: walk.rows.size > 0 };
  if (old) {
    reportOldFormat(format, walk.problemCount === 0, report);
    return { ...inventory, revision: rows.highest, highest: rows.highest, unknown: 0 };
  }
  if (!(format >= FIRST_CHECKED_FORMAT && format <= FORMAT))
    report({ kind: 'meta', message: 'the format cannot be read', startsAnyway: false });
  const highest = Math.max(rows.highest, ...metaFindings(meta, report));
  reportDamage(rows, report);
  reportIndex(rows, report);
  reportExpiries(rows, report);
  const journal = journalFindings(directory, meta, highest, report);
  return { ...inventory, revision: highest, highest: Math.max(highest, journal.highest), unknown: journal.unknown };
}

/** What a walk over the pages finds, sound or not. */
class FoundRows {
  readonly meta = new Map<string, string>();
  readonly records = new Map<Place, FoundRecord>();
  /** Why a record cannot be read. */
  readonly damaged = new Map<Place, string>();
  /** Newest version of every key. */
  readonly newest = new Map<string, Version>();
  /** Rows of the index, by the record to which they lead. */
  readonly rows = new Map<Place, VersionKey>();
  readonly damagedRows: VersionKey[] = [];
  readonly expiries = new Map<Place, number>();
  /** Key, revision and time of each expiry. */
  readonly due = new Set<string>();
  /** The highest revision of a sound row. */
  highest = 0;
  versions = 0;

  readonly visit: Visit = (table, key, value, place) => {
    if (table === 'meta') this.meta.set(key.toString('latin1'), value.toString('latin1'));
    else if (table === 'records') this.addRecord(key, value, place, true);
    else if (table === 'versions') this.addVersion(key, value, true);
    else if (table === 'expiries' && key.length === EXPIRY_KEY) {
      const { expires, revision, index } = expiryKeys.readKey(key, 0, key.length);
      this.expiries.set(placeOf(revision, index), expires);
      this.due.add(`${value.toString('latin1')} ${revision} ${expires}`);
    } else if (table === '') {
      // The row is unreachable: its own checksum verifies it.
      if (this.addRecord(key, value, place, false) || this.addVersion(key, value, false)) return;
      const name = key.toString('latin1');
      if (META_NAMES.has(name) && !this.meta.has(name)) this.meta.set(name, value.toString('latin1'));
    }
  };

  private addRecord(key: Buffer, value: Buffer, place: RowPlace, isSure: boolean): boolean {
    const { revision, index } = positionOf(key);
    const record = readRecord(value);
    const damage = damageAt(record, revision, index);
    if (damage !== undefined && isSure) this.damaged.set(placeOf(revision, index), damage);
    if (damage !== undefined || 'damage' in record) return false;
    const { created } = record;
    const deleted = record.deleted || record.added === true;
    this.records.set(placeOf(revision, index), { key: record.key, bytes: record.value.length, deleted, created, revision, index, place });
    this.highest = Math.max(this.highest, revision);
    return true;
  }

  private addVersion(key: Buffer, value: Buffer, isSure: boolean): boolean {
    const row = key.length > SHORTEST_VERSION_KEY ? (versionKeys.readKey(key, 0, key.length) as VersionKey) : { name: '', revision: 0 };
    const facts = versionValues.decode(value);
    if (!isSound(row, facts)) {
      if (isSure) {
        this.versions++;
        this.damagedRows.push(row);
      }
      return false;
    }
    this.versions++;
    this.highest = Math.max(this.highest, row.revision);
    this.rows.set(placeOf(row.revision, facts.index), row);
    const newestVersion = this.newest.get(row.name);
    if (newestVersion === undefined || newestVersion.revision < row.revision)
      this.newest.set(row.name, { ...facts, revision: row.revision });
    return true;
  }
}

function reportPages({ problems, problemCount, expected }: ReturnType<typeof walkPages>, inventory: FoundRows, report: Report): void {
  for (const { offset, page, table, message } of problems)
    report({
      kind: 'page',
      offset,
      message: `page ${page}${table === '' ? '' : ` of the table ${table}`}: ${message}`,
      startsAnyway: false,
    });
  if (problemCount > problems.length)
    report({ kind: 'page', message: `${problemCount - problems.length} further problems of pages`, startsAnyway: false });
  if (problemCount === 0) return;
  for (const [table, rows] of [
    ['records', inventory.records.size + inventory.damaged.size],
    ['versions', inventory.versions],
  ] as const) {
    const expectedRows = expected.get(table);
    if (expectedRows === undefined)
      report({ kind: 'page', message: `nothing leads to the table ${table}; ${rows} of its rows were found`, startsAnyway: false });
    else if (rows < expectedRows)
      report({ kind: 'page', message: `of ${expectedRows} rows of the table ${table} only ${rows} were found`, startsAnyway: false });
  }
}

function reportOldFormat(format: number, startsAnyway: boolean, report: Report): void {
  report({
    kind: 'meta',
    message:
      format < FIRST_CHECKED_FORMAT
        ? `the store has format ${format}, whose rows have no checksums, so that only its pages were checked. A server of this version brings it into format ${FORMAT} when it starts; verify it after that`
        : `a server was bringing the store into format ${FORMAT} when it ended, so that only its pages were checked. Start it again, and verify after that`,
    startsAnyway,
  });
}

function reportDamage({ damagedRows, damaged, rows, newest }: FoundRows, report: Report): void {
  for (const { name, revision } of damagedRows)
    report({ kind: 'version', key: name, revision, message: 'a row of the index is damaged', startsAnyway: false });
  for (const [place, damage] of damaged) {
    const row = rows.get(place);
    const current = row !== undefined && newest.get(row.name)?.revision === row.revision;
    const what = current ? 'an object cannot be read' : 'a superseded version cannot be read';
    report({ kind: 'record', ...named(row, place), message: `${what}: ${damage}`, startsAnyway: true });
  }
}

/** Every row of the index leads to a record of its key, and every record has a row. */
function reportIndex({ rows, records, damaged }: FoundRows, report: Report): void {
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
}

function reportExpiries({ newest, due }: FoundRows, report: Report): void {
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
}

/** Lengths of keys: of an expiry, and of a version without its name. */
const EXPIRY_KEY = 18;
const SHORTEST_VERSION_KEY = 9;
const POSITION_KEY = 10;
const META_NAMES: ReadonlySet<string> = new Set(['format', 'mark', 'compacted', 'pruned', 'history', 'closed', 'migrating', 'repaired']);

/** A key of another length is not that of a record. */
const positionOf = (key: Buffer): Position =>
  key.length === POSITION_KEY ? positionKeys.readKey(key, 0, key.length) : { revision: 0, index: 0 };

function damageAt(record: StoredRecord | DamagedRecord, revision: number, index: number): string | undefined {
  if ('damage' in record) return record.damage;
  return record.revision === revision && record.index === index ? undefined : 'its record is that of another';
}

function named(row: VersionKey | undefined, place: Place): { key?: string; revision: number } {
  return row === undefined ? { revision: Number(place.split('.')[0]) } : { key: row.name, revision: row.revision };
}

type Report = (finding: Omit<Finding, 'file'> & { file?: string }) => void;

/** Revisions in the rows of `meta`. */
function metaFindings(meta: ReadonlyMap<string, string>, report: Report): number[] {
  const revisions: number[] = [];
  const table = { get: (name: string) => meta.get(name) } as Parameters<typeof readMark>[0];
  for (const read of [
    () => void readMark(table),
    () => void readHistoryRow(table),
    ...(['compacted', 'pruned', 'closed'] as const).map((name) => () => void revisions.push(readNumberRow(table, name) ?? 0)),
  ]) {
    try {
      read();
    } catch (error) {
      if (!(error instanceof MetaDamage)) throw error;
      report({ kind: 'meta', message: error.message, startsAnyway: false });
    }
  }
  return revisions;
}

/** A generous upper bound of the revisions in a file of the journal: those of a missing or truncated file are not known. */
export const UNKNOWN_REVISIONS = 1_000_000;

/** The highest revision in the journal, and how many more there may have been. */
function journalFindings(
  directory: string,
  meta: ReadonlyMap<string, string>,
  after: number,
  report: Report,
): { highest: number; unknown: number } {
  const missing = meta.has('closed') || meta.has('migrating') ? undefined : missingFiles(directory);
  if (missing !== undefined) report({ kind: 'journal', message: missing, startsAnyway: false });
  const { problems, highest } = inspectJournal(directory, after);
  for (const { file, offset, from, message } of problems)
    report({ kind: 'journal', file: file.slice(directory.length + 1), offset, revision: from, message, startsAnyway: false });
  const isKnown = missing === undefined && problems.every(({ to }) => to !== undefined);
  return { highest, unknown: isKnown ? 0 : UNKNOWN_REVISIONS };
}
