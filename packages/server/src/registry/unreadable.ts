/**
 * How verbs treat an object that exists and cannot be read (storage/unreadable.ts): get, update, patch and apply
 * answer 500 with the reason, create answers AlreadyExists, delete removes it, lists count it in a warning.
 */
import type { ApiObject } from '@plat-dev/kinds/kind';
import { type ApiError, conflict, notFound, unreadable } from '@plat-dev/meta/errors';
import type { Collection } from '@plat-dev/storage/collection';
import type { UnreadableObject } from '@plat-dev/storage/unreadable';
import type { Resource } from './catalog.ts';
import { admissionRequest, commitDelete, itemOfObject } from './commit.ts';
import { keyOf, type RegistryDeps, type WriteContext } from './context.ts';
import type { DeleteOptions, RemoveResult } from './delete-options.ts';
import type { Selection } from './select.ts';

type Named = { readonly resource: Resource; readonly namespace: string; readonly name: string };

/** The error for an object that is not among the items: it does not exist (under the name `as`), or cannot be read. */
export function missing(target: Named, as = target.resource.resource): ApiError {
  const object = unreadableAt(target);
  return object === undefined ? notFound(as, target.name) : unreadableError(target, object);
}

/** Undefined for one that can be read, and for one that does not exist. */
export const unreadableAt = (target: Named): UnreadableObject | undefined => target.resource.collection?.unreadableAt(keyOf(target));

const unreadableError = ({ resource, namespace, name }: Named, { revision, reason }: UnreadableObject): ApiError =>
  unreadable(resource.resource, resource.kind.namespaced ? namespace : '', name, revision, reason);

/** Keys of the unreadable objects of a selection: their content is not known, so that only a namespace can select them. */
export function unreadableKeys({ collection }: Resource, { prefix, everything }: Selection): string[] {
  if (collection?.unreadable === undefined || !everything) return [];
  return [...collection.unreadable.keys()].filter((key) => key.startsWith(prefix));
}

/** The warning of a list that lacks objects; undefined when it lacks none. */
export function unreadableWarning({ collection, resource }: Resource, { prefix }: Selection, inHistory = 0): string | undefined {
  let count = inHistory;
  if (count === 0) for (const key of collection?.unreadable?.keys() ?? []) if (key.startsWith(prefix)) count++;
  if (count === 0) return undefined;
  return `${count} of the ${resource.resource} cannot be read from the store and are not in this list`;
}

/**
 * Removes an object unread. Its finalizers and its grace period are not known; admission sees an object with nothing
 * but its name. Watches that may have seen it end with 410 (`Collection.unknownUntil`).
 */
export async function removeUnreadable(
  deps: RegistryDeps,
  ctx: WriteContext,
  object: UnreadableObject,
  { preconditions }: DeleteOptions,
): Promise<RemoveResult> {
  const { resource } = ctx;
  if (preconditions?.uid !== undefined) throw conflict(resource.resource, ctx.name, `its uid cannot be read: ${object.reason}`);
  if (preconditions?.resourceVersion !== undefined && preconditions.resourceVersion !== String(object.revision))
    throw conflict(resource.resource, ctx.name, `it has the resourceVersion ${object.revision}, not ${preconditions.resourceVersion}`);
  if (resource.kind.group === '' && resource.kind.plural === 'namespaces') await checkEmpty(deps, ctx.name, object.reason);
  const metadata = resource.kind.namespaced ? { name: ctx.name, namespace: ctx.namespace } : { name: ctx.name };
  const objectOfKey = resource.versions.normalize({
    kind: resource.kind.kind,
    apiVersion: resource.apiVersion,
    metadata,
    spec: {},
  } as ApiObject);
  const request = admissionRequest(ctx, 'DELETE', undefined, objectOfKey);
  await deps.admission.admit(request);
  await deps.admission.validate(request);
  if (!ctx.dryRun) await commitDelete(deps, ctx, object, [], request.sideWrites);
  return { item: itemOfObject(resource, object.key, objectOfKey), object: objectOfKey, removed: true };
}

/**
 * A namespace is removed when everything in it is gone, which its finalizers and conditions track. Of one that cannot be
 * read this is not known: its objects would remain without a namespace.
 */
async function checkEmpty({ catalog, cache }: RegistryDeps, namespace: string, reason: string): Promise<void> {
  await cache.allLoaded();
  for (const { kind, resources } of catalog.all()) {
    const collection = resources[0]?.collection;
    if (collection === undefined || !kind.namespaced || !holds(collection, `${namespace}/`)) continue;
    throw conflict(
      { group: '', resource: 'namespaces' },
      namespace,
      `it cannot be read (${reason}), and there are still ${kind.plural} in it. Delete what is in the namespace first, each kind with deletecollection, then the namespace`,
    );
  }
}
function holds(collection: Collection, prefix: string): boolean {
  let isPresent = false;
  // The first key of the range is enough.
  collection.items.each(prefix, (_, key) => {
    isPresent = key.startsWith(prefix);
    return false;
  });
  if (isPresent) return true;
  for (const key of collection.unreadable?.keys() ?? []) if (key.startsWith(prefix)) return true;
  return false;
}
