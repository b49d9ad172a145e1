/** The names of new files are durable when their directory is. */
import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Windows makes names durable with the files themselves, and refuses to sync a directory. */
const syncsDirectories = (platform: NodeJS.Platform = process.platform): boolean => platform !== 'win32';

export function syncDirectory(directory: string, platform: NodeJS.Platform = process.platform): void {
  if (!syncsDirectories(platform)) return;
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
