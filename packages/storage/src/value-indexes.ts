/** Keys of a collection's items by the value of a label or a selectable field. An index is made when it is first used. */

import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import { own } from '@plat-dev/lib/own';
import type { SortedMap } from '@plat-dev/lib/sorted-map';
import type { Item } from './item.ts';

interface Index {
  readonly keys: Map<string, Set<string>>;
  readonly read: (item: Item) => string | undefined;
}
/** Maximum label and field values by which a collection is indexed; the least recently used is evicted. */
const INDEX_LIMIT = 16;

export class ValueIndexes {
  private readonly indexes = new BoundedCache<string, Index>(INDEX_LIMIT);

  get size(): number {
    return this.indexes.size;
  }
  clear(): void {
    this.indexes.clear();
  }

  /** Keys of the items whose label or field has a value. */
  withValue(
    items: SortedMap<Item>,
    what: 'label' | 'field',
    name: string,
    fieldIndex: number,
    value: string,
  ): ReadonlySet<string> | undefined {
    const id = `${what}:${name}`;
    const existingIndex = this.indexes.use(id);
    if (existingIndex !== undefined) return existingIndex.keys.get(value);
    const keys: Index['keys'] = new Map();
    const read: Index['read'] = (item) => indexedValue(item, what, name, fieldIndex);
    items.each('', (item) => {
      addTo(keys, read(item), item.key);
      return true;
    });
    this.indexes.set(id, { keys, read });
    return keys.get(value);
  }

  /** The item of a key was `previous`, and is `current`; undefined where there is none. */
  change(key: string, previous: Item | undefined, current: Item | undefined): void {
    for (const [, { keys: index, read }] of this.indexes) {
      const previousValue = previous === undefined ? undefined : read(previous);
      const after = current === undefined ? undefined : read(current);
      if (previousValue === after) continue;
      if (previousValue !== undefined) {
        const keys = index.get(previousValue);
        keys?.delete(key);
        if (keys?.size === 0) index.delete(previousValue);
      }
      addTo(index, after, key);
    }
  }
}

function indexedValue(item: Item, what: 'label' | 'field', name: string, fieldIndex: number): string | undefined {
  return what === 'label' ? own(item.labels, name) : item.fields?.[fieldIndex];
}
function addTo(index: Map<string, Set<string>>, value: string | undefined, key: string): void {
  if (value === undefined) return;
  const keys = index.get(value);
  if (keys === undefined) index.set(value, new Set([key]));
  else keys.add(key);
}
