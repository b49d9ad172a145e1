/** Deletes the content of a namespace, kind by kind, and reports what remains. */
import type { Client } from '@plat-dev/client/dynamic';
import { isStatus, unlessGone } from '@plat-dev/client/http';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { timeMillis } from '@plat-dev/meta/time';
import type { ServedResource } from '../runtime/resources.ts';

export interface HeldObject {
  readonly resource: string;
  readonly name: string;
  readonly finalizers: readonly string[];
}
/** The remaining objects of one kind. */
interface Remains {
  readonly resource: ServedResource;
  readonly count: number;
  /** Finalizer → how many objects wait for it. */
  readonly finalizers: ReadonlyMap<string, number>;
  /** Some of the objects that wait, by name. */
  readonly heldObjects: readonly HeldObject[];
  /** Milliseconds until the last grace period should be over. */
  readonly graceMs: number;
}
export interface ContentResult {
  readonly remains: readonly Remains[];
  readonly failures: readonly string[];
}

/** Kinds deleted at a time, objects of a deleted page, objects named in explanations. */
const WIDTH = 8;
const DELETE_PAGE = 1000;
const HELD_SHOWN = 10;

/**
 * Pods are deleted first. Their network policies stay until the last pod is gone: without them a terminating
 * pod would be open to all.
 */
function phases(resources: readonly ServedResource[]): ServedResource[][] {
  const isPod = (r: ServedResource): boolean => r.group === '' && r.name === 'pods';
  const isGuard = (r: ServedResource): boolean => r.name === 'networkpolicies';
  return [resources.filter(isPod), resources.filter((r) => !isPod(r) && !isGuard(r)), resources.filter(isGuard)];
}

/** Kinds whose objects are deleted with their namespace. */
export const deletable = (resource: ServedResource): boolean =>
  resource.namespaced && resource.preferred && resource.verbs.includes('delete') && resource.verbs.includes('list');

export interface Emptying {
  readonly now: number;
  /** Content was deleted before, so terminating objects are only counted. */
  readonly again: boolean;
  /** Everything else stays until the last pod is gone, as pods may need it to the end. */
  readonly podsFirst: boolean;
}

export async function deleteContent(
  client: Client,
  namespace: string,
  resources: readonly ServedResource[],
  { now, again, podsFirst }: Emptying,
): Promise<ContentResult> {
  const remains: Remains[] = [];
  const failures: string[] = [];
  let podsLeft = false;
  for (const [phase, kinds] of phases(resources).entries()) {
    const emptying = !podsLeft || phase < (podsFirst ? 1 : 2);
    await eachOf(kinds, WIDTH, async (resource) => {
      try {
        const remaining = await emptyKind(client, namespace, resource, now, emptying, again);
        if (remaining !== undefined) remains.push(remaining);
      } catch (error) {
        failures.push(`${resource.group}/${resource.version}, Resource=${resource.name}: ${(error as Error).message}`);
      }
    });
    podsLeft ||= phase === 0 && (remains.length > 0 || failures.length > 0);
  }
  return { remains, failures: failures.sort() };
}

async function emptyKind(
  client: Client,
  namespace: string,
  resource: ServedResource,
  now: number,
  emptying: boolean,
  again: boolean,
): Promise<Remains | undefined> {
  if (!again && emptying && (await deletePages(client, namespace, resource))) return count(client, namespace, resource, now);
  let unmarked = 0;
  const names: string[] = [];
  const remains = await count(client, namespace, resource, now, (object) => {
    if (object.metadata.deletionTimestamp !== undefined) return;
    unmarked++;
    names.push(object.metadata.name ?? '');
  });
  if (unmarked === 0 || !emptying) return remains;
  if (!(await deletePages(client, namespace, resource))) {
    await eachOf(names, WIDTH, (name) => client.delete(resource, namespace, name).catch(unlessGone));
  }
  return count(client, namespace, resource, now);
}

/** Deletes the whole collection in pages. False if the kind has no such verb. */
async function deletePages(client: Client, namespace: string, resource: ServedResource): Promise<boolean> {
  if (!resource.verbs.includes('deletecollection')) return false;
  let next: string | undefined;
  do {
    try {
      next = await client.deleteCollection(resource, namespace, { limit: DELETE_PAGE, ...(next !== undefined && { continue: next }) });
    } catch (error) {
      if (isStatus(error, 405)) return false;
      // The continue token has expired: begin again, there is less now.
      if (!isStatus(error, 410) || next === undefined) throw error;
      next = '';
    }
  } while (next !== undefined);
  return true;
}

async function count(
  client: Client,
  namespace: string,
  resource: ServedResource,
  now: number,
  see?: (object: ApiObject) => void,
): Promise<Remains | undefined> {
  let objectCount = 0;
  let graceMs = 0;
  const finalizers = new Map<string, number>();
  const heldObjects: HeldObject[] = [];
  for await (const object of client.each(resource, namespace, { metadataOnly: true })) {
    objectCount++;
    see?.(object);
    const waiting = object.metadata.finalizers ?? [];
    for (const finalizer of waiting) finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
    if (waiting.length > 0 && heldObjects.length < HELD_SHOWN)
      heldObjects.push({ resource: resource.name, name: object.metadata.name ?? '', finalizers: waiting });
    const { deletionTimestamp } = object.metadata;
    if (deletionTimestamp !== undefined && waiting.length === 0) graceMs = Math.max(graceMs, timeMillis(deletionTimestamp) - now);
  }
  return objectCount === 0 ? undefined : { resource, count: objectCount, finalizers, heldObjects, graceMs };
}

async function eachOf<T>(items: readonly T[], width: number, call: (item: T) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) await call(items[next++] as T);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
}
