/**
 * Migrates a file of format 1 or 2 to this format: every row gets its checksum. The format is raised before the first row,
 * so that an older release does not open an unfinished migration; the row `migrating` stays until the last, and a start that
 * finds it continues. The format of a row is known by its bytes, so that nothing is migrated twice.
 */
import type { Position, VersionKey } from '../format.ts';
import { encodeRecord, encodeVersion, FORMAT } from '../format.ts';
import { sealed } from '../meta.ts';
import type { RawTables } from '../table.ts';
import { isOldRecord, isOldVersion, readOldRecord, readOldVersion } from './old-format.ts';

/** Rows of one transaction. */
const STEP = 1_000;
const AFTER_ALL = '\x7f';

export async function beginMigration({ meta, write }: RawTables): Promise<void> {
  await write(() => {
    // A file without a journal of this format may have one of the old.
    for (const name of ['compacted', 'pruned'] as const) {
      const text = meta.get(name);
      if (text !== undefined && /^\d+$/.test(text)) meta.put(name, sealed(name, text));
    }
    meta.put('format', Buffer.from(String(FORMAT)));
    meta.put('migrating', sealed('migrating', '1'));
  });
}

/** Rewrites the rows; `stepped` is called after each transaction, for tests that stop there. */
export async function migrateRows(tables: RawTables, stepped: () => void = () => {}): Promise<void> {
  await eachStep<Position>(tables, stepped, (start) => {
    const rows: { key: Position; row: Buffer }[] = [];
    let last: Position | undefined;
    for (const { key, value } of tables.rawRecords.getRange({ ...(start !== undefined && { start }), limit: STEP })) {
      last = key;
      if (!isOldRecord(value)) continue;
      const old = readOldRecord(value);
      rows.push({ key, row: encodeRecord({ ...old, ...key }, old.deleted ? undefined : old.value) });
    }
    const next = last === undefined ? undefined : { revision: last.revision, index: last.index + 1 };
    return { next, fill: () => rows.forEach(({ key, row }) => void tables.rawRecords.put(key, row)), count: rows.length };
  });
  await eachStep<VersionKey>(tables, stepped, (start) => {
    const rows: { key: VersionKey; row: Buffer }[] = [];
    let last: VersionKey | undefined;
    for (const { key, value } of tables.rawVersions.getRange({ start: start ?? ' ', end: AFTER_ALL, limit: STEP })) {
      last = key as VersionKey;
      if (isOldVersion(value))
        rows.push({ key: last, row: encodeVersion(last.name, { ...readOldVersion(value), revision: last.revision }) });
    }
    // Rows of a key are ordered newest first: the next one has a lower revision, or another name.
    const next = last === undefined ? undefined : { name: last.name, revision: last.revision - 1 };
    return { next, fill: () => rows.forEach(({ key, row }) => void tables.rawVersions.put(key, row)), count: rows.length };
  });
}

export const endMigration = ({ meta, write }: RawTables): Promise<void> => write(() => void meta.remove('migrating'));

interface MigrationPhase<Key> {
  /** Where the next step starts; undefined at the end. */
  readonly next: Key | undefined;
  readonly count: number;
  fill(): void;
}

async function eachStep<Key>(tables: RawTables, stepped: () => void, take: (start: Key | undefined) => MigrationPhase<Key>): Promise<void> {
  for (let start: Key | undefined; ; ) {
    const { next, fill, count } = take(start);
    if (count > 0) {
      await tables.write(fill);
      stepped();
    }
    if (next === undefined) return;
    start = next;
  }
}
