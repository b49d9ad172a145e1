/** From bytes to objects and back, between the stored form and the version a client speaks. */

import type { ApiObject, KindVersion } from '../kinds/kind.ts';
import { convertsLater, fromHub, fromHubNow, type Hub, manyFromHub, manyToHub, type Served, toHub } from '../kinds/served.ts';
import { frozen } from '../lib/frozen.ts';
import type { Slices, Work } from '../lib/slices.ts';
import { whenReady } from '../lib/when-ready.ts';
import { joinApiVersion, versionOfApiVersion } from '../meta/api-version.ts';
import { DecodeError, decode, encodeBytes, encodeSteps } from '../schema/json.ts';
import { parseJsonInSlices } from '../schema/parse.ts';
import type { JsonObject } from '../schema/types.ts';
import type { Item } from '../storage/item.ts';
import { HEADER, withHeader } from '../storage/item.ts';
import type { Resource } from './catalog.ts';
import { RecentObjects } from './recent.ts';

/** A fresh copy of a stored object, for changing: in hub form, unless it is foreign. */
export function parseItem(item: Item): ApiObject {
  return JSON.parse(item.bytes.toString()) as ApiObject;
}

/** Items belong to one server each, so that one table does for all that run in this process. */
export const recentObjects = new RecentObjects();

/** A stored object in hub form and in the normal form, to be looked at; managedFields alone may be shared with others. */
export function storedObject(resource: Resource, item: Item): ApiObject | Promise<ApiObject> {
  return recentObjects.copy(resource, item) ?? hubObject(resource, item);
}

/** The same of an object that is large. Rejects with RequestEnded. */
export async function storedInSlices(resource: Resource, item: Item, slices: Slices): Promise<ApiObject> {
  await slices.pause();
  if (isForeign(resource, item)) return storedObject(resource, item);
  const known = recentObjects.copy(resource, item);
  if (known !== undefined) return known;
  return hubInSlices(resource, item, slices);
}

/** A fresh copy of a stored object in hub form and in the normal form. */
export function hubObject(resource: Resource, item: Item): ApiObject | Promise<ApiObject> {
  if (!isForeign(resource, item)) return normal(resource, parseItem(item));
  const object = parseItem(item);
  return toHub(versionOf(resource, object), object);
}

/** The parsed object in hub form, remembered with the item; must not be changed. For collections of modest size. */
export function sharedObject(item: Item): ApiObject {
  item.parsed ??= frozen(parseItem(item));
  return item.parsed as ApiObject;
}

/** A fresh copy of a stored object in the version of the resource. */
export function parseAs(resource: Resource, item: Item): ApiObject | Promise<ApiObject> {
  if (isForeign(resource, item)) return foreignAs(resource, item);
  const hub = normal(resource, parseItem(item));
  return resource.isHub ? hub : fromHub(resource, hub);
}
/** The same of a large object, in slices. Throws RequestEnded. */
export async function parseAsInSlices(resource: Resource, item: Item, slices: Slices): Promise<ApiObject> {
  if (isForeign(resource, item)) return foreignAs(resource, item);
  const hub = await hubInSlices(resource, item, slices);
  if (resource.isHub) return hub;
  if (slices.due) await slices.pause();
  return fromHub(resource, hub);
}
/** A fresh copy of a large stored object in hub form and in the normal form, in slices. Not of one that is foreign. */
export async function hubInSlices(resource: Resource, item: Item, slices: Slices): Promise<ApiObject> {
  const parsed = await parseOwnInSlices(item.bytes, slices);
  // Reading it by its schema is one long step.
  await slices.pause();
  const hub = normal(resource, parsed as unknown as ApiObject);
  await slices.pause();
  return hub;
}
/** Large JSON text of our own making, in slices: what was stored is served, also where it would not be taken from a client any more. */
export async function parseOwnInSlices(text: Buffer, slices: Slices): Promise<JsonObject> {
  try {
    return (await parseJsonInSlices(text, { uncounted: true }, slices)) as JsonObject;
  } catch (error) {
    if (error instanceof DecodeError) return JSON.parse(text.toString()) as JsonObject;
    throw error;
  }
}
/** The same of many, in as few calls as may be. */
export async function parseAllAs(resource: Resource, items: readonly Item[]): Promise<ApiObject[]> {
  if (resource.hub.later && items.some((item) => isForeign(resource, item))) return parseMixed(resource, items);
  return convertsLater(resource)
    ? manyFromHub(
        resource,
        items.map((item) => normal(resource, parseItem(item))),
      )
    : items.map((item) => parseNow(resource, item));
}
/** The same where no call is needed. */
export function parseNow(resource: Resource, item: Item): ApiObject {
  const hub = normal(resource, parseItem(item));
  return resource.isHub ? hub : fromHubNow(resource, hub);
}

