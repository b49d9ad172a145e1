/**
 * OwnerReferencesPermissionEnforcement: setting an owner of an object needs the permission to delete the object, and setting
 * blockOwnerDeletion needs the permission to update the finalizers of the owner.
 */

import type { OwnerReference } from '@plat-dev/kinds/meta';
import { equal } from '@plat-dev/lib/equal';
import { splitApiVersion } from '@plat-dev/meta/api-version';
import type { MakePlugin, PluginEnv } from '../plugin.ts';
import { refusal } from '../refusal.ts';
import type { AdmissionRequest } from '../types.ts';

export const ownerReferencesPermissionEnforcement: MakePlugin = (env) => ({
  name: 'OwnerReferencesPermissionEnforcement',
  handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
  validate(request) {
    const { object, oldObject, served, subresource } = request;
    // The status of pods was once reported with invalid references; it cannot change them anyway.
    if (served.kind.group === '' && served.kind.plural === 'pods' && subresource === 'status') return;
    const owners = object?.metadata?.ownerReferences ?? [];
    const current = oldObject?.metadata?.ownerReferences ?? [];
    if (equal(owners, current)) return;
    return checkOwners(env, request, owners, current);
  },
});

async function checkOwners(
  env: PluginEnv,
  request: AdmissionRequest,
  newOwners: readonly OwnerReference[],
  current: readonly OwnerReference[],
): Promise<void> {
  const { served, subresource, namespace, name, user, operation } = request;
  if (operation === 'UPDATE') {
    const action = {
      verb: 'delete',
      group: served.group,
      version: served.version,
      resource: served.kind.plural,
      subresource,
      namespace,
      name,
    };
    if (!(await env.may(user, action))) throw refusal(request, "cannot set an ownerRef on a resource you can't delete");
  }
  for (const reference of changedBlocks(newOwners, current)) await checkOwner(env, request, reference);
}

const blocking = (reference: OwnerReference): boolean => reference.blockOwnerDeletion === true;
const uidsOf = (references: readonly OwnerReference[]): Set<string> => new Set(references.map(({ uid }) => uid));

/** References that begin to block their owner's deletion, or that stay and no longer do. */
function changedBlocks(newOwners: readonly OwnerReference[], current: readonly OwnerReference[]): OwnerReference[] {
  const [currentUids, blocked, blocks] = [uidsOf(current), uidsOf(current.filter(blocking)), uidsOf(newOwners.filter(blocking))];
  return newOwners.filter(({ uid }) => (blocks.has(uid) ? !blocked.has(uid) : currentUids.has(uid) && blocked.has(uid)));
}

async function checkOwner(env: PluginEnv, request: AdmissionRequest, { apiVersion, kind, name }: OwnerReference): Promise<void> {
  const { group, version } = splitApiVersion(apiVersion);
  const owner = env.findKind(group, kind, version);
  if (owner === undefined)
    throw refusal(
      request,
      `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`,
    );
  const allowed = await env.may(request.user, {
    verb: 'update',
    group: owner.group,
    version: owner.version,
    resource: owner.kind.plural,
    subresource: 'finalizers',
    namespace: owner.kind.namespaced ? request.namespace : '',
    name,
  });
  if (!allowed)
    throw refusal(
      request,
      `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: the right to update ${owner.kind.plural}/finalizers of ${JSON.stringify(name)} is needed`,
    );
}
