/** Which active pods of a job go first when there are too many. */

import { own } from '@plat-dev/lib/own';
import { timeMillis } from '@plat-dev/meta/time';
import { readySince } from '../shared/pod-state.ts';
import type { WorkloadPod } from '../shared/pods.ts';
import { indexOf, type JobNames } from './job.ts';

const phases: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };
const created = (pod: WorkloadPod): number => (pod.metadata.creationTimestamp == null ? 0 : timeMillis(pod.metadata.creationTimestamp));
const restarts = (pod: WorkloadPod): number =>
  Math.max(0, ...(pod.status?.containerStatuses ?? []).map(({ restartCount }) => restartCount ?? 0));
const flag = (value: boolean): number => (value ? 1 : 0);

/**
 * Pods that lose least go first: those without a node, pending ones, those that are not ready, ready for the shortest time, with
 * the most restarts, and the youngest.
 */
function removalOrder(a: WorkloadPod, b: WorkloadPod): number {
  const [readyA, readyB] = [readySince(a), readySince(b)];
  return (
    flag((a.spec?.nodeName ?? '') !== '') - flag((b.spec?.nodeName ?? '') !== '') ||
    (own(phases, a.status?.phase ?? 'Pending') ?? 1) - (own(phases, b.status?.phase ?? 'Pending') ?? 1) ||
    flag(readyA !== undefined) - flag(readyB !== undefined) ||
    (readyB ?? 0) - (readyA ?? 0) ||
    restarts(b) - restarts(a) ||
    created(b) - created(a) ||
    ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1)
  );
}

/**
 * The active pods to remove, at least `atLeast` of them. Of an Indexed job also those that have no valid index, and all but one of
 * each index.
 */
export function podsToRemove(
  active: readonly WorkloadPod[],
  atLeast: number,
  indexed?: { names: JobNames; completions: number },
): WorkloadPod[] {
  const ordered = [...active].sort(removalOrder);
  const removed: WorkloadPod[] = [];
  let remainingPods = ordered;
  if (indexed !== undefined) {
    remainingPods = [];
    const keeper = new Map<number, WorkloadPod>();
    // The last of an index in the order of removal stays.
    for (const pod of ordered) {
      const index = indexOf(pod, indexed.names);
      if (index !== undefined && index < indexed.completions) keeper.set(index, pod);
    }
    for (const pod of ordered) {
      const index = indexOf(pod, indexed.names);
      if (index !== undefined && keeper.get(index) === pod) remainingPods.push(pod);
      else removed.push(pod);
    }
  }
  if (removed.length < atLeast) removed.push(...remainingPods.slice(0, atLeast - removed.length));
  return removed;
}
