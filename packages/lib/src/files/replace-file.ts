/** Files that can be made again: replaced as a whole, private to their owner, without waiting for the disk. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeDirectory } from './directories.ts';

/** Readers see the old content or the new one, never a part. Throws the error of the file system. */
export function replaceFile(path: string, content: string): void {
  makeDirectory(dirname(path), 0o700);
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, content, { mode: 0o600 });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
