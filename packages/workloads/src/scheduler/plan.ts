/**
 * What a decision about pods of one class looks up: which nodes their labels and taints allow, and the counts by topology that
 * their constraints need. It is kept between decisions, because most pods that wait are of the same few classes.
 */
import type { Work } from '@plat-dev/lib/slices';
import type { LabelSelector } from '@plat-dev/meta/labels';
import { hasTerms } from './affinities.ts';
import type { AffinityTable } from './affinity-table.ts';
import { Cause } from './cause.ts';
import type { Cluster } from './cluster.ts';
import { untoleratedTaint, unwelcomeTaints } from './node-match.ts';
import { selects } from './pod-terms.ts';
import type { DomainCounts, NodeState, PodClass, SpreadConstraint } from './state.ts';

/** Why pods of a class cannot be on a node. */
export interface Misfit {
  readonly reasons: readonly string[];
  /** A bit of `Cause`. */
  readonly cause: number;
  /** No deletion of other pods can help. */
  readonly final: boolean;
}

/** Constraints of pods that have none: those of their services and controllers. */
export interface SpreadDefaults {
  /** Changes when the answer for classes of the namespace may have changed. */
  version(namespace: string): number;
  selector(podClass: PodClass): LabelSelector | undefined;
}

export interface Spread {
  readonly constraint: SpreadConstraint;
  readonly counts: DomainCounts;
  /** 1 if the pod counts itself. */
  readonly self: number;
}

const unschedulable: Misfit = { reasons: ['node(s) were unschedulable'], cause: Cause.nodes, final: true };
const otherNodes: Misfit = { reasons: ["node(s) didn't match Pod's node affinity/selector"], cause: Cause.nodes, final: true };

/** Tables that are looked at before the work yields. */
const TABLES_A_STEP = 16;

export interface PlanOptions {
  readonly cluster: Cluster;
  readonly defaults: SpreadDefaults;
  /** Key of the taint that stands for `spec.unschedulable`. */
  readonly unschedulableTaint: string;
}

export class Plan {
  readonly podClass: PodClass;
  readonly hardSpread: readonly Spread[];
  softSpread: readonly Spread[] = [];
  /** Nodes without the label of a constraint of the pod itself get no score for spreading. */
  readonly softNeedsAll: boolean;
  /** Topologies that terms of required affinity name. */
  readonly neighbourKeys: readonly string[];
  /** The pod selects itself by all of these terms: the first of its kind may go anywhere. */
  readonly affineToSelf: boolean;

  private readonly options: PlanOptions;
  /** What the pod's own terms say of pods that have a node; undefined if it has none. */
  private readonly wishesTable: AffinityTable | undefined;
  /** What terms of pods that have a node say of this one. */
  private readonly receptionTable: AffinityTable;
  private readonly own: DomainCounts[] = [];
  /** Of the labels, when all tables were up to date. */
  private countedVersion = -1;
  private defaultsVersion = -1;
  private defaultCounts: DomainCounts[] = [];
  private defaultText = '';
  private isReleased = false;
  /** By the slot of a node: its version when it was checked, and the results. */
  private checkedAt = new Float64Array(0);
  private misfits: (Misfit | undefined)[] = [];
  private nodePreference = new Float64Array(0);
  private unwelcome = new Float64Array(0);

  constructor(podClass: PodClass, options: PlanOptions) {
    this.podClass = podClass;
    this.options = options;
    const { terms, hardSpread = [], softSpread } = podClass;
    const { namespaceLabels, affinities } = options.cluster;
    this.hardSpread = hardSpread.map((constraint) => this.spread(constraint, hardSpread, true));
    this.softNeedsAll = softSpread !== undefined;
    if (softSpread !== undefined) this.softSpread = softSpread.map((constraint) => this.spread(constraint, softSpread, true));
    this.neighbourKeys = [...new Set(terms.affinity.map(({ topologyKey }) => topologyKey))];
    this.affineToSelf = terms.affinity.every((term) => selects(term, podClass, namespaceLabels));
    this.wishesTable = hasTerms(podClass) ? affinities.wishesOf(podClass) : undefined;
    this.receptionTable = affinities.receptionOf(podClass.labelSet);
  }

