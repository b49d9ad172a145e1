/**
 * Opens the store file: the one place that knows the database library. Everything that can be wrong with the directory
 * or the file is said here, in words that tell what to do.
 */
import { accessSync, chmodSync, closeSync, constants, mkdirSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import { checkRoom, freeBytes } from './errors.ts';
import {
  type ExpiryKey,
  expiryKeys,
  FORMAT,
  type KeyCodec,
  type Position,
  positionKeys,
  type RecordFacts,
  recordFacts,
  records,
  recordValues,
  type StoredRecord,
  textKeys,
  textValues,
  type ValueCodec,
  type VersionFacts,
  type VersionKey,
  versionKeys,
  versionValues,
} from './format.ts';
import { syncDirectory } from './journal.ts';

const FILE = 'store.mdb';
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
export type MetaName = 'format' | 'compacted' | 'pruned';

export interface Tables {
  readonly versions: Table<VersionKey | string, VersionFacts>;
  /** The same table three times: whole records, records without values, and values only. */
  readonly records: Table<Position, StoredRecord>;
  readonly recordFacts: Table<Position, RecordFacts>;
  readonly recordValues: Table<Position, Buffer>;
  readonly expiries: Table<ExpiryKey, string>;
  readonly meta: Table<string, string>;
  /** Makes the writes of `fill` in one transaction; resolves when that is durable. `fill` must not throw. */
  write(fill: () => void): Promise<void>;
  stats(): TableStats;
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
  const fresh = sizeOf(path) === 0;
  if (fresh) checkRoom(directory, (options.freeBytes ?? freeBytes)(directory), 0);
  else checkHeader(path);
  const { open } = await import('lmdb');
  let root: RootDatabase;
  try {
    root = open({
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
  try {
    checkWhole(path, root);
    // New tables are made in one commit; by itself the library makes one for each.
    const tables = root.transactionSync(() => tablesOf(root, path, fresh), SYNCHRONOUS_COMMIT);
    if (fresh) await initialise(directory, tables);
    await checkFormat(path, tables);
    return tables;
  } catch (error) {
    await root.close();
    throw error;
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
      records: table('records', positionKeys, records),
      recordFacts: table('records', positionKeys, recordFacts),
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
      close: () => root.close(),
    };
    return tables;
  } catch (error) {
    throw (error as Error).message.startsWith('the store file') ? error : fileError(path, 'is damaged', error);
  }
}

const writeFormat = (tables: Tables): Promise<void> => tables.write(() => void tables.meta.put('format', Buffer.from(String(FORMAT))));

async function initialise(directory: string, tables: Tables): Promise<void> {
  await writeFormat(tables);
  syncDirectory(directory);
}

async function checkFormat(path: string, tables: Tables): Promise<void> {
  const format = tables.meta.get('format');
  if (format === undefined) throw fileError(path, 'is not a store of this server');
  if (Number(format) > FORMAT) {
    throw fileError(path, `has the format ${format} of a newer version; this one knows formats up to ${FORMAT}. Use that version`);
  }
  // The tables are as they were before there was a journal; a version that knows of none must not open them any more.
  if (Number(format) < FORMAT) await writeFormat(tables);
}

/** The library crashes on files that are none of its own, so that the first bytes are looked at before. */
function checkHeader(path: string): void {
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

function fileError(path: string, problem: string, cause?: unknown): Error {
  const because = cause instanceof Error ? `: ${cause.message}` : '';
  return new Error(`the store file ${path} ${problem}${because}`, { cause });
}
