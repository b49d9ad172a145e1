/**
 * Replaces the store of a data directory. The old files are moved aside, never
 * deleted. Until the file `store.replacing` exists, complete and durable, the old store is in use; from then on the new one
 * is: the next process that opens the directory finishes an interrupted replacement, since the file lists the moves.
 *
 *   {"from": "store.restoring-7", "to": "store.replaced-…", "old": ["store.mdb", …]}
 */
import { closeSync, existsSync, fsyncSync, lstatSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '@plat-dev/lib/files/directories';
import { syncDirectory } from '@plat-dev/lib/files/sync-directory';
import { CLEAN_END_FILE, RUNNING_FILE } from './journal/clean-end.ts';
import { LOCK } from './lock.ts';

/** Present while files are moved. */
export const REPLACING = 'store.replacing';
const UNFINISHED = `${REPLACING}.new`;
/** Directories in which a tool builds a store; one that exists while nobody holds the lock was left by a crash. */
const PARTIAL_STORES = ['store.restoring-', 'store.repairing-', 'store.dry-run-'] as const;

interface Replacement {
  /** Directory with the new files, within the data directory. */
  readonly from: string;
  /** Directory for the old ones. */
  readonly to: string;
  /** Names of the old ones. */
  readonly old: readonly string[];
}

export const isReplacing = (directory: string): boolean => existsSync(join(directory, REPLACING));

/** The error for read-only tools if a replacement was interrupted. */
export function interrupted(directory: string): string {
  const { from, to } = readReplacement(directory);
  return (
    `the store was being replaced by the one in ${from} when that was interrupted; "plat store repair --data-dir ${directory} --yes" finishes it, ` +
    `and so does the next start of a server. The files from before are, or will be, in ${to}`
  );
}

/**
 * Finishes an interrupted replacement, and removes unfinished stores. The directory must be locked.
 * Returns what was done; undefined if there was nothing to do.
 */
export function finishReplacing(directory: string): string | undefined {
  let done: string | undefined;
  if (isReplacing(directory)) {
    const replacement = readReplacement(directory);
    finish(directory, replacement);
    done =
      `the store in ${directory} was being replaced when that was interrupted; this was finished, and the files from before are in ` +
      join(directory, replacement.to);
  }
  removePartialStores(directory);
  return done;
}

/** The directory must be locked. The store of an unfinished replacement stays: the next start needs it. */
export function removePartialStores(directory: string): void {
  rmSync(join(directory, UNFINISHED), { force: true });
  const neededSource = replacementSource(directory);
  for (const name of readdirSync(directory))
    if (name !== neededSource && PARTIAL_STORES.some((prefix) => name.startsWith(prefix)))
      rmSync(join(directory, name), { recursive: true, force: true });
}

function replacementSource(directory: string): string | undefined {
  if (!isReplacing(directory)) return undefined;
  try {
    return readReplacement(directory).from;
  } catch {
    // An older release did not record it.
    return undefined;
  }
}

/** The files of a store, without the lock. */
export function storeFiles(directory: string): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory).filter(
    (name) =>
      name.startsWith('store.') &&
      !name.startsWith(LOCK) &&
      name !== REPLACING &&
      name !== UNFINISHED &&
      lstatSync(join(directory, name)).isFile(),
  );
}

export const hasStore = (directory: string): boolean =>
  isReplacing(directory) || storeFiles(directory).some((name) => name !== CLEAN_END_FILE && name !== RUNNING_FILE);

/**
 * Moves the files of `from`, a closed store, into the directory, and the existing ones to the directory `to`; both
 * are names within it. Returns the path of the old files; undefined if there were none.
 */
export function replaceStore(directory: string, from: string, to: string): string | undefined {
  const old = storeFiles(directory);
  for (const name of storeFiles(join(directory, from))) syncFile(join(directory, from, name));
  syncDirectory(join(directory, from));
  const replacement: Replacement = { from, to, old };
  writeReplacement(directory, replacement);
  finish(directory, replacement);
  return old.length === 0 ? undefined : join(directory, to);
}

/** Every step may have been done before. */
function finish(directory: string, { from, to, old }: Replacement): void {
  const [source, aside] = [join(directory, from), join(directory, to)];
  if (old.length > 0) {
    makeDirectory(aside, 0o700);
    // New files are moved only when all old ones are gone: one that is aside already is not moved again.
    for (const name of old) if (!existsSync(join(aside, name))) renameSync(join(directory, name), join(aside, name));
    syncDirectory(aside);
    syncDirectory(directory);
  }
  // The lock file of the database library is created again.
  for (const name of storeFiles(source)) if (!name.endsWith('-lock')) renameSync(join(source, name), join(directory, name));
  syncDirectory(directory);
  rmSync(join(directory, REPLACING), { force: true });
  rmSync(source, { recursive: true, force: true });
  syncDirectory(directory);
}

function writeReplacement(directory: string, replacement: Replacement): void {
  const path = join(directory, UNFINISHED);
  const descriptor = openSync(path, 'w', 0o600);
  try {
    writeSync(descriptor, JSON.stringify(replacement));
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(path, join(directory, REPLACING));
  syncDirectory(directory);
}

/** Throws if an older release left the file, without a list. */
function readReplacement(directory: string): Replacement {
  try {
    const { from, to, old } = JSON.parse(readFileSync(join(directory, REPLACING), 'utf8')) as Replacement;
    if (![from, to, ...old].every((name) => typeof name === 'string' && name !== '' && !name.includes('/'))) throw new Error('no names');
    return { from, to, old };
  } catch (error) {
    throw new Error(
      `the store in ${directory} was being replaced when that was interrupted, and ${join(directory, REPLACING)} does not say how to go on: run ` +
        '`plat store restore --force` again; the files from before are in a directory store.replaced-… next to it',
      { cause: error },
    );
  }
}

function syncFile(path: string): void {
  // Windows syncs only what is open for writing.
  const descriptor = openSync(path, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
