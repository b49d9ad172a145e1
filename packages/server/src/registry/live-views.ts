/** Live views of collections as parsed objects, for authorizers, admission plug-ins and controllers. */
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Change, LiveSource, LiveView } from '@plat-dev/kinds/live-view';
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import { frozen } from '@plat-dev/lib/frozen';
import { SLICED_FROM, Slices } from '@plat-dev/lib/slices';
import type { Collection } from '@plat-dev/storage/collection';
import type { Item } from '@plat-dev/storage/item';
import type { Catalog } from './catalog.ts';
import { checkLookedUp } from './loaded-first.ts';
import { parsedText, parseItem, sharedObject } from './versions.ts';

export function liveSource(catalog: Catalog): LiveSource {
  const views = new Map<Collection, LiveView>();
  return <T extends ApiObject>(group: string, plural: string): LiveView<T> => {
    const { collection, kind } = catalog.builtin(group, plural);
    if (collection === undefined) throw new Error(`${plural} are not stored`);
    let live = views.get(collection);
    if (live === undefined) {
      checkLookedUp(kind);
      live = liveView(collection, kind.namespaced, !numerous.has(`${group}/${plural}`));
      views.set(collection, live);
    }
    return live as LiveView<T>;
  };
}

/** Kinds with very many or large objects: they are parsed on demand, and not cached. */
const numerous = new Set(['/pods', '/events', '/configmaps', '/secrets', '/endpoints', 'discovery/endpointslices']);

function liveView(collection: Collection, namespaced: boolean, keep: boolean): LiveView {
  const parse = keep ? sharedObject : parseItem;
  if (keep) collection.keepsParsed = true;
  const keyOf = (namespace: string, name: string): string => (namespaced ? `${namespace}/${name}` : name);
  const large = new LargeObjects();
  const find = (namespace: string, name: string): ApiObject | undefined => {
    const item = collection.items.get(keyOf(namespace, name));
    return item === undefined ? undefined : keep || !isLarge(item) ? parse(item) : large.get(item);
  };
  const select = (namespace: string | undefined, limit?: number): readonly ApiObject[] => {
    const items = namespace === undefined ? collection.items.all() : collection.items.withPrefix(`${namespace}/`);
    return (limit === undefined || items.length <= limit ? items : items.slice(0, limit)).map(parse);
  };
  const lastAnswers = new LastAnswers(collection, find, select);
  return {
    get: keep ? (namespace, name) => lastAnswers.get(namespace, name) : find,
    list: keep ? (namespace, limit) => (limit === undefined ? lastAnswers.list(namespace) : select(namespace, limit)) : select,
    onChange: (listener) =>
      collection.listen((event) => {
        const { item, previous } = event;
        const type = event.type === 'delete' ? 'deleted' : previous === undefined ? 'added' : 'modified';
        listener(new ItemChange(type, item, previous, parse));
      }),
    get generation() {
      return collection.changes;
    },
    whenLoaded: (call) => collection.whenLoaded(call),
    get pending() {
      return collection.pending;
    },
    look(namespace, name) {
      const key = keyOf(namespace, name);
      if (collection.pending !== undefined) return collection.look(key);
      const item = keep ? undefined : collection.items.get(key);
      return item && large.look(item);
    },
  };
}

/** Bytes of large objects whose parsed form is kept: those that were looked at last. */
const LARGE_BYTES = 4 << 20;

const isLarge = ({ bytes }: Item): boolean => bytes.length > SLICED_FROM;

/** Large objects that are looked at are parsed in slices, once for all that look at the same time. */
class LargeObjects {
  private readonly parsedObjects = new BoundedCache<Item, ApiObject>(LARGE_BYTES / SLICED_FROM, {
    most: LARGE_BYTES,
    of: (_, item) => item.bytes.length,
  });
  private readonly looks = new Map<Item, Promise<void>>();

  /** One that has changed since it was looked at is parsed at once, but once for all that ask. */
  get(item: Item): ApiObject {
    const object = this.parsedObjects.get(item) ?? frozen(parseItem(item));
    this.parsedObjects.set(item, object);
    return object;
  }
  look(item: Item): Promise<void> | undefined {
    if (!isLarge(item) || this.parsedObjects.use(item) !== undefined) return undefined;
    let look = this.looks.get(item);
    if (look === undefined) {
      look = this.parse(item).finally(() => this.looks.delete(item));
      this.looks.set(item, look);
    }
    return look;
  }
  private async parse(item: Item): Promise<void> {
    this.parsedObjects.set(item, frozen((await parsedText(item.bytes, new Slices())) as unknown as ApiObject));
  }
}

class ItemChange implements Change<ApiObject> {
  readonly type: Change<ApiObject>['type'];
  private readonly item: Item;
  private readonly previous: Item | undefined;
  private readonly parse: (item: Item) => ApiObject;
  private parsedObject: ApiObject | undefined;
  private parsedOld: ApiObject | undefined;

  constructor(type: Change<ApiObject>['type'], item: Item, previous: Item | undefined, parse: (item: Item) => ApiObject) {
    this.type = type;
    this.item = item;
    this.previous = previous;
    this.parse = parse;
  }
  get key(): string {
    return this.item.key;
  }
  get object(): ApiObject {
    this.parsedObject ??= this.parse(this.item);
    return this.parsedObject;
  }
  get old(): ApiObject | undefined {
    if (this.previous !== undefined) this.parsedOld ??= this.parse(this.previous);
    return this.parsedOld;
  }
}

/** Consecutive requests often need the same namespace, account and quotas: the last lookup is cached. */
class LastAnswers {
  private readonly collection: Collection;
  private readonly find: (namespace: string, name: string) => ApiObject | undefined;
  private readonly select: (namespace: string | undefined) => readonly ApiObject[];
  private asOf = -1;
  private lastObject: { readonly namespace: string; readonly name: string; readonly object: ApiObject | undefined } | undefined;
  private lastList: { readonly namespace: string | undefined; readonly objects: readonly ApiObject[] } | undefined;

  constructor(collection: Collection, find: LastAnswers['find'], select: LastAnswers['select']) {
    this.collection = collection;
    this.find = find;
    this.select = select;
  }

  get(namespace: string, name: string): ApiObject | undefined {
    this.refresh();
    const { lastObject } = this;
    if (lastObject !== undefined && lastObject.name === name && lastObject.namespace === namespace) return lastObject.object;
    const object = this.find(namespace, name);
    this.lastObject = { namespace, name, object };
    return object;
  }
  list(namespace: string | undefined): readonly ApiObject[] {
    this.refresh();
    const { lastList } = this;
    if (lastList !== undefined && lastList.namespace === namespace) return lastList.objects;
    const objects = frozen(this.select(namespace));
    this.lastList = { namespace, objects };
    return objects;
  }

  private refresh(): void {
    if (this.asOf === this.collection.changes) return;
    this.asOf = this.collection.changes;
    this.lastObject = undefined;
    this.lastList = undefined;
  }
}
