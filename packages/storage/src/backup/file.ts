/** Backup files on disk: private and written atomically. */
import { createReadStream, existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { fileErrorText } from '@plat-dev/lib/files/file-errors';
import { syncDirectory } from '@plat-dev/lib/files/sync-directory';
import { BackupError } from './format.ts';

const CHUNK_BYTES = 1024 * 1024;

/** Called with the bytes of a file that are done, for whoever waits. */
export type BytesDone = (bytes: number) => void;

/** Throws BackupError for a file that cannot be read. */
export async function* fileChunks(path: string, done?: BytesDone): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      done?.(bytes);
      yield chunk;
    }
  } catch (error) {
    const text = fileErrorText(error, path);
    throw text === undefined ? error : new BackupError(text, { cause: error });
  }
}

/** Adds the name of the file to errors of a backup: `monday.backup: the backup is damaged at byte 210…`. */
export async function namingFile<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof BackupError) || error.message.includes(path)) throw error;
    throw new BackupError(`${path}: ${error.message}`, { cause: error });
  }
}

/**
 * Writes a file that only its owner can read: under another name first, then synced, then renamed. An existing file
 * is not replaced. `check` gets the temporary name before the file is renamed. Returns the number of bytes.
 */
export async function writePrivateFile(
  path: string,
  chunks: AsyncIterable<Buffer>,
  check: (writtenFile: string) => Promise<void> = async () => {},
  written?: BytesDone,
): Promise<number> {
  checkNew(path);
  const partial = `${path}.partial-${process.pid}`;
  const file = await open(partial, 'wx', 0o600);
  let bytes = 0;
  try {
    try {
      for await (const chunk of chunks) {
        for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at)).bytesWritten;
        bytes += chunk.length;
        written?.(bytes);
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await check(partial);
    checkNew(path);
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    const text = fileErrorText(error, (error as NodeJS.ErrnoException).path ?? path);
    throw text === undefined ? error : new BackupError(text, { cause: error });
  }
  syncDirectory(dirname(path));
  return bytes;
}

export function checkNew(path: string): void {
  if (existsSync(path)) throw new BackupError(`${path} exists and is not overwritten: choose another name, or move it away`);
  const directory = dirname(path);
  if (!existsSync(directory)) throw new BackupError(`there is no directory ${directory} to write ${basename(path)} into: make it first`);
}
