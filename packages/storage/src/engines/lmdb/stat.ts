/** Statistics of a data directory. Nothing is changed. */

import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { own, setOwn } from '@plat-dev/lib/own';
import { changesOf } from './journal/frames.ts';
import { JOURNAL_FILES } from './journal/journal.ts';
import { inspectJournal } from './journal/journal-read.ts';
import { lockDirectory } from './lock.ts';
import { readMark, readNumberRow } from './meta.ts';
import type { DirectoryStat } from './repair/findings.ts';
import { inventoryOf, placeOf } from './repair/verify.ts';
import { interrupted, isReplacing } from './replace.ts';
import { FILE } from './tables.ts';

/** Throws when a server uses the directory, or there is no store. */
export async function statDirectory(directory: string): Promise<DirectoryStat> {
  const lock = await lockDirectory(directory);
  try {
    if (isReplacing(directory)) throw new Error(interrupted(directory));
    return count(directory);
  } finally {
    await lock.release();
  }
}

function count(directory: string): DirectoryStat {
  const { meta, newest, records, versions, revision, highest } = inventoryOf(directory);
  const table = { get: (name: string) => meta.get(name) } as Parameters<typeof readMark>[0];
  const mark = attempt(() => readMark(table));
  const sizes = new Map<string, number>();
  for (const [key, { deleted, revision, index }] of newest) if (!deleted) sizes.set(key, records.get(placeOf(revision, index))?.bytes ?? 0);
  // Changes that the tables lack are in the journal.
  for (const frame of inspectJournal(directory, revision, true).frames)
    for (const { change } of changesOf(frame)) {
      if (change.value === undefined) sizes.delete(change.key);
      else sizes.set(change.key, change.value.length);
    }
  const collections: Record<string, { objects: number; bytes: number }> = {};
  for (const [key, bytes] of [...sizes].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const name = key.split('/', 2).join('/');
    const stat = own(collections, name) ?? { objects: 0, bytes: 0 };
    setOwn(collections, name, { objects: stat.objects + 1, bytes: stat.bytes + bytes });
  }
  const sizeOf = (name: string): number => (existsSync(join(directory, name)) ? statSync(join(directory, name)).size : 0);
  return {
    format: Number(meta.get('format') ?? 0),
    identity: mark?.identity,
    productVersion: mark?.productVersion,
    createdAt: mark === undefined ? undefined : new Date(mark.createdAt).toISOString(),
    storeId: mark?.id,
    revision: highest,
    compactedRevision: attempt(() => readNumberRow(table, 'compacted')) ?? 0,
    objects: sizes.size,
    versions,
    fileBytes: sizeOf(FILE),
    journalBytes: JOURNAL_FILES.reduce((sum, name) => sum + sizeOf(name), 0),
    collections,
  };
}

/** Damaged content is not counted. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
