/**
 * The versions of one resource: every step between stored bytes, the hub (the version that is stored, admitted and validated) and
 * the version of the path by which a client reads and writes.
 *
 *   written   body → accept → hub → fillDefaults → encode → stored bytes
 *   read      stored bytes → decode → hub → fromHub → object in the version of the resource          (`read` does all of it)
 *
 * A built-in kind converts at once; a custom kind with a conversion webhook converts by calls, of several objects together. What
 * may need a call returns a promise; `…Now` does not, for lists and events (docs/decisions/028-one-conversion-story.md).
 * The conversion of one object is in kinds/served-kind.ts.
 */

import type { ApiObject, KindVersion } from '@plat-dev/kinds/kind';
import { convertsByCall, fromHub, fromHubNow, manyFromHub, manyToHub, type ServedKind, toHub } from '@plat-dev/kinds/served-kind';
import { frozen } from '@plat-dev/lib/frozen';
import { own } from '@plat-dev/lib/own';
import { inSlices, type Slices, type Work } from '@plat-dev/lib/slices';
import { joinApiVersion, versionOfApiVersion } from '@plat-dev/meta/api-version';
import { cloneJson, decode, decodedValue, encodeBytes, encodedBytes } from '@plat-dev/schema/json';
import { parseExact } from '@plat-dev/schema/json/parse';
import { parsedExact } from '@plat-dev/schema/json/parse-parts';
import type { JsonObject } from '@plat-dev/schema/types';
import { HEADER, type Item, withHeader } from '@plat-dev/storage/item';
import type { RecentObjects } from './recent.ts';

/** The stored text of an object, parsed. In hub form, unless its version is `unconverted`. */
export function parseItem(item: Item): ApiObject {
  return parseExact(item.bytes.toString()) as ApiObject;
}
/** The parsed object in hub form, cached with the item; must not be changed. For collections of modest size. */
export function sharedObject(item: Item): ApiObject {
  item.parsed ??= frozen(parseItem(item));
  return item.parsed as ApiObject;
}
/** JSON text of our own encoder, parsed; a large one in slices. */
export const parsedText = async (text: Buffer, slices: Slices | undefined): Promise<JsonObject> =>
  (slices === undefined ? parseExact(text.toString()) : await inSlices(parsedExact(text), slices)) as JsonObject;

export class Versions {
  /** Objects of this version are converted by calls. */
  readonly byCalls: boolean;
  /**
   * Validation uses the version of the request instead of the hub. The rules of built-in kinds are about the hub; those of a
   * custom kind are written for the version of the request, from which a conversion may have dropped or added fields.
   */
  readonly validatesRequestVersion: boolean;
  /** Objects as they were last written, of all resources of this server. */
  readonly recent: RecentObjects;
  private readonly served: ServedKind;
  /** How the stored text of an object in the hub version begins, if some versions are converted by calls. */
  private readonly hubStart: Buffer | undefined;
  /** By hub form, for as long as that lives: the same object in the version of the request. */
  private readonly requestForms = new WeakMap<ApiObject, ApiObject>();

  constructor(served: ServedKind, recent: RecentObjects) {
    const { kind, hub, custom, isHub } = served;
    this.served = served;
    this.recent = recent;
    this.byCalls = convertsByCall(served);
    this.validatesRequestVersion = custom && !isHub;
    this.hubStart = hub.later
      ? Buffer.from(`{"kind":${JSON.stringify(kind.kind)},"apiVersion":${JSON.stringify(hub.apiVersion)}`)
      : undefined;
  }

  // ---- decode: stored bytes → hub ----------------------------------------------------------------------------------

