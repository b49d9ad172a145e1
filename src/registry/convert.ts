/** From bytes to objects and back, between the stored form and the version a client speaks. */
import type { ApiObject } from '../kinds/kind.ts';
import { fromHub } from '../kinds/served.ts';
import { decode, encodeBytes } from '../schema/json.ts';
import type { Item } from '../storage/item.ts';
import { HEADER, withHeader } from '../storage/item.ts';
import type { Resource } from './catalog.ts';
import { RecentObjects } from './recent.ts';

/** A fresh copy of a stored object in hub form, for changing. */
export function parseItem(item: Item): ApiObject {
  return JSON.parse(item.bytes.toString()) as ApiObject;
}

/** Items belong to one server each, so that one table does for all that run in this process. */
export const recentObjects = new RecentObjects();

/** A stored object in hub form and in the normal form, to be looked at; managedFields alone may be shared with others. */
export function storedObject(resource: Resource, item: Item): ApiObject {
  return recentObjects.copy(resource, item) ?? normal(resource, parseItem(item));
}

/** The parsed object in hub form, remembered with the item; must not be changed. For collections of modest size. */
export function sharedObject(item: Item): ApiObject {
  item.parsed ??= parseItem(item);
  return item.parsed as ApiObject;
}

/** A fresh copy in the version of the resource. */
export function parseAs(resource: Resource, item: Item): ApiObject {
  const hub = normal(resource, parseItem(item));
  return resource.isHub ? hub : fromHub(resource, hub);
}

/** A stored object in the version of the resource. It may share parts with the one given, which is not changed. */
export function spokenFrom(resource: Resource, hub: ApiObject): ApiObject {
  return resource.isHub ? hub : fromHub(resource, normal(resource, hub));
}

/** Stored text holds nulls for values that JSON always writes; the normal form has none. */
export function normal(resource: Resource, object: ApiObject): ApiObject {
  return decode(resource.hub.schema, object) as ApiObject;
}

/** The stored form of a hub object: its JSON text without resourceVersion. */
export function storedValueOf(resource: Resource, object: ApiObject): Buffer {
  // Nothing rather than deleted: the engine reads an object that lost a field much more slowly.
  if (object.metadata.resourceVersion !== undefined) object.metadata.resourceVersion = undefined as never;
  return withHeader(encodeBytes(resource.hub.schema, object, HEADER), object.metadata.uid ?? '');
}
