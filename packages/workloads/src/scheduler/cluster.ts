/**
 * All nodes with their pods, and the counts by topology. Everything is kept up to date by single changes: none visits all pods.
 * A decision may try something out by placing and removing pods, as long as all is as before when it ends.
 */
import type { Work } from '@plat-dev/lib/slices';
import type { Labels } from '@plat-dev/meta/labels';
import type { WorkloadPod } from '../shared/pods.ts';
import { Affinities } from './affinities.ts';
import { PodClasses } from './pod-class.ts';
import { type NodeChange, readNode, type WireNode } from './read-node.ts';
import type { PodState } from './state.ts';
import { type CountedBy, DomainCounts, NodeState, type Placements, type PodClass } from './state.ts';

/** Labels by which nodes say where they are. */
export interface TopologyLabels {
  readonly hostname: string;
  readonly zone: string;
  readonly region: string;
}

export class Cluster implements Placements {
  /** Changes with every label of a node or namespace, and with the set of nodes. */
  labelsVersion = 0;
  /** Changes with everything that a decision depends on. */
  version = 0;
  readonly affinities = new Affinities(this);
  readonly labels: TopologyLabels;
  private readonly podClasses: PodClasses;
  private readonly byName = new Map<string, NodeState>();
  private readonly freeSlots: number[] = [];
  private slots = 0;
  private readonly counts = new Set<DomainCounts>();
  /** Released counts that their members still have to forget. */
  private readonly released = new Set<DomainCounts>();
  private readonly namespaces = new Map<string, Labels>();
  /** Nodes with taints that only ask pods to stay away. */
  softTainted = 0;
  /** How many nodes have an image. */
  private readonly imageNodes = new Map<string, number>();
  private ordered: NodeState[] = [];
  private orderedAt = -1;
  private topologies: ReadonlySet<string> = new Set();
  private topologiesAt = -1;

  constructor(labels: TopologyLabels) {
    this.labels = labels;
    this.podClasses = new PodClasses(
      (podClass) => {
        this.affinities.classCame(podClass);
        for (const counts of this.counts) counts.join(podClass);
      },
      (podClass) => {
        this.affinities.classLeft(podClass);
        for (const counts of [...podClass.counts]) counts.leave(podClass);
      },
    );
  }

  // ---- pods ------------------------------------------------------------------------------------------------------

  enter(pod: WorkloadPod): PodClass {
    return this.podClasses.enter(pod);
  }
  leave(podClass: PodClass): void {
    this.podClasses.leave(podClass);
  }
  classes(namespace?: string): Iterable<PodClass> {
    return this.podClasses.all(namespace);
  }
  get classCount(): number {
    return this.podClasses.size;
  }
  /** Puts a pod on a node. */
  put(pod: PodState, node: NodeState): void {
    pod.node = node;
    node.add(pod);
    const { podsByNode, counts } = pod.class;
    podsByNode.set(node, (podsByNode.get(node) ?? 0) + 1);
    for (const one of counts) one.change(node, 1);
    this.affinities.placed(pod.class, node, 1);
    this.version++;
  }
  /** Takes a pod off its node. */
  take(pod: PodState): void {
    const { node } = pod;
    if (node === undefined) return;
    pod.node = undefined;
    node.remove(pod);
    const { podsByNode, counts } = pod.class;
    const remaining = (podsByNode.get(node) ?? 0) - 1;
    if (remaining > 0) podsByNode.set(node, remaining);
    else podsByNode.delete(node);
    for (const one of counts) one.change(node, -1);
    this.affinities.placed(pod.class, node, -1);
    this.version++;
    this.forget(node);
  }
  nominate(pod: PodState, node: NodeState | undefined): void {
    const oldNode = pod.nominated;
    if (oldNode === node) return;
    oldNode?.nominated.delete(pod);
    pod.nominated = node;
    node?.nominated.add(pod);
    this.version++;
    if (oldNode !== undefined) this.forget(oldNode);
  }

  // ---- nodes -----------------------------------------------------------------------------------------------------

