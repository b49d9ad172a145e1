/** A resize changes how much cpu and memory the containers of a running pod have, and nothing else. */
import { equal } from '@plat-dev/lib/equal';
import { own } from '@plat-dev/lib/own';
import type { Work } from '@plat-dev/lib/slices';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { isSidecar } from '../../core/pods/pod-amounts.ts';
import { withComputeOf } from '../../core/pods/pod-resources.ts';
import type { Container } from '../../core/schema/pods/containers.ts';
import type { Pod } from '../../core/schema/pods/pod.ts';
import type { ResourceRequirements } from '../../core/schema/resources.ts';
import type { KindEnv } from '../../kind.ts';
import { amount } from '../resources.ts';
import { validatePodAgain, validateQosClass } from './pod.ts';
import { podNames } from './pod-names.ts';

const specAt = Path.of('spec');
const wholePod = Path.of('');

export function* validatePodResize(pod: Pod, old: Pod, errors: FieldErrors, env: KindEnv): Work<void> {
  if (own(old.metadata.annotations, podNames(env.identity).mirror) !== undefined) {
    errors.forbidden(wholePod, 'static pods cannot be resized');
    return;
  }
  if (old.spec.os?.name === 'windows') {
    errors.forbidden(wholePod, 'windows pods cannot be resized');
    return;
  }
  yield* validatePodAgain(pod, old, errors, env);
  validateQosClass(pod, old, errors, env);
  if (!isSupportedByNode(old)) errors.forbidden(specAt, 'Pod running on node without support for resize');
  if (!validatePodResources(pod.spec.resources, old.spec.resources, errors, env)) return;
  if ((old.status.nodeAllocatableResourceClaimStatuses ?? []).length > 0)
    errors.forbidden(specAt, 'pods with node allocatable resource claims cannot be resized');
  if (!validateOrder(pod, old, 'containers', errors) || !validateOrder(pod, old, 'initContainers', errors)) return;
  const initResize = env.feature('InPlacePodVerticalScalingInitContainers');
  pod.spec.initContainers?.forEach((container, i) => {
    const before = old.spec.initContainers?.[i] as Container;
    if (initResize || isSidecar(before)) validateRemovals(container, before, specAt.child('initContainers').index(i), errors, env);
  });
  pod.spec.containers?.forEach((container, i) => {
    const before = old.spec.containers?.[i] as Container;
    validateRemovals(container, before, specAt.child('containers').index(i), errors, env);
    if (!equal(withComputeOfContainer(container, before), before)) errors.forbidden(specAt, 'only cpu and memory resources are mutable');
  });
  pod.spec.initContainers?.forEach((container, i) => {
    validateInitContainer(
      container,
      old.spec.initContainers?.[i] as Container,
      initResize,
      specAt.child('initContainers').index(i),
      errors,
    );
  });
}

/** Whether the node of the pod reports the resources of what runs: older ones do not, and would not resize. */
function isSupportedByNode({ status }: Pod): boolean {
  const running = status.containerStatuses?.find(({ state }) => state.running !== undefined);
  return running === undefined || running.resources !== undefined;
}

/** Returns whether the containers are looked at as well. */
function validatePodResources(
  resources: ResourceRequirements | undefined,
  old: ResourceRequirements | undefined,
  errors: FieldErrors,
  env: KindEnv,
): boolean {
  if (!hasAmounts(resources) && !hasAmounts(old)) return true;
  if (!env.feature('InPlacePodLevelResourcesVerticalScaling')) {
    const detail = 'resize of pods with pod-level resources is forbidden';
    errors.forbidden(wholePod, `${detail} when InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled`);
    return false;
  }
  const at = specAt.child('resources');
  if (resources === undefined) {
    errors.forbidden(at, 'pod-level resources cannot be removed');
    return true;
  }
  for (const which of ['requests', 'limits'] as const)
    if (isRemoved(resources[which], old?.[which])) errors.forbidden(at.child(which), `pod-level resource ${which} cannot be removed`);
  const masked = withComputeOf(resources, old ?? {});
  if (!equal(masked, old ?? {})) errors.forbidden(specAt, 'only cpu and memory resources are mutable at pod-level');
  return true;
}
const hasAmounts = (resources: ResourceRequirements | undefined): boolean =>
  Object.keys(resources?.requests ?? {}).length + Object.keys(resources?.limits ?? {}).length > 0;

/** Returns whether both have the same containers in the same order. */
function validateOrder(pod: Pod, old: Pod, field: 'containers' | 'initContainers', errors: FieldErrors): boolean {
  const containers = pod.spec[field] ?? [];
  const oldContainers = old.spec[field] ?? [];
  const errorsBefore = errors.list.length;
  if (containers.length !== oldContainers.length) errors.forbidden(specAt.child(field), `${field} may not be added or removed on resize`);
  else
    containers.forEach(({ name }, i) => {
      if (name !== oldContainers[i]?.name)
        errors.forbidden(specAt.child(field).index(i).child('name'), `${field} may not be renamed or reordered on resize`);
    });
  return errors.list.length === errorsBefore;
}

function validateRemovals(container: Container, old: Container, at: Path, errors: FieldErrors, env: KindEnv): void {
  const here = at.child('resources');
  for (const which of ['requests', 'limits'] as const)
    if (isRemoved(container.resources[which], old.resources[which]))
      errors.forbidden(here.child(which), `resource ${which} cannot be removed`);
  if (env.release === '1.33') validateMemoryLimit(container, old, here.child('limits'), errors);
}

/** In 1.33 memory could be taken from a container only by a restart. */
function validateMemoryLimit({ resources, resizePolicy }: Container, old: Container, at: Path, errors: FieldErrors): void {
  const [limit, oldLimit] = [own(resources.limits, 'memory'), own(old.resources.limits, 'memory')];
  if (limit === undefined || (oldLimit !== undefined && amount(limit).compare(amount(oldLimit)) >= 0)) return;
  const restarts = resizePolicy?.some(
    ({ resourceName, restartPolicy }) => resourceName === 'memory' && restartPolicy === 'RestartContainer',
  );
  const change = oldLimit === undefined ? 'added' : 'decreased';
  if (!restarts) errors.forbidden(at.key('memory'), `memory limits cannot be ${change} unless resizePolicy is RestartContainer`);
}

function validateInitContainer(container: Container, old: Container, initResize: boolean, at: Path, errors: FieldErrors): void {
  if (equal(container, old)) return;
  if (!isSidecar(container) && !initResize) {
    errors.forbidden(specAt, 'resources for non-sidecar init containers are immutable');
    return;
  }
  if (!equal(withComputeOfContainer(container, old), old))
    errors.forbidden(at, 'only cpu and memory resources for init or sidecar containers are mutable');
  if (!isSidecar(container) && container.resizePolicy?.some(({ restartPolicy }) => restartPolicy === 'RestartContainer'))
    errors.forbidden(at, 'non-sidecar init containers with a resize policy of RestartContainer cannot be resized');
}

// ---- amounts -----------------------------------------------------------------------------------------------------

type Amounts = Readonly<Record<string, string>> | undefined;

const isRemoved = (amounts: Amounts, old: Amounts): boolean => Object.keys(old ?? {}).some((name) => own(amounts, name) === undefined);

const withComputeOfContainer = (container: Container, old: Container): Container => ({
  ...container,
  resources: withComputeOf(container.resources, old.resources),
});
