/**
 * The nodes and pods of one daemon set. A change of a pod or of a node concerns one entry; all others keep their view, so that a
 * set on a thousand nodes costs no more than what changes.
 */
import type { Identity } from '@plat-dev/meta/identity';
import type { WorkloadPod } from '../shared/pods.ts';
import { nodeOf, templateOf } from './daemon-pod.ts';
import { type NodeView, type Rules, viewNode } from './node-view.ts';
import { type Fit, type NodeObject, Placement } from './placement.ts';

interface Entry {
  node: NodeObject | undefined;
  fit: Fit | undefined;
  readonly pods: Map<string, WorkloadPod>;
  view: NodeView | undefined;
}

export interface Totals {
  desired: number;
  current: number;
  misscheduled: number;
  ready: number;
  available: number;
  updated: number;
}

export class DaemonState {
  private readonly identity: Identity;
  private readonly entries = new Map<string, Entry>();
  /** Nodes whose view is out of date. */
  private readonly changed = new Set<string>();
  /** When a pod of a node becomes available. */
  private readonly availableAt = new Map<string, number>();
  private generation: number | undefined;
  private hash = '';
  private currentPlacement: Placement | undefined;

  constructor(identity: Identity, nodes: Iterable<NodeObject>, pods: Iterable<WorkloadPod>) {
    this.identity = identity;
    for (const node of nodes) this.putNode(node);
    for (const pod of pods) this.putPod(pod);
  }
  /** Where the pods of the set belong, by its newest template. */
  get placement(): Placement {
    if (this.currentPlacement === undefined) throw new Error('the placement of a daemon set is used before its template is known');
    return this.currentPlacement;
  }
  putPod(pod: WorkloadPod): void {
    const name = nodeOf(pod);
    if (name === '') return;
    this.entry(name).pods.set(pod.metadata.name ?? '', pod);
    this.changed.add(name);
  }
  removePod(pod: WorkloadPod): void {
    const name = nodeOf(pod);
    const entry = this.entries.get(name);
    if (entry === undefined) return;
    entry.pods.delete(pod.metadata.name ?? '');
    this.changed.add(name);
  }
  /** Returns whether it matters to the set. */
  putNode(node: NodeObject): boolean {
    const name = node.metadata.name ?? '';
    const entry = this.entry(name);
    const fit = this.currentPlacement?.of(node);
    const isSame = fit !== undefined && entry.fit !== undefined && fit.run === entry.fit.run && fit.stay === entry.fit.stay;
    entry.node = node;
    entry.fit = fit;
    if (isSame) return false;
    this.changed.add(name);
    return fit === undefined || fit.run || entry.pods.size > 0;
  }
  removeNode(name: string): boolean {
    const entry = this.entries.get(name);
    if (entry === undefined) return false;
    const mattered = entry.fit === undefined || entry.fit.run || entry.pods.size > 0;
    entry.node = undefined;
    entry.fit = undefined;
    this.changed.add(name);
    return mattered;
  }

  /** Brings the views up to date with the pods, the nodes, the set and the time. Returns how many views were made. */
  refresh(rules: Rules): number {
    const { generation = 0 } = rules.set.metadata;
    if (generation !== this.generation) {
      this.currentPlacement = new Placement(templateOf(rules.set), this.identity);
      for (const entry of this.entries.values()) entry.fit = undefined;
    }
    if (generation !== this.generation || rules.hash !== this.hash) for (const name of this.entries.keys()) this.changed.add(name);
    this.generation = generation;
    this.hash = rules.hash;
    for (const [name, at] of this.availableAt) if (at <= rules.now) this.changed.add(name);
    const count = this.changed.size;
    for (const name of this.changed) this.look(name, rules);
    this.changed.clear();
    return count;
  }
  *views(): Generator<readonly [string, NodeView]> {
    for (const [name, { view }] of this.entries) if (view !== undefined) yield [name, view];
  }
  totals(): Totals {
    const totals = { desired: 0, current: 0, misscheduled: 0, ready: 0, available: 0, updated: 0 };
    for (const { view } of this.entries.values()) {
      if (view === undefined) continue;
      if (view.isDesired) totals.desired++;
      if (view.isCurrent) totals.current++;
      if (view.isMisscheduled) totals.misscheduled++;
      if (view.isReady) totals.ready++;
      if (view.isAvailable) totals.available++;
      if (view.isUpdated) totals.updated++;
    }
    return totals;
  }
  *pods(): Generator<WorkloadPod> {
    for (const { pods } of this.entries.values()) yield* pods.values();
  }
  /** When the next pod becomes available, in milliseconds since 1970. */
  get nextAvailable(): number | undefined {
    let next: number | undefined;
    for (const at of this.availableAt.values()) if (next === undefined || at < next) next = at;
    return next;
  }

  private entry(name: string): Entry {
    let entry = this.entries.get(name);
    if (entry === undefined) {
      entry = { node: undefined, fit: undefined, pods: new Map(), view: undefined };
      this.entries.set(name, entry);
    }
    return entry;
  }
  private look(name: string, rules: Rules): void {
    const entry = this.entries.get(name);
    if (entry === undefined) return;
    if (entry.node === undefined && entry.pods.size === 0) {
      this.entries.delete(name);
      this.availableAt.delete(name);
      return;
    }
    if (entry.node !== undefined) entry.fit ??= this.placement.of(entry.node);
    entry.view = viewNode([...entry.pods.values()], entry.fit, rules);
    if (entry.view.availableAt === undefined) this.availableAt.delete(name);
    else this.availableAt.set(name, entry.view.availableAt);
  }
}
