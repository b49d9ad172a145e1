/** The resources that a pod states for all its containers together. */
import { own } from '@plat-dev/lib/own';
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { containerAmounts, isPodResource } from '../../core/pods/pod-amounts.ts';
import type { PodSpec } from '../../core/schema/pods/pod.ts';
import type { ResourceRequirements } from '../../core/schema/resources.ts';
import type { KindEnv } from '../../kind.ts';
import { amount, isHugePages, validateResourceName, validateResourceRequirements } from '../resources.ts';
import { validateUsedClaims } from './resource-claims.ts';

const podResources = ['cpu', 'hugepages-', 'memory'];

export function validatePodResources(
  spec: PodSpec,
  resources: ResourceRequirements,
  claimNames: ReadonlySet<string>,
  at: Path,
  errors: FieldErrors,
  env: KindEnv,
): void {
  if (!env.feature('PodLevelResources')) return;
  if (spec.os?.name === 'windows') {
    errors.forbidden(at, 'may not be set for a windows pod');
    return;
  }
  if (resources.claims !== undefined) errors.forbidden(at.child('claims'), 'claims may not be set for Resources at pod-level');
  validateResourceRequirements(resources, at, errors, env, validatePodResourceName);
  validateUsedClaims(resources, claimNames, at.child('claims'), errors);
  validateSums(spec, resources, at, errors);
  validateLimitsOfContainers(spec, resources.limits, at.child('containers'), errors);
}

function validatePodResourceName(name: string, at: Path, errors: FieldErrors): void {
  const errorsBefore = errors.list.length;
  validateResourceName(name, at, errors);
  if (errors.list.length === errorsBefore && !isPodResource(name)) errors.notSupported(at, name, podResources);
}

/** A pod requests no less than its containers together; huge pages cannot be overcommitted, so that the same holds for their limits. */
function validateSums(spec: PodSpec, { requests, limits }: ResourceRequirements, at: Path, errors: FieldErrors): void {
  const check = (
    which: 'requests' | 'limits',
    stated: Readonly<Record<string, string>> | undefined,
    counts: (name: string) => boolean,
  ): void => {
    if (stated === undefined) return;
    for (const [name, sum] of containerAmounts(spec, which)) {
      const text = counts(name) ? own(stated, name) : undefined;
      if (text !== undefined && sum.compare(amount(text)) > 0)
        errors.invalid(at.child(which).key(name), text, `must be greater than or equal to aggregate container ${which} of ${sum}`);
    }
  };
  check('requests', requests, () => true);
  check('limits', limits, isHugePages);
}

function validateLimitsOfContainers(
  { containers = [] }: PodSpec,
  podLimits: Readonly<Record<string, string>> | undefined,
  at: Path,
  errors: FieldErrors,
): void {
  containers.forEach(({ resources: { limits } }, i) => {
    for (const name in limits) {
      const podLimit = own(podLimits, name);
      const limit = limits[name] as string;
      if (podLimit !== undefined && amount(limit).compare(amount(podLimit)) > 0)
        errors.invalid(at.index(i).key(name).child('limits'), limit, `must be less than or equal to pod limits of ${podLimit}`);
    }
  });
}
