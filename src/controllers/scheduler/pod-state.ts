/** A pod as the scheduler knows it: its class, its node, and where it waits if it has none. */
import { timeMillis } from '../../meta/time.ts';
import type { WorkloadPod } from '../workloads/shared/pods.ts';
import type { NodeState } from './node-state.ts';
import type { PodClass } from './pod-class.ts';

/**
 * Where a pod without a node is:
 *
 *   active ──taken──→ deciding ──a node fits──→ binding ──bound──→ placed
 *     ↑                  └──none fits──→ parked ──an event that may help──→ backoff or active
 *     └──────────────── backoff ←── binding failed
 */
export type Place = 'active' | 'backoff' | 'parked' | 'binding' | 'none';

export class PodState {
  readonly key: string;
  readonly uid: string;
  /** Shared with all who read pods: nobody may change it. */
  object: WorkloadPod;
  class: PodClass;
  node: NodeState | undefined;
  /** The node was chosen here, and the pod has not arrived with it so far. */
  assumed = false;
  /** The node that victims leave for this pod. */
  nominated: NodeState | undefined;

  place: Place = 'none';
  /** When it began to wait, for pods of equal priority; and the order of those of one moment. */
  since = 0;
  order = 0;
  attempts = 0;
  /** When the last decision was made. */
  triedAt = 0;
  /** What kept it from all nodes, as bits of `Cause`. */
  causes = 0;

  constructor(key: string, object: WorkloadPod, podClass: PodClass) {
    this.key = key;
    this.uid = object.metadata.uid ?? '';
    this.object = object;
    this.class = podClass;
  }
  get name(): string {
    return this.object.metadata.name ?? '';
  }
  get namespace(): string {
    return this.class.namespace;
  }
  get priority(): number {
    return this.class.priority;
  }
  /** When its node began to run it; pods that have not started count as the newest. */
  get startedAt(): number {
    const { startTime } = this.object.status ?? {};
    return startTime === undefined ? Number.POSITIVE_INFINITY : timeMillis(startTime);
  }
}

/** What can keep a pod from a node, as far as different events change it. */
export const Cause = {
  /** Labels, taints and the mark of nodes that take no pods. */
  nodes: 1,
  resources: 2,
  ports: 4,
  podAffinity: 8,
  spread: 16,
  volumes: 32,
  /** A claim that is not there or not bound: no node was looked at, so that the next decision needs no delay. */
  claims: 64,
} as const;
