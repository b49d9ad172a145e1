/**
 * Repairs a damaged data directory: a new store is made of every readable object, with its revision and
 * TTL; the damaged files are kept. Superseded versions become history that no watch can read, so that none continues over lost
 * changes, and the newest revision is no lower than any that is found anywhere.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type PendingChange, writeChange } from '../change.ts';
import { type DamagedRecord, encodeRecord, FORMAT, readRecord, type StoredRecord, type Version } from '../format.ts';
import { changesOf } from '../journal/frames.ts';
import { inspectJournal } from '../journal/journal-read.ts';
import { lockDirectory } from '../lock.ts';
import { readMark, sealed, writeHistoryRow, writeMark, writeNumberRow } from '../meta.ts';
import { RowReader } from '../pages/page-file.ts';
import { finishReplacing, isReplacing, replaceStore } from '../replace.ts';
import type { Tables } from '../table.ts';
import { FILE, openTables, prepareDirectory } from '../tables.ts';
import type { LostObject, Repair } from './findings.ts';
import { type FoundRecord, type Inventory, inventoryOf, placeOf } from './verify.ts';

export interface RepairOptions {
  /** Suffix of the directory that keeps the damaged files, such as the time of the repair. */
  readonly label: string;
}

/** Rows and bytes of one transaction: values are in memory only until they are written. */
const STEP = 1_000;
const STEP_BYTES = 8 * 2 ** 20;

/** Throws when a server uses the directory, or there is no store. */
export async function repairDirectory(directory: string, { label }: RepairOptions): Promise<Repair> {
  const lock = await lockDirectory(directory);
  try {
    finishReplacing(directory);
    const inventory = inventoryOf(directory, true);
    const { findings, highest } = inventory;
    checkRepairable(directory, inventory);
    if (findings.length === 0) return { findings, movedTo: undefined, keptObjects: countOf(inventory), lost: [], revision: highest };
    const name = `store.repairing-${process.pid}`;
    const partial = join(directory, name);
    try {
      const { keptCount, lost, revision } = await rebuild(directory, partial, inventory);
      return { findings, movedTo: replaceStore(directory, name, `damaged-${label}`), keptObjects: keptCount, lost, revision };
    } finally {
      // An interrupted replacement is finished by the next start, and needs this directory.
      if (!isReplacing(directory)) rmSync(partial, { recursive: true, force: true });
    }
  } finally {
    await lock.release();
  }
}

/** Throws if a repair would lose what another way keeps. */
function checkRepairable(directory: string, { findings, old, legible }: Inventory): void {
  const [first] = findings;
  if (!legible)
    throw new Error(
      `nothing of the store file in ${directory} can be read (${first?.message}), and nothing was changed. Restore it from a backup`,
    );
  if (!old) return;
  if (findings.every(({ startsAnyway }) => startsAnyway))
    throw new Error(`the store in ${directory} cannot be repaired as it is, and nothing was changed: ${first?.message}`);
  throw new Error(
    `the store in ${directory} is damaged (${first?.message}), and is of an older format, whose rows cannot be distinguished from damaged ones; nothing was changed. Restore it from a backup, and start a server of this version on that, which brings it into format ${FORMAT}`,
  );
}

const countOf = ({ newest }: Inventory): number => [...newest.values()].filter(({ deleted }) => !deleted).length;

