/**
 * Which of the objects that a selector matches belong to an owner: it adopts those that nobody controls, and releases those
 * that it controls and that its selector no longer matches.
 */
import type { Client, ResourceRef } from '@plat-dev/client/dynamic';
import { isNotFound } from '@plat-dev/client/http';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { Slices } from '@plat-dev/lib/slices';
import { ApiError } from '@plat-dev/meta/errors';
import type { About } from './events.ts';
import { controllerRef } from './pod-control.ts';
import { controllerOf } from './pods.ts';

export interface ClaimOptions<T extends ApiObject> {
  readonly client: Client;
  readonly resource: ResourceRef;
  readonly owner: About;
  readonly matches: (object: T) => boolean;
  /** Asks the server whether the owner still exists and is not being deleted, before the first adoption. */
  readonly mayAdopt: () => Promise<boolean>;
  /** Objects that the owner controls, and those of its namespace that nothing controls. */
  readonly candidates: Iterable<T>;
  /** A finalizer that adopted objects get. */
  readonly finalizer?: string;
}

/** The owner's objects, after adoption and release. */
export async function claim<T extends ApiObject>(options: ClaimOptions<T>): Promise<T[]> {
  const { owner, matches } = options;
  const own: T[] = [];
  let allowed: boolean | undefined;
  const slices = new Slices();
  // They may change while others are due.
  for (const object of [...options.candidates]) {
    if (slices.due) await slices.pause();
    const controller = controllerOf(object);
    if (controller !== undefined) {
      if (controller.uid !== owner.metadata.uid) continue;
      if (matches(object)) own.push(object);
      else if (owner.metadata.deletionTimestamp === undefined) await release(options, object);
      continue;
    }
    if (owner.metadata.deletionTimestamp !== undefined || object.metadata.deletionTimestamp !== undefined || !matches(object)) continue;
    allowed ??= await options.mayAdopt();
    if (!allowed) continue;
    const adopted = await adopt(options, object);
    if (adopted !== undefined) own.push(adopted);
  }
  return own;
}

async function adopt<T extends ApiObject>({ client, resource, owner, finalizer }: ClaimOptions<T>, object: T): Promise<T | undefined> {
  const ownerReferences = [...(object.metadata.ownerReferences ?? []), controllerRef(owner)];
  const oldFinalizers = object.metadata.finalizers ?? [];
  const finalizers = finalizer === undefined || oldFinalizers.includes(finalizer) ? undefined : [...oldFinalizers, finalizer];
  const change = { ownerReferences, ...(finalizers !== undefined && { finalizers }) };
  const adopted = await owners(client, resource, object, change);
  return adopted === undefined ? undefined : { ...object, metadata: { ...object.metadata, ...adopted.metadata, ...change } };
}

async function release<T extends ApiObject>({ client, resource, owner }: ClaimOptions<T>, object: T): Promise<void> {
  const rest = (object.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.metadata.uid);
  await owners(client, resource, object, { ownerReferences: rest });
}

/** Writes the owners of an object as it was seen; undefined where it is gone. Throws a conflict where it has changed since. */
async function owners(
  client: Client,
  resource: ResourceRef,
  { metadata }: ApiObject,
  change: Pick<ApiObject['metadata'], 'ownerReferences' | 'finalizers'>,
): Promise<ApiObject | undefined> {
  const { namespace = '', name = '', uid, resourceVersion } = metadata;
  try {
    return await client.patch(resource, namespace, name, { metadata: { uid, resourceVersion, ...change } });
  } catch (error) {
    // 422: another object has the name now.
    if (isNotFound(error) || (error instanceof ApiError && error.code === 422)) return undefined;
    throw error;
  }
}
