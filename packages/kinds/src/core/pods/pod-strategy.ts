/** The strategies of pods: of the main resource, of `status`, and of `ephemeralcontainers`. */
import type { Integer } from '@plat-dev/lib/integers';
import type { Strategy } from '../../kind.ts';
import { validateEphemeralUpdate, validatePodCreate, validatePodStatusUpdate, validatePodUpdate } from '../../validation/pods/pod.ts';
import { podWarnings } from '../../validation/pods/pod-warnings.ts';
import type { Pod } from '../schema/pods/pod.ts';
import { syncServiceAccount } from './pod-defaults.ts';
import { qosClass } from './pod-resources.ts';
import { syncSeccomp } from './pod-seccomp.ts';

export const podStrategy: Strategy<Pod> = {
  prepareForCreate(pod, env) {
    // Admission may have set a service account.
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
  // Users seldom update pods themselves, so that warnings are sent only on create.
  warnings: (pod, old, env) => (old === undefined ? podWarnings(pod.metadata, pod.spec, env) : []),
  resetFields: [['status']],
};

export const podStatusStrategy: Strategy<Pod> = {
  prepareForUpdate(pod, old) {
    pod.spec = old.spec;
    if (old.metadata.deletionTimestamp === undefined) delete pod.metadata.deletionTimestamp;
    // A status update does not change owners.
    if (old.metadata.ownerReferences === undefined) delete pod.metadata.ownerReferences;
    else pod.metadata.ownerReferences = old.metadata.ownerReferences;
  },
  validateUpdate: validatePodStatusUpdate,
  resetFields: [['spec'], ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']],
};

/** All fields but the ephemeral containers keep their values. */
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

/** The grace period of a pod in seconds: 0 if nothing runs. */
export function podGracePeriod({ spec, status }: Pod, requested: Integer | undefined): Integer {
  if (spec.nodeName === undefined || status.phase === 'Failed' || status.phase === 'Succeeded') return 0;
  const seconds = requested ?? spec.terminationGracePeriodSeconds ?? 0;
  return seconds < 0 ? 1 : seconds;
}
