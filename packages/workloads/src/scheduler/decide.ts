/** Chooses a node for a pod: the best of those on which it fits, or why it fits on none. */
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import type { Random } from '@plat-dev/lib/random';
import { atOnce, type Work } from '@plat-dev/lib/slices';
import { Cause } from './cause.ts';
import type { Cluster } from './cluster.ts';
import { misfitWithNominated } from './filters.ts';
import { type Misfit, Plan, type PlanOptions } from './plan.ts';
import { scoreNodes } from './scores.ts';
import type { NodeState, PodClass, PodState } from './state.ts';
import type { VolumeObjects } from './volumes/objects.ts';
import { PodVolumes, podVolumes } from './volumes/pod-volumes.ts';

export interface Placement {
  readonly node: NodeState;
  readonly volumes: PodVolumes | undefined;
}
/** Why a pod fits on no node. */
export interface Failure {
  readonly message: string;
  /** Bits of `Cause`. */
  readonly causes: number;
  readonly misfits: ReadonlyMap<NodeState, Misfit>;
  readonly volumes: PodVolumes | undefined;
  /** The state in which it was found: as long as that is the same, so is the answer for other pods of the class. */
  readonly version: number;
}

export interface DeciderOptions extends PlanOptions {
  readonly random: Random;
  readonly objects: VolumeObjects;
}

/** Plans that are kept, each with tables by node and counts by topology; those of other classes are made again when needed. */
export const MAX_PLANS = 128;
/** Tables of counts for spread constraints, of all plans. Each class of pods that comes joins those that count it, in one turn: 2,000 took 0.1 s. */
export const MAX_TABLES = 500;
/** Clusters of at most this size are searched for all nodes that fit; of larger ones a part is enough. */
const SEARCH_ALL = 100;

/**
 * How many nodes that fit are compared. For pods that prefer some nodes: all of a small cluster, half of a larger one and a twentieth
 * of a very large one. For others a few are as good as many, because every search begins where the last one ended.
 */
export function nodesToCompare(nodes: number, prefersSome: boolean): number {
  if (nodes < SEARCH_ALL || !prefersSome) return Math.min(nodes, SEARCH_ALL);
  const percent = Math.max(50 - Math.floor(nodes / 125), 5);
  return Math.max(Math.floor((nodes * percent) / 100), SEARCH_ALL);
}

export class Decider {
  private readonly options: DeciderOptions;
  private readonly plans = new BoundedCache<PodClass, Plan>(MAX_PLANS);
  private readonly failures = new WeakMap<PodClass, Failure>();
  /** Searches begin where the last one ended, so that all nodes are used. */
  private start = 0;

  constructor(options: DeciderOptions) {
    this.options = options;
  }
  get cluster(): Cluster {
    return this.options.cluster;
  }
  /** The plan of a class, up to date. */
  planFor(podClass: PodClass): Plan {
    const plan = this.keptPlan(podClass);
    atOnce(plan.refresh());
    return plan;
  }
  /** Brings the plan of a class up to date in steps, so that little is left to a decision about its pods. */
  *prepare(podClass: PodClass): Work<void> {
    if (this.failures.get(podClass)?.version === this.cluster.version) return;
    const plan = this.keptPlan(podClass);
    yield* this.cluster.forgetReleased();
    yield* plan.refresh();
  }
  private keptPlan(podClass: PodClass): Plan {
    let plan = this.plans.use(podClass);
    if (plan === undefined) {
      for (const [oldest, old] of this.plans) {
        if (this.plans.size < MAX_PLANS && this.cluster.countTables < MAX_TABLES) break;
        old.release();
        this.plans.delete(oldest);
      }
      plan = new Plan(podClass, this.options);
      this.plans.set(podClass, plan);
    }
    return plan;
  }
  /** The class has no pods any more. */
  forget(podClass: PodClass): void {
    this.plans.get(podClass)?.release();
    this.plans.delete(podClass);
  }
  decide(pod: PodState): Placement | Failure {
    const { cluster } = this.options;
    const { class: podClass } = pod;
    const nodes = cluster.list();
    if (nodes.length === 0) return this.failure('no nodes available to schedule pods', new Map(), Cause.nodes, undefined);
    // A pod that waits for its victims is looked at alone: it may fit where others of its class do not.
    const knownFailure = pod.nominated === undefined ? this.failures.get(podClass) : undefined;
    if (knownFailure?.version === cluster.version) return knownFailure;
    const plan = this.planFor(podClass);
    const volumes =
      podClass.claims.length === 0
        ? undefined
        : podVolumes(this.options.objects, pod, podClass.claims, (claim) => cluster.usesClaim(claim));
    if (volumes !== undefined && !(volumes instanceof PodVolumes)) return this.failAll(nodes, volumes);
    if (pod.nominated?.exists && misfitWithNominated(cluster, pod, plan, volumes, pod.nominated) === undefined)
      return { node: pod.nominated, volumes };
    const { fitting, misfits } = this.search(pod, plan, volumes, nodes);
    if (fitting.length > 0) return { node: this.best(plan, fitting), volumes };
    const failure = this.failure(messageOf(nodes.length, misfits.values()), misfits, causesOf(misfits.values()), volumes);
    if (pod.nominated === undefined) this.failures.set(podClass, failure);
    return failure;
  }

