/** Which pods are deleted first when there are too many. */
import { own } from '@plat-dev/lib/own';
import { timeMillis } from '@plat-dev/meta/time';
import { isActive, isAvailable, isReady, phaseOf, readySince } from '../shared/pod-state.ts';
import type { WorkloadPod } from '../shared/pods.ts';

export interface SurplusOptions {
  readonly now: number;
  readonly minReadySeconds: number;
  /** The annotation with the cost of deleting a pod; undefined where the feature is off. */
  readonly costAnnotation: string | undefined;
  /** Times are compared as they are, not by orders of magnitude. */
  readonly exactTimes?: boolean;
}

interface Ranked {
  readonly pod: WorkloadPod;
  readonly isAssigned: number;
  readonly phase: number;
  readonly isReady: number;
  readonly isAvailable: number;
  readonly cost: number;
  /** Active pods of the same owner or its siblings on the same node. */
  readonly neighbours: number;
  readonly readySince: number | undefined;
  readonly restarts: number;
  readonly created: number | undefined;
}

const phases: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

/**
 * The pods to delete, `count` of them, by the first of these that differs: not assigned to a node; pending, then unknown; not
 * ready; not available; lower deletion cost; more neighbours; ready for a shorter time; more restarts; younger. Times
 * are compared by orders of magnitude, so that the youngest pods of a large set do not always go. `related` are the pods that
 * count as neighbours.
 */
export function podsToDelete(
  pods: readonly WorkloadPod[],
  related: Iterable<WorkloadPod>,
  count: number,
  options: SurplusOptions,
): WorkloadPod[] {
  if (count >= pods.length) return [...pods];
  const onNode = new Map<string, number>();
  for (const pod of related) {
    const node = pod.spec?.nodeName ?? '';
    if (node !== '' && isActive(pod)) onNode.set(node, (onNode.get(node) ?? 0) + 1);
  }
  const ranked = pods.map((pod) => rank(pod, onNode, options));
  ranked.sort((a, b) => compare(a, b, options));
  return ranked.slice(0, count).map(({ pod }) => pod);
}

function rank(pod: WorkloadPod, onNode: ReadonlyMap<string, number>, { now, minReadySeconds, costAnnotation }: SurplusOptions): Ranked {
  const node = pod.spec?.nodeName ?? '';
  const { creationTimestamp, annotations } = pod.metadata;
  const restarts = (pod.status?.containerStatuses ?? []).map(({ restartCount }) => restartCount ?? 0);
  return {
    pod,
    isAssigned: Number(node !== ''),
    phase: own(phases, phaseOf(pod)) ?? 0,
    isReady: Number(isReady(pod)),
    isAvailable: Number(isAvailable(pod, minReadySeconds, now)),
    cost: costAnnotation === undefined ? 0 : deletionCost(own(annotations, costAnnotation)),
    neighbours: onNode.get(node) ?? 0,
    readySince: readySince(pod) || undefined,
    restarts: Math.max(0, ...restarts),
    created: creationTimestamp == null ? undefined : timeMillis(creationTimestamp),
  };
}

function compare(a: Ranked, b: Ranked, options: SurplusOptions): number {
  return (
    a.isAssigned - b.isAssigned ||
    a.phase - b.phase ||
    a.isReady - b.isReady ||
    a.isAvailable - b.isAvailable ||
    a.cost - b.cost ||
    b.neighbours - a.neighbours ||
    (a.isReady === 1 ? younger(a.readySince, b.readySince, options, a, b) : 0) ||
    b.restarts - a.restarts ||
    younger(a.created, b.created, options, a, b)
  );
}

/** Which of two times is the later, by orders of magnitude; where both have the same, the uid decides. No time is the latest. */
function younger(x: number | undefined, y: number | undefined, { now, exactTimes }: SurplusOptions, a: Ranked, b: Ranked): number {
  if (x === y) return 0;
  if (x === undefined || y === undefined) return x === undefined ? -1 : 1;
  if (exactTimes === true) return y - x;
  return magnitude(now - x) - magnitude(now - y) || ((a.pod.metadata.uid ?? '') < (b.pod.metadata.uid ?? '') ? -1 : 1);
}

const NANOS = 1e6;
const magnitude = (age: number): number => (age > 0 ? Math.trunc(Math.log2(age * NANOS)) : -1);

/** A whole number of 32 bits, without a plus sign or leading zeros; anything else counts as 0. */
function deletionCost(text: string | undefined): number {
  if (text === undefined || !/^(0|-?[1-9]\d{0,9})$/.test(text)) return 0;
  const value = Number(text);
  return value >= -(2 ** 31) && value < 2 ** 31 ? value : 0;
}
