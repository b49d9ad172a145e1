/**
 * Objects as they were last written, so that the next write of the same object begins with a copy instead of a parse:
 * objects that are updated are mostly updated often. An object that is only created is not kept.
 *
 *   keep(item, object)     after a commit, in place of the object's earlier state
 *   copy(resource, item)   what parsing the item would give, or undefined when it must be parsed
 */

import type { ApiObject } from '../kinds/kind.ts';
import type { Served } from '../kinds/served.ts';
import { BoundedCache } from '../lib/bounded-cache.ts';
import { frozen } from '../lib/frozen.ts';
import { cloneJson } from '../schema/json.ts';
import { isNormal } from '../schema/normal.ts';
import type { MessageType } from '../schema/types.ts';
import type { Item } from '../storage/item.ts';

/** Limits on the number of objects and the bytes of their texts; the least recently written are evicted. */
const MOST = 1024;
const MOST_BYTES = 8 * 2 ** 20;
/** Larger objects are few, and would evict many others. */
const LARGEST = 256 * 1024;

interface Written {
  readonly object: ApiObject;
  /** The schema by which it was written: a custom kind may have another one by now, which reads it differently. */
  readonly schema: MessageType;
  /** Whether parsing would give the same; undefined until that is checked. */
  same: boolean | undefined;
}

export class RecentObjects {
  private readonly written = new BoundedCache<Item, Written>(MOST, { most: MOST_BYTES, of: (_, { bytes }) => bytes.length });

  /** Keeps the object that `item` was encoded from, and drops the state that it replaced. The object must not be changed from now on. */
  keep(resource: Served, item: Item, object: ApiObject, replaced: Item): void {
    this.written.delete(replaced);
    if (item.bytes.length > LARGEST) return;
    object.metadata.resourceVersion = String(item.revision);
    this.written.set(item, { object: frozen(object), schema: resource.hub.schema, same: undefined });
  }

  /** A copy of the object in hub form, in the normal form. It shares managedFields, which are never changed in place. */
  copy(resource: Served, item: Item): ApiObject | undefined {
    const written = this.written.get(item);
    if (written === undefined || written.schema !== resource.hub.schema) return undefined;
    written.same ??= isNormal(written.schema, written.object);
    return written.same ? copyOf(written.object) : undefined;
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
