/** The roles and bindings of the first start as objects, in the names of an identity. */

import type { ClusterRole, PolicyRule, RoleRef, Subject } from '@plat-dev/kinds/rbac/schema/v1';
import type { Wire } from '@plat-dev/kinds/wire';
import { own } from '@plat-dev/lib/own';
import { domainName, groupName, type Identity, type QualifiedName } from '@plat-dev/meta/identity';
import { type BindingObject, type RoleObject, rbacGroup } from '../authz/policy-rules.ts';
import { clusterRoleHolders, namespacedRoles, type SubjectText } from './bindings.ts';
import { clusterRoles } from './cluster-roles.ts';
import { controllerRoles } from './controller-roles.ts';
import { chosen, type ReleaseChoice, rule } from './notation.ts';

export type ClusterRoleObject = Wire<ClusterRole>;
/** `kind` and `apiVersion` are set when these are stored. */
export interface BootstrapPolicy {
  readonly clusterRoles: readonly ClusterRoleObject[];
  readonly clusterRoleBindings: readonly BindingObject[];
  readonly roles: readonly RoleObject[];
  readonly roleBindings: readonly BindingObject[];
}

/** Objects that carry this annotation with `false` are left to their owner. */
export const autoupdateAnnotation = (identity: Identity): QualifiedName => domainName(identity, 'autoupdate', rbacGroup);

const byName = (a: { metadata: { name?: string } }, b: { metadata: { name?: string } }): number =>
  (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;

function metadata(identity: Identity, name: string, more: { namespace?: string; labels?: Record<string, string> } = {}) {
  return {
    name,
    ...(more.namespace !== undefined && { namespace: more.namespace }),
    labels: { [domainName(identity, 'bootstrapping')]: 'rbac-defaults', ...more.labels },
    annotations: { [autoupdateAnnotation(identity)]: 'true' },
  };
}

/** Which of the roles for people each part and each smaller role is gathered into. */
const gatheredInto: Readonly<Record<string, string>> = {
  'system:aggregate-to-admin': 'admin',
  'system:aggregate-to-edit': 'edit',
  'system:aggregate-to-view': 'view',
  'system:aggregate-history-to-admin': 'admin',
  'system:aggregate-history-to-edit': 'edit',
  edit: 'admin',
  view: 'edit',
};
const gatheringLabel = (identity: Identity, into: string): string => `${groupName(identity, rbacGroup)}/aggregate-to-${into}`;

function labelsOf(identity: Identity, name: string): Record<string, string> {
  const into = own(gatheredInto, name);
  return into === undefined ? {} : { [gatheringLabel(identity, into)]: 'true' };
}

/** The rules of all roles that a selector matches, in the order of their names, each rule once. */
function gather(aggregation: NonNullable<ClusterRoleObject['aggregationRule']>, roles: readonly ClusterRoleObject[]): PolicyRule[] {
  const rules: PolicyRule[] = [];
  const visitedRules = new Set<string>();
  for (const { matchLabels = {} } of aggregation.clusterRoleSelectors ?? []) {
    const wantedLabels = Object.entries(matchLabels);
    for (const role of [...roles].sort(byName)) {
      if (!wantedLabels.every(([key, value]) => own(role.metadata.labels, key) === value)) continue;
      for (const one of role.rules ?? []) {
        const key = JSON.stringify([one.verbs, one.apiGroups, one.resources, one.resourceNames, one.nonResourceURLs]);
        if (!visitedRules.has(key)) rules.push(one);
        visitedRules.add(key);
      }
    }
  }
  return rules;
}

function allClusterRoles(identity: Identity, rulesByRole: Readonly<Record<string, readonly string[]>>): ClusterRoleObject[] {
  const roles: ClusterRoleObject[] = Object.entries(rulesByRole).map(([name, lines]) => ({
    metadata: metadata(identity, name, { labels: labelsOf(identity, name) }),
    rules: lines.map((line) => rule(identity, line)),
  }));
  // The smaller ones first: each is part of the next.
  for (const name of ['view', 'edit', 'admin']) {
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { [gatheringLabel(identity, name)]: 'true' } }] };
    const rules = gather(aggregationRule, roles);
    roles.push({ metadata: metadata(identity, name, { labels: labelsOf(identity, name) }), rules, aggregationRule });
  }
  return roles.sort(byName);
}

function subjectOf(identity: Identity, text: SubjectText): Subject {
  const colon = text.indexOf(':');
  const kind = text.slice(0, colon);
  const name = text.slice(colon + 1);
  return kind === 'ServiceAccount'
    ? { kind, name, namespace: identity.namespaces.system }
    : { kind, apiGroup: groupName(identity, rbacGroup), name };
}

function binding(
  identity: Identity,
  name: string,
  role: Omit<RoleRef, 'apiGroup'>,
  holders: readonly SubjectText[],
  namespace?: string,
): BindingObject {
  return {
    metadata: metadata(identity, name, namespace === undefined ? {} : { namespace }),
    ...(holders.length > 0 && { subjects: holders.map((holder) => subjectOf(identity, holder)) }),
    roleRef: { apiGroup: groupName(identity, rbacGroup), ...role },
  };
}

/** Parts of a server that some roles are for. */
export interface PolicyChoice extends ReleaseChoice {
  /** Whether the kinds of `explain`, and history with them, are served. */
  readonly explains: boolean;
}
export function bootstrapPolicy(identity: Identity, choice: PolicyChoice): BootstrapPolicy {
  const { explains } = choice;
  const linesByRole: Record<string, readonly string[]> = { ...clusterRoles(identity, explains) };
  const holders: Record<string, readonly SubjectText[]> = { ...clusterRoleHolders(explains) };
  for (const [name, rules] of Object.entries(controllerRoles(identity, (gate) => choice.feature(gate)))) {
    linesByRole[`system:controller:${name}`] = rules;
    holders[`system:controller:${name}`] = [`ServiceAccount:${name}`];
  }
  const rulesByRole = Object.fromEntries(Object.entries(linesByRole).map(([name, lines]) => [name, chosen(choice, lines)]));
  const local = namespacedRoles(identity).map((role) => ({
    ...role,
    rules: chosen(choice, role.rules),
    holders: chosen(choice, role.holders),
  }));
  return {
    clusterRoles: allClusterRoles(identity, rulesByRole),
    clusterRoleBindings: Object.entries(holders)
      .map(([name, whom]) => binding(identity, name, { kind: 'ClusterRole', name }, whom))
      .sort(byName),
    roles: local.map((role) => ({
      metadata: metadata(identity, role.name, { namespace: role.namespace }),
      rules: role.rules.map((line) => rule(identity, line)),
    })),
    roleBindings: local.map((role) =>
      binding(identity, role.binding ?? role.name, { kind: 'Role', name: role.name }, role.holders, role.namespace),
    ),
  };
}
