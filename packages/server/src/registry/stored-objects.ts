/** Objects of any kind by name or by labels, for admission. Those that were read are kept as long as the cache keeps their bytes. */
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { ServedKind } from '@plat-dev/kinds/served-kind';
import { frozen } from '@plat-dev/lib/frozen';
import type { Item } from '@plat-dev/storage/item';
import type { StoredObjects } from '../admission/plugin.ts';
import type { Catalog } from './catalog.ts';
import { parseItem } from './versions.ts';

const parsedObjects = new WeakMap<Item, ApiObject>();

function objectOf(item: Item): ApiObject {
  let object = parsedObjects.get(item);
  if (object === undefined) {
    object = frozen(parseItem(item));
    parsedObjects.set(item, object);
  }
  return object;
}

/** Undefined where objects of the kind are not stored. */
export function storedObjects(catalog: Catalog, { group, version, kind }: ServedKind): StoredObjects | undefined {
  const { collection } = catalog.find(group, version, kind.plural) ?? {};
  if (collection === undefined) return undefined;
  return {
    get pending() {
      return collection.pending;
    },
    get: (namespace, name) => {
      const item = collection.items.get(kind.namespaced ? `${namespace}/${name}` : name);
      return item && objectOf(item);
    },
    select: (namespace, selector) => {
      const items = namespace === undefined ? collection.items.all() : collection.items.withPrefix(`${namespace}/`);
      return items.filter(({ labels }) => selector.matches(labels)).map(objectOf);
    },
  };
}
