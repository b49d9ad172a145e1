/**
 * Creates a directory, and its missing parents.
 *
 * Node's own `mkdir` with `recursive` never returns, and cannot be interrupted, on a file system that cannot create
 * directories and reports ENOENT: it creates the parent again and again.
 *
 *   makeDirectory('/data/a/b')    /data/a and /data/a/b exist
 *   makeDirectory('/proc/a')      throws ENOENT: /proc exists, and /proc/a cannot be created
 */
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Throws the error of the file system. An existing directory is not changed. */
export function makeDirectory(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && !isDirectory(dirname(path))) {
      makeDirectory(dirname(path), mode);
      makeDirectory(path, mode);
    } else if (!isDirectory(path)) throw error;
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
