/** The status of a replica set or replication controller, from its active pods. */
import { formatTime } from '@plat-dev/meta/time';
import { availability } from '../shared/pod-state.ts';
import type { WorkloadPod } from '../shared/pods.ts';
import type { ReplicaStatus, Replicated } from './kinds.ts';

/** Why the number of pods could not be reached. */
export interface ReplicaFailure {
  readonly reason: 'FailedCreate' | 'FailedDelete';
  readonly message: string;
}
export interface Observed {
  readonly status: ReplicaStatus;
  /** Milliseconds until the next ready pod becomes available. */
  readonly nextMs: number | undefined;
}

const REPLICA_FAILURE = 'ReplicaFailure';

/** `labeled`: how many of the pods have the labels of the template. */
export function observe(
  { metadata, spec, status = { replicas: 0 } }: Replicated,
  pods: readonly WorkloadPod[],
  labeled: number,
  failure: ReplicaFailure | undefined,
  now: number,
): Observed {
  let [ready, available] = [0, 0];
  let nextMs: number | undefined;
  for (const pod of pods) {
    const isAvailable = availability(pod, spec?.minReadySeconds ?? 0, now);
    if (isAvailable === false) continue;
    ready++;
    if (isAvailable === true) available++;
    else nextMs = Math.min(nextMs ?? isAvailable, isAvailable);
  }
  const conditions = conditionsOf(status, failure, now);
  return {
    status: {
      replicas: pods.length,
      ...(labeled > 0 && { fullyLabeledReplicas: labeled }),
      ...(ready > 0 && { readyReplicas: ready }),
      ...(available > 0 && { availableReplicas: available }),
      ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
      ...(conditions.length > 0 && { conditions }),
    },
    nextMs,
  };
}

/** The first failure stays, with its time and message, until there is none. Conditions of others are kept. */
function conditionsOf({ conditions = [] }: ReplicaStatus, failure: ReplicaFailure | undefined, now: number) {
  const isReported = conditions.some(({ type }) => type === REPLICA_FAILURE);
  if (failure === undefined) return isReported ? conditions.filter(({ type }) => type !== REPLICA_FAILURE) : conditions;
  if (isReported) return conditions;
  return [...conditions, { type: REPLICA_FAILURE, status: 'True', lastTransitionTime: formatTime(now), ...failure }];
}
