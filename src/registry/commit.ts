/** The last steps of every write: hooks, the commit itself, and the item that answers show. */
import type { AdmissionRequest, SideWrite } from '../admission/types.ts';
import type { ApiObject } from '../kinds/kind.ts';
import { encode } from '../schema/json.ts';
import type { Operation } from '../storage/engine.ts';
import type { Facts, Item } from '../storage/item.ts';
import { itemFromStored } from '../storage/item.ts';
import { prefixOf, type Resource } from './catalog.ts';
import { keyOf, type RegistryDeps, type Target, type WriteContext } from './context.ts';
import { storedValueOf } from './convert.ts';
import type { Hook } from './hooks.ts';

/** Where the object of a target stands in the store. */
export const storeKey = (target: Target): string => `${target.resource.collection?.prefix}${keyOf(target)}`;

export const hookOf = (deps: RegistryDeps, resource: Resource): Hook | undefined =>
  deps.hooks.size === 0
    ? undefined
    : deps.hooks.get(`${resource.kind.group === '' ? 'core' : resource.kind.group}/${resource.kind.plural}`);

/** The item of an object that is not stored (dry run). */
export function unsavedItem(resource: Resource, key: string, object: ApiObject): Item {
  const bytes = Buffer.from(encode(resource.hub.schema, object));
  return { key, revision: 0, created: 0, bytes, versionAt: 0, labels: object.metadata.labels, fields: undefined, parsed: undefined };
}

/** Puts an object, guarded by the revision it must replace (0: none). Throws CommitConflict. */
export async function commitPut(
  deps: RegistryDeps,
  target: Target,
  object: ApiObject,
  expect: number,
  created: number,
  more: readonly Operation[],
  sideWrites: readonly SideWrite[],
): Promise<Item> {
  const { resource } = target;
  const collection = resource.collection;
  if (collection === undefined) throw new Error(`${resource.kind.plural} are not stored`);
  const value = storedValueOf(resource, object);
  const facts = collection.factsOf(object);
  const ttlSeconds = resource.kind.ttl?.(deps.env);
  const key = keyOf(target);
  const operations: Operation[] = [
    { type: 'put', key: collection.prefix + key, value, expect, ...(ttlSeconds !== undefined && { ttlSeconds }) },
    ...more,
  ];
  const known: (Facts | undefined)[] = [facts];
  for (const write of sideWrites) {
    known[operations.length] = undefined;
    operations.push(sideOperation(deps, write));
  }
  const revision = await deps.cache.commit(operations, known);
  return collection.items.get(key)?.revision === revision
    ? (collection.items.get(key) as Item)
    : itemFromStored(key, value, revision, created === 0 ? revision : created, facts);
}

export async function commitDelete(
  deps: RegistryDeps,
  target: Target,
  expect: number,
  more: readonly Operation[],
  sideWrites: readonly SideWrite[],
): Promise<number> {
  const operations: Operation[] = [
    { type: 'delete', key: storeKey(target), expect },
    ...more,
    ...sideWrites.map((write) => sideOperation(deps, write)),
  ];
  return deps.cache.commit(operations, []);
}

function sideOperation(deps: RegistryDeps, write: SideWrite): Operation {
  const resource = deps.catalog.builtin(write.group, write.plural);
  const { name = '', namespace = '', resourceVersion } = write.object.metadata;
  const key = prefixOf(resource.kind) + (resource.kind.namespaced ? `${namespace}/${name}` : name);
  const value = storedValueOf(resource, { ...write.object, metadata: { ...write.object.metadata } });
  return { type: 'put', key, value, expect: Number(resourceVersion) };
}

/** The admission request of a write. */
export function admissionRequest(
  ctx: WriteContext,
  operation: AdmissionRequest['operation'],
  object: ApiObject | undefined,
  oldObject: ApiObject | undefined,
): AdmissionRequest {
  return {
    operation,
    served: ctx.resource,
    subresource: ctx.subresource,
    namespace: ctx.namespace,
    name: ctx.name,
    object,
    oldObject,
    options: ctx.options,
    user: ctx.user,
    dryRun: ctx.dryRun,
    sideWrites: [],
    warn: ctx.warn,
    annotate: ctx.annotate,
  };
}
