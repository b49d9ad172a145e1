/**
 * Objects as they were last written, so that the next write of the same object needs no parse:
 * objects that are updated are mostly updated often. An object that is only created is not kept, unless parts of this process follow
 * its collection by what was written: then its next writers and those who follow the change need not parse it either.
 *
 *   keep(item, object)           after a commit, in place of the object's earlier state
 *   keepCreated(item, object)    after the commit of a new object
 *   sharedObject(resource, item) what parsing the item would give, or undefined when it must be parsed
 */

import type { ApiObject } from '@plat-dev/kinds/kind';
import type { ServedKind } from '@plat-dev/kinds/served-kind';
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import { frozen } from '@plat-dev/lib/frozen';
import { cloneJson } from '@plat-dev/schema/json';
import { jsonForm } from '@plat-dev/schema/json/json-form';
import { isNormal } from '@plat-dev/schema/json/normal-form';
import type { MessageType } from '@plat-dev/schema/types';
import type { Item } from '@plat-dev/storage/item';

/** Limits on the number of objects and the bytes of their texts; the least recently written are evicted. */
const MOST = 1024;
const MOST_BYTES = 8 * 2 ** 20;
/** Larger objects are few, and would evict many others. */
const LARGEST = 256 * 1024;

interface Written {
  readonly object: ApiObject;
  /** The schema by which it was written: a custom kind may have another one by now, which reads it differently. */
  readonly schema: MessageType;
  /** What JSON.parse of its text gives, without managedFields; made on first use. */
  responseForm: ApiObject | undefined;
  /** Whether parsing would give the same; undefined until that is checked. */
  same: boolean | undefined;
}

export class RecentObjects {
  private readonly writtenObjects = new BoundedCache<Item, Written>(MOST, { most: MOST_BYTES, of: (_, { bytes }) => bytes.length });

  /** How many follow a collection by what was written, by its prefix. */
  private readonly followed = new Map<string, number>();

  /** New objects of a collection are kept as well, until the returned function is called. */
  follow(prefix: string): () => void {
    this.followed.set(prefix, (this.followed.get(prefix) ?? 0) + 1);
    let isEnded = false;
    return () => {
      if (isEnded) return;
      isEnded = true;
      const followers = (this.followed.get(prefix) ?? 1) - 1;
      if (followers === 0) this.followed.delete(prefix);
      else this.followed.set(prefix, followers);
    };
  }
  /** Keeps a new object if its collection is followed. It must not be changed from now on. */
  keepCreated(resource: ServedKind, prefix: string, item: Item, object: ApiObject): void {
    if (this.followed.size > 0 && this.followed.has(prefix)) this.keep(resource, item, object, undefined);
  }
  /** Keeps the object that `item` was encoded from, and drops the state that it replaced. The object must not be changed from now on.
   * `isKnownNormal`: it is in the normal form, which need not be checked. */
  keep(resource: ServedKind, item: Item, object: ApiObject, replaced: Item | undefined, isKnownNormal = false): void {
    if (replaced !== undefined) this.writtenObjects.delete(replaced);
    if (item.bytes.length > LARGEST) return;
    object.metadata.resourceVersion = String(item.revision);
    this.writtenObjects.set(item, {
      object: frozen(object),
      schema: resource.hub.schema,
      responseForm: undefined,
      same: isKnownNormal || undefined,
    });
  }

  /** The object in hub form, in the normal form. Nobody may change it. */
  sharedObject(resource: ServedKind, item: Item): ApiObject | undefined {
    return this.normal(resource, item)?.object;
  }
  /** What JSON.parse of the text gives, without managedFields. Nobody may change it, and it shares parts with other states. */
  responseForm(resource: ServedKind, item: Item): ApiObject | undefined {
    const entry = this.normal(resource, item);
    if (entry === undefined) return undefined;
    if (entry.responseForm === undefined) {
      const { managedFields: _, ...metadata } = entry.object.metadata;
      entry.responseForm = frozen(jsonForm(entry.schema, { ...entry.object, metadata }));
    }
    return entry.responseForm;
  }

  private normal(resource: ServedKind, item: Item): Written | undefined {
    const entry = this.writtenObjects.get(item);
    if (entry === undefined || entry.schema !== resource.hub.schema) return undefined;
    entry.same ??= isNormal(entry.schema, entry.object);
    return entry.same ? entry : undefined;
  }
}

/** A copy that shares managedFields alone. */
export function copyOf(object: ApiObject): ApiObject {
  const { metadata } = object;
  const copy = copyApartFrom('metadata', object as never);
  copy.metadata = copyApartFrom('managedFields', metadata as never);
  return copy as unknown as ApiObject;
}

/** A copy whose metadata and status may be changed; everything else is shared. */
export function copyForStatus(object: ApiObject): ApiObject {
  const copy = { ...object, metadata: copyApartFrom('managedFields', object.metadata as never) } as ApiObject & { status?: unknown };
  if (copy.status !== undefined) copy.status = cloneJson(copy.status);
  return copy;
}

/** A copy of which one field is the original's. */
function copyApartFrom(shared: string, object: Record<string, unknown>): Record<string, unknown> {
  const copy = { ...object };
  for (const key in copy) {
    const value = copy[key];
    if (typeof value === 'object' && key !== shared) copy[key] = cloneJson(value);
  }
  return copy;
}
