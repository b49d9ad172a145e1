/**
 * Roles and bindings that the server keeps up to date: missing ones are made, missing rules and subjects are added. What
 * people added stays, and an object that carries the annotation against it is left alone.
 */

import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Identity } from '@plat-dev/meta/identity';
import { bootstrapPolicy, type PolicyChoice } from '../../auth/bootstrap/objects.ts';
import { type Reconciled, reconcileBinding, reconcileRole } from '../../auth/bootstrap/reconcile.ts';
import type { SystemWriter } from '../system.ts';

const GROUP = 'rbac.authorization';
type Named = { readonly metadata: { readonly name?: string; readonly namespace?: string } };
type Reconcile = (existing: ApiObject | undefined, desired: Named) => Reconciled<Named>;

/** Returns how many objects were new. `time`: the time of now, as text. */
export async function reconcilePolicy(writer: SystemWriter, identity: Identity, choice: PolicyChoice, time: string): Promise<number> {
  const policy = bootstrapPolicy(identity, choice);
  const role: Reconcile = (existing, desired) => reconcileRole(identity, existing as never, desired as never);
  const binding: Reconcile = (existing, desired) => reconcileBinding(identity, existing as never, desired as never);
  const counts = await Promise.all([
    settleAll(writer, 'clusterroles', policy.clusterRoles, role, time),
    settleAll(writer, 'clusterrolebindings', policy.clusterRoleBindings, binding, time),
    settleAll(writer, 'roles', policy.roles, role, time),
    settleAll(writer, 'rolebindings', policy.roleBindings, binding, time),
  ]);
  return counts.reduce((a, b) => a + b, 0);
}

/** Creates what is missing, and brings the others up to date. */
async function settleAll(
  writer: SystemWriter,
  plural: string,
  desiredObjects: readonly Named[],
  reconcile: Reconcile,
  time: string,
): Promise<number> {
  const present = desiredObjects.filter(
    ({ metadata: { name = '', namespace = '' } }) => writer.find(GROUP, plural, namespace, name) !== undefined,
  );
  const [createdCount, ...recreated] = await Promise.all([
    writer.ensureAll(GROUP, plural, desiredObjects, time),
    ...present.map((desired) => settle(writer, plural, desired, reconcile)),
  ]);
  return createdCount + recreated.filter(Boolean).length;
}

/** One role that the server keeps up to date. */
export const settleRole = (writer: SystemWriter, identity: Identity, desired: Named): Promise<boolean> =>
  settle(writer, 'roles', desired, (existing, desiredRole) => reconcileRole(identity, existing as never, desiredRole as never));
/** One binding that the server keeps up to date. */
export const settleBinding = (writer: SystemWriter, identity: Identity, desired: Named): Promise<boolean> =>
  settle(writer, 'rolebindings', desired, (existing, desiredBinding) =>
    reconcileBinding(identity, existing as never, desiredBinding as never),
  );

async function settle(writer: SystemWriter, plural: string, desired: Named, reconcile: Reconcile): Promise<boolean> {
  const { name = '', namespace = '' } = desired.metadata;
  const result = reconcile(writer.read(GROUP, plural, namespace, name), desired);
  if (result.action === 'none') return false;
  if (result.action === 'update') {
    await writer.change(GROUP, plural, namespace, name, (object) => Object.assign(object, structuredClone(result.object)));
    return false;
  }
  if (result.action === 'recreate') await writer.remove(GROUP, plural, namespace, name);
  return writer.ensure(GROUP, plural, result.object);
}
