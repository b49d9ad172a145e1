/**
 * Opens the store file: the one place that knows the database library. Everything that can be wrong with the directory
 * or the file is said here, in words that tell what to do.
 */
import { accessSync, chmodSync, closeSync, constants, mkdirSync, openSync, readSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import { systemClock } from '../../../lib/clock.ts';
import { systemRandom } from '../../../lib/random.ts';
import { checkOwner, identityByTraces, makeMark, type StoreOwner } from '../../store-mark.ts';
import { takeCleanEnd } from './clean-end.ts';
import { checkRoom, freeBytes } from './errors.ts';
import {
  type DamagedRecord,
  type ExpiryKey,
  expiryKeys,
  FORMAT,
  type KeyCodec,
  type Position,
  positionKeys,
  rawValues,
  recordFacts,
  records,
  recordValues,
  type StoredFacts,
  type StoredRecord,
  type StoredValue,
  textKeys,
  textValues,
  type ValueCodec,
  type VersionKey,
  type VersionRow,
  versionKeys,
  versionValues,
} from './format.ts';
import { syncDirectory } from './journal.ts';
import { checkNotAlone } from './journal-read.ts';
import { type MetaTable, readMark, writeMark, writeNumberRow } from './meta.ts';
import { beginMigration } from './migrate.ts';
import { type PageProblem, walkPages } from './pages.ts';

export const FILE = 'store.mdb';
const UNFINISHED_FILE = 'store.mdb.new';
/** The library's flag of transactions in which it makes tables. */
const SYNCHRONOUS_COMMIT = 2;
/** Address space that is set aside for the file; the file itself is as large as its content, and may outgrow this. */
const MAP_BYTES = 16 * 2 ** 30;

/** Two meta pages of the smallest size; the magic number stands in the first behind the page's header. */
const HEADER_BYTES = 8_192;
const MAGIC_AT = 24;
const MAGIC = 0xbeefc0de;
const DATABASE_VERSION = 2;

export interface ScanOptions<Key> {
  readonly start?: Key;
  readonly end?: Key;
  readonly limit?: number;
  readonly reverse?: boolean;
}
/** What is used of a table of the library. Writes are made within `Tables.write` only. */
export interface Table<Key, Value> {
  get(key: Key): Value | undefined;
  getRange(options: ScanOptions<Key>): Iterable<{ readonly key: Key; readonly value: Value }>;
  put(key: Key, value: Buffer): unknown;
  remove(key: Key): unknown;
}

/** Rows as they are, for migration and verification. */
export interface RawTables {
  readonly rawRecords: Table<Position, Buffer>;
  readonly rawVersions: Table<VersionKey | string, Buffer>;
  readonly meta: MetaTable;
  write(fill: () => void): Promise<void>;
}

export interface Tables extends RawTables {
  readonly versions: Table<VersionKey | string, VersionRow>;
  /** The same table three times: whole records, all but the values, and values only. */
  readonly records: Table<Position, StoredRecord | DamagedRecord>;
  readonly recordFacts: Table<Position, StoredFacts | DamagedRecord>;
  readonly recordValues: Table<Position, StoredValue | DamagedRecord>;
  readonly expiries: Table<ExpiryKey, string>;
  /** Makes the writes of `fill` in one transaction; resolves when that is durable. `fill` must not throw. */
  write(fill: () => void): Promise<void>;
  stats(): TableStats;
  /**
   * Starts since all pages of the file were looked at, undefined after a look at this one. A server that ended in order left
   * the file as it is (`clean-end.ts`).
   */
  readonly uncheckedStarts: number | undefined;
  /** Keeps all that can be read now as it is in the file; answers how to end that. */
  hold(): () => void;
  close(): Promise<void>;
}

export interface TableStats {
  readonly file_bytes: number;
  readonly used_bytes: number;
  readonly kept_versions: number;
}

export interface TableOptions {
  readonly freeBytes?: (directory: string) => number;
  /** For measurements only: answers before the data is safe. */
  readonly unsafeNoSync?: boolean;
  /** Who opens the store; undefined for tools, which open any. */
  readonly owner?: StoreOwner | undefined;
  /** For a store that is new. */
  readonly newId?: () => string;
  readonly now?: () => number;
}

/** Makes the directory if need be, and sees that it is private and can be written. */
export function prepareDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Error(
      `the data directory ${directory} cannot be written (${(error as Error).message}); make it writable for the user of the server, or choose another`,
      { cause: error },
    );
  }
  try {
    if ((statSync(directory).mode & 0o077) !== 0) chmodSync(directory, 0o700);
  } catch {
    // The directory belongs to somebody else, who decides about it; the files in it are private in any case.
  }
}

