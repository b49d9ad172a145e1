/**
 * The tables of the store, and how they are created in a directory. All problems with the directory or the
 * file are reported here, with what to do.
 */

import { accessSync, chmodSync, constants, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@plat-dev/lib/clock';
import { makeDirectory } from '@plat-dev/lib/files/directories';
import { syncDirectory } from '@plat-dev/lib/files/sync-directory';
import { systemRandom } from '@plat-dev/lib/random';
import { checkOwner, identityByTraces, makeMark, type StoreOwner } from '../../store-mark.ts';
import { checkHeader, fileError, openDatabase, openFile, SYNCHRONOUS_COMMIT, sizeOf, tablesOf } from './database.ts';
import { checkRoom, freeBytes, isFullWrite } from './errors.ts';
import { FIRST_CHECKED_FORMAT, FORMAT } from './format.ts';
import { readBoot, takeRecords } from './journal/clean-end.ts';
import { checkNotAlone } from './journal/journal-read.ts';
import { readMark, writeMark, writeNumberRow } from './meta.ts';
import type { PageProblem } from './pages/page-walk.ts';
import { walkPages } from './pages/pages.ts';
import { reopenable } from './reopen.ts';
import { beginMigration } from './repair/migrate.ts';
import type { TableOptions, Tables } from './table.ts';

export const FILE = 'store.mdb';
const UNFINISHED_FILE = 'store.mdb.new';

/** Creates the directory if needed, and checks that it is private and writable. */
export function prepareDirectory(directory: string): void {
  try {
    makeDirectory(directory, 0o700);
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
    // The directory belongs to another user, who decides about it; the files in it are private in any case.
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
  const { boot = readBoot() } = options;
  const uncheckedStarts = takeRecords(directory, boot);
  if (uncheckedStarts === undefined) checkPages(directory, path);
  const opened = await openDatabase(path, options);
  try {
    const free = options.freeBytes ?? freeBytes;
    const tables = reopenable(
      { ...opened, uncheckedStarts },
      () => openDatabase(path, options),
      (error) => isFullWrite(error, () => free(directory)),
    );
    const format = checkFormat(path, tables);
    await checkIdentity(directory, tables, options.owner);
    // Only the format is raised here: an old journal is replayed before the rows are migrated.
    if (format < FIRST_CHECKED_FORMAT) await beginMigration(tables);
    // Older releases do not know records with notes.
    else if (format < FORMAT) await tables.write(() => void tables.meta.put('format', Buffer.from(String(FORMAT))));
    return tables;
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** A new file gets its name when it is complete: an interrupted first start leaves none that the next would refuse. */
async function makeFile(directory: string, path: string, options: TableOptions): Promise<void> {
  const unfinished = join(directory, UNFINISHED_FILE);
  const remove = () => {
    for (const file of [unfinished, `${unfinished}-lock`]) rmSync(file, { force: true });
  };
  remove();
  try {
    const root = await openFile(unfinished, options);
    try {
      // New tables are created in one commit; by itself the library makes one for each.
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

async function initialise(tables: Tables, { owner, random = systemRandom, clock = systemClock }: TableOptions): Promise<void> {
  await tables.write(() => {
    tables.meta.put('format', Buffer.from(String(FORMAT)));
    writeMark(tables.meta, makeMark(owner, random.uuid(), clock.now()));
    // It is empty, and so is the journal: as after a clean shutdown.
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
  const storedIdentity = readMark(tables.meta)?.identity;
  checkOwner(
    storedIdentity ?? (owner && (await identityByTraces(owner, async (key) => hasKey(tables, key)))),
    owner,
    directory,
    '--data-dir',
  );
}

/** A store without the mark of an identity gets one, after its rows are migrated and its journal is replayed. */
export async function completeMark(directory: string, tables: Tables, options: TableOptions): Promise<void> {
  const { owner, random = systemRandom, clock = systemClock } = options;
  const mark = readMark(tables.meta);
  if (mark !== undefined && (mark.identity !== undefined || owner === undefined)) return;
  await checkIdentity(directory, tables, owner);
  await tables.write(() => writeMark(tables.meta, makeMark(owner, mark?.id ?? random.uuid(), mark?.createdAt ?? clock.now())));
}

function hasKey(tables: Tables, name: string): boolean {
  const newest = { start: { name, revision: Number.MAX_SAFE_INTEGER }, end: `${name}\x01`, limit: 1 };
  for (const { value } of tables.versions.getRange(newest)) return !value.deleted;
  return false;
}

/** The library crashes on damaged pages, or silently skips rows; so they are checked before. */
function checkPages(directory: string, path: string): void {
  const [problem] = walkPages(path).problems;
  if (problem !== undefined) throw damagedStore(directory, new Error(pageProblem(problem)));
}

export const pageProblem = ({ page, table, message }: PageProblem): string =>
  `page ${page}${table === '' ? '' : ` of the table ${table}`}: ${message}`;

/** The error for a directory that needs a repair. */
export function damagedStore(directory: string, cause: Error): Error {
  return new Error(
    `the store file ${join(directory, FILE)} is damaged: ${cause.message}. Nothing was changed. Restore the directory from a backup, or see ` +
      `"plat store verify --data-dir ${directory}" and "plat store repair --data-dir ${directory}"`,
    { cause },
  );
}
