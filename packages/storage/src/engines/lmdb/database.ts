/**
 * The only module that uses the database library: opens the store file and its tables, and opens them again after a write
 * that found no room. Conditions that crash the library are checked before (decision 002).
 */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { RootDatabase } from 'lmdb';
import {
  expiryKeys,
  type KeyCodec,
  positionKeys,
  rawValues,
  recordFacts,
  recordSizes,
  records,
  recordValues,
  textKeys,
  textValues,
  type ValueCodec,
  versionKeys,
  versionValues,
} from './format.ts';
import type { Table, TableOptions, TableStats, Tables } from './table.ts';

/** The library's flag of transactions in which it makes tables. */
export const SYNCHRONOUS_COMMIT = 2;
/** Address space that is reserved for the file; the file itself is as large as its content, and may outgrow this. */
const MAP_BYTES = 16 * 2 ** 30;

/** Two meta pages of the smallest size; the magic number follows the page header of the first. */
const HEADER_BYTES = 8_192;
const MAGIC_AT = 24;
const MAGIC = 0xbeefc0de;
const DATABASE_VERSION = 2;

/** More files than the modules of the library have open at once while they are loaded. */
const LOADING_DESCRIPTORS = 48;
let isLoaded = false;

/**
 * A module that cannot be read for lack of file descriptors can never be loaded again in this process; so the descriptors are
 * checked before. Throws EMFILE.
 */
function checkDescriptors(path: string): void {
  const descriptors: number[] = [];
  try {
    while (descriptors.length < LOADING_DESCRIPTORS) descriptors.push(openSync(path, 'r'));
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor);
  }
}

export async function openFile(path: string, options: TableOptions): Promise<RootDatabase> {
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

/** The tables of an existing file. */
export async function openDatabase(path: string, options: TableOptions): Promise<Tables> {
  const root = await openFile(path, options);
  try {
    checkWhole(path, root);
    return root.transactionSync(() => tablesOf(root, path, false), SYNCHRONOUS_COMMIT);
  } catch (error) {
    await root.close();
    throw error;
  }
}

export function tablesOf(root: RootDatabase, path: string, fresh: boolean): Tables {
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
      recordSizes: table('records', positionKeys, recordSizes),
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
        return () => {
          transaction.done();
          return true;
        };
      },
      isReadable: true,
      close: () => root.close(),
    };
    return tables;
  } catch (error) {
    throw (error as Error).message.startsWith('the store file') ? error : fileError(path, 'is damaged', error);
  }
}

/** The library crashes on files that are not its own, so that the first bytes are checked before. */
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

interface DatabaseStats {
  readonly pageSize: number;
  readonly lastPageNumber: number;
  readonly root: { readonly entryCount: number };
}

/** Reading beyond the end of a truncated file would crash the process, so that it is never tried. */
function checkWhole(path: string, root: RootDatabase): void {
  const { pageSize, lastPageNumber } = root.getStats() as DatabaseStats;
  const wholeSize = (lastPageNumber + 1) * pageSize;
  const size = sizeOf(path);
  if (size < wholeSize) throw fileError(path, `is damaged: it has ${size} bytes instead of ${wholeSize}. Restore it from a copy`);
}

function statsOf(root: RootDatabase, path: string, records: { getStats(): { entryCount: number } }): TableStats {
  const { pageSize, lastPageNumber } = root.getStats() as DatabaseStats;
  return { file_bytes: sizeOf(path), used_bytes: (lastPageNumber + 1) * pageSize, kept_versions: records.getStats().entryCount };
}

export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

export function fileError(path: string, problem: string, cause?: unknown): Error {
  const because = cause instanceof Error ? `: ${cause.message}` : '';
  return new Error(`the store file ${path} ${problem}${because}`, { cause });
}