  /** Whether nodes differ for the pod by more than what is free and how many of its kind they have. */
  get prefersSome(): boolean {
    const { softNeedsAll, softSpread, podClass } = this;
    if (podClass.preferredNodes.length > 0 || (softNeedsAll && softSpread.length > 0)) return true;
    return podClass.terms.preferred.length > 0 || !this.reception.attraction.isEmpty;
  }
  /** As everything is at this moment. */
  get wishes(): AffinityTable | undefined {
    return this.wishesTable?.current();
  }
  get reception(): AffinityTable {
    return this.receptionTable.current();
  }
  /** Brings everything up to date that has changed since the last decision. */
  *refresh(): Work<void> {
    const { cluster, defaults } = this.options;
    const { podClass } = this;
    const version = defaults.version(podClass.namespace);
    if (!this.softNeedsAll && this.defaultsVersion !== version) {
      this.defaultsVersion = version;
      this.useDefaults(defaults.selector(podClass));
    }
    if (this.countedVersion !== cluster.labelsVersion) yield* this.refreshCounts();
    // Last, because pods come and go between the steps of everything else.
    const tables = this.wishesTable === undefined ? [this.receptionTable] : [this.wishesTable, this.receptionTable];
    while (tables.some(({ isCurrent }) => !isCurrent)) {
      for (const table of tables) {
        for (const step of table.follow()) {
          // The class may have gone meanwhile.
          if (this.isReleased) return;
          yield step;
        }
      }
    }
    if (this.checkedAt.length < cluster.slotCount) this.grow(cluster.slotCount);
  }
  private *refreshCounts(): Work<void> {
    const { labelsVersion } = this.options.cluster;
    let seen = 0;
    for (const counts of this.tables()) {
      // Counts of a class that has gone meanwhile are no longer kept up to date.
      if (this.isReleased) return;
      const { isStale } = counts;
      if (isStale) counts.refresh();
      if (isStale || ++seen % TABLES_A_STEP === 0) yield;
    }
    this.countedVersion = labelsVersion;
  }
  private *tables(): Generator<DomainCounts> {
    yield* this.own;
    yield* this.defaultCounts;
  }
  /** The counts are no longer needed. */
  release(): void {
    this.isReleased = true;
    this.options.cluster.affinities.dismiss(this.podClass.labelSet);
    for (const counts of this.own) this.options.cluster.release(counts);
    for (const counts of this.defaultCounts) this.options.cluster.release(counts);
  }

  /** What keeps the pod from a node, whatever pods are there. */
  nodeMisfit(node: NodeState): Misfit | undefined {
    this.check(node);
    return this.misfits[node.slot];
  }
  /** The sum of the weights of the preferences that a node meets. */
  preferenceFor(node: NodeState): number {
    this.check(node);
    return this.nodePreference[node.slot] as number;
  }
  unwelcomeOn(node: NodeState): number {
    this.check(node);
    return this.unwelcome[node.slot] as number;
  }

  private check(node: NodeState): void {
    const { slot, version } = node;
    if (this.checkedAt[slot] === version) return;
    const { podClass } = this;
    this.checkedAt[slot] = version;
    this.misfits[slot] = this.staticMisfit(node);
    this.unwelcome[slot] = unwelcomeTaints(podClass.tolerations, node.taints);
    let preference = 0;
    for (const { weight, test } of podClass.preferredNodes) if (test(node)) preference += weight;
    this.nodePreference[slot] = preference;
  }
  private staticMisfit(node: NodeState): Misfit | undefined {
    const { tolerations, nodes } = this.podClass;
    if (node.unschedulable) {
      const taint = { key: this.options.unschedulableTaint, effect: 'NoSchedule' };
      if (untoleratedTaint(tolerations, [taint]) !== undefined) return unschedulable;
    }
    const taint = untoleratedTaint(tolerations, node.taints);
    if (taint !== undefined) {
      const reason = `node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`;
      return { reasons: [reason], cause: Cause.nodes, final: true };
    }
    return nodes === undefined || nodes(node) ? undefined : otherNodes;
  }
  private grow(slots: number): void {
    const size = Math.max(slots, 2 * this.checkedAt.length);
    this.checkedAt = new Float64Array(size).fill(-1);
    this.misfits = new Array(size);
    this.nodePreference = new Float64Array(size);
    this.unwelcome = new Float64Array(size);
  }
  private keep(counts: DomainCounts): DomainCounts {
    this.own.push(counts);
    return counts;
  }
  /** Pods that are going do not count, and of nodes only those that the pod may use. */
  private spread(constraint: SpreadConstraint, all: readonly SpreadConstraint[], needsAll: boolean): Spread {
    const { podClass, options } = this;
    const { namespace, nodes, labels } = podClass;
    const { topologyKey, selector } = constraint;
    const counts = options.cluster.count({
      topologyKey,
      namespace,
      includes: (other) => !other.terminating && selector.matches(other.labels),
      eligible: (node) =>
        (nodes === undefined || nodes(node)) && (!needsAll || all.every(({ topologyKey: key }) => node.labelMap.has(key))),
      withDomains: needsAll,
    });
    if (needsAll) this.keep(counts);
    return { constraint, counts, self: selector.matches(labels) ? 1 : 0 };
  }
  /** Pods without constraints are spread over nodes, and a little over zones. */
  private useDefaults(selector: LabelSelector | undefined): void {
    const text = selector?.toString() ?? '';
    if (text === this.defaultText) return;
    this.defaultText = text;
    this.countedVersion = -1;
    for (const counts of this.defaultCounts) this.options.cluster.release(counts);
    this.defaultCounts = [];
    this.softSpread = [];
    if (selector === undefined) return;
    const { hostname, zone } = this.options.cluster.labels;
    const constraints: SpreadConstraint[] = [
      { topologyKey: hostname, maxSkew: 3, minDomains: 1, selector },
      { topologyKey: zone, maxSkew: 5, minDomains: 1, selector },
    ];
    this.softSpread = constraints.map((constraint) => this.spread(constraint, constraints, false));
    this.defaultCounts = this.softSpread.map(({ counts }) => counts);
  }
}
