/**
 * Prevents privilege escalation: roles and bindings are checked against the permissions of their writer. Not one of the
 * plug-ins that can be switched; it runs last of those that see the object before it is validated.
 */

import type { EscalationCheck } from '../../auth/authz/escalation.ts';
import type { BindingObject } from '../../auth/authz/policy-rules.ts';
import type { AdmissionPlugin } from '../types.ts';

const roles = new Set(['roles', 'clusterroles']);
const bindings = new Set(['rolebindings', 'clusterrolebindings']);

export function rbacEscalation(rules: EscalationCheck): AdmissionPlugin {
  return {
    name: 'RBACEscalation',
    handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
    concerns: ({ kind }) => kind.group === 'rbac.authorization',
    admit({ served, object, oldObject, user, pathName }) {
      if (served.kind.group !== 'rbac.authorization' || object === undefined) return;
      if (roles.has(served.kind.plural)) return rules.checkRole(user, object, oldObject, pathName);
      if (bindings.has(served.kind.plural))
        return rules.checkBinding(user, object as BindingObject, oldObject as BindingObject | undefined);
    },
  };
}
