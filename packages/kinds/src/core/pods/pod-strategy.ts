/** The strategies of pods: of the main resource, of `status`, `ephemeralcontainers` and `resize`. */
import { equal } from '@plat-dev/lib/equal';
import type { Integer } from '@plat-dev/lib/integers';
import { formatTime } from '@plat-dev/meta/time';
import { nextGeneration } from '../../generation.ts';
import type { KindEnv, Strategy } from '../../kind.ts';
import { validateEphemeralUpdate, validatePodCreate, validatePodUpdate } from '../../validation/pods/pod.ts';
import { validatePodResize } from '../../validation/pods/pod-resize.ts';
import { validatePodStatusUpdate } from '../../validation/pods/pod-status.ts';
import { podWarnings } from '../../validation/pods/pod-warnings.ts';
import type { Container } from '../schema/pods/containers.ts';
import type { Pod, PodCondition } from '../schema/pods/pod.ts';
import { syncAppArmor } from './pod-app-armor.ts';
import { syncServiceAccount } from './pod-defaults.ts';
import { qosClass } from './pod-resources.ts';
import { syncSeccomp } from './pod-seccomp.ts';
import { mergeLabelKeys } from './pod-selectors.ts';

export const podStrategy: Strategy<Pod> = {
  prepareForCreate(pod, env, request) {
    // Admission may have set a service account.
    syncServiceAccount(pod.spec);
    if (!env.since('1.27')) syncSeccomp(pod, env);
    pod.status = { phase: 'Pending', qosClass: qosClass(pod.spec) };
    if ((pod.spec.schedulingGates ?? []).length > 0) pod.status.conditions = [gatedCondition(env)];
    mergeLabelKeys(pod, env);
    syncAppArmor(pod, env, request);
  },
  prepareForUpdate(pod, old) {
    pod.status = old.status;
    syncServiceAccount(pod.spec);
  },
  validate: validatePodCreate,
  validateUpdate: validatePodUpdate,
  // Users seldom update pods themselves, so that warnings are sent only on create.
  warnings: (pod, old, env) => (old === undefined ? podWarnings(pod.metadata, pod.spec, env) : []),
  resetFields: [['status']],
};

/** Nobody else sets the condition of a pod that the scheduler does not look at. */
const gatedCondition = (env: KindEnv): PodCondition => ({
  type: 'PodScheduled',
  status: 'False',
  lastTransitionTime: formatTime(env.now()),
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
});

export const podStatusStrategy: Strategy<Pod> = {
  prepareForUpdate(pod, old, env) {
    pod.spec = old.spec;
    if (old.metadata.deletionTimestamp === undefined) delete pod.metadata.deletionTimestamp;
    // A status update does not change owners.
    if (old.metadata.ownerReferences === undefined) delete pod.metadata.ownerReferences;
    else pod.metadata.ownerReferences = old.metadata.ownerReferences;
    if (env.since('1.32') && pod.status.qosClass === undefined && old.status.qosClass !== undefined)
      pod.status.qosClass = old.status.qosClass;
    if (env.since('1.33')) keepObservedGenerations(pod, old);
  },
  validateUpdate: validatePodStatusUpdate,
  resetFields: [['spec'], ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']],
};

/** Clients that do not know the field leave it out: that does not clear it. There may be several conditions of a type. */
function keepObservedGenerations({ status }: Pod, { status: old }: Pod): void {
  if (status.observedGeneration === undefined && old.observedGeneration !== undefined) status.observedGeneration = old.observedGeneration;
  const generations = new Map<string, (Integer | undefined)[]>();
  for (const { type, observedGeneration } of old.conditions ?? [])
    generations.set(type, [...(generations.get(type) ?? []), observedGeneration]);
  for (const condition of status.conditions ?? []) {
    const generation = generations.get(condition.type)?.shift();
    if (condition.observedGeneration === undefined && generation !== undefined) condition.observedGeneration = generation;
  }
}

/** All fields but the ephemeral containers keep their values. */
export const ephemeralContainersStrategy: Strategy<Pod> = {
  prepareForUpdate(pod, old, env) {
    const { ephemeralContainers } = pod.spec;
    keepOthers(pod, old, env);
    if (ephemeralContainers === undefined) delete pod.spec.ephemeralContainers;
    else pod.spec.ephemeralContainers = ephemeralContainers;
    countChange(pod, old, env);
  },
  validateUpdate: validateEphemeralUpdate,
  resetFields: [['status']],
};

/** All fields keep their values but the resources of containers, those of the pod, and what is to happen when they change. */
export const resizeStrategy: Strategy<Pod> = {
  prepareForUpdate(pod, old, env) {
    const { containers = [], initContainers, resources } = pod.spec;
    const { containers: oldContainers = [], initContainers: oldInitContainers = [] } = old.spec;
    // Validation says that containers cannot be added or removed.
    if (containers.length !== oldContainers.length || (initContainers ?? []).length !== oldInitContainers.length) return;
    keepOthers(pod, old, env);
    pod.spec.containers = resized(containers, oldContainers);
    if (initContainers !== undefined) pod.spec.initContainers = resized(initContainers, oldInitContainers);
    if (env.feature('InPlacePodLevelResourcesVerticalScaling')) {
      if (resources === undefined) delete pod.spec.resources;
      else pod.spec.resources = resources;
    }
    countChange(pod, old, env);
  },
  validateUpdate: validatePodResize,
  resetFields: [['status']],
};

/** The stored containers with the new resources; the new ones if they have other names, which validation refuses. */
function resized(containers: Container[], old: readonly Container[]): Container[] {
  if (containers.some(({ name }, i) => name !== old[i]?.name)) return containers;
  return containers.map(({ resources, resizePolicy }, i) => {
    const container: Container = { ...(old[i] as Container), resources };
    if (resizePolicy === undefined) delete container.resizePolicy;
    else container.resizePolicy = resizePolicy;
    return container;
  });
}

/** Restores the stored metadata, spec and status. */
function keepOthers(pod: Pod, old: Pod, env: KindEnv): void {
  const { resourceVersion, managedFields } = pod.metadata;
  pod.metadata = { ...old.metadata };
  // Before 1.33 the write had no owner.
  if (managedFields !== undefined && env.since('1.33')) pod.metadata.managedFields = managedFields;
  if (resourceVersion === undefined) delete pod.metadata.resourceVersion;
  else pod.metadata.resourceVersion = resourceVersion;
  pod.spec = { ...old.spec };
  pod.status = old.status;
}
function countChange(pod: Pod, old: Pod, env: KindEnv): void {
  if (env.since('1.33') && !equal(pod.spec, old.spec)) pod.metadata.generation = nextGeneration(old.metadata.generation);
}

/** The grace period of a pod in seconds: 0 if nothing runs. */
export function podGracePeriod({ spec, status }: Pod, requested: Integer | undefined): Integer {
  if (spec.nodeName === undefined || status.phase === 'Failed' || status.phase === 'Succeeded') return 0;
  const seconds = requested ?? spec.terminationGracePeriodSeconds ?? 0;
  return seconds < 0 ? 1 : seconds;
}
