/** What there is of a daemon set on one node, and what has to be done about it. */
import { availability, isReady, isTerminating, phaseOf } from '../shared/pod-state.ts';
import type { WorkloadPod } from '../shared/pods.ts';
import { type DaemonSetObject, isUpdated } from './daemon-pod.ts';
import type { Fit } from './placement.ts';

/** What the pods are compared with. */
export interface Rules {
  readonly set: DaemonSetObject;
  /** The hash of the newest revision. */
  readonly hash: string;
  /** Whether a node may have an old and a new pod while the set is updated. */
  readonly surges: boolean;
  readonly now: number;
}

export interface NodeView {
  /** The node should have a pod; it has one; it has one and should not. */
  readonly isDesired: boolean;
  readonly isCurrent: boolean;
  readonly isMisscheduled: boolean;
  /** About the oldest pod of the node. */
  readonly isReady: boolean;
  readonly isAvailable: boolean;
  readonly isUpdated: boolean;
  /** A pod has to be created. */
  readonly wantsPod: boolean;
  /** Pods to delete. */
  readonly surplus: readonly WorkloadPod[];
  /** Pods that have finished, to be deleted and created again, not too often. */
  readonly finished: readonly WorkloadPod[];
  /** The pods that an update looks at, and whether each is available; `isClear` is false where there are more. */
  readonly oldPod: WorkloadPod | undefined;
  readonly newPod: WorkloadPod | undefined;
  readonly isOldAvailable: boolean;
  readonly isNewAvailable: boolean;
  readonly isClear: boolean;
  /** When the next ready pod is available, in milliseconds since 1970. */
  readonly availableAt: number | undefined;
}

/** `fit` is undefined for a node that does not exist. */
export function viewNode(pods: readonly WorkloadPod[], fit: Fit | undefined, rules: Rules): NodeView {
  const { set, hash, now } = rules;
  const seconds = set.spec?.minReadySeconds ?? 0;
  const sorted = [...pods].sort(oldestFirst);
  const [oldest] = sorted;
  const isAvailable = (pod: WorkloadPod | undefined): boolean => pod !== undefined && availability(pod, seconds, now) === true;
  const waits = sorted.map((pod) => availability(pod, seconds, now)).filter((wait) => typeof wait === 'number');
  const active = sorted.filter((pod) => !isTerminating(pod));
  const old = active.filter((pod) => !isUpdated(pod, set, hash));
  const updated = active.filter((pod) => isUpdated(pod, set, hash));
  const isDesired = fit?.run === true;
  const counts = isDesired && oldest !== undefined;
  return {
    isDesired,
    isCurrent: counts,
    isMisscheduled: fit !== undefined && !isDesired && oldest !== undefined,
    isReady: counts && isReady(oldest),
    isAvailable: counts && isAvailable(oldest),
    isUpdated: counts && isUpdated(oldest, set, hash),
    wantsPod: isDesired && oldest === undefined,
    ...toDelete(active, fit, rules, isAvailable),
    oldPod: old[0],
    newPod: updated[0],
    isOldAvailable: isAvailable(old[0]),
    isNewAvailable: isAvailable(updated[0]),
    isClear: old.length <= 1 && updated.length <= 1,
    availableAt: waits.length === 0 ? undefined : now + Math.min(...waits),
  };
}

/** Pods that have a node come first, then the older ones. */
function oldestFirst(a: WorkloadPod, b: WorkloadPod): number {
  const bound = Number((b.spec?.nodeName ?? '') !== '') - Number((a.spec?.nodeName ?? '') !== '');
  return bound || order(a.metadata.creationTimestamp, b.metadata.creationTimestamp) || order(a.metadata.name, b.metadata.name);
}
const order = (a = '', b = ''): number => (a < b ? -1 : a > b ? 1 : 0);

function toDelete(
  active: readonly WorkloadPod[],
  fit: Fit | undefined,
  rules: Rules,
  isAvailable: (pod: WorkloadPod) => boolean,
): { surplus: WorkloadPod[]; finished: WorkloadPod[] } {
  // Pods that ran on a node that is gone are left to the collection of pods, which knows whether it comes back.
  if (fit === undefined) return { surplus: active.filter(({ spec }) => (spec?.nodeName ?? '') === ''), finished: [] };
  if (!fit.stay) return { surplus: [...active], finished: [] };
  const isFinished = (pod: WorkloadPod): boolean => phaseOf(pod) === 'Failed' || phaseOf(pod) === 'Succeeded';
  const running = active.filter((pod) => !isFinished(pod));
  const finished = active.filter(isFinished);
  return { surplus: rules.surges ? withoutSurge(running, rules, isAvailable) : running.slice(1), finished };
}

/** An old and a new pod stay while the old one is ready and the new one is not available yet. */
function withoutSurge(running: readonly WorkloadPod[], { set, hash }: Rules, isAvailable: (pod: WorkloadPod) => boolean): WorkloadPod[] {
  if (running.length <= 1) return [];
  const old = running.find((pod) => !isUpdated(pod, set, hash));
  const updated = running.find((pod) => isUpdated(pod, set, hash));
  const surplus = running.filter((pod) => pod !== old && pod !== updated);
  if (old !== undefined && updated !== undefined && (!isReady(old) || isAvailable(updated))) surplus.push(old);
  return surplus;
}
