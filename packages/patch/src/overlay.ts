/**
 * The stored object with an applied one merged into it: if both have a value the applied one counts, and lists and maps
 * that are merged hold the items of both. Nothing is removed. The result shares unchanged parts with both, and if
 * the applied object changes nothing it is the stored one.
 */
import { equal } from '@plat-dev/lib/equal';
import { own, setOwn } from '@plat-dev/lib/own';
import { atOnce } from '@plat-dev/lib/slices';
import { itemsByElement } from './compare.ts';
import { MOST_ENTRIES } from './interned.ts';
import { anyShape, isObject, type ListShape, type MessageShape, type Shape } from './shape.ts';

type Entries = { [key: string]: unknown };

/**
 * `live` is in the normal form, `applied` as sent. `repeats`: lists of the live object may have several items of one key, which the
 * applied item of that key replaces. Throws Untyped if items of a list cannot be distinguished.
 */
export function overlay(shape: Shape, live: unknown, applied: unknown, repeats = false): unknown {
  if (applied === undefined) return live;
  if (live === undefined) return applied;
  switch (shape.node) {
    case 'leaf':
      return shape.ordered || !equal(live, applied) ? applied : live;
    case 'list':
      return overlayLists(shape, live, applied, repeats);
    case 'map':
      return overlayObjects(() => shape.value, live, applied, repeats);
    case 'message':
      return overlayObjects((key) => shapeOfField(shape, key), live, applied, repeats);
    case 'any':
      return isObject(live) && isObject(applied) ? overlayObjects(() => anyShape, live, applied, repeats) : applied;
  }
}

function shapeOfField(shape: MessageShape, key: string): Shape {
  return shape.fields.get(key)?.shape ?? anyShape;
}

function overlayObjects(shapeOf: (key: string) => Shape, live: unknown, applied: unknown, repeats: boolean): unknown {
  if (!isObject(live) || Object.keys(live).length === 0) return applied;
  if (!isObject(applied)) return live;
  let result: Entries | undefined;
  for (const key of Object.keys(applied)) {
    const before = own(live, key);
    const after = overlay(shapeOf(key), before, applied[key], repeats);
    if (after === before) continue;
    result ??= { ...live };
    setOwn(result, key, after);
  }
  return result ?? live;
}

/**
 * Common items are in the order of the applied list; an item of one side only keeps its position before the
 * common one that followed it.
 *
 *   live [c, a, b], applied [z, a] → c, z, a, b
 *   live [main, aide], applied [aide, main] → aide, main
 */
function overlayLists(shape: ListShape, live: unknown, applied: unknown, repeats: boolean): unknown {
  if (!Array.isArray(live) || live.length === 0) return applied;
  if (!Array.isArray(applied) || applied.length === 0) return live;
  const liveKeys = live.map((item) => shape.element(item, live.length > MOST_ENTRIES));
  const liveItems = repeats ? singleItems(liveKeys, live) : atOnce(itemsByElement(shape, live));
  const appliedItems = atOnce(itemsByElement(shape, applied));
  const result: unknown[] = [];
  const shared = [...appliedItems.keys()].filter((element) => liveItems.has(element));
  let at = 0;
  let nextShared = 0;
  for (const [element, item] of appliedItems) {
    // Items of the stored list only come first, up to the next common one.
    while (at < liveKeys.length) {
      const liveKey = liveKeys[at] as string;
      if (!appliedItems.has(liveKey)) result.push(live[at]);
      else if (liveKey === shared[nextShared]) break;
      at++;
    }
    result.push(overlay(shape.item, liveItems.get(element), item, repeats));
    if (element === shared[nextShared]) {
      if (liveKeys[at] === element) at++;
      nextShared++;
    }
  }
  for (; at < liveKeys.length; at++) if (!appliedItems.has(liveKeys[at] as string)) result.push(live[at]);
  return result.length === live.length && result.every((item, i) => item === live[i]) ? live : result;
}

/** Items by their elements; of one that is repeated none is known. */
function singleItems(elements: readonly string[], items: readonly unknown[]): ReadonlyMap<string, unknown> {
  const single = new Map<string, unknown>();
  elements.forEach((element, i) => {
    single.set(element, single.has(element) ? undefined : items[i]);
  });
  return single;
}
