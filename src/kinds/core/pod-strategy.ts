/** How pods are written: as themselves, through `status`, and through `ephemeralcontainers`. */
import type { Strategy } from '../kind.ts';
import { validateEphemeralUpdate, validatePodCreate, validatePodStatusUpdate, validatePodUpdate } from '../validation/pod.ts';
import { podWarnings } from '../validation/pod-warnings.ts';
import { syncServiceAccount } from './pod-defaults.ts';
import { qosClass } from './pod-resources.ts';
import { syncSeccomp } from './pod-seccomp.ts';
import type { Pod } from './schema/pod.ts';

export const podStrategy: Strategy<Pod> = {
  prepareForCreate(pod, env) {
    // Admission may have named a service account.
    syncServiceAccount(pod.spec);
    syncSeccomp(pod, env);
    pod.status = { phase: 'Pending', qosClass: qosClass(pod.spec) };
  },
  prepareForUpdate(pod, old) {
    pod.status = old.status;
    syncServiceAccount(pod.spec);
  },
  validate: validatePodCreate,
  validateUpdate: validatePodUpdate,
  // People seldom change pods themselves, so that warnings are given only when they are made.
  warnings: (pod, old, env) => (old === undefined ? podWarnings(pod.metadata, pod.spec, env) : []),
  resetFields: [['status']],
};

export const podStatusStrategy: Strategy<Pod> = {
  prepareForUpdate(pod, old) {
    pod.spec = old.spec;
    if (old.metadata.deletionTimestamp === undefined) delete pod.metadata.deletionTimestamp;
    // Owners are not the business of the node that reports.
    if (old.metadata.ownerReferences === undefined) delete pod.metadata.ownerReferences;
    else pod.metadata.ownerReferences = old.metadata.ownerReferences;
  },
  validateUpdate: validatePodStatusUpdate,
  resetFields: [['spec'], ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']],
};

/** Everything but the list of added containers stays as it was. */
export const ephemeralContainersStrategy: Strategy<Pod> = {
  prepareForUpdate(pod, old) {
    const { ephemeralContainers } = pod.spec;
    const { resourceVersion } = pod.metadata;
    pod.metadata = { ...old.metadata };
    if (resourceVersion === undefined) delete pod.metadata.resourceVersion;
    else pod.metadata.resourceVersion = resourceVersion;
    pod.spec = { ...old.spec };
    if (ephemeralContainers === undefined) delete pod.spec.ephemeralContainers;
    else pod.spec.ephemeralContainers = ephemeralContainers;
    pod.status = old.status;
  },
  validateUpdate: validateEphemeralUpdate,
  resetFields: [['status']],
};

/** Seconds that a pod is given to end by itself: none where nothing runs. */
export function podGracePeriod({ spec, status }: Pod, requested: number | undefined): number {
  if (spec.nodeName === undefined || status.phase === 'Failed' || status.phase === 'Succeeded') return 0;
  const seconds = requested ?? spec.terminationGracePeriodSeconds ?? 0;
  return seconds < 0 ? 1 : seconds;
}
