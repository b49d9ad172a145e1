/**
 * What pods that have a node mean for pods of one class, by topology and domain. Each class that has pods on nodes is looked at once;
 * from then on only its pods are counted as they come and go. All of it is done in steps, when the table is needed, and others may
 * change anything between two steps:
 *
 *   classes a, b, c have pods     a is counted, b is counted          ── a pod of a comes, one of c leaves
 *                                 the change of a is added, c is counted as it is now, and the change of c is skipped
 */
import { atOnce, type Work } from '@plat-dev/lib/slices';
import { type Influence, noInfluence } from './influence.ts';
import type { PlacementLog } from './placement-log.ts';
import type { NodeState, PodClass } from './state.ts';
import { TopologySums } from './topology-sums.ts';

export interface AffinityTableOptions {
  /** All classes that may have an influence; one that comes while they are read is among them. */
  readonly classes: () => Iterable<PodClass>;
  /** The changes of their pods. */
  readonly log: PlacementLog;
  readonly influenceOf: (podClass: PodClass) => Work<Influence>;
  /** Changes with labels of nodes and namespaces: then everything is counted again. */
  readonly labelsVersion: () => number;
  /** Topologies of required affinity. */
  readonly neighbourKeys?: readonly string[];
}

interface CountedClass {
  readonly influence: Influence;
  /** Position of the first change that is not counted. */
  readonly from: number;
}
const withoutInfluence: CountedClass = { influence: noInfluence, from: 0 };

/** Changes that are looked at before the work yields. */
const CHANGES_A_STEP = 64;

export class AffinityTable {
  /** Weights of terms that prefer pods near each other, or apart. */
  readonly attraction = new TopologySums();
  /** Pods that must not be with the pod in one domain. */
  readonly barriers = new TopologySums();
  /** Pods that all terms of required affinity select. */
  readonly neighbours = new TopologySums();
  private readonly options: AffinityTableOptions;
  private readonly counted = new Map<PodClass, CountedClass>();
  private uncounted: Iterator<PodClass> | undefined;
  private position = -1;
  private labelsVersion = -1;

  constructor(options: AffinityTableOptions) {
    this.options = options;
  }
  /** Classes that it knows. */
  get size(): number {
    return this.counted.size;
  }
  /** Whether everything is counted. */
  get isCurrent(): boolean {
    const { log, labelsVersion } = this.options;
    return this.uncounted === undefined && this.position === log.end && this.labelsVersion === labelsVersion();
  }
  /** With everything counted that has changed. */
  current(): this {
    if (!this.isCurrent) atOnce(this.follow());
    return this;
  }
  /** Counts what has changed, in steps; when it ends, everything is counted. */
  *follow(): Work<void> {
    for (let steps = 1; !this.isCurrent; steps++) {
      const podClass = this.classToCount();
      if (podClass !== undefined) yield* this.count(podClass);
      if (podClass !== undefined || steps % CHANGES_A_STEP === 0) yield;
    }
  }
  /** Takes the next change or class; gives a class if that has to be counted. */
  private classToCount(): PodClass | undefined {
    const { log, labelsVersion } = this.options;
    if (this.labelsVersion !== labelsVersion() || !log.remembers(this.position)) this.begin();
    if (this.position < log.end) return this.takeChange();
    const next = this.uncounted?.next();
    if (next === undefined || next.done === true) {
      this.uncounted = undefined;
      return undefined;
    }
    // A class without pods on nodes is counted when it gets one.
    return this.counted.has(next.value) || next.value.podsByNode.size === 0 ? undefined : next.value;
  }
  private begin(): void {
    const { log, labelsVersion, classes } = this.options;
    for (const sums of [this.attraction, this.barriers, this.neighbours]) sums.clear();
    this.counted.clear();
    this.uncounted = classes()[Symbol.iterator]();
    this.position = log.end;
    this.labelsVersion = labelsVersion();
  }
  private takeChange(): PodClass | undefined {
    const { podClass, node, delta } = this.options.log.at(this.position);
    const counted = this.counted.get(podClass);
    if (counted === undefined && node !== undefined && podClass.size > 0) return podClass;
    if (node === undefined) this.counted.delete(podClass);
    else if (counted !== undefined && this.position >= counted.from) this.add(counted.influence, node, delta);
    this.position++;
    return undefined;
  }
  private *count(podClass: PodClass): Work<void> {
    const influence = yield* this.options.influenceOf(podClass);
    // Another may have counted it meanwhile, or it has gone.
    if (this.counted.has(podClass) || podClass.size === 0) return;
    this.counted.set(podClass, influence === noInfluence ? withoutInfluence : { influence, from: this.options.log.end });
    for (const [node, pods] of podClass.podsByNode) this.add(influence, node, pods);
  }
  private add({ weights, apart, isNeighbour }: Influence, node: NodeState, pods: number): void {
    // When it comes or goes, everything is counted again.
    if (!node.exists) return;
    for (const [topologyKey, weight] of weights) this.attraction.add(topologyKey, node, weight * pods);
    for (const topologyKey of apart) this.barriers.add(topologyKey, node, pods);
    if (isNeighbour) for (const topologyKey of this.options.neighbourKeys ?? []) this.neighbours.add(topologyKey, node, pods);
  }
}
