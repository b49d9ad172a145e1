/**
 * What the scheduler knows of nodes, pods, classes of equal pods, and counts of pods by domain. Each refers to the others: a node has
 * pods, a pod has a class, and a class has nodes and counts.
 */
import type { Taint, Toleration } from '@plat-dev/kinds/core/schema/pods/scheduling';
import type { Part } from '@plat-dev/kinds/wire';
import type { Work } from '@plat-dev/lib/slices';
import type { LabelSelector, Labels } from '@plat-dev/meta/labels';
import { timeMillis } from '@plat-dev/meta/time';
import type { WorkloadPod } from '../shared/pods.ts';
import { type HostPort, UsedPorts } from './host-ports.ts';
import type { NodeTest, PreferredNodes } from './node-match.ts';
import type { PodTerms } from './pod-terms.ts';
import type { Allocatable, Requests } from './requests.ts';
import type { Disk } from './volumes/disks.ts';

export const noLabels: Labels = {};
const nothing: Allocatable = { cpu: 0, memory: 0, storage: 0, pods: 0, others: new Map() };

/** A node and the sums of what its pods use, kept up to date by every pod that comes and goes. */
export class NodeState {
  readonly name: string;
  /** Its place in tables of all nodes. */
  readonly slot: number;
  /** False: pods name this node, and it is not there. */
  exists = false;
  /** Another number after every change that matters to pods. */
  version = 0;
  labels: Labels = noLabels;
  labelMap: ReadonlyMap<string, string> = new Map();
  taints: readonly Part<Taint>[] = [];
  unschedulable = false;
  allocatable: Allocatable = nothing;
  /** Bytes of each image on the node. */
  images: ReadonlyMap<string, number> = new Map();

  readonly pods = new Set<PodState>();
  cpu = 0;
  memory = 0;
  storage = 0;
  readonly others = new Map<string, number>();
  scoredCpu = 0;
  scoredMemory = 0;
  readonly ports = new UsedPorts();
  /** `namespace/name` of claims that its pods use, and how many pods do. */
  readonly claims = new Map<string, number>();
  /** Pods of the node that name disks directly. */
  readonly diskUsers = new Set<PodState>();
  /** Pods that wait for their victims on this node to go. */
  readonly nominated = new Set<PodState>();

  constructor(name: string, slot: number) {
    this.name = name;
    this.slot = slot;
  }
  add(pod: PodState): void {
    this.pods.add(pod);
    this.sum(pod, 1);
  }
  remove(pod: PodState): void {
    if (this.pods.delete(pod)) this.sum(pod, -1);
  }

  private sum(pod: PodState, sign: 1 | -1): void {
    const { requests, ports, claims, disks, namespace } = pod.class;
    this.cpu += sign * requests.cpu;
    this.memory += sign * requests.memory;
    this.storage += sign * requests.storage;
    this.scoredCpu += sign * requests.scoredCpu;
    this.scoredMemory += sign * requests.scoredMemory;
    for (const [name, amount] of requests.others) this.others.set(name, (this.others.get(name) ?? 0) + sign * amount);
    for (const port of ports) {
      if (sign > 0) this.ports.add(port);
      else this.ports.remove(port);
    }
    for (const { name } of claims) {
      const key = `${namespace}/${name}`;
      const users = (this.claims.get(key) ?? 0) + sign;
      if (users > 0) this.claims.set(key, users);
      else this.claims.delete(key);
    }
    if (disks.length === 0) return;
    if (sign > 0) this.diskUsers.add(pod);
    else this.diskUsers.delete(pod);
  }
}

/**
 * Where a pod without a node is:
 *
 *   active ──taken──→ deciding ──a node fits──→ binding ──bound──→ placed
 *     ↑                  └──none fits──→ parked ──an event that may help──→ backoff or active
 *     └──────────────── backoff ←── binding failed
 */
export type Place = 'active' | 'backoff' | 'parked' | 'binding' | 'none';

/** A pod: its class, its node, and where it waits if it has none. */
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

export interface SpreadConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly selector: LabelSelector;
}

/** A claim that pods of a class use. That of an ephemeral volume is made for the pod. */
export interface ClaimUse {
  readonly name: string;
  readonly ephemeral: boolean;
}

export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

/** Labels that pods of one or more classes have. */
export interface LabelSet {
  readonly text: string;
  readonly namespace: string;
  readonly labels: Labels | undefined;
  /** Classes with these labels. */
  classes: number;
}

