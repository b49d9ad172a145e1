/** Which requests a policy or a binding is for: selectors, and rules of resources and operations. */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { validateLabelSelector } from '@plat-dev/meta/labels';
import { pathSegmentName } from '@plat-dev/meta/names';
import type { ReleaseEnv } from '../kind.ts';
import { each, repeatedTexts } from '../validation/each.ts';
import { report } from '../validation/field-checks.ts';
import { validateRule } from './rule-rules.ts';
import type { MatchResources, NamedRule } from './schema/policies.ts';

const matchPolicies = ['Equivalent', 'Exact'];

/** Selectors that are not given select everything. */
export function matchDefaults(resources: MatchResources | undefined): void {
  if (resources === undefined) return;
  resources.namespaceSelector ??= {};
  resources.objectSelector ??= {};
}

export function validateMatchResources(resources: MatchResources, at: Path, errors: FieldErrors, env: ReleaseEnv): void {
  const { matchPolicy = '', namespaceSelector, objectSelector, resourceRules, excludeResourceRules } = resources;
  if (!matchPolicies.includes(matchPolicy)) errors.notSupported(at.child('matchPolicy'), matchPolicy, matchPolicies);
  validateLabelSelector(namespaceSelector, at.child('namespaceSelector'), errors);
  validateLabelSelector(objectSelector, at.child('objectSelector'), errors);
  each(resourceRules, at.child('resourceRules'), (rule, here) => validateNamedRule(rule, here, errors, env));
  each(excludeResourceRules, at.child('excludeResourceRules'), (rule, here) => validateNamedRule(rule, here, errors, env));
}

function validateNamedRule(rule: NamedRule, at: Path, errors: FieldErrors, env: ReleaseEnv): void {
  const { resourceNames = [] } = rule;
  const repeated = repeatedTexts(resourceNames);
  each(resourceNames, at.child('resourceNames'), (name, here, i) => {
    report(errors, here, name, pathSegmentName(name));
    if (repeated[i]) errors.duplicate(here, name);
  });
  validateRule(rule, at, errors, env);
}

const DELETE = 'DELETE';
const mutatedOperations = ['*', 'CONNECT', 'CREATE', 'UPDATE'];

/** What is deleted cannot be changed. */
export function validateMutatedOperations(resources: MatchResources | undefined, at: Path, errors: FieldErrors): void {
  const operationsAt = at.child('resourceRules').child('operations');
  for (const { operations = [] } of resources?.resourceRules ?? [])
    if (operations.includes(DELETE)) errors.notSupported(operationsAt, DELETE, mutatedOperations);
}
