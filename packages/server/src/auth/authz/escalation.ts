/**
 * Prevents privilege escalation: a role may contain, and a binding may grant, only permissions that its writer has,
 * unless the writer may `escalate` the role or `bind` it, or is in `system:masters`.
 */

import type { ApiObject } from '@plat-dev/kinds/kind';
import { compact, describe, missingFrom, TooManyPermissions } from '@plat-dev/kinds/rbac/covers';
import type { PolicyRule } from '@plat-dev/kinds/rbac/schema/v1';
import { equal } from '@plat-dev/lib/equal';
import { apiRelease, isAtLeast } from '@plat-dev/lib/version';
import { forbidden, notFound } from '@plat-dev/meta/errors';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { type Attributes, type Authorizer, type User, wellKnown } from '../types.ts';
import { type BindingObject, type RoleObject, rbacGroup } from './policy-rules.ts';
import type { RoleBasedAccess } from './rbac.ts';

const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

type MaybeAggregated = RoleObject & { readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly unknown[] | null } | null };

const isAggregated = (role: MaybeAggregated | undefined): boolean => (role?.aggregationRule?.clusterRoleSelectors ?? []).length > 0;

/**
 * Whether only owners and finalizers changed, as garbage collection needs. Any other change, even of a label, grants the
 * permissions again in the name of its writer.
 */
function isHousekeeping(object: ApiObject, old: ApiObject): boolean {
  const bare = ({ metadata, ...rest }: ApiObject) => {
    const { ownerReferences: _o, finalizers: _f, managedFields: _m, resourceVersion: _r, generation: _g, ...meta } = metadata;
    return { ...rest, metadata: meta };
  };
  return equal(bare(object), bare(old));
}

/**
 * Both checks throw `forbidden`, with the missing permissions in the text. `old` is undefined on creation. `pathName` is the name in the
 * path of the request, which a POST does not have: the right to escalate single roles does not hold for what is posted.
 */
export interface EscalationCheck {
  checkRole(user: User, role: RoleObject, old: RoleObject | undefined, pathName: string): Promise<void>;
  checkBinding(user: User, binding: BindingObject, old: BindingObject | undefined): Promise<void>;
}

export function escalationCheck(
  identity: Identity,
  access: RoleBasedAccess,
  authorizer: Authorizer,
  release: string = apiRelease,
): EscalationCheck {
  const group = groupName(identity, rbacGroup);

  const may = async (user: User, verb: string, resource: string, namespace: string, name: string): Promise<boolean> => {
    const attributes: Attributes = {
      user,
      verb,
      group,
      version: '*',
      resource,
      subresource: '',
      name,
      namespace,
      path: '',
      resourceRequest: true,
    };
    return (await authorizer.authorize(attributes)).decision === 'allow';
  };

  /** The error if the user lacks permissions of `requestedRules`. */
  const lacking = (user: User, namespace: string, requestedRules: readonly PolicyRule[]): string | undefined => {
    const { rules, errors } = access.policyRules(user, namespace);
    let missing: PolicyRule[];
    try {
      missing = missingFrom(rules, requestedRules);
    } catch (error) {
      if (error instanceof TooManyPermissions) return error.message;
      throw error;
    }
    if (missing.length === 0) return undefined;
    const lines = [...new Set(compact(missing).map(describe))].sort();
    const groups = user.groups.map((name) => JSON.stringify(name)).join(' ');
    const trouble = errors.length === 0 ? '' : `; resolution errors: [${errors.join(', ')}]`;
    return `user ${JSON.stringify(user.name)} (groups=[${groups}]) is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}${trouble}`;
  };

  return {
    async checkRole(user, role: MaybeAggregated, old: MaybeAggregated | undefined, pathName) {
      if (user.groups.includes(wellKnown.masters)) return;
      const namespace = role.metadata.namespace ?? '';
      const name = role.metadata.name ?? '';
      const resource = namespace === '' ? 'clusterroles' : 'roles';
      if (old !== undefined && isHousekeeping(role, old)) return;
      if (await may(user, 'escalate', resource, namespace, pathName)) return;
      const problem = lacking(user, namespace, role.rules ?? []);
      if (problem !== undefined) throw forbidden({ group, resource }, name, problem);
      // An aggregated role gathers rules that are not known in advance, and others rely on what it gathers: to write one, or to make
      // it a plain role, takes all permissions.
      if ((isAggregated(role) || isAggregated(old)) && lacking(user, namespace, everything) !== undefined)
        throw forbidden({ group, resource }, name, 'must have cluster-admin privileges to use the aggregationRule');
    },

    async checkBinding(user, binding, old) {
      if (user.groups.includes(wellKnown.masters)) return;
      if (old !== undefined && isHousekeeping(binding, old)) return;
      const namespace = binding.metadata.namespace ?? '';
      const { kind, name } = binding.roleRef;
      const roles = kind === 'Role' ? 'roles' : 'clusterroles';
      if (await may(user, 'bind', roles, namespace, name)) return;
      const rules = access.rulesOfRole(kind, namespace, name);
      const resource = namespace === '' ? 'clusterrolebindings' : 'rolebindings';
      // Since 1.36 the error names the role by the kind of the binding.
      if (rules === undefined) throw notFound({ group, resource: isAtLeast(release, '1.36') ? resource : roles }, name);
      const problem = lacking(user, namespace, rules);
      if (problem === undefined) return;
      throw forbidden({ group, resource }, binding.metadata.name ?? '', problem);
    },
  };
}