export async function openTables(directory: string, options: TableOptions = {}): Promise<Tables> {
  const path = join(directory, FILE);
  if (sizeOf(path) === 0) {
    checkNotAlone(directory);
    checkRoom(directory, (options.freeBytes ?? freeBytes)(directory), 0);
    await makeFile(directory, path, options);
  }
  checkHeader(path);
  const uncheckedStarts = takeCleanEnd(directory);
  if (uncheckedStarts === undefined) checkPages(directory, path);
  const root = await openFile(path, options);
  try {
    checkWhole(path, root);
    const tables = root.transactionSync(() => tablesOf(root, path, false), SYNCHRONOUS_COMMIT);
    const format = checkFormat(path, tables);
    await checkIdentity(directory, tables, options.owner);
    // Only the format is raised here: what is in an old journal comes before the rows.
    if (format < FORMAT) await beginMigration(tables);
    return { ...tables, uncheckedStarts };
  } catch (error) {
    await root.close();
    throw error;
  }
}

/** A new file gets its name when it is complete: a first start that was interrupted leaves none that the next would refuse. */
async function makeFile(directory: string, path: string, options: TableOptions): Promise<void> {
  const unfinished = join(directory, UNFINISHED_FILE);
  const remove = () => {
    for (const file of [unfinished, `${unfinished}-lock`]) rmSync(file, { force: true });
  };
  remove();
  try {
    const root = await openFile(unfinished, options);
    try {
      // New tables are made in one commit; by itself the library makes one for each.
      const tables = root.transactionSync(() => tablesOf(root, unfinished, true), SYNCHRONOUS_COMMIT);
      await initialise(tables, options);
    } finally {
      await root.close();
    }
    renameSync(unfinished, path);
  } finally {
    remove();
  }
  syncDirectory(directory);
}

/** Files that the modules of the library have open at once while they are loaded, and more. */
const LOADING_DESCRIPTORS = 48;
let isLoaded = false;

/**
 * A module that cannot be read because no file descriptor is free can never be loaded again in this process; so it is seen
 * before whether there are enough. Throws EMFILE.
 */
function checkDescriptors(path: string): void {
  const held: number[] = [];
  try {
    while (held.length < LOADING_DESCRIPTORS) held.push(openSync(path, 'r'));
  } finally {
    for (const descriptor of held) closeSync(descriptor);
  }
}

async function openFile(path: string, options: TableOptions): Promise<RootDatabase> {
  if (!isLoaded) checkDescriptors(dirname(path));
  const { open } = await import('lmdb');
  isLoaded = true;
  try {
    return open({
      path,
      noSubdir: true,
      mapSize: MAP_BYTES,
      maxDbs: 8,
      // Commits write the pages, wait for fdatasync, then write the meta page synchronously (decision 002).
      overlappingSync: false,
      noSync: options.unsafeNoSync === true,
      eventTurnBatching: false,
      ...{ permissionsMode: 0o600 },
    });
  } catch (error) {
    throw fileError(path, 'cannot be opened', error);
  }
}

function tablesOf(root: RootDatabase, path: string, fresh: boolean): Tables {
  const table = <Key, Value>(name: string, keyEncoder: KeyCodec<Key>, encoder: ValueCodec<Value>): Table<Key, Value> => {
    const opened = root.openDB(name, { keyEncoder, encoder, create: fresh } as object);
    if (opened === undefined) throw fileError(path, 'is not a store of this server');
    return opened as unknown as Table<Key, Value>;
  };
  try {
    const tables: Tables = {
      meta: table('meta', textKeys, textValues),
      versions: table('versions', versionKeys, versionValues),
      rawVersions: table('versions', versionKeys, rawValues),
      records: table('records', positionKeys, records),
      recordFacts: table('records', positionKeys, recordFacts),
      rawRecords: table('records', positionKeys, rawValues),
      recordValues: table('records', positionKeys, recordValues),
      expiries: table('expiries', expiryKeys, textValues),
      async write(fill) {
        try {
          await root.batch(fill);
        } catch (error) {
          // The library rejects with a general error that holds a promise of the real one.
          throw await Promise.resolve((error as { commitError?: Promise<unknown> }).commitError).then(
            () => error,
            (cause) => cause,
          );
        }
      },
      stats: () => statsOf(root, path, tables.records as unknown as { getStats(): { entryCount: number } }),
      uncheckedStarts: undefined,
      hold() {
        const transaction = root.useReadTransaction();
        return () => transaction.done();
      },
      close: () => root.close(),
    };
    return tables;
  } catch (error) {
    throw (error as Error).message.startsWith('the store file') ? error : fileError(path, 'is damaged', error);
  }
}

async function initialise(tables: Tables, { owner, newId = systemRandom.uuid, now = systemClock.now }: TableOptions): Promise<void> {
  await tables.write(() => {
    tables.meta.put('format', Buffer.from(String(FORMAT)));
    writeMark(tables.meta, makeMark(owner, newId(), now()));
    // Nothing is in it, and nothing in a journal: as if a server had ended in order.
    writeNumberRow(tables.meta, 'closed', 0);
  });
}

