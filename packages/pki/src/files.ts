/** Secret files: written atomically and durably, and readable by their owner only. */

import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeDirectory } from '@plat-dev/lib/files/directories';
import { syncDirectory } from '@plat-dev/lib/files/sync-directory';

/** Storage of the keys and certificates of a server, each by its name: `ca.key`. */
export interface KeyFiles {
  read(name: string): string | undefined;
  write(name: string, content: string): Promise<void>;
  /** The name of a file in messages. */
  pathOf(name: string): string;
}

export const keyDirectory = (directory: string): KeyFiles => ({
  read: (name) => readIfPresent(join(directory, name)),
  write: (name, content) => writeSecretFile(join(directory, name), content),
  pathOf: (name) => join(directory, name),
});

/** In memory: nothing is written to disk. */
export function keysInMemory(): KeyFiles {
  const contents = new Map<string, string>();
  return {
    read: (name) => contents.get(name),
    write: async (name, content) => void contents.set(name, content),
    pathOf: (name) => name,
  };
}

export async function writeSecretFile(path: string, content: string): Promise<void> {
  makeDirectory(dirname(path), 0o700);
  const temporary = join(dirname(path), `.${randomBytes(6).toString('hex')}.tmp`);
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } catch (error) {
    await file.close();
    await rm(temporary, { force: true });
    throw error;
  }
  await file.close();
  await rename(temporary, path);
  // The directory entry must be durable as well: signatures of a lost key could never be verified again.
  syncDirectory(dirname(path));
}

export function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
