/** Versions of a backup, which become history of a store: none of them is current in it. */
import type { KeptVersion } from '../../history.ts';
import { encodeRecord, encodeVersion } from './format.ts';
import { type KeptVersions, newStep, OLDEST } from './kept-versions.ts';
import type { HistoryRow } from './meta.ts';
import type { Tables } from './table.ts';

/** The last index of a commit. */
const LAST_INDEX = 65_535;
const NOWHERE = { revision: 0, index: 0 };

export interface AddedVersions {
  readonly bytes: number;
  readonly row: HistoryRow;
  /** Within a transaction. */
  fill(): void;
}

/** Versions that no rule keeps are left out. Throws RangeError for a revision that is not compacted. */
export function addVersions(tables: Tables, kept: KeptVersions, versions: readonly KeptVersion[], compacted: number): AddedVersions {
  const step = newStep();
  const fills: (() => void)[] = [];
  const nextIndexes = new Map<number, number>();
  // All passes begin again: what is added lies before them.
  const passes = new Map<string, number>([[OLDEST, 0]]);
  for (const name of kept.passes.keys()) passes.set(name, 0);
  for (const version of versions) {
    const { key, revision, created, time, note, type, value, unreadable } = version;
    if (revision > compacted) throw new RangeError(`the version ${revision} of ${key} is newer than the history of this store`);
    const rule = kept.ruleOf(key);
    if (rule === undefined || unreadable !== undefined || tables.versions.get({ name: key, revision }) !== undefined) continue;
    const index = nextIndexes.get(revision) ?? nextIndex(tables, revision);
    if (index > LAST_INDEX) continue;
    nextIndexes.set(revision, index + 1);
    passes.set(String(rule.retentionMs), 0);
    const deleted = type === 'delete';
    const keptValue = rule.values && !deleted ? value : undefined;
    const dropped = !deleted && keptValue === undefined;
    const record = encodeRecord({ deleted, key, created, previous: NOWHERE, time, revision, index, note, dropped, added: true }, keptValue);
    step.bytes += record.length;
    fills.push(() => {
      tables.records.put({ revision, index }, record);
      tables.versions.put({ name: key, revision }, encodeVersion(key, { revision, index, created, deleted: true, expires: 0 }));
    });
  }
  const fill = (): void => {
    for (const put of fills) put();
  };
  return { bytes: step.bytes, row: kept.rowAfter(step, passes), fill };
}

function nextIndex(tables: Tables, revision: number): number {
  for (const { key } of tables.recordSizes.getRange({ start: { revision, index: LAST_INDEX }, reverse: true, limit: 1 }))
    if (key.revision === revision) return key.index + 1;
  return 0;
}
