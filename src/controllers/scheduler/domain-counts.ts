/**
 * How many pods of some classes are in each domain of a topology, kept up to date by every pod that comes and goes. With the
 * label `zone` as the topology key, and pods with the label app=web:
 *
 *   node 1 (zone a) has 2 such pods, node 2 (zone a) 1, node 3 (zone b) 0      → a: 3; of b there is nothing
 *   domains a and b, the fewest pods are in b: `fewest` is 0
 *
 * When labels of nodes or namespaces change, all is counted again before the next use.
 */
import type { NodeState } from './node-state.ts';
import type { PodClass } from './pod-class.ts';

export interface CountedBy {
  readonly topologyKey: string;
  /** Whether pods of a class are counted. Absent: members are named one by one. */
  readonly includes?: (podClass: PodClass) => boolean;
  /** The only namespace of the pods that are counted. */
  readonly namespace?: string;
  /** Nodes whose pods are counted. Absent: all. */
  readonly eligible?: (node: NodeState) => boolean;
  /** Domains without pods are known too, so that `fewest` can be asked. */
  readonly withDomains?: boolean;
}

/** What a table of counts reads. */
export interface Placements {
  nodes(): Iterable<NodeState>;
  classes(namespace?: string): Iterable<PodClass>;
  /** Changes with every label of a node or namespace. */
  readonly labelsVersion: number;
}

export class DomainCounts {
  readonly by: CountedBy;
  readonly members = new Set<PodClass>();
  private readonly from: Placements;
  private readonly counts = new Map<string, number>();
  /** Nodes of each domain. */
  private readonly domains = new Map<string, number>();
  /** At index n: how many domains have n pods. */
  private domainsWith: number[] = [];
  private least = 0;
  private sum = 0;
  private version = -1;

  constructor(from: Placements, by: CountedBy) {
    this.from = from;
    this.by = by;
  }
  /** Counts again if labels have changed. To be called before the counts are read. */
  refresh(): this {
    if (this.version !== this.from.labelsVersion) this.count();
    return this;
  }
  /** Pods in the domain of a node; 0 where it is in none. */
  at(node: NodeState): number {
    const domain = node.labelMap.get(this.by.topologyKey);
    return domain === undefined ? 0 : (this.counts.get(domain) ?? 0);
  }
  /** Pods in all domains. */
  get total(): number {
    return this.sum;
  }
  get domainCount(): number {
    return this.domains.size;
  }
  /** The number of pods in the domain that has the fewest. */
  get fewest(): number {
    return this.domains.size === 0 ? 0 : this.least;
  }

  /** A class has come: its pods are counted if it is one of those. */
  join(podClass: PodClass): void {
    const { includes, namespace } = this.by;
    if (namespace !== undefined && podClass.namespace !== namespace) return;
    if (includes?.(podClass) === true) this.member(podClass);
  }
  member(podClass: PodClass): void {
    if (this.members.has(podClass)) return;
    this.members.add(podClass);
    podClass.counts.push(this);
    for (const [node, pods] of podClass.placed) this.change(node, pods);
  }
  leave(podClass: PodClass): void {
    if (!this.members.delete(podClass)) return;
    podClass.counts = podClass.counts.filter((counts) => counts !== this);
    for (const [node, pods] of podClass.placed) this.change(node, -pods);
  }
  /** Nothing is counted any more. */
  release(): void {
    for (const podClass of this.members) podClass.counts = podClass.counts.filter((counts) => counts !== this);
    this.members.clear();
    this.version = -1;
    this.clear();
  }
  /** Pods of a member came to a node, or left it. */
  change(node: NodeState, delta: number): void {
    // Everything is counted again before the next use.
    if (this.version !== this.from.labelsVersion || !node.exists) return;
    const domain = node.labelMap.get(this.by.topologyKey);
    if (domain === undefined || this.by.eligible?.(node) === false) return;
    const before = this.counts.get(domain) ?? 0;
    const after = before + delta;
    this.sum += delta;
    if (after === 0) this.counts.delete(domain);
    else this.counts.set(domain, after);
    if (this.by.withDomains === true) this.moveDomain(before, after);
  }

  private moveDomain(before: number, after: number): void {
    const { domainsWith } = this;
    domainsWith[before] = (domainsWith[before] ?? 0) - 1;
    domainsWith[after] = (domainsWith[after] ?? 0) + 1;
    if (after < this.least) this.least = after;
    while (this.least < domainsWith.length && (domainsWith[this.least] ?? 0) === 0) this.least++;
  }
  private clear(): void {
    this.counts.clear();
    this.domains.clear();
    this.domainsWith = [];
    this.least = 0;
    this.sum = 0;
  }
  private count(): void {
    this.clear();
    this.version = this.from.labelsVersion;
    const { topologyKey, includes, namespace, eligible, withDomains } = this.by;
    if (withDomains === true) {
      for (const node of this.from.nodes()) {
        const domain = node.labelMap.get(topologyKey);
        if (domain === undefined || eligible?.(node) === false) continue;
        this.domains.set(domain, (this.domains.get(domain) ?? 0) + 1);
      }
      this.domainsWith = [this.domains.size];
    }
    if (includes !== undefined) {
      // Labels of namespaces may have changed, and with them the classes that are counted.
      const before = [...this.members];
      this.members.clear();
      for (const podClass of before) podClass.counts = podClass.counts.filter((counts) => counts !== this);
      for (const podClass of this.from.classes(namespace)) this.join(podClass);
      return;
    }
    for (const podClass of this.members) for (const [node, pods] of podClass.placed) this.change(node, pods);
  }
}
