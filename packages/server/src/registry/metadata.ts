/** Validation of metadata that applies to every kind. */

import type { ApiObject, Kind, KindEnv } from '@plat-dev/kinds/kind';
import { validateChangedObject, validateObjectMeta, validatePlainFinalizers } from '@plat-dev/kinds/validation/metadata';
import { badRequest } from '@plat-dev/meta/errors';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { generateName } from '@plat-dev/meta/names';
import { isKey, LONGEST_KEY } from '@plat-dev/storage/keys';
import type { WriteContext } from './context.ts';

/** The namespace of the body, if set, must be that of the path. */
export function checkNamespace(ctx: WriteContext, object: ApiObject): void {
  const { namespace } = object.metadata;
  if (!ctx.resource.kind.namespaced) {
    if (namespace !== undefined) delete object.metadata.namespace;
    return;
  }
  if (namespace === undefined || namespace === '') object.metadata.namespace = ctx.namespace;
  else if (namespace !== ctx.namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

export const generatedName = (prefix: string, randomBelow: (limit: number) => number): string => generateName(prefix, randomBelow);

export function validateMetadata(env: KindEnv, kind: Kind, object: ApiObject, errors: FieldErrors): void {
  validateObjectMeta(object.metadata, kind, errors, env);
}
/** Some kinds allow names of any characters and any length; the store does not. */
export function validateKey({ resource, namespace }: WriteContext, { metadata }: ApiObject, errors: FieldErrors): void {
  const { name = '' } = metadata;
  const around = (resource.collection?.prefix.length ?? 0) + namespace.length + 1;
  if (name === '' || isKey(name, LONGEST_KEY - around)) return;
  // Most kinds have a stricter rule, which has refused the name already.
  if (errors.list.some(({ field }) => field === 'metadata.name')) return;
  const rule = `must be printable ASCII text of at most ${LONGEST_KEY - around} characters`;
  errors.invalid(Path.of('metadata', 'name'), name.slice(0, SHOWN_NAME), rule);
}
/** How many characters of a too long name errors show. */
const SHOWN_NAME = 256;

/** Before the rules of the kind, which look at metadata once more. */
export function validateMetadataUpdate(kind: Kind, object: ApiObject, old: ApiObject, errors: FieldErrors): void {
  validateChangedObject(object.metadata, old.metadata, kind.namespaced, errors);
}
/** After the rules of the kind: the checks that these may leave to the registry. */
export function validateMetadataLast(env: KindEnv, kind: Kind, object: ApiObject, errors: FieldErrors): void {
  if (errors.empty && !kind.anyFinalizer && object.metadata.finalizers !== undefined) validatePlainFinalizers(object.metadata, errors, env);
}

/** A removed field: it is dropped with a warning. */
export function dropClusterName(ctx: WriteContext, object: ApiObject): void {
  const meta = object.metadata as { clusterName?: string };
  if (meta.clusterName === undefined) return;
  delete meta.clusterName;
  ctx.warn('metadata.clusterName was specified. This field is not preserved and will be removed from the schema in 1.25');
}

/** Of identical owner references one is kept. */
export function dropRepeatedOwners(ctx: WriteContext, object: ApiObject): void {
  const owners = object.metadata.ownerReferences;
  if (owners === undefined || owners.length < 2) return;
  const seenUids = new Set<string>();
  const distinctOwners: typeof owners = [];
  const repeated = new Set<string>();
  for (const owner of owners) {
    const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = owner;
    const words = JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion]);
    if (seenUids.has(words)) repeated.add(uid);
    else distinctOwners.push(owner);
    seenUids.add(words);
  }
  if (repeated.size === 0) return;
  object.metadata.ownerReferences = distinctOwners;
  ctx.warn(
    '.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests ' +
      `as early as 1.24; please fix your requests; duplicate UID(s) observed: ${[...repeated].join(', ')}`,
  );
}
