/**
 * The file `store.closed`: records a clean shutdown and the state of the store file. A start that finds the file in this state
 * opens it at once, and checks its pages while it serves; any other start checks all of them first.
 *
 *   {"inode", "size", "modified", "changed", "transaction", "starts"} and the CRC-32 of that
 *
 * It is removed before the store is opened, so that a crash leaves none. It is ignored for a file that is another one, was
 * written to since (the ctime of a file cannot be set), or has other transactions in it.
 */
import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from '../../../lib/crc32.ts';
import { nextTurn } from '../../../lib/next-turn.ts';
import { Pages } from './page-file.ts';

export const CLEAN_END_FILE = 'store.closed';
const STORE_FILE = 'store.mdb';
/** Maximum consecutive starts that open the store at once without a complete check of all pages. */
export const MOST_STARTS = 10;
/** How often the file is written until its time is later than that of the store: times have a resolution of a few milliseconds. */
const MOST_TRIES = 2_000;

/**
 * The number of starts since all pages were checked; undefined when they must be checked now. The record is
 * removed in any case.
 */
export function takeCleanEnd(directory: string): number | undefined {
  const path = join(directory, CLEAN_END_FILE);
  try {
    const text = readFileSync(path, 'latin1');
    const recordedAt = statSync(path, { bigint: true }).mtimeNs;
    const end = text.lastIndexOf('}') + 1;
    const { starts, ...recorded } = JSON.parse(text.slice(0, end)) as ReturnType<typeof stateOf> & { starts: number };
    const state = stateOf(directory);
    const isSame = text.slice(end) === sumOf(text.slice(0, end)) && JSON.stringify(recorded) === JSON.stringify(state);
    // A change in the same tick as the record would have the same time.
    return isSame && recordedAt > BigInt(state.changed) && starts < MOST_STARTS ? starts : undefined;
  } catch {
    return undefined;
  } finally {
    rmSync(path, { force: true });
  }
}

/** Records a clean shutdown. Without it the next start takes longer, so that a failure is harmless. */
export async function leaveCleanEnd(directory: string, starts: number): Promise<void> {
  const path = join(directory, CLEAN_END_FILE);
  try {
    const state = stateOf(directory);
    const json = JSON.stringify({ ...state, starts });
    const text = Buffer.from(json + sumOf(json), 'latin1');
    const descriptor = openSync(path, 'w', 0o600);
    try {
      for (let tries = 0; tries < MOST_TRIES; tries++) {
        ftruncateSync(descriptor, 0);
        writeSync(descriptor, text, 0, text.length, 0);
        if (fstatSync(descriptor, { bigint: true }).mtimeNs > BigInt(state.changed)) return;
        await nextTurn();
      }
    } finally {
      closeSync(descriptor);
    }
    rmSync(path, { force: true });
  } catch {
    rmSync(path, { force: true });
  }
}

function stateOf(directory: string) {
  const descriptor = openSync(join(directory, STORE_FILE), 'r');
  try {
    const { ino, size, mtimeNs, ctimeNs } = fstatSync(descriptor, { bigint: true });
    return {
      inode: String(ino),
      size: String(size),
      modified: String(mtimeNs),
      changed: String(ctimeNs),
      transaction: new Pages(descriptor).transactionNow(),
    };
  } finally {
    closeSync(descriptor);
  }
}

const sumOf = (text: string): string => crc32(Buffer.from(text, 'latin1')).toString(16).padStart(8, '0');
