/** When failed pods are replaced, and when a job gives up. */
import { timeMillis } from '@plat-dev/meta/time';
import { isTerminating, phaseOf, podCondition } from '../shared/pod-state.ts';
import type { WorkloadPod } from '../shared/pods.ts';
import { backoffLimitOf, isSuspended, type JobObject } from './job.ts';

/** Delay before a second failure since the last success is made up for; it doubles with each that follows. */
const FIRST_BACKOFF_MS = 10_000;
const LONGEST_BACKOFF_MS = 6 * 60_000;

/** When a pod ended, in milliseconds: the end of its last container, or what comes nearest to it. */
function finishedAt(pod: WorkloadPod): number {
  let last = 0;
  for (const { state } of pod.status?.containerStatuses ?? []) {
    const end = state?.terminated?.finishedAt;
    if (end != null) last = Math.max(last, timeMillis(end));
  }
  if (last > 0) return last;
  const ready = podCondition(pod, 'Ready');
  if (ready?.lastTransitionTime != null && ready.status !== 'True') return timeMillis(ready.lastTransitionTime);
  return timeMillis(pod.metadata.deletionTimestamp ?? pod.metadata.creationTimestamp ?? '1970-01-01T00:00:00Z');
}

/**
 * Milliseconds until failed pods may be replaced, by the failures after the last success. Pods that fail together are one failure.
 *
 *   failed 4 s ago                     0
 *   failed 4 s ago, and one before     6000
 *   failed 4 s ago, and two before     16000
 *   failed 4 s ago, then a success     0
 */
export function backoffLeft(pods: readonly WorkloadPod[], now: number): number {
  let success = Number.NEGATIVE_INFINITY;
  for (const pod of pods) if (phaseOf(pod) === 'Succeeded') success = Math.max(success, finishedAt(pod));
  const failures = new Set<number>();
  let newest = 0;
  for (const pod of pods) {
    if (phaseOf(pod) !== 'Failed') continue;
    const at = finishedAt(pod);
    if (at <= success) continue;
    failures.add(at);
    newest = Math.max(newest, at);
  }
  if (failures.size <= 1) return 0;
  return Math.max(newest + Math.min(FIRST_BACKOFF_MS * 2 ** (failures.size - 2), LONGEST_BACKOFF_MS) - now, 0);
}

/** Pods that are restarted in place count by their restarts. */
export function restartsExceedLimit(job: JobObject, pods: readonly WorkloadPod[]): boolean {
  if (job.spec?.template?.spec?.restartPolicy !== 'OnFailure') return false;
  let restarts = 0;
  for (const pod of pods) {
    if (phaseOf(pod) !== 'Running' && phaseOf(pod) !== 'Pending') continue;
    for (const { restartCount = 0 } of pod.status?.initContainerStatuses ?? []) restarts += restartCount;
    for (const { restartCount = 0 } of pod.status?.containerStatuses ?? []) restarts += restartCount;
  }
  const limit = backoffLimitOf(job);
  return limit === 0 ? restarts > 0 : restarts >= limit;
}

/** Milliseconds until the deadline of a job that has one and runs; 0 or less: it is over. */
export function deadlineLeft(job: JobObject, startTime: string | undefined, now: number): number | undefined {
  const seconds = job.spec?.activeDeadlineSeconds;
  if (seconds == null || startTime === undefined || isSuspended(job)) return undefined;
  return timeMillis(startTime) + Number(seconds) * 1000 - now;
}

/** A pod that is deleted before it is finished counts as failed where pods are tracked. */
export const countsAsFailed = (pod: WorkloadPod, tracked: boolean): boolean =>
  phaseOf(pod) === 'Failed' || (tracked && isTerminating(pod) && phaseOf(pod) !== 'Succeeded');
