/**
 * The next pods of a rolling update. Without a surge old pods are deleted as long as few enough nodes are without an available
 * pod; with one, new pods are created next to as many old ones, which are deleted when the new ones are available. An old pod
 * that is not available is replaced at once: nothing is lost with it.
 *
 *   maxUnavailable 1    a available, b available        delete a
 *                       a new, not ready, b available   wait
 *   maxSurge 1          a available, b available        create a second pod on a
 */
import { scaledUp } from '../shared/amounts.ts';
import type { WorkloadPod } from '../shared/pods.ts';
import type { NodeView } from './node-view.ts';

export interface Changes {
  /** Nodes that get a pod. */
  readonly create: readonly string[];
  readonly remove: readonly WorkloadPod[];
}
export interface Limits {
  readonly maxUnavailable: number;
  readonly maxSurge: number;
}
type Views = Iterable<readonly [string, NodeView]>;

/** The limits of a strategy on so many nodes. One of them is at least 1, or no update would ever end. */
export function rollingLimits(
  { maxUnavailable = 1, maxSurge = 0 }: { maxUnavailable?: number | string; maxSurge?: number | string },
  desired: number,
): Limits {
  const limits = { maxUnavailable: scaledUp(maxUnavailable, desired), maxSurge: scaledUp(maxSurge, desired) };
  return desired > 0 && limits.maxUnavailable === 0 && limits.maxSurge === 0 ? { ...limits, maxUnavailable: 1 } : limits;
}

export function rollingChanges(views: Views, limits: Limits): Changes {
  return limits.maxSurge === 0 ? replaced(views, limits.maxUnavailable) : surged(views, limits.maxSurge);
}

function replaced(views: Views, maxUnavailable: number): Changes {
  let unavailable = 0;
  const lost: WorkloadPod[] = [];
  const candidates: WorkloadPod[] = [];
  for (const [, { isDesired, isMisscheduled, oldPod, newPod, isClear, isOldAvailable, isNewAvailable }] of views) {
    // The node is gone, or needs no pod and has none.
    if (!isDesired && !isMisscheduled) continue;
    if (!isClear || (oldPod === undefined) === (newPod === undefined)) unavailable++;
    else if (oldPod === undefined) unavailable += isNewAvailable ? 0 : 1;
    else if (isOldAvailable) candidates.push(oldPod);
    else lost.push(oldPod);
  }
  return { create: [], remove: [...lost, ...candidates.slice(0, Math.max(0, maxUnavailable - unavailable - lost.length))] };
}

function surged(views: Views, maxSurge: number): Changes {
  let surge = 0;
  const lost: string[] = [];
  const candidates: string[] = [];
  const remove: WorkloadPod[] = [];
  for (const [node, { isDesired, oldPod, newPod, isClear, isOldAvailable, isNewAvailable }] of views) {
    // A new pod would have no place there.
    if (!isDesired) continue;
    if (!isClear) surge++;
    else if (oldPod === undefined) continue;
    else if (newPod === undefined) (isOldAvailable ? candidates : lost).push(node);
    else if (isNewAvailable) remove.push(oldPod);
    else surge++;
  }
  return { create: [...lost, ...candidates.slice(0, Math.max(0, maxSurge - surge))], remove };
}
