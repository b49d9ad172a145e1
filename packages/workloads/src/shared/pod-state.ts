/** What the status of a pod means to those that count pods. */
import { timeMillis } from '@plat-dev/meta/time';
import type { WorkloadPod } from './pods.ts';

export const phaseOf = (pod: WorkloadPod): string => pod.status?.phase ?? 'Pending';
export const isFinished = (pod: WorkloadPod): boolean => phaseOf(pod) === 'Succeeded' || phaseOf(pod) === 'Failed';
export const isTerminating = (pod: WorkloadPod): boolean => pod.metadata.deletionTimestamp !== undefined;
/** Neither finished nor being deleted. */
export const isActive = (pod: WorkloadPod): boolean => !isFinished(pod) && !isTerminating(pod);

type PodCondition = NonNullable<NonNullable<WorkloadPod['status']>['conditions']>[number];

export function podCondition(pod: WorkloadPod, type: string): PodCondition | undefined {
  return pod.status?.conditions?.find((condition) => condition.type === type);
}
export const isReady = (pod: WorkloadPod): boolean => podCondition(pod, 'Ready')?.status === 'True';
/** Since when a ready pod is ready, in milliseconds; undefined for others. */
export function readySince(pod: WorkloadPod): number | undefined {
  const ready = podCondition(pod, 'Ready');
  if (ready?.status !== 'True') return undefined;
  return ready.lastTransitionTime == null ? 0 : timeMillis(ready.lastTransitionTime);
}

/**
 * Whether a pod has been ready for the required seconds, or else in how many milliseconds it will have been:
 *
 *   availability(pod, 0, now)    true as soon as it is ready
 *   availability(pod, 10, now)   4000: ready for six seconds
 *   availability(pod, 10, now)   false: not ready
 */
export function availability(pod: WorkloadPod, minReadySeconds: number, now: number): boolean | number {
  const since = readySince(pod);
  if (since === undefined) return false;
  const remainingMs = since + minReadySeconds * 1000 - now;
  return minReadySeconds === 0 || remainingMs <= 0 ? true : remainingMs;
}
export const isAvailable = (pod: WorkloadPod, minReadySeconds: number, now: number): boolean =>
  availability(pod, minReadySeconds, now) === true;
