import { statfsSync } from 'node:fs';
import { StoreUnavailable } from '../../engine.ts';

/** Less free space than this counts as none: the database needs some pages to free others. */
const FULL_BYTES = 4 * 2 ** 20;

/** What to say when a transaction failed. Nothing of it was written. */
export function diskError(directory: string, cause: unknown): StoreUnavailable {
  const message = cause instanceof Error ? cause.message : String(cause);
  // A file that cannot grow shows itself as a general input/output error, so that the disk itself is asked.
  if (/MDB_MAP_FULL|No space|ENOSPC/.test(message) || isFull(directory)) {
    return new StoreUnavailable(`the disk of ${directory} is full; nothing can be written until there is room`, { cause });
  }
  if (/MDB_PANIC/.test(message)) {
    return new StoreUnavailable(`the store in ${directory} failed while writing and must be opened anew; restart the server`, { cause });
  }
  return new StoreUnavailable(`the store in ${directory} cannot be written: ${message}`, { cause });
}

function isFull(directory: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize < FULL_BYTES;
  } catch {
    return false;
  }
}