  get(name: string): NodeState | undefined {
    const node = this.byName.get(name);
    return node?.exists ? node : undefined;
  }
  /** The node of that name, whether it is there or not. */
  nodeOf(name: string): NodeState {
    let node = this.byName.get(name);
    if (node === undefined) {
      node = new NodeState(name, this.freeSlots.pop() ?? this.slots++);
      this.byName.set(name, node);
    }
    return node;
  }
  get slotCount(): number {
    return this.slots;
  }
  setNode(object: WireNode): { readonly node: NodeState; readonly change: NodeChange } {
    const node = this.nodeOf(object.metadata.name ?? '');
    const { images, taints } = node;
    const change = readNode(node, object);
    if (change.images) this.countImages(images, node.images);
    if (change.taints) this.softTainted += Number(asksToStayAway(node.taints)) - Number(asksToStayAway(taints));
    if (change.labels) this.labelsVersion++;
    if (change.labels || change.taints || change.unschedulable) node.version = ++this.version;
    if (change.allocatable || change.images) this.version++;
    return { node, change };
  }
  removeNode(name: string): void {
    const node = this.byName.get(name);
    if (node === undefined || !node.exists) return;
    this.countImages(node.images, new Map());
    this.softTainted -= Number(asksToStayAway(node.taints));
    node.exists = false;
    node.images = new Map();
    node.taints = [];
    for (const pod of [...node.nominated]) this.nominate(pod, undefined);
    this.labelsVersion++;
    node.version = ++this.version;
    this.forget(node);
  }
  *nodes(): Generator<NodeState> {
    for (const node of this.byName.values()) if (node.exists) yield node;
  }
  /** All nodes; those of different zones take turns, so that a part of the list has nodes of all zones. */
  list(): readonly NodeState[] {
    if (this.orderedAt === this.labelsVersion) return this.ordered;
    const zones = new Map<string, NodeState[]>();
    for (const node of this.nodes()) {
      const zone = `${node.labelMap.get(this.labels.region) ?? ''}\n${node.labelMap.get(this.labels.zone) ?? ''}`;
      const others = zones.get(zone);
      if (others === undefined) zones.set(zone, [node]);
      else others.push(node);
    }
    const lists = [...zones.values()];
    const longest = Math.max(0, ...lists.map((nodes) => nodes.length));
    this.ordered = [];
    for (let i = 0; i < longest; i++) for (const nodes of lists) if (i < nodes.length) this.ordered.push(nodes[i] as NodeState);
    this.orderedAt = this.labelsVersion;
    return this.ordered;
  }
  /** Whether a node has the label. */
  hasTopology(topologyKey: string): boolean {
    if (this.topologiesAt !== this.labelsVersion) {
      const keys = new Set<string>();
      for (const { labelMap } of this.nodes()) for (const key of labelMap.keys()) keys.add(key);
      this.topologies = keys;
      this.topologiesAt = this.labelsVersion;
    }
    return this.topologies.has(topologyKey);
  }
  /** Whether a pod with a node uses a claim. */
  usesClaim(claim: string): boolean {
    for (const { claims } of this.byName.values()) if (claims.has(claim)) return true;
    return false;
  }
  nodesWithImage(image: string): number {
    return this.imageNodes.get(image) ?? 0;
  }
  private countImages(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): void {
    for (const image of before.keys()) {
      const remaining = (this.imageNodes.get(image) ?? 0) - 1;
      if (remaining > 0) this.imageNodes.set(image, remaining);
      else this.imageNodes.delete(image);
    }
    for (const image of after.keys()) this.imageNodes.set(image, (this.imageNodes.get(image) ?? 0) + 1);
  }
  /** A node that is not there and that nothing names is forgotten. */
  private forget(node: NodeState): void {
    if (node.exists || node.pods.size > 0 || node.nominated.size > 0 || this.byName.get(node.name) !== node) return;
    this.byName.delete(node.name);
    this.freeSlots.push(node.slot);
  }

  // ---- namespaces and counts -------------------------------------------------------------------------------------

  readonly namespaceLabels = (name: string): Labels | undefined => this.namespaces.get(name);

  /** Whether it has other labels than before. */
  setNamespace(name: string, labels: Labels | undefined): boolean {
    const oldLabels = this.namespaces.get(name);
    const text = (labels: Labels | undefined): string => JSON.stringify(Object.entries(labels ?? {}).sort());
    const same = text(oldLabels) === text(labels);
    if (labels === undefined) this.namespaces.delete(name);
    else this.namespaces.set(name, labels);
    if (same) return false;
    this.labelsVersion++;
    this.version++;
    return true;
  }
  /** Counts that are kept up to date until they are released. */
  count(by: CountedBy): DomainCounts {
    const counts = new DomainCounts(this, by);
    this.counts.add(counts);
    return counts;
  }
  release(counts: DomainCounts): void {
    this.counts.delete(counts);
    counts.release();
    this.released.add(counts);
  }
  /** Frees what was released, in steps. */
  *forgetReleased(): Work<void> {
    for (const counts of this.released) {
      yield* counts.forgetMembers();
      this.released.delete(counts);
    }
  }
  get countTables(): number {
    return this.counts.size;
  }
}

const asksToStayAway = (taints: NodeState['taints']): boolean => taints.some(({ effect }) => effect === 'PreferNoSchedule');