export interface PodClass {
  readonly text: string;
  readonly namespace: string;
  readonly labels: Labels | undefined;
  readonly labelSet: LabelSet;
  readonly priority: number;
  readonly terminating: boolean;
  readonly requests: Requests;
  readonly ports: readonly HostPort[];
  readonly tolerations: readonly Part<Toleration>[];
  /** Undefined: every node. */
  readonly nodes: NodeTest | undefined;
  readonly namedNodes: ReadonlySet<string> | undefined;
  readonly preferredNodes: readonly PreferredNodes[];
  readonly terms: PodTerms;
  /** Undefined: the pod has no constraints of its own, and default ones apply. */
  readonly hardSpread: readonly SpreadConstraint[] | undefined;
  readonly softSpread: readonly SpreadConstraint[] | undefined;
  readonly owner: Owner | undefined;
  /** Images of its containers, with a tag. */
  readonly images: readonly string[];
  readonly claims: readonly ClaimUse[];
  readonly disks: readonly Disk[];
  /** Nodes with pods of the class, and how many each has. */
  readonly podsByNode: Map<NodeState, number>;
  /** Counts that pods of the class are part of. */
  readonly counts: Set<DomainCounts>;
  /** Pods of the class, with or without a node. */
  size: number;
}

export interface CountedBy {
  readonly topologyKey: string;
  /** Whether pods of a class of the namespace are counted. */
  readonly includes: (podClass: PodClass) => boolean;
  readonly namespace: string;
  /** Nodes whose pods are counted. Absent: all. */
  readonly eligible?: (node: NodeState) => boolean;
  /** Domains without pods are known too, so that `fewest` can be asked. */
  readonly withDomains?: boolean;
}

/** Members that forget a table before the work yields. */
const MEMBERS_A_STEP = 64;

/** What a table of counts reads. */
export interface Placements {
  nodes(): Iterable<NodeState>;
  classes(namespace: string): Iterable<PodClass>;
  /** Changes with every label of a node. */
  readonly labelsVersion: number;
}

/**
 * How many pods of some classes are in each domain of a topology, kept up to date by every pod that comes and goes. With the
 * label `zone` as the topology key, and pods with the label app=web:
 *
 *   node 1 (zone a) has 2 such pods, node 2 (zone a) 1, node 3 (zone b) 0      → a: 3; of b there is nothing
 *   domains a and b, the fewest pods are in b: `fewest` is 0
 *
 * When labels of nodes change, all is counted again before the next use.
 */
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
  private version = -1;

  constructor(from: Placements, by: CountedBy) {
    this.from = from;
    this.by = by;
  }
  /** Whether labels have changed since the pods were counted. */
  get isStale(): boolean {
    return this.version !== this.from.labelsVersion;
  }
  /** Counts again if labels have changed. To be called before the counts are read. */
  refresh(): this {
    if (this.isStale) this.count();
    return this;
  }
  /** Pods in the domain of a node; 0 where it is in none. */
  at(node: NodeState): number {
    const domain = node.labelMap.get(this.by.topologyKey);
    return domain === undefined ? 0 : (this.counts.get(domain) ?? 0);
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
    if (podClass.namespace !== namespace || this.members.has(podClass) || !includes(podClass)) return;
    this.members.add(podClass);
    podClass.counts.add(this);
    for (const [node, pods] of podClass.podsByNode) this.change(node, pods);
  }
  leave(podClass: PodClass): void {
    if (!this.members.delete(podClass)) return;
    podClass.counts.delete(this);
    for (const [node, pods] of podClass.podsByNode) this.change(node, -pods);
  }
  /** Nothing is counted any more. */
  release(): void {
    this.version = -1;
    this.clear();
  }
  /** After the release: the members forget the table in steps, because there may be many. */
  *forgetMembers(): Work<void> {
    for (const podClass of this.members) {
      podClass.counts.delete(this);
      this.members.delete(podClass);
      if (this.members.size % MEMBERS_A_STEP === 0) yield;
    }
  }
  /** Pods of a member came to a node, or left it. */
  change(node: NodeState, delta: number): void {
    // Everything is counted again before the next use.
    if (this.version !== this.from.labelsVersion || !node.exists) return;
    const domain = node.labelMap.get(this.by.topologyKey);
    if (domain === undefined || this.by.eligible?.(node) === false) return;
    const countBefore = this.counts.get(domain) ?? 0;
    const after = countBefore + delta;
    if (after === 0) this.counts.delete(domain);
    else this.counts.set(domain, after);
    if (this.by.withDomains === true) this.moveDomain(countBefore, after);
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
  }
  private count(): void {
    this.clear();
    this.version = this.from.labelsVersion;
    const { topologyKey, namespace, eligible, withDomains } = this.by;
    if (withDomains === true) {
      for (const node of this.from.nodes()) {
        const domain = node.labelMap.get(topologyKey);
        if (domain === undefined || eligible?.(node) === false) continue;
        this.domains.set(domain, (this.domains.get(domain) ?? 0) + 1);
      }
      this.domainsWith = [this.domains.size];
    }
    for (const podClass of this.members) for (const [node, pods] of podClass.podsByNode) this.change(node, pods);
    // Those that came before the table.
    for (const podClass of this.from.classes(namespace)) this.join(podClass);
  }
}
