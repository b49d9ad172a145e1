/**
 * Puts another store into a data directory, in place of the one that is there. The old files are moved aside, never
 * deleted. A crash leaves the old store, the new one, or a directory that says that it is neither: then the same is done
 * again.
 */
import { closeSync, existsSync, fsyncSync, lstatSync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CLEAN_END_FILE } from './clean-end.ts';
import { syncDirectory } from './journal.ts';

/** There while files change places. */
const REPLACING = 'store.replacing';
/** The socket by which the directory is locked. */
const LOCK = 'store.lock';

/** Throws when a server ended while the files of the directory changed places. */
export function checkReplaced(directory: string): void {
  if (existsSync(join(directory, REPLACING))) {
    throw new Error(
      `the store in ${directory} was being replaced when that was interrupted: run \`plat store restore --force\` again; the files from before are in a directory store.replaced-… beside it`,
    );
  }
}

/** The files of a store, without the lock. */
export function storeFiles(directory: string): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory).filter((name) => name.startsWith('store.') && name !== LOCK && lstatSync(join(directory, name)).isFile());
}

export const hasStore = (directory: string): boolean => storeFiles(directory).some((name) => name !== REPLACING && name !== CLEAN_END_FILE);

/** Moves the files of `from`, a store that is closed, into the directory. `label` names the directory of the old ones, which is answered. */
export function replaceStore(directory: string, from: string, label: string): string | undefined {
  const old = storeFiles(directory).filter((name) => name !== REPLACING);
  const movedTo = old.length === 0 ? undefined : join(directory, `store.replaced-${label}`);
  if (movedTo !== undefined) {
    closeSync(openSync(join(directory, REPLACING), 'w', 0o600));
    syncDirectory(directory);
    mkdirSync(movedTo, { recursive: true, mode: 0o700 });
    for (const name of old) renameSync(join(directory, name), join(movedTo, name));
    syncDirectory(movedTo);
    syncDirectory(directory);
  }
  // The lock file of the database library is made anew.
  for (const name of storeFiles(from)) {
    if (name.endsWith('-lock')) continue;
    syncFile(join(from, name));
    renameSync(join(from, name), join(directory, name));
  }
  syncDirectory(directory);
  rmSync(join(directory, REPLACING), { force: true });
  rmSync(from, { recursive: true, force: true });
  syncDirectory(directory);
  return movedTo;
}

function syncFile(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
