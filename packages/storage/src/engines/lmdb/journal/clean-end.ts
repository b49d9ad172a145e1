/**
 * Records of the state in which a server left the store file. A start that finds the file in this state opens it at once, and
 * checks its pages while it serves; any other start checks all of them first.
 *
 *   store.closed     written by a clean shutdown
 *   store.running    written by a server that runs, after each write to the file: for a start after it was killed
 *
 *   {"inode", "size", "modified", "changed", "transaction", "starts", "boot"} and the CRC-32 of that
 *
 * Both are removed before the store is opened. They are ignored for a file that is another one, was written to since (the ctime of a
 * file cannot be set), or has other transactions in it.
 *
 * A process that is killed leaves whole pages: the library writes those of a transaction to unused places, and then one that refers to
 * them; what it wrote is in the memory of the system. So `store.running` is ignored after a restart of the machine. It
 * is written only when the server has checked all pages and keys: if the library crashes on a damaged one, the next start checks first.
 */
import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { nextTurn } from '@plat-dev/lib/next-turn';
import { crc32 } from '../../../crc32.ts';
import { Pages } from '../pages/page-file.ts';

export const CLEAN_END_FILE = 'store.closed';
export const RUNNING_FILE = 'store.running';
const STORE_FILE = 'store.mdb';
/** Maximum consecutive starts that open the store at once without a complete check of all pages. */
export const MOST_STARTS = 10;
/** How often the file is written until its time is later than that of the store: times have a resolution of a few milliseconds. */
const MOST_TRIES = 2_000;

/** Names one start of the machine; undefined where the system has no such name. */
export function readBoot(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return undefined;
  }
}

/**
 * The number of starts since all pages were checked; undefined when they must be checked now. Records are
 * removed in any case. `boot`: the name of this start of the machine.
 */
export function takeRecords(directory: string, boot: string | undefined): number | undefined {
  const closed = takeRecord(directory, CLEAN_END_FILE, undefined);
  const running = takeRecord(directory, RUNNING_FILE, boot);
  return closed ?? (boot === undefined ? undefined : running);
}

function takeRecord(directory: string, file: string, boot: string | undefined): number | undefined {
  const path = join(directory, file);
  try {
    const text = readFileSync(path, 'latin1');
    const recordedAt = statSync(path, { bigint: true }).mtimeNs;
    const end = text.lastIndexOf('}') + 1;
    const { starts, boot: recordedBoot, ...recorded } = JSON.parse(text.slice(0, end)) as StoreState & { starts: number; boot?: string };
    const state = stateOf(directory);
    const isSame = text.slice(end).trimEnd() === sumOf(text.slice(0, end)) && JSON.stringify(recorded) === JSON.stringify(state);
    // A change in the same tick as the record would have the same time.
    return isSame && recordedBoot === boot && recordedAt > BigInt(state.changed) && starts < MOST_STARTS ? starts : undefined;
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
    const text = recordOf({ ...state, starts });
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

/** The content of `store.running`: always as long, so that it can be overwritten in place. */
export function runningRecord(directory: string, boot: string): Buffer {
  const bytes = Buffer.alloc(RUNNING_BYTES, ' ');
  recordOf({ ...stateOf(directory), starts: 0, boot }).copy(bytes);
  return bytes;
}
const RUNNING_BYTES = 512;

type StoreState = ReturnType<typeof stateOf>;
const recordOf = (record: StoreState & { readonly starts: number; readonly boot?: string }): Buffer => {
  const json = JSON.stringify(record);
  return Buffer.from(json + sumOf(json), 'latin1');
};

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