  /** A fresh copy of a stored object in hub form and in the normal form; of a large one in slices. Rejects with RequestEnded. */
  async decode(item: Item, slices?: Slices): Promise<ApiObject> {
    if (this.isUnconverted(item)) {
      const object = parseItem(item);
      return toHub(this.storedVersion(object), object);
    }
    return slices === undefined ? this.decodeNow(item) : this.decodeLarge(item, slices);
  }
  /** The same for an object that is not `unconverted`, and not large. */
  decodeNow(item: Item): ApiObject {
    return this.normalize(parseItem(item));
  }
  private async decodeLarge(item: Item, slices: Slices): Promise<ApiObject> {
    const value = await parsedText(item.bytes, slices);
    await slices.pause();
    const hub = await inSlices(decodedValue(this.served.hub.schema, value), slices);
    await slices.pause();
    return hub as ApiObject;
  }
  /** A stored object in hub form, from the last write if that is known. Nobody may change it. */
  async decodeRecent(item: Item, slices?: Slices): Promise<ApiObject> {
    if (slices !== undefined) await slices.pause();
    const writtenObject = this.recent.sharedObject(this.served, item);
    if (writtenObject === undefined) return frozen(await this.decode(item, slices));
    // What a client wrote is noted as the request form of this very object, and is not what was stored.
    return this.validatesRequestVersion ? frozen({ ...writtenObject }) : writtenObject;
  }
  /** Stored text holds nulls for values that JSON always writes; the normal form has none. */
  normalize(object: ApiObject): ApiObject {
    return decode(this.served.hub.schema, object) as ApiObject;
  }

  // ---- read: stored bytes → version of the resource ------------------------------------------------------------------

  /** A fresh copy of a stored object in the version of the resource; of a large one in slices. Rejects with RequestEnded. */
  async read(item: Item, slices?: Slices): Promise<ApiObject> {
    if (this.isUnconverted(item)) return this.readUnconverted(item);
    if (slices !== undefined) return this.readLarge(item, slices);
    const hub = this.decodeNow(item);
    return this.served.isHub ? hub : fromHub(this.served, hub);
  }
  /** The same where no call is needed. */
  readNow(item: Item): ApiObject {
    const hub = this.decodeNow(item);
    return this.served.isHub ? hub : fromHubNow(this.served, hub);
  }
  private async readLarge(item: Item, slices: Slices): Promise<ApiObject> {
    const hub = await this.decodeLarge(item, slices);
    if (this.served.isHub) return hub;
    if (slices.due) await slices.pause();
    return fromHub(this.served, hub);
  }
  /** The same for many objects, in as few calls as possible. */
  async readAll(items: readonly Item[]): Promise<ApiObject[]> {
    if (this.hubStart !== undefined && items.some((item) => this.isUnconverted(item))) return this.readMixed(items);
    if (!this.byCalls) return items.map((item) => this.readNow(item));
    return manyFromHub(
      this.served,
      items.map((item) => this.decodeNow(item)),
    );
  }
  /** A hub object in the version of the resource. It may share parts with the one given, which is not changed. */
  async fromHub(hub: ApiObject): Promise<ApiObject> {
    return this.served.isHub ? hub : fromHub(this.served, this.normalize(hub));
  }

  // ---- written: version of the request → hub -------------------------------------------------------------------------

  /** The hub form of what a client wrote, which must not be used afterwards. */
  async accept(object: ApiObject): Promise<ApiObject> {
    if (!this.validatesRequestVersion) return toHub(this.served, object);
    const hub = await toHub(this.served, cloneJson(object) as unknown as ApiObject);
    this.requestForms.set(hub, object);
    return hub;
  }
  /** A stored object in the version of the request, read-only. It may share parts with the one given. */
  async show(hub: ApiObject): Promise<ApiObject> {
    if (!this.validatesRequestVersion) return this.fromHub(hub);
    const requestForm = this.requestForms.get(hub) ?? (await this.fromHub(hub));
    this.requestForms.set(hub, requestForm);
    return requestForm;
  }
  /** In the version of the request, with the stored metadata, of an object that `accept` or `show` returned before. */
  inRequestVersion(hub: ApiObject): ApiObject {
    const form = this.requestForms.get(hub);
    return form === undefined ? hub : { ...form, metadata: hub.metadata };
  }
  /** The input of `accept` or the result of `show` for this very object, if any. */
  requestForm(hub: ApiObject): ApiObject | undefined {
    return this.requestForms.get(hub);
  }
  /**
   * A custom object that was written in another version than the stored one lacks the defaults of that version. They are set
   * before it is stored, since every read would set them: it must not change by itself. `unadmitted` is the input of admission.
   */
  fillDefaults(ready: ApiObject, unadmitted: ApiObject): void {
    if (this.validatesRequestVersion || ready !== unadmitted) this.served.hub.definition.fill?.(ready as never);
  }

