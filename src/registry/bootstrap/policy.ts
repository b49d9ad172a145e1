/**
 * Roles and bindings that the server keeps up to date: missing ones are made, missing rules and subjects are added. What
 * people added stays, and an object that carries the annotation against it is left alone.
 */
import { bootstrapPolicy } from '../../auth/bootstrap/objects.ts';
import { type Reconciled, reconcileBinding, reconcileRole } from '../../auth/bootstrap/reconcile.ts';
import type { ApiObject } from '../../kinds/kind.ts';
import type { Identity } from '../../meta/identity.ts';
import type { SystemWriter } from '../system.ts';

const GROUP = 'rbac.authorization';
type Named = { readonly metadata: { readonly name?: string; readonly namespace?: string } };

/** Returns how many objects were new. */
export async function reconcilePolicy(writer: SystemWriter, identity: Identity, feature: (gate: string) => boolean): Promise<number> {
  const policy = bootstrapPolicy(identity, feature);
  const role = (existing: ApiObject | undefined, wanted: Named) => reconcileRole(identity, existing as never, wanted as never);
  const binding = (existing: ApiObject | undefined, wanted: Named) => reconcileBinding(identity, existing as never, wanted as never);
  const counts = await Promise.all([
    ...policy.clusterRoles.map((wanted) => settle(writer, 'clusterroles', wanted, role)),
    ...policy.clusterRoleBindings.map((wanted) => settle(writer, 'clusterrolebindings', wanted, binding)),
    ...policy.roles.map((wanted) => settle(writer, 'roles', wanted, role)),
    ...policy.roleBindings.map((wanted) => settle(writer, 'rolebindings', wanted, binding)),
  ]);
  return counts.filter(Boolean).length;
}

/** One role that the server keeps up to date. */
export const settleRole = (writer: SystemWriter, identity: Identity, wanted: Named): Promise<boolean> =>
  settle(writer, 'roles', wanted, (existing, one) => reconcileRole(identity, existing as never, one as never));
/** One binding that the server keeps up to date. */
export const settleBinding = (writer: SystemWriter, identity: Identity, wanted: Named): Promise<boolean> =>
  settle(writer, 'rolebindings', wanted, (existing, one) => reconcileBinding(identity, existing as never, one as never));

async function settle(
  writer: SystemWriter,
  plural: string,
  wanted: Named,
  reconcile: (existing: ApiObject | undefined, wanted: Named) => Reconciled<Named>,
): Promise<boolean> {
  const { name = '', namespace = '' } = wanted.metadata;
  const result = reconcile(writer.read(GROUP, plural, namespace, name), wanted);
  if (result.action === 'none') return false;
  if (result.action === 'update') {
    await writer.change(GROUP, plural, namespace, name, (object) => Object.assign(object, structuredClone(result.object)));
    return false;
  }
  if (result.action === 'recreate') await writer.remove(GROUP, plural, namespace, name);
  return writer.ensure(GROUP, plural, result.object);
}
