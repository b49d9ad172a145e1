/** Objects that name another one as their owner, as far as the caller may list them. */
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { OwnerReference } from '@plat-dev/kinds/meta';
import type { CallersView, Target } from './callers-view.ts';

/** Kinds that are numerous and own nothing. */
const skipped = new Set(['events', 'leases']);

/** Dependents are in the namespace of their owner, or anywhere if it has none. */
export async function dependentsOf(
  view: CallersView,
  owner: Target,
  selects: (reference: OwnerReference) => boolean = () => true,
): Promise<Target[]> {
  const { uid = '', namespace } = owner.object.metadata;
  const dependents: Target[] = [];
  for (const resource of view.storedResources()) {
    if (skipped.has(resource.kind.plural) || (namespace !== undefined && !resource.kind.namespaced)) continue;
    const { objects } = await view.list(resource, namespace, uid);
    for (const object of await view.filter(objects, (one) => isOwnedBy(one, uid, selects))) dependents.push({ resource, object });
  }
  return dependents;
}

const isOwnedBy = ({ metadata }: ApiObject, uid: string, selects: (reference: OwnerReference) => boolean): boolean =>
  metadata.uid !== uid && (metadata.ownerReferences ?? []).some((reference) => reference.uid === uid && selects(reference));
