/**
 * The patch that makes one object of another. As a strategic patch, containers and their variables are merged by name, so that it
 * leaves those of others alone:
 *
 *   containers: [{ name: a, image: x }, { name: b, image: y }]
 *   containers: [{ name: a, image: x }, { name: b, image: z }]
 *   → { containers: [{ name: b, image: z }], '$setElementOrder/containers': [{ name: a }, { name: b }] }
 *
 * As a merge patch, lists are replaced.
 */

import { isDeepStrictEqual } from 'node:util';
import { own, setOwn } from '@plat-dev/lib/own';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';

export type PatchType = 'strategic' | 'merge';

/** Lists that a strategic patch merges by the names of their items. */
const namedLists: ReadonlySet<string> = new Set(['containers', 'initContainers', 'env']);

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An empty object if both are equal. */
export function patchBetween(before: JsonObject, after: JsonObject, type: PatchType): JsonObject {
  let patch: JsonObject = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [own(before, key), own(after, key)];
    if (isDeepStrictEqual(old, now)) continue;
    if (now === undefined) setOwn(patch, key, null);
    else if (isObject(old) && isObject(now)) setOwn(patch, key, patchBetween(old, now, type));
    else if (type === 'strategic' && namedLists.has(key))
      patch = { ...patch, ...listPatch(key, (old ?? []) as JsonObject[], now as JsonObject[]) };
    else setOwn(patch, key, now);
  }
  return patch;
}

function listPatch(key: string, before: readonly JsonObject[], after: readonly JsonObject[]): JsonObject {
  const old = new Map(before.map((item) => [item.name as string, item]));
  const now = new Map(after.map((item) => [item.name as string, item]));
  // Items of the same name cannot be merged by it.
  if (old.size < before.length || now.size < after.length) return { [key]: [...after, { $patch: 'replace' }] };
  const items: JsonObject[] = [];
  for (const [name, item] of now) {
    const changed = patchBetween(old.get(name) ?? {}, item, 'strategic');
    if (Object.keys(changed).length > 0) items.push({ ...changed, name });
  }
  for (const name of old.keys()) if (!now.has(name)) items.push({ name, $patch: 'delete' });
  return { [key]: items, [`$setElementOrder/${key}`]: after.map(({ name }) => ({ name: name as string })) };
}
