/** Roles and bindings as policy rules: their shape, and what a single rule allows. Reasons have the text of a stock server. */
import { withoutStars } from '@plat-dev/kinds/rbac/covers';
import type { PolicyRule, Role, RoleBinding } from '@plat-dev/kinds/rbac/schema/v1';
import type { Wire } from '@plat-dev/kinds/wire';

/** Role and ClusterRole. */
export type RoleObject = Wire<Role>;
/** RoleBinding and ClusterRoleBinding. */
export type BindingObject = Wire<RoleBinding, 'roleRef'>;

/** Base name of the group that roles and bindings live in. */
export const rbacGroup = 'rbac.authorization';

const has = (list: readonly string[] | undefined, word: string): boolean =>
  list !== undefined && (list.includes('*') || list.includes(word));

/**
 * A star means everything, `*` + `/scale` the scale subresource of everything; a star elsewhere is literal.
 */
function resourceMatches(resources: readonly string[] | undefined, resource: string, subresource: string): boolean {
  if (resources === undefined) return false;
  const combined = subresource === '' ? resource : `${resource}/${subresource}`;
  return resources.some((one) => one === '*' || one === combined || (subresource !== '' && one === `*/${subresource}`));
}

/** Exact, or a prefix if the rule ends with a star. */
export const pathMatches = (pattern: string, path: string): boolean =>
  pattern === '*' || pattern === path || (pattern.endsWith('*') && path.startsWith(withoutStars(pattern)));

export interface RequestAttributes {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  readonly path: string;
  readonly resourceRequest: boolean;
}

/** A part of a request that a rule does not cover. */
export type RuleLack = 'verb' | 'apiGroup' | 'resource' | 'resourceName' | 'path';

/** What a rule would have to cover besides to allow the request; nothing: it allows it. */
export function lacksOf(rule: PolicyRule, asked: RequestAttributes): RuleLack[] {
  const lacks: RuleLack[] = [];
  if (!has(rule.verbs, asked.verb)) lacks.push('verb');
  if (!asked.resourceRequest) {
    if (!rule.nonResourceURLs?.some((pattern) => pathMatches(pattern, asked.path))) lacks.push('path');
    return lacks;
  }
  if (!has(rule.apiGroups, asked.group)) lacks.push('apiGroup');
  if (!resourceMatches(rule.resources, asked.resource, asked.subresource)) lacks.push('resource');
  const { resourceNames = [] } = rule;
  if (resourceNames.length > 0 && !resourceNames.includes(asked.name)) lacks.push('resourceName');
  return lacks;
}

/** Whether one rule allows the request, without an index. The authorizer does the same with one. */
export const ruleAllows = (rule: PolicyRule, asked: RequestAttributes): boolean => lacksOf(rule, asked).length === 0;