  private search(pod: PodState, plan: Plan, volumes: PodVolumes | undefined, nodes: readonly NodeState[]) {
    const { cluster } = this.options;
    const { namedNodes } = plan.podClass;
    const misfits = new Map<NodeState, Misfit>();
    const fitting: NodeState[] = [];
    if (namedNodes !== undefined) {
      for (const name of namedNodes) {
        const node = cluster.get(name);
        if (node !== undefined && misfitWithNominated(cluster, pod, plan, volumes, node) === undefined) fitting.push(node);
      }
      // The message names what keeps the pod from every node.
      if (fitting.length === 0) {
        for (const node of nodes) {
          const misfit = misfitWithNominated(cluster, pod, plan, volumes, node);
          if (misfit !== undefined) misfits.set(node, misfit);
        }
      }
      return { fitting, misfits };
    }
    const enough = nodesToCompare(nodes.length, plan.prefersSome || cluster.softTainted > 0);
    const start = this.start % nodes.length;
    let visitedNodes = 0;
    for (; visitedNodes < nodes.length && fitting.length < enough; visitedNodes++) {
      const at = start + visitedNodes;
      const node = nodes[at < nodes.length ? at : at - nodes.length] as NodeState;
      const misfit = misfitWithNominated(cluster, pod, plan, volumes, node);
      if (misfit === undefined) fitting.push(node);
      else misfits.set(node, misfit);
    }
    this.start = (start + visitedNodes) % nodes.length;
    return { fitting, misfits };
  }
  /** The node with the best score; chance decides between equals. */
  private best(plan: Plan, nodes: readonly NodeState[]): NodeState {
    const first = nodes[0] as NodeState;
    if (nodes.length === 1) return first;
    const scores = scoreNodes(this.options.cluster, plan, nodes);
    let most = Number.NEGATIVE_INFINITY;
    let equals = 0;
    for (const score of scores) {
      if (score < most) continue;
      equals = score > most ? 1 : equals + 1;
      most = score;
    }
    let skipped = equals === 1 ? 0 : this.options.random.below(equals);
    return nodes[scores.findIndex((score) => score === most && skipped-- === 0)] ?? first;
  }
  private failAll(nodes: readonly NodeState[], misfit: Misfit): Failure {
    const misfits = new Map(nodes.map((node) => [node, misfit]));
    return this.failure(messageOf(nodes.length, misfits.values()), misfits, misfit.cause, undefined);
  }
  private failure(message: string, misfits: ReadonlyMap<NodeState, Misfit>, causes: number, volumes: PodVolumes | undefined): Failure {
    return { message, misfits, causes, volumes, version: this.options.cluster.version };
  }
}

const causesOf = (misfits: Iterable<Misfit>): number => {
  let causes = 0;
  for (const { cause } of misfits) causes |= cause;
  return causes;
};

/** `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable.` */
export function messageOf(nodes: number, misfits: Iterable<{ readonly reasons: readonly string[] }>): string {
  const counts = new Map<string, number>();
  for (const { reasons } of misfits) for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const texts = [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${nodes} nodes are available: ${texts.join(', ')}.`;
}
