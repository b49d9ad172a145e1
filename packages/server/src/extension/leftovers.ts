/**
 * Objects of a deleted definition. A request that began before the deletion may store one after the last
 * object was deleted; it would be served again by the next definition of the same name.
 */
import type { Cache } from '@plat-dev/storage/cache';
import { CommitConflict, type Operation } from '@plat-dev/storage/engine';

const CHUNK = 200;

/**
 * Removes the objects under a prefix, but only while nothing is stored under `definition`: both are one commit, so that
 * objects of a new definition are never touched. Returns how many were removed.
 */
export async function removeLeftovers({ engine }: Cache, prefix: string, definition: string): Promise<number> {
  let removedCount = 0;
  for (;;) {
    const { entries } = await engine.range({ prefix, limit: CHUNK, uncounted: true });
    if (entries.length === 0) return removedCount;
    const unchanged: Operation = { type: 'check', key: definition, expect: 0 };
    try {
      await engine.commit([unchanged, ...entries.map(({ key, revision }): Operation => ({ type: 'delete', key, expect: revision }))]);
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error;
      // The definition exists again, or an object changed: in the latter case it is read again.
      if (error.key === definition) return removedCount;
      continue;
    }
    removedCount += entries.length;
  }
}
