import type { ChangeRecord, Operation } from '../../engine.ts';
import { encodeRecord, encodeVersion, type Version } from './format.ts';
import type { Tables } from './table.ts';

/** A change with its revision and its bytes, ready to be written. */
export interface PendingChange {
  readonly change: ChangeRecord;
  readonly version: Version;
  /** The version that this one supersedes. */
  readonly previous: Version | undefined;
  readonly record: Buffer;
}

/** The change of an operation; undefined for the deletion of an absent key. */
export function prepareChange(
  operation: Exclude<Operation, { type: 'check' }>,
  newest: Version | undefined,
  { revision, index, time }: { revision: number; index: number; time: number },
): PendingChange | undefined {
  const { type, key } = operation;
  const previous = newest?.deleted ? undefined : newest;
  const deleted = type === 'delete';
  if (deleted && previous === undefined) return undefined;
  const created = previous?.created ?? revision;
  const value = deleted ? undefined : operation.value;
  const expires = !deleted && operation.ttlSeconds !== undefined ? time + Math.round(operation.ttlSeconds * 1000) : 0;
  const place = previous === undefined ? { revision: 0, index: 0 } : { revision: previous.revision, index: previous.index };
  return {
    change: { type, key, value, revision, created },
    version: { revision, index, created, deleted, expires },
    previous,
    record: encodeRecord({ deleted, key, created, previous: place, time, revision, index, note: operation.note }, value),
  };
}

/** Within a transaction: writes a change to all tables. */
export function writeChange(tables: Tables, { change, version, previous, record }: PendingChange): void {
  const { revision, index, expires } = version;
  tables.records.put({ revision, index }, record);
  tables.versions.put({ name: change.key, revision }, encodeVersion(change.key, version));
  if (previous !== undefined && previous.expires > 0) {
    tables.expiries.remove({ expires: previous.expires, revision: previous.revision, index: previous.index });
  }
  if (expires > 0) tables.expiries.put({ expires, revision, index }, Buffer.from(change.key, 'latin1'));
}
