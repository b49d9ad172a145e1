/** Prepares a directory before it is used: replays the journal of a server that crashed, and migrates rows of older formats. */
import { type PendingChange, writeChange } from '../change.ts';
import { checkRoom, freeBytes } from '../errors.ts';
import { hasJournal, missingFiles, readJournal } from '../journal/journal-read.ts';
import { readNumberRow } from '../meta.ts';
import { newestRevision } from '../reader.ts';
import type { TableOptions, Tables } from '../table.ts';
import { completeMark, damagedStore } from '../tables.ts';
import { endMigration, migrateRows } from './migrate.ts';

/** Changes of one transaction while the journal is replayed. */
const STEP = 1_000;

/** Throws JournalDamage, and errors that say what to do. */
export async function recover(tables: Tables, options: TableOptions & { readonly dataDir: string }): Promise<void> {
  const { dataDir, freeBytes: free = freeBytes } = options;
  const old = tables.meta.get('migrating') !== undefined;
  // Rows of an old format have no checksums by which the newest revision could be known.
  if (old) {
    // Rows are rewritten step by step, and freed pages are reused.
    checkRoom(dataDir, free(dataDir), tables.stats().used_bytes / 8, 'to bring the store into the format of this version');
    await migrateRows(tables);
  }
  const missing = !old && readNumberRow(tables.meta, 'closed') === undefined ? missingFiles(dataDir) : undefined;
  if (missing !== undefined) throw damagedStore(dataDir, new Error(missing));
  if (hasJournal(dataDir)) {
    const changes = readJournal(dataDir, newestRevision(tables), old);
    const bytes = changes.reduce((sum, { record }) => sum + record.length, 0);
    checkRoom(dataDir, free(dataDir), bytes, 'to replay the journal');
    await replay(tables, changes);
  }
  if (old) await endMigration(tables);
  await completeMark(dataDir, tables, options);
}

async function replay(tables: Tables, changes: readonly PendingChange[]): Promise<void> {
  for (let start = 0, end = 0; start < changes.length; start = end) {
    end = Math.min(start + STEP, changes.length);
    // A commit is written as a whole.
    while (end < changes.length && changes[end]?.version.revision === changes[end - 1]?.version.revision) end++;
    await tables.write(() => {
      for (const change of changes.slice(start, end)) writeChange(tables, change);
    });
  }
}
