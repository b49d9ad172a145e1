import { statfsSync } from 'node:fs';
import { StoreUnavailable } from '../../engine.ts';

/**
 * Room that must be left on the disk. The database library is never let run into a full disk: it does not survive that
 * (decision 002). Pages are copied before they are changed, so that a transaction needs several times its own size.
 */
const RESERVE_BYTES = 16 * 2 ** 20;
const PAGES_PER_BYTE = 8;

/** Free bytes of the disk that holds a directory. */
export function freeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

/** Throws when a disk with so many free bytes has no room for a transaction. */
export function checkRoom(directory: string, free: number, bytes: number): void {
  if (free >= RESERVE_BYTES + bytes * PAGES_PER_BYTE) return;
  throw new StoreUnavailable(`the disk of ${directory} is full; nothing can be written until there is room`);
}

/** What to say when a transaction was refused or failed. */
export function writeError(directory: string, cause: unknown): StoreUnavailable {
  if (cause instanceof StoreUnavailable) return cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  return new StoreUnavailable(`the store in ${directory} failed while writing (${message}); restart the server`, { cause });
}
