/** Snapshots of the store in memory: other stores begin with one, and a store goes back to one. */
import type { SortedMap } from '@plat-dev/lib/sorted-map';
import type { Operation } from '../../engine.ts';
import type { SupersededVersion } from './history.ts';
import type { LogState } from './log.ts';
import { bytesOf, currentOf, isSame, type Version } from './version.ts';

/** The content of a store at a time. Values are shared with the store; lists and indexes are not. */
export interface MemoryState {
  readonly revision: number;
  readonly compacted: number;
  readonly versions: SortedMap<Version[]>;
  readonly log: LogState;
  readonly expiries: SortedMap<Version>;
  /** Versions that outlasted compaction. */
  readonly history: readonly SupersededVersion[];
}

export const copyVersions = (versions: SortedMap<Version[]>): SortedMap<Version[]> => versions.copy((ofKey) => ofKey.slice());

/** The commit that brings a store back to a snapshot: newer keys are deleted, changed and deleted ones are put. */
export function restoringOperations(current: SortedMap<Version[]>, state: MemoryState, now: number): Operation[] {
  const operations: Operation[] = [];
  current.each('', (versions, key) => {
    if (currentOf(versions) !== undefined && currentOf(state.versions.get(key)) === undefined) operations.push({ type: 'delete', key });
    return true;
  });
  state.versions.each('', (versions, key) => {
    const then = currentOf(versions);
    if (then === undefined || isSame(then, currentOf(current.get(key)))) return true;
    const ttl = then.expires > 0 && { ttlSeconds: Math.max(0, then.expires - now) / 1000 };
    operations.push({ type: 'put', key, value: bytesOf(then) as Buffer, ...ttl });
    return true;
  });
  return operations;
}
