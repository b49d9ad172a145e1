/**
 * Changes of a value, and the merge of two changes of the same value.
 *
 *   base   { replicas: 1, image: a }
 *   mine   { replicas: 1, image: b }      I changed image
 *   theirs { replicas: 3, image: a }      they changed replicas
 *   merged { replicas: 3, image: b }
 *
 * Where both changed the same field to different values, there is a conflict, and the merged value has mine.
 */
import { equal } from '@plat-dev/lib/equal';
import { own, setOwn } from '@plat-dev/lib/own';
import { isMap, type ValueMap } from '../../../api/values.ts';
import type { FieldPath } from '../openapi/schema.ts';

export interface Change {
  readonly path: FieldPath;
  /** Undefined: absent. */
  readonly before: unknown;
  readonly after: unknown;
}
export interface Conflict {
  readonly path: FieldPath;
  readonly base: unknown;
  readonly mine: unknown;
  readonly theirs: unknown;
}
export interface Merged {
  readonly value: unknown;
  readonly conflicts: readonly Conflict[];
}
/** Whether a conflict is decided for theirs; mine where it says nothing. */
export type Decide = (conflict: Conflict) => 'mine' | 'theirs';

/** Fields by which items of lists are told apart, the first that all items have and that differs in all of them. */
const itemKeys = ['name', 'type', 'key', 'uid', 'containerPort', 'port', 'mountPath', 'ip', 'id'];

/** Fields that only the server sets: of two versions the newer one is right. */
const serverFields = new Set([
  'metadata.resourceVersion',
  'metadata.generation',
  'metadata.managedFields',
  'metadata.uid',
  'metadata.creationTimestamp',
  'metadata.selfLink',
  'status',
]);
const isServerField = (path: FieldPath): boolean => path.length <= 2 && serverFields.has(path.join('.'));

/** What differs between two versions but for fields of the server, in the order of the fields. */
export function changesOf(before: unknown, after: unknown): Change[] {
  const changes: Change[] = [];
  compare(before, after, [], changes);
  return changes;
}

function compare(before: unknown, after: unknown, path: FieldPath, changes: Change[]): void {
  if (isServerField(path) || equal(before, after)) return;
  if (isMap(before) && isMap(after)) {
    for (const key of keysOf(before, after)) compare(own(before, key), own(after, key), [...path, key], changes);
    return;
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length && before.every(isMap) && after.every(isMap)) {
    for (let i = 0; i < before.length; i++) compare(before[i], after[i], [...path, i], changes);
    return;
  }
  changes.push({ path, before, after });
}

export function mergeValues(base: unknown, mine: unknown, theirs: unknown, decide: Decide = () => 'mine'): Merged {
  const conflicts: Conflict[] = [];
  const merge = (b: unknown, m: unknown, t: unknown, path: FieldPath): unknown => {
    if (isServerField(path) || equal(m, b) || equal(m, t)) return t;
    if (equal(t, b)) return m;
    if (isMap(m) && isMap(t)) return mergeMaps(isMap(b) ? b : {}, m, t, path);
    const list = Array.isArray(m) && Array.isArray(t) ? mergeLists(Array.isArray(b) ? b : [], m, t, path) : undefined;
    if (list !== undefined) return list;
    const conflict = { path, base: b, mine: m, theirs: t };
    conflicts.push(conflict);
    return decide(conflict) === 'theirs' ? t : m;
  };
  const mergeMaps = (b: ValueMap, m: ValueMap, t: ValueMap, path: FieldPath): ValueMap => {
    const merged: Record<string, unknown> = {};
    for (const key of keysOf(t, m)) {
      const value = merge(own(b, key), own(m, key), own(t, key), [...path, key]);
      if (value !== undefined) setOwn(merged, key, value);
    }
    return merged;
  };
  /** Items that both know are merged, those that one of them added or removed are added or removed. */
  const mergeLists = (b: readonly unknown[], m: readonly unknown[], t: readonly unknown[], path: FieldPath): unknown[] | undefined => {
    const key = itemKeys.find((name) => [b, m, t].every((items) => hasKey(items, name)));
    if (key === undefined) return undefined;
    const byKey = (items: readonly unknown[]) => new Map(items.map((item) => [String(own(item as ValueMap, key)), item]));
    const [baseItems, mineItems, theirItems] = [byKey(b), byKey(m), byKey(t)];
    return [...new Set([...theirItems.keys(), ...mineItems.keys()])].flatMap((id, i) => {
      const value = merge(baseItems.get(id), mineItems.get(id), theirItems.get(id), [...path, i]);
      return value === undefined ? [] : [value];
    });
  };
  return { value: merge(base, mine, theirs, []), conflicts };
}

const keysOf = (one: ValueMap, other: ValueMap): string[] => [...new Set([...Object.keys(one), ...Object.keys(other)])];

function hasKey(items: readonly unknown[], name: string): boolean {
  const ids = items.map((item) => (isMap(item) ? own(item, name) : undefined));
  return ids.every((id) => typeof id === 'string' || typeof id === 'number') && new Set(ids.map(String)).size === ids.length;
}