  // ---- encode: hub → stored bytes ------------------------------------------------------------------------------------

  /**
   * The stored form of a hub object: its JSON text without resourceVersion, with the defaults that every read would set, such as
   * those of a status that a write has dropped. Throws TextTooLong, see `encodeBytes`.
   */
  encode(object: ApiObject, most?: number): Buffer {
    this.completeStored(object);
    return withHeader(encodeBytes(this.served.hub.schema, object, HEADER, most), object.metadata.uid ?? '');
  }
  /** The same of a large object. */
  *encodedValue(object: ApiObject, most?: number): Work<Buffer> {
    this.completeStored(object);
    return withHeader(yield* encodedBytes(this.served.hub.schema, object, HEADER, most), object.metadata.uid ?? '');
  }
  private completeStored(object: ApiObject): void {
    dropVersion(object);
    this.served.hub.definition.fill?.(object as never);
  }

  // ---- objects that are stored in another version than the current storage version -----------------------------------
  //
  // If a conversion needs no call they are converted to the hub form as they enter the cache. Otherwise they stay
  // unconverted until they are read.

  /** Whether an item holds another version than the hub, and must be converted by a call. */
  isUnconverted(item: Item): boolean {
    const start = this.hubStart;
    return start !== undefined && !item.bytes.subarray(0, start.length).equals(start);
  }

  /** The version in which a stored object is, served or not. */
  private storedVersion(object: ApiObject): ServedKind {
    const { served } = this;
    const apiVersion = object.apiVersion ?? '';
    const version = versionOfApiVersion(apiVersion);
    const definition = own(served.kind.versions as Readonly<Record<string, KindVersion>>, version);
    if (definition === undefined || joinApiVersion(served.group, version) !== apiVersion)
      throw new Error(`a stored object is of the version ${apiVersion}, which its kind no longer has`);
    return { ...served, version, definition, apiVersion, schema: definition.schema, isHub: false };
  }

  private async readUnconverted(item: Item): Promise<ApiObject> {
    const { served } = this;
    const object = parseItem(item);
    if (object.apiVersion === served.apiVersion) return object;
    const hub = await this.decode(item);
    return served.isHub ? hub : fromHub(served, hub);
  }

  /** Objects in other versions go through the hub, all of one version together. */
  private async readMixed(items: readonly Item[]): Promise<ApiObject[]> {
    const { served } = this;
    const objects = items.map((item) => (this.isUnconverted(item) ? parseItem(item) : this.decodeNow(item)));
    const unconverted = new Map<string, number[]>();
    objects.forEach(({ apiVersion = '' }, i) => {
      if (apiVersion !== served.apiVersion && apiVersion !== served.hub.apiVersion)
        unconverted.set(apiVersion, [...(unconverted.get(apiVersion) ?? []), i]);
    });
    const replace = async (indexes: readonly number[], convert: (some: ApiObject[]) => Promise<ApiObject[]>): Promise<void> => {
      if (indexes.length === 0) return;
      const convertedObjects = await convert(indexes.map((i) => objects[i] as ApiObject));
      indexes.forEach((i, at) => {
        objects[i] = convertedObjects[at] as ApiObject;
      });
    };
    for (const indexes of unconverted.values()) {
      const from = this.storedVersion(objects[indexes[0] as number] as ApiObject);
      await replace(indexes, (some) => manyToHub(from, some));
    }
    const storedIndexes = objects.flatMap(({ apiVersion }, i) => (apiVersion === served.apiVersion ? [] : [i]));
    await replace(storedIndexes, (some) => manyFromHub(served, some));
    return objects;
  }
}

function dropVersion({ metadata }: ApiObject): void {
  // Undefined instead of deleted: the engine reads an object that lost a field much more slowly.
  if (metadata.resourceVersion !== undefined) metadata.resourceVersion = undefined as never;
}