function checkFormat(path: string, tables: Tables): number {
  const format = tables.meta.get('format');
  if (format === undefined) throw fileError(path, 'is not a store of this server');
  if (!/^[1-9]\d*$/.test(format)) throw fileError(path, 'is damaged: its format cannot be read. Restore it from a copy');
  if (Number(format) > FORMAT) {
    throw fileError(path, `has the format ${format} of a newer version; this one knows formats up to ${FORMAT}. Use that version`);
  }
  return Number(format);
}

/** Refuses the store of another identity. */
async function checkIdentity(directory: string, tables: Tables, owner: StoreOwner | undefined): Promise<void> {
  const known = readMark(tables.meta)?.identity;
  checkOwner(known ?? (owner && (await identityByTraces(owner, (key) => hasKey(tables, key)))), owner, directory, '--data-dir');
}

/** A store that has no mark of an identity gets one, when its rows and what was in its journal are there. */
export async function completeMark(directory: string, tables: Tables, options: TableOptions): Promise<void> {
  const { owner, newId = systemRandom.uuid, now = systemClock.now } = options;
  const mark = readMark(tables.meta);
  if (mark !== undefined && (mark.identity !== undefined || owner === undefined)) return;
  await checkIdentity(directory, tables, owner);
  await tables.write(() => writeMark(tables.meta, makeMark(owner, mark?.id ?? newId(), mark?.createdAt ?? now())));
}

function hasKey(tables: Tables, name: string): boolean {
  const newest = { start: { name, revision: Number.MAX_SAFE_INTEGER }, end: `${name}\x01`, limit: 1 };
  for (const { value } of tables.versions.getRange(newest)) return !value.deleted;
  return false;
}

/** The library crashes on files that are none of its own, so that the first bytes are looked at before. */
export function checkHeader(path: string): void {
  const header = Buffer.alloc(HEADER_BYTES);
  const descriptor = openSync(path, 'r');
  try {
    readSync(descriptor, header, 0, HEADER_BYTES, 0);
  } catch (error) {
    throw fileError(path, 'cannot be read', error);
  } finally {
    closeSync(descriptor);
  }
  if (sizeOf(path) < HEADER_BYTES || header.readUInt32LE(MAGIC_AT) !== MAGIC) {
    throw fileError(path, 'is damaged, or was not made by this server. Restore it from a copy, or move it away to start empty');
  }
  const version = header.readUInt16LE(MAGIC_AT + 4);
  if (version !== DATABASE_VERSION)
    throw fileError(path, `has the database format ${version}; this version knows ${DATABASE_VERSION} only`);
}

/** The library crashes on damaged pages, or reads past rows without a word; so they are looked at before. */
function checkPages(directory: string, path: string): void {
  const [problem] = walkPages(path).problems;
  if (problem !== undefined) throw damagedStore(directory, new Error(pageProblem(problem)));
}

export const pageProblem = ({ page, table, message }: PageProblem): string =>
  `page ${page}${table === '' ? '' : ` of the table ${table}`}: ${message}`;

interface DatabaseStats {
  readonly pageSize: number;
  readonly lastPageNumber: number;
  readonly root: { readonly entryCount: number };
}

/** Reading beyond the end of a file that was cut short would end the process, so that it is never tried. */
function checkWhole(path: string, root: RootDatabase): void {
  const { pageSize, lastPageNumber } = root.getStats() as DatabaseStats;
  const wanted = (lastPageNumber + 1) * pageSize;
  const size = sizeOf(path);
  if (size < wanted) throw fileError(path, `is damaged: it has ${size} bytes instead of ${wanted}. Restore it from a copy`);
}

function statsOf(root: RootDatabase, path: string, records: { getStats(): { entryCount: number } }): TableStats {
  const { pageSize, lastPageNumber } = root.getStats() as DatabaseStats;
  return { file_bytes: sizeOf(path), used_bytes: (lastPageNumber + 1) * pageSize, kept_versions: records.getStats().entryCount };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** What to say of a directory that only a repair can make usable. */
export function damagedStore(directory: string, cause: Error): Error {
  return new Error(
    `the store file ${join(directory, FILE)} is damaged: ${cause.message}. Nothing was changed. Restore the directory from a backup, or see ` +
      `"plat store verify --data-dir ${directory}" and "plat store repair --data-dir ${directory}"`,
    { cause },
  );
}

function fileError(path: string, problem: string, cause?: unknown): Error {
  const because = cause instanceof Error ? `: ${cause.message}` : '';
  return new Error(`the store file ${path} ${problem}${because}`, { cause });
}
