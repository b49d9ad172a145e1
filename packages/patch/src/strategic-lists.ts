/** Order and identity of the items of merged lists, and values as the stock server prints them. */
import { own } from '@plat-dev/lib/own';
import { badRequest } from '@plat-dev/meta/errors';
import type { JsonValue } from '@plat-dev/schema/types';
import { isObject } from './shape.ts';

export type JsonMap = { [key: string]: JsonValue };

export function noMergeKey(item: JsonMap, mergeKey: string): Error {
  return badRequest(`map: ${goText(item)} does not contain declared merge key: ${mergeKey}`);
}

/**
 * Orders merged items: those in `desiredOrder` in its order, the others as in `original`, each of the
 * others before the first wanted one that it preceded there.
 *
 *   original [main, aide], wanted [aide, third] → main, aide, third
 *   original [one], wanted [two]                → two, one
 */
export function arrange(
  merged: readonly JsonValue[],
  desiredOrder: readonly JsonValue[],
  original: readonly JsonValue[],
  mergeKey: string,
): JsonValue[] {
  const identity = identityBy(mergeKey);
  const wantedPlaces = places(desiredOrder, identity);
  const originalPlaces = places(original, identity);
  const namedItems: Placed[] = [];
  const others: Placed[] = [];
  for (const item of merged) {
    const key = identity(item);
    const wantedAt = wantedPlaces.get(key);
    const originalAt = originalPlaces.get(key);
    if (wantedAt !== undefined) namedItems.push({ item, at: wantedAt, originalAt });
    else others.push({ item, at: originalAt ?? Number.MAX_SAFE_INTEGER, originalAt });
  }
  namedItems.sort(byPlace);
  others.sort(byPlace);
  const result: JsonValue[] = [];
  let next = 0;
  for (const { item, originalAt } of namedItems) {
    if (originalAt !== undefined)
      while (next < others.length && isBefore((others[next] as Placed).originalAt, originalAt))
        result.push((others[next++] as Placed).item);
    result.push(item);
  }
  while (next < others.length) result.push((others[next++] as Placed).item);
  return result;
}
/** An item with its positions in the two lists, which are looked up once. */
interface Placed {
  readonly item: JsonValue;
  readonly at: number;
  readonly originalAt: number | undefined;
}
const byPlace = (a: Placed, b: Placed): number => a.at - b.at;
function isBefore(place: number | undefined, other: number): boolean {
  return place !== undefined && place < other;
}
function places(list: readonly JsonValue[], identity: (item: JsonValue) => unknown): Map<unknown, number> {
  const indexes = new Map<unknown, number>();
  list.forEach((item, i) => {
    const key = identity(item);
    if (!indexes.has(key)) indexes.set(key, i);
  });
  return indexes;
}
function identityBy(mergeKey: string): (item: JsonValue) => unknown {
  if (mergeKey === '') return (item) => item;
  return (item) => {
    const key = isObject(item) ? own(item, mergeKey) : undefined;
    if (key === undefined) throw noMergeKey(item as JsonMap, mergeKey);
    return key;
  };
}

/** `map[image:x name:aide]`, `[a b]`, `<nil>`. */
export function goText(value: JsonValue): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (typeof value !== 'object') return String(value);
  const fields = Object.keys(value)
    .sort()
    .map((key) => `${key}:${goText(value[key] as JsonValue)}`);
  return `map[${fields.join(' ')}]`;
}
