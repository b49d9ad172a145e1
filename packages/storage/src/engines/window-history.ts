/** History of an engine that keeps nothing beyond compaction: it has the changes of the watch window, without times and notes. */
import type { ChangeRecord, Engine } from '../engine.ts';
import type { HistoryStore, KeptVersion } from '../history.ts';

export function windowHistory(engine: Pick<Engine, 'compacted' | 'changes' | 'range'>): HistoryStore {
  return {
    async versions({ prefix, exact = false, before = Number.POSITIVE_INFINITY, limit }) {
      const changes = await engine.changes({ after: engine.compacted, prefix });
      const older = changes.filter(({ key, revision }) => revision < before && (!exact || key === prefix)).reverse();
      let count = Math.min(limit, older.length);
      while (count < older.length && older[count]?.revision === older[count - 1]?.revision) count++;
      return { versions: older.slice(0, count).map(versionOf), next: count < older.length ? older[count - 1]?.revision : undefined };
    },
    async at({ prefix, from, at, limit }) {
      const { entries, more } = await engine.range({ prefix, at, limit, ...(from !== undefined && { from }) });
      const last = entries.at(-1)?.key;
      return { versions: entries.map((entry) => versionOf({ ...entry, type: 'put' })), next: more ? `${last}!` : undefined };
    },
    revisionAt: async () => 0,
    add: async () => {},
  };
}

const versionOf = ({ type, key, revision, created, value }: ChangeRecord): KeptVersion => ({
  type,
  key,
  revision,
  created,
  time: 0,
  note: undefined,
  value,
});
