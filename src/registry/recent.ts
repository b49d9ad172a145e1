/**
 * Objects as they were last written, so that the next write of the same object begins with a copy instead of a parse:
 * what is updated at all is mostly updated often. An object that is merely created is not kept.
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

/** Objects and bytes of their texts that are kept; those that were written longest ago make room. */
const MOST = 1024;
const MOST_BYTES = 8 * 2 ** 20;
/** Larger objects are few, and would drive out many. */
const LARGEST = 256 * 1024;

interface Written {
  readonly object: ApiObject;
  /** The schema by which it was written: a custom kind may have another by now, by which it reads otherwise. */
  readonly schema: MessageType;
  /** Whether parsing would give the same; undefined until somebody wants to know. */
  same: boolean | undefined;
}

export class RecentObjects {
  private readonly written = new BoundedCache<Item, Written>(MOST, { most: MOST_BYTES, of: (_, { bytes }) => bytes.length });

  /** Takes over an object that `item` was made of, and forgets the state that it replaced. Nobody may change it from now on. */
  keep(resource: Served, item: Item, object: ApiObject, replaced: Item): void {
    this.written.delete(replaced);
    if (item.bytes.length > LARGEST) return;
    object.metadata.resourceVersion = String(item.revision);
    this.written.set(item, { object: frozen(object), schema: resource.hub.schema, same: undefined });
  }

  /** A copy of the object in hub form, in the normal form. It shares managedFields, which nobody changes in place. */
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

/** A copy whose metadata and status may be changed: nothing else is the copy's own. */
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
