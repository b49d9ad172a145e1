/** The pods that a quota applies to. A quota with scopes applies to pods alone. */
import { qosClass } from '../core/pods/pod-resources.ts';
import type { Pod } from '../core/schema/pods/pod.ts';
import type { ResourceQuotaSpec, ScopedResourceSelectorRequirement } from '../core/schema/quota.ts';

/** All scopes of a quota, from `scopes` and `scopeSelector`. */
export function scopesOf(spec: ResourceQuotaSpec): ScopedResourceSelectorRequirement[] {
  const plain = (spec.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' }));
  return [...plain, ...(spec.scopeSelector?.matchExpressions ?? [])];
}

export const podMatchesScopes = (scopes: readonly ScopedResourceSelectorRequirement[], pod: Pod): boolean =>
  scopes.every((scope) => podMatchesScope(scope, pod));

export function podMatchesScope({ scopeName, operator, values = [] }: ScopedResourceSelectorRequirement, pod: Pod): boolean {
  const { spec } = pod;
  switch (scopeName) {
    case 'Terminating':
      return isTerminating(pod);
    case 'NotTerminating':
      return !isTerminating(pod);
    case 'BestEffort':
      return qosClass(spec) === 'BestEffort';
    case 'NotBestEffort':
      return qosClass(spec) !== 'BestEffort';
    case 'PriorityClass':
      return matchesClass(operator, values, spec.priorityClassName ?? '');
    case 'CrossNamespacePodAffinity':
      return reachesOtherNamespaces(spec);
    default:
      return false;
  }
}

const isTerminating = ({ spec }: Pod): boolean => spec.activeDeadlineSeconds != null && spec.activeDeadlineSeconds >= 0;

function matchesClass(operator: string, values: readonly string[], name: string): boolean {
  switch (operator) {
    case 'In':
      return values.includes(name);
    case 'NotIn':
      return !values.includes(name);
    case 'DoesNotExist':
      return name === '';
    default:
      return name !== '';
  }
}

/** Whether a pod has affinity terms for pods of other namespaces. */
function reachesOtherNamespaces({ affinity }: Pod['spec']): boolean {
  const terms = [affinity?.podAffinity, affinity?.podAntiAffinity].flatMap((wish) => [
    ...(wish?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(wish?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((weighted) => weighted.podAffinityTerm),
  ]);
  return terms.some((term) => (term.namespaces ?? []).length > 0 || term.namespaceSelector != null);
}
