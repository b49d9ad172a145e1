/** The objects that a quota applies to. A quota with scopes applies to pods alone, or to claims by their class of attributes. */
import { qosClass } from '../core/pods/pod-resources.ts';
import type { Pod } from '../core/schema/pods/pod.ts';
import type { ResourceQuotaSpec, ScopedResourceSelectorRequirement } from '../core/schema/quota.ts';
import type { PersistentVolumeClaim } from '../core/schema/volumes/persistent-volume-claims.ts';
import type { CountedResource } from './usage.ts';

/** All scopes of a quota, from `scopes` and `scopeSelector`. */
export function scopesOf(spec: ResourceQuotaSpec): ScopedResourceSelectorRequirement[] {
  const plain = (spec.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' }));
  return [...plain, ...(spec.scopeSelector?.matchExpressions ?? [])];
}

/** Whether an object is in a scope of a quota. */
export function isInScope({ group, name }: CountedResource, scope: ScopedResourceSelectorRequirement, object: unknown): boolean {
  if (group !== '') return false;
  if (name === 'pods') return podMatchesScope(scope, object as Pod);
  return name === 'persistentvolumeclaims' && claimMatchesScope(scope, object as PersistentVolumeClaim);
}
export const isInScopes = (resource: CountedResource, scopes: readonly ScopedResourceSelectorRequirement[], object: unknown): boolean =>
  scopes.every((scope) => isInScope(resource, scope, object));
/** Whether objects of the kind can be in scopes at all. */
export const hasScopes = ({ group, name }: CountedResource): boolean =>
  group === '' && (name === 'pods' || name === 'persistentvolumeclaims');

function podMatchesScope({ scopeName, operator, values = [] }: ScopedResourceSelectorRequirement, pod: Pod): boolean {
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

/** Whether a claim is in a scope: that of a class which it requests, has, or is about to get. */
function claimMatchesScope(requirement: ScopedResourceSelectorRequirement, { spec, status }: PersistentVolumeClaim): boolean {
  if (requirement.scopeName !== 'VolumeAttributesClass') return false;
  const { currentVolumeAttributesClassName: current, modifyVolumeStatus: modified } = status;
  const names = [spec.volumeAttributesClassName, current, modified?.targetVolumeAttributesClassName].filter(
    (name): name is string => name !== undefined && name !== '',
  );
  return (names.length === 0 ? [''] : names).some((name) => matchesClass(requirement.operator, requirement.values ?? [], name));
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
