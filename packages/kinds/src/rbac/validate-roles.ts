/** Validation of roles and bindings. */

import { FieldErrors, Path } from '@plat-dev/meta/field';
import { groupName } from '@plat-dev/meta/identity';
import { validateLabelSelector } from '@plat-dev/meta/labels';
import { labelValue, nameIsSubdomain, pathSegmentName } from '@plat-dev/meta/names';
import type { KindEnv } from '../kind.ts';
import type { LabelSelector } from '../meta.ts';
import { each } from '../validation/each.ts';
import { report } from '../validation/field-checks.ts';
import { goList } from '../validation/go-list.ts';
import { invalidText } from '../validation/go-text.ts';
import { metadataAgain, metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import type { ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject } from './schema/v1.ts';

const ruleList = Path.of('rules');
const roleRefPath = Path.of('roleRef');
const selectors = Path.of('aggregationRule', 'clusterRoleSelectors');

const ownGroup = (env: KindEnv): string => groupName(env.identity, 'rbac.authorization');

// ---- roles -------------------------------------------------------------------------------------------------------

export function validateRole(role: Role, errors: FieldErrors): void {
  each(role.rules, ruleList, (rule, at) => validateRule(rule, true, at, errors));
}

export function validateClusterRole(role: ClusterRole, errors: FieldErrors): void {
  each(role.rules, ruleList, (rule, at) => validateRule(rule, false, at, errors));
  if (role.aggregationRule === undefined) return;
  const { clusterRoleSelectors = [] } = role.aggregationRule;
  if (clusterRoleSelectors.length === 0)
    errors.required(selectors, 'at least one clusterRoleSelector required if aggregationRule is non-nil');
  each(clusterRoleSelectors, selectors, (selector, at) => {
    validateLabelSelector(selector, at, errors);
    if (!selects(selector, at)) errors.invalid(at, 'null', 'invalid label selector.');
  });
}

/** Whether a selector is valid; values of its expressions are checked only here. */
function selects(selector: LabelSelector, at: Path): boolean {
  const selectorErrors = new FieldErrors();
  validateLabelSelector(selector, at, selectorErrors);
  return (
    selectorErrors.empty &&
    (selector.matchExpressions ?? []).every(({ values = [] }) => values.every((value) => labelValue(value).length === 0))
  );
}

function validateRule(rule: PolicyRule, namespaced: boolean, at: Path, errors: FieldErrors): void {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  if (verbs.length === 0) errors.required(at.child('verbs'), 'verbs must contain at least one value');
  if (nonResourceURLs.length > 0) {
    const wrong = (why: string) => invalidText(errors, at.child('nonResourceURLs'), goList('string', nonResourceURLs), why);
    if (namespaced) wrong('namespaced rules cannot apply to non-resource URLs');
    if (apiGroups.length + resources.length + resourceNames.length > 0)
      wrong('rules cannot apply to both regular resources and non-resource URLs');
    return;
  }
  if (apiGroups.length === 0) errors.required(at.child('apiGroups'), 'resource rules must supply at least one api group');
  if (resources.length === 0) errors.required(at.child('resources'), 'resource rules must supply at least one resource');
}

/** Validation of updates of a role. */
export function updateOfRole<T extends Role | ClusterRole>(namespaced: boolean, validate: (role: T, errors: FieldErrors) => void) {
  return (role: T, old: T, errors: FieldErrors, env: KindEnv): void => {
    metadataAgain(role, { namespaced, nameRule: pathSegmentName }, errors, env);
    validate(role, errors);
    metadataUpdateAgain(role, old, errors, env);
  };
}

// ---- bindings ----------------------------------------------------------------------------------------------------

/** The default API group of roles, users and groups is this one; service accounts are of the core group. */
export function bindingDefaults(binding: RoleBinding | ClusterRoleBinding, env: KindEnv): void {
  const own = ownGroup(env);
  if (binding.roleRef.apiGroup === '') binding.roleRef.apiGroup = own;
  for (const subject of binding.subjects ?? [])
    if ((subject.kind === 'User' || subject.kind === 'Group') && (subject.apiGroup ?? '') === '') subject.apiGroup = own;
}

const roleKinds = ['Role', 'ClusterRole'];
const clusterRoleKinds = ['ClusterRole'];
const subjectKinds = ['ServiceAccount', 'User', 'Group'];

export function validateBinding(namespaced: boolean) {
  return (binding: RoleBinding | ClusterRoleBinding, errors: FieldErrors, env: KindEnv): void => {
    const own = ownGroup(env);
    validateRoleRef(binding.roleRef, namespaced ? roleKinds : clusterRoleKinds, own, errors);
    each(binding.subjects, Path.of('subjects'), (subject, at) => validateSubject(subject, namespaced, own, at, errors));
  };
}

function validateRoleRef({ apiGroup, kind, name }: RoleRef, kinds: readonly string[], own: string, errors: FieldErrors): void {
  if (apiGroup !== own) errors.notSupported(roleRefPath.child('apiGroup'), apiGroup, [own]);
  if (!kinds.includes(kind)) errors.notSupported(roleRefPath.child('kind'), kind, kinds);
  if (name === '') errors.required(roleRefPath.child('name'));
  else report(errors, roleRefPath.child('name'), name, pathSegmentName(name));
}

function validateSubject(subject: Subject, namespaced: boolean, own: string, at: Path, errors: FieldErrors): void {
  const { kind, name, namespace = '', apiGroup = '' } = subject;
  if (name === '') errors.required(at.child('name'));
  if (kind === 'ServiceAccount') {
    if (name !== '') report(errors, at.child('name'), name, nameIsSubdomain(name));
    if (apiGroup !== '') errors.notSupported(at.child('apiGroup'), apiGroup, ['']);
    if (!namespaced && namespace === '') errors.required(at.child('namespace'));
  } else if (kind === 'User' || kind === 'Group') {
    if (apiGroup !== own) errors.notSupported(at.child('apiGroup'), apiGroup, [own]);
  } else errors.notSupported(at.child('kind'), kind, subjectKinds);
}

/** Validation of updates of a binding: its role is immutable. */
export function updateOfBinding(namespaced: boolean) {
  const validate = validateBinding(namespaced);
  return <T extends RoleBinding | ClusterRoleBinding>(binding: T, old: T, errors: FieldErrors, env: KindEnv): void => {
    metadataAgain(binding, { namespaced, nameRule: pathSegmentName }, errors, env);
    validate(binding, errors, env);
    metadataUpdateAgain(binding, old, errors, env);
    const { apiGroup, kind, name } = binding.roleRef;
    if (apiGroup === old.roleRef.apiGroup && kind === old.roleRef.kind && name === old.roleRef.name) return;
    const [g, k, n] = [apiGroup, kind, name].map((text) => JSON.stringify(text));
    invalidText(errors, roleRefPath, `rbac.RoleRef{APIGroup:${g}, Kind:${k}, Name:${n}}`, 'cannot change roleRef');
  };
}

// ---- tables ------------------------------------------------------------------------------------------------------

/** Names of the subjects of one kind. */
export function subjectsCell(subjects: readonly Subject[] | undefined, kind: string): string {
  const subjectsOfKind = (subjects ?? []).filter((subject) => subject.kind === kind);
  return subjectsOfKind.map(({ name, namespace = '' }) => (kind === 'ServiceAccount' ? `${namespace}/${name}` : name)).join(', ');
}
