/**
 * Makes a directory, and those above it that are missing.
 *
 * Node's own `mkdir` with `recursive` never returns, and cannot be interrupted, where a file system has no place for new
 * directories and says that something is missing: it makes the one above again and again.
 *
 *   makeDirectory('/data/a/b')    /data/a and /data/a/b are there
 *   makeDirectory('/proc/a')      throws ENOENT: /proc is there, and /proc/a cannot be made
 */
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Throws the error of the file system. A directory that is there stays as it is. */
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
