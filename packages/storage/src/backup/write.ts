/** Encodes a backup, a block at a time. */
import { createHash } from 'node:crypto';
import type { Entry } from '../engine.ts';
import { isPlain } from '../item.ts';
import {
  type BackupEntry,
  BackupError,
  type BackupHeader,
  type BackupTrailer,
  type BackupVersion,
  BLOCK,
  BLOCK_BYTES,
  encodeBlock,
  encodeHistory,
  entryBytes,
  frameOf,
  HEADER,
  HISTORY,
  LONGEST_BLOCK,
  MOST_NAMED,
  preamble,
  TRAILER,
  versionBytes,
} from './format.ts';

/**
 * The chunks of a backup, in order; each is made when the one before was read, so that memory holds one page and one
 * block. The revision of the header must be that of the pages.
 */
export async function* backupChunks(
  header: BackupHeader,
  pages: AsyncIterable<readonly Entry[]>,
  history: AsyncIterable<readonly BackupVersion[]>,
  done?: (trailer: BackupTrailer) => void,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  const hashed = (bytes: Buffer): Buffer => {
    hash.update(bytes);
    return bytes;
  };
  const counts = { entries: 0, versions: 0, blocks: 0, encrypted: 0, unreadableCount: 0 };
  const unreadable: string[] = [];
  let waiting: BackupEntry[] = [];
  let bytes = 0;
  const block = (): Buffer => {
    const frame = hashed(frameOf(BLOCK, encodeBlock(waiting)));
    counts.blocks++;
    counts.entries += waiting.length;
    waiting = [];
    bytes = 0;
    return frame;
  };
  yield hashed(preamble());
  yield hashed(frameOf(HEADER, Buffer.from(JSON.stringify(header))));
  for await (const page of pages) {
    for (const { key, value, revision, created, expires = 0, unreadable: why } of page) {
      if (why !== undefined) {
        counts.unreadableCount++;
        if (unreadable.length < MOST_NAMED) unreadable.push(key);
        continue;
      }
      const entry = { key, value, revision, created, expires };
      if (entryBytes(entry) > LONGEST_BLOCK) throw new BackupError(`the value of ${key} is too large for a backup: ${value.length} bytes`);
      if (!isPlain(value)) counts.encrypted++;
      if (bytes > 0 && bytes + entryBytes(entry) > BLOCK_BYTES) yield block();
      waiting.push(entry);
      bytes += entryBytes(entry);
    }
  }
  if (waiting.length > 0) yield block();
  for await (const versions of history) {
    counts.versions += versions.length;
    for (const body of historyBodies(versions)) {
      counts.blocks++;
      yield hashed(frameOf(HISTORY, body));
    }
  }
  const trailer: BackupTrailer = { ...counts, unreadable, sha256: hash.digest('hex') };
  yield frameOf(TRAILER, Buffer.from(JSON.stringify(trailer)));
  done?.(trailer);
}

/** The versions of a page in blocks of bounded size. */
function* historyBodies(versions: readonly BackupVersion[]): Generator<Buffer> {
  let start = 0;
  let bytes = 0;
  for (const [index, version] of versions.entries()) {
    const more = versionBytes(version);
    if (bytes > 0 && bytes + more > BLOCK_BYTES) {
      yield encodeHistory(versions.slice(start, index));
      start = index;
      bytes = 0;
    }
    bytes += more;
  }
  if (start < versions.length) yield encodeHistory(versions.slice(start));
}