/** A stored object in the version of the resource. It may share parts with the one given, which is not changed. */
export function spokenFrom(resource: Resource, hub: ApiObject): ApiObject | Promise<ApiObject> {
  return resource.isHub ? hub : fromHub(resource, normal(resource, hub));
}

/** Stored text holds nulls for values that JSON always writes; the normal form has none. */
export function normal(resource: Resource, object: ApiObject): ApiObject {
  return decode(resource.hub.schema, object) as ApiObject;
}

/** The stored form of a hub object: its JSON text without resourceVersion. Throws TextTooLong, see `encodeBytes`. */
export function storedValueOf(resource: Resource, object: ApiObject, most?: number): Buffer {
  dropVersion(object);
  return withHeader(encodeBytes(resource.hub.schema, object, HEADER, most), object.metadata.uid ?? '');
}
/** The same of a large object. */
export function* storedValueSteps(resource: Resource, object: ApiObject, most?: number): Work<Buffer> {
  dropVersion(object);
  return withHeader(yield* encodeSteps(resource.hub.schema, object, HEADER, most), object.metadata.uid ?? '');
}
function dropVersion({ metadata }: ApiObject): void {
  // Nothing rather than deleted: the engine reads an object that lost a field much more slowly.
  if (metadata.resourceVersion !== undefined) metadata.resourceVersion = undefined as never;
}

// ---- objects that were stored in another version than the one that is stored now ---------------------------------
//
// Where a conversion takes no call they are read into the hub form as they enter the cache. Where it does, they stay as
// they are until somebody looks at them.

/** Whether an item holds another version than the hub, from which it must be converted by a call. */
export function isForeign({ hub, kind }: Resource, item: Item): boolean {
  if (!hub.later) return false;
  let start = hubStarts.get(hub);
  if (start === undefined) {
    start = Buffer.from(`{"kind":${JSON.stringify(kind.kind)},"apiVersion":${JSON.stringify(hub.apiVersion)}`);
    hubStarts.set(hub, start);
  }
  return !item.bytes.subarray(0, start.length).equals(start);
}
const hubStarts = new WeakMap<Hub, Buffer>();

/** The version in which an object is, served or not. */
function versionOf(resource: Resource, object: ApiObject): Served {
  const apiVersion = object.apiVersion ?? '';
  const version = versionOfApiVersion(apiVersion);
  const definition = (resource.kind.versions as Readonly<Record<string, KindVersion>>)[version];
  if (definition === undefined || joinApiVersion(resource.group, version) !== apiVersion)
    throw new Error(`a stored object is of the version ${apiVersion}, which its kind no longer has`);
  return { ...resource, version, definition, apiVersion, schema: definition.schema, isHub: false };
}

function foreignAs(resource: Resource, item: Item): ApiObject | Promise<ApiObject> {
  const object = parseItem(item);
  if (object.apiVersion === resource.apiVersion) return object;
  return whenReady(hubObject(resource, item), (hub) => (resource.isHub ? hub : fromHub(resource, hub)));
}

/** Those that are in another version go through the hub, all of one version together. */
async function parseMixed(resource: Resource, items: readonly Item[]): Promise<ApiObject[]> {
  const objects = items.map((item) => (isForeign(resource, item) ? parseItem(item) : normal(resource, parseItem(item))));
  const foreign = new Map<string, number[]>();
  objects.forEach(({ apiVersion = '' }, i) => {
    if (apiVersion !== resource.apiVersion && apiVersion !== resource.hub.apiVersion)
      foreign.set(apiVersion, [...(foreign.get(apiVersion) ?? []), i]);
  });
  const replace = async (places: readonly number[], convert: (some: ApiObject[]) => Promise<ApiObject[]>): Promise<void> => {
    if (places.length === 0) return;
    const made = await convert(places.map((i) => objects[i] as ApiObject));
    places.forEach((i, at) => {
      objects[i] = made[at] as ApiObject;
    });
  };
  for (const places of foreign.values()) {
    const from = versionOf(resource, objects[places[0] as number] as ApiObject);
    await replace(places, (some) => manyToHub(from, some));
  }
  const stored = objects.flatMap(({ apiVersion }, i) => (apiVersion === resource.apiVersion ? [] : [i]));
  await replace(stored, (some) => manyFromHub(resource, some));
  return objects;
}
