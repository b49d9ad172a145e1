/**
 * Roles and bindings held against one request: which of them allow it, whom, and which come nearest to allowing it.
 *
 *   alice may not delete pods in team-a
 *   RoleBinding team-a/readers of ClusterRole view     is alice's; the rule for pods lacks the verb
 *   RoleBinding team-a/owners of ClusterRole edit      allows it, and is not alice's
 *
 * Everything is looked through, in slices: the index of the authorizer answers only who is allowed.
 */
import type { LiveSource } from '@plat-dev/kinds/live-view';
import type { PolicyRule, Subject } from '@plat-dev/kinds/rbac/schema/v1';
import type { Work } from '@plat-dev/lib/slices';
import { serviceAccountName } from '../authn/users.ts';
import { type BindingObject, lacksOf, type RoleObject, type RuleLack, rbacGroup } from '../authz/policy-rules.ts';
import type { Attributes, User } from '../types.ts';

/** What a binding and a rule of its role would need besides to allow the request. */
type Lack = 'subject' | 'role' | RuleLack;

export interface BindingGrant {
  readonly binding: { readonly kind: string; readonly name: string; readonly namespace: string };
  readonly role: { readonly kind: string; readonly name: string };
  /** Absent where the role does not exist, or has no rules. */
  readonly rule?: PolicyRule;
  readonly subjects: readonly Subject[];
  /** Empty: the request is allowed. */
  readonly lacks: readonly Lack[];
}

/** Which roles and bindings the caller may list; the empty namespace: those of the cluster. */
export type MayList = (resource: 'roles' | 'clusterroles' | 'rolebindings' | 'clusterrolebindings', namespace: string) => boolean;

/** The bindings that apply where the request goes to, each with the rule of its role that comes nearest. */
export function* bindingGrants(live: LiveSource, asked: Attributes, mayList: MayList): Work<BindingGrant[]> {
  const namespace = asked.resourceRequest ? asked.namespace : '';
  const grants: BindingGrant[] = [];
  if (mayList('clusterrolebindings', ''))
    for (const binding of live<BindingObject>(rbacGroup, 'clusterrolebindings').list()) {
      yield;
      grants.push(...grantOf(live, binding, asked, mayList));
    }
  if (namespace !== '' && mayList('rolebindings', namespace))
    for (const binding of live<BindingObject>(rbacGroup, 'rolebindings').list()) {
      yield;
      if (binding.metadata.namespace === namespace) grants.push(...grantOf(live, binding, asked, mayList));
    }
  return grants;
}

function grantOf(
  live: LiveSource,
  { metadata, roleRef, subjects = [] }: BindingObject,
  asked: Attributes,
  mayList: MayList,
): BindingGrant[] {
  const { name = '', namespace = '' } = metadata;
  const isLocalRole = roleRef.kind === 'Role';
  if (!mayList(isLocalRole ? 'roles' : 'clusterroles', isLocalRole ? namespace : '')) return [];
  const mine = subjects.filter((subject) => includes(subject, asked.user, namespace));
  const common = {
    binding: { kind: namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding', name, namespace },
    role: { kind: roleRef.kind, name: roleRef.name },
    subjects: mine.length > 0 ? mine : subjects,
  };
  const missingSubject: Lack[] = mine.length > 0 ? [] : ['subject'];
  const role = roleOf(live, roleRef, namespace);
  if (role === undefined) return [{ ...common, lacks: [...missingSubject, 'role'] }];
  const nearest = nearestRule(
    (role.rules ?? []).filter((rule) => isOfSort(rule, asked)),
    asked,
  );
  if (nearest === undefined) return [];
  return [{ ...common, rule: nearest.rule, lacks: [...missingSubject, ...nearest.lacks] }];
}

/** A rule for paths is not near a request for resources, nor the other way round. */
const isOfSort = ({ resources = [], nonResourceURLs = [] }: PolicyRule, { resourceRequest }: Attributes): boolean =>
  (resourceRequest ? resources : nonResourceURLs).length > 0;

function nearestRule(rules: readonly PolicyRule[], asked: Attributes): { rule: PolicyRule; lacks: RuleLack[] } | undefined {
  let nearest: { rule: PolicyRule; lacks: RuleLack[] } | undefined;
  for (const rule of rules) {
    const lacks = lacksOf(rule, asked);
    if (nearest === undefined || lacks.length < nearest.lacks.length) nearest = { rule, lacks };
    if (lacks.length === 0) break;
  }
  return nearest;
}

function roleOf(live: LiveSource, { kind, name }: BindingObject['roleRef'], namespace: string): RoleObject | undefined {
  if (kind === 'ClusterRole') return live<RoleObject>(rbacGroup, 'clusterroles').get('', name);
  return kind === 'Role' ? live<RoleObject>(rbacGroup, 'roles').get(namespace, name) : undefined;
}

function includes({ kind, name, namespace = '' }: Subject, user: User, bindingNamespace: string): boolean {
  if (kind === 'User') return name === user.name;
  if (kind === 'Group') return user.groups.includes(name);
  const accountNamespace = namespace === '' ? bindingNamespace : namespace;
  return kind === 'ServiceAccount' && accountNamespace !== '' && serviceAccountName(accountNamespace, name) === user.name;
}

/** Bindings that are shown as the nearest ones. */
const MOST_NEAREST = 5;

/** Those that lack least, the user's own first; bindings that would need a subject and a rule are of no help. */
export function nearestGrants(grants: readonly BindingGrant[]): BindingGrant[] {
  const isOthers = ({ lacks }: BindingGrant): boolean => lacks.includes('subject');
  return grants
    .filter((grant) => grant.lacks.length > 0 && (isOthers(grant) ? grant.lacks.length === 1 : grant.lacks.length <= 2))
    .sort((a, b) => Number(isOthers(a)) - Number(isOthers(b)) || a.lacks.length - b.lacks.length || compareNames(a, b))
    .slice(0, MOST_NEAREST);
}
const compareNames = (a: BindingGrant, b: BindingGrant): number => (a.binding.name < b.binding.name ? -1 : 1);
