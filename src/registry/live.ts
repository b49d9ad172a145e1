/** Live views of collections as parsed objects: what authorizers, plug-ins and loops look things up in. */
import type { ApiObject } from '../kinds/kind.ts';
import type { Change, Live, LiveSource } from '../kinds/live.ts';
import type { Collection } from '../storage/collection.ts';
import type { Catalog } from './catalog.ts';
import { parseItem, sharedObject } from './convert.ts';

export function liveSource(catalog: Catalog): LiveSource {
  const made = new Map<Collection, Live>();
  return <T extends ApiObject>(group: string, plural: string): Live<T> => {
    const { collection, kind } = catalog.builtin(group, plural);
    if (collection === undefined) throw new Error(`${plural} are not stored`);
    let live = made.get(collection);
    if (live === undefined) {
      live = liveView(collection, kind.namespaced, !numerous.has(`${group}/${plural}`));
      made.set(collection, live);
    }
    return live as Live<T>;
  };
}

/** Kinds of which there may be very many, or large ones: they are parsed when they are asked for, and not kept. */
const numerous = new Set(['/pods', '/events', '/configmaps', '/secrets', '/endpoints', 'discovery/endpointslices']);

function liveView(collection: Collection, namespaced: boolean, keep: boolean): Live {
  const parse = keep ? sharedObject : parseItem;
  return {
    get: (namespace, name) => {
      const item = collection.items.get(namespaced ? `${namespace}/${name}` : name);
      return item === undefined ? undefined : parse(item);
    },
    list: (namespace, limit) => {
      const items = namespace === undefined ? collection.items.all() : collection.items.withPrefix(`${namespace}/`);
      return (limit === undefined || items.length <= limit ? items : items.slice(0, limit)).map(parse);
    },
    onChange: (listener) =>
      collection.listen((event) => {
        const object = parse(event.item);
        const old = event.previous === undefined ? undefined : parse(event.previous);
        const type: Change<ApiObject>['type'] = event.type === 'delete' ? 'deleted' : old === undefined ? 'added' : 'modified';
        listener({ type, object, old });
      }),
    get generation() {
      return collection.lastChange;
    },
  };
}
