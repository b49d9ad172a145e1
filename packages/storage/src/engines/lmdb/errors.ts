import { statfsSync } from 'node:fs';
import type { Clock } from '@plat-dev/lib/clock';
import { StoreFull, StoreUnavailable } from '../../engine.ts';

/**
 * Free space that must remain on the disk. The database library must never find a full disk: it does not survive that
 * (decision 002). Pages are copied before they are changed, so that a transaction needs several times its own size.
 */
const RESERVE_BYTES = 16 * 2 ** 20;
const PAGES_PER_BYTE = 8;

/** Free bytes of the disk that holds a directory. */
export function freeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

/** So much room is not used up between two reads of it. */
const PLENTY_BYTES = 4 * 2 ** 30;
const PLENTY_MS = 50;

/** Free bytes of the disk, read before each transaction, but not again at once while there is plenty. */
export function freeBytesNow(directory: string, clock: Pick<Clock, 'monotonic'>, read = freeBytes): () => number {
  let free = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = clock.monotonic();
    if (free >= PLENTY_BYTES && now - readAt < PLENTY_MS) return free;
    free = read(directory);
    readAt = now;
    return free;
  };
}

/** Throws when a disk with so many free bytes has no room for a transaction. `purpose` is for the message at a start. */
export function checkRoom(directory: string, free: number, bytes: number, purpose?: string): void {
  const neededBytes = RESERVE_BYTES + bytes * PAGES_PER_BYTE;
  if (free >= neededBytes) return;
  const room = `${mebibytes(free, Math.floor)} MiB free, ${mebibytes(neededBytes, Math.ceil)} MiB needed${purpose === undefined ? '' : ` ${purpose}`}`;
  throw new StoreFull(`the disk of ${directory} is full (${room}); nothing can be written until there is room`);
}
const mebibytes = (bytes: number, round: (value: number) => number): number => round(bytes / 2 ** 20);

/** A write that found no room has written nothing that counts, and can be repeated. */
export const isFull = (error: unknown): boolean =>
  error instanceof StoreFull || ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException | undefined)?.code ?? '');

/** How the database library numbers errors of the system. */
const [EIO, ENOSPC, EDQUOT] = [5, 28, 122];
/**
 * Whether a transaction of the database library found no room. It reports a partial write as an I/O error:
 * that counts as no room if the disk is full.
 */
export function isFullWrite(error: unknown, free: () => number): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return isFull(error) || code === ENOSPC || code === EDQUOT || (code === EIO && free() < RESERVE_BYTES);
}

export const fullError = (directory: string, cause: unknown): StoreUnavailable =>
  cause instanceof StoreFull
    ? cause
    : new StoreFull(`the disk of ${directory} is full; nothing can be written until there is room`, { cause });

/** The error of a transaction that was refused or failed. */
export function writeError(directory: string, cause: unknown): StoreUnavailable {
  if (cause instanceof StoreUnavailable) return cause;
  if (isFull(cause)) return fullError(directory, cause);
  const message = cause instanceof Error ? cause.message : String(cause);
  return new StoreUnavailable(`the store in ${directory} failed while writing (${message}); restart the server`, { cause });
}