async function rebuild(
  directory: string,
  partial: string,
  inventory: Inventory,
): Promise<{ keptCount: number; lost: LostObject[]; revision: number }> {
  const { records, meta } = inventory;
  const recordsToWrite: { record: FoundRecord; version: Version }[] = [];
  const lost: LostObject[] = [];
  for (const [key, version] of newestOf(inventory)) {
    if (version.deleted) continue;
    const record = records.get(placeOf(version.revision, version.index));
    if (record?.key === key) recordsToWrite.push({ record, version });
    else lost.push({ key, revision: version.revision, reason: 'its value cannot be read' });
  }
  recordsToWrite.sort((a, b) => a.record.place.page - b.record.place.page);
  // The journal continues where the tables end; frames behind a gap are newer than the lost ones, and count.
  const after = inventory.revision;
  const { frames, beyond } = inspectJournal(directory, after, true);
  const laterChanges = [...frames, ...beyond].flatMap(changesOf).filter(({ version }) => version.revision > after);
  const later = new Map<string, PendingChange>();
  for (const change of laterChanges) later.set(change.change.key, change);

  prepareDirectory(partial);
  const tables = await openTables(partial);
  const rows = new RowReader(join(directory, FILE));
  let keptCount = 0;
  const write = async (changes: readonly PendingChange[]): Promise<void> => {
    await tables.write(() => {
      for (const change of changes) writeChange(tables, { ...change, previous: undefined });
    });
    keptCount += changes.length;
  };
  try {
    let step: PendingChange[] = [];
    let bytes = 0;
    for (const { record, version } of recordsToWrite) {
      const { key, place } = record;
      if (later.has(key)) continue;
      const stored = readRecord(rows.read(place));
      if ('damage' in stored) lost.push({ key, revision: version.revision, reason: 'its value cannot be read any more' });
      else step.push(asFirst(stored, version));
      bytes += record.bytes;
      if (step.length < STEP && bytes < STEP_BYTES) continue;
      await write(step);
      step = [];
      bytes = 0;
    }
    await write(step);
    const put = [...later.values()].filter(({ version }) => !version.deleted);
    await write(put.map(({ record, version }) => asFirst(readRecord(record) as StoredRecord, version)));
    const historyBytes = await writeHistory(tables, inventory, rows, laterChanges);
    // An assigned revision must never identify another state.
    const revision = inventory.highest + inventory.unknown;
    await tables.write(() => {
      const mark = attempt(() => readMark({ get: (name: string) => meta.get(name) } as Parameters<typeof readMark>[0]));
      if (mark !== undefined) writeMark(tables.meta, mark);
      for (const name of ['compacted', 'pruned', 'closed'] as const) writeNumberRow(tables.meta, name, revision);
      // No rules have this name: the next start looks through all of it.
      writeHistoryRow(tables.meta, { policy: '', bytes: historyBytes, passes: new Map() });
      tables.meta.put('repaired', sealed('repaired', String(revision)));
    });
    const lostOnce = new Set([...lost].filter(({ key }) => !later.has(key)));
    return { keptCount, lost: [...lostOnce], revision };
  } finally {
    rows.close();
    await tables.close();
  }
}

/** The newest version of every key: by the index, and by records that are newer than its remains. */
function newestOf({ newest, records, expiries }: Inventory): Map<string, Version> {
  const newestByKey = new Map<string, Version>(newest);
  for (const [place, { key, revision, index, deleted, created }] of records)
    if (revision > (newestByKey.get(key)?.revision ?? 0))
      newestByKey.set(key, { revision, index, deleted, created, expires: expiries.get(place) ?? 0 });
  return newestByKey;
}

/** Writes all that is not current as history; returns its bytes. */
async function writeHistory(
  tables: Tables,
  { records }: Inventory,
  rows: RowReader,
  laterChanges: readonly PendingChange[],
): Promise<number> {
  let step: PendingChange[] = [];
  let stepBytes = 0;
  let bytes = 0;
  const write = async (): Promise<void> => {
    const changes = step;
    await tables.write(() => {
      for (const change of changes) writeChange(tables, change);
    });
    bytes += stepBytes;
    step = [];
    stepBytes = 0;
  };
  const add = async (stored: StoredRecord | DamagedRecord): Promise<void> => {
    if ('damage' in stored || tables.versions.get({ name: stored.key, revision: stored.revision }) !== undefined) return;
    const change = asHistory(stored);
    step.push(change);
    stepBytes += change.record.length;
    if (step.length >= STEP || stepBytes >= STEP_BYTES) await write();
  };
  for (const { place } of [...records.values()].sort((a, b) => a.place.page - b.place.page)) await add(readRecord(rows.read(place)));
  for (const { record } of laterChanges) await add(readRecord(record));
  await write();
  return bytes;
}

/** The change that wrote a value, without a previous version. */
function asFirst(stored: StoredRecord, version: Version): PendingChange {
  const { key, value } = stored;
  const { revision, created } = version;
  return {
    change: { type: 'put', key, value, revision, created },
    version,
    previous: undefined,
    record: encodeRecord({ ...stored, previous: NOWHERE }, value),
  };
}

/** A version that is not current. */
function asHistory(stored: StoredRecord): PendingChange {
  const { key, revision, index, created, deleted, dropped } = stored;
  const value = deleted || dropped ? undefined : stored.value;
  return {
    change: { type: deleted ? 'delete' : 'put', key, value, revision, created },
    version: { revision, index, created, deleted: true, expires: 0 },
    previous: undefined,
    record: encodeRecord({ ...stored, previous: NOWHERE, added: true }, value),
  };
}

const NOWHERE = { revision: 0, index: 0 };

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
