/** The nodes that are simulated: their objects, blocks of addresses and states. */

import { isConflict, unlessGone, unlessGoneOrReplaced } from '@plat-dev/client/http';
import type { Informer } from '@plat-dev/client/informer';
import { type ControllerContext, refs } from '@plat-dev/controllers/runtime/controller';
import type { WorkQueue } from '@plat-dev/controllers/runtime/queue';
import { own } from '@plat-dev/lib/own';
import { domainName } from '@plat-dev/meta/identity';
import { PodAddresses, PodBlocks } from './addresses.ts';
import {
  allocatableOf,
  isDown,
  isReadyNode,
  isSimulated,
  type NodeObject,
  nodeObject,
  poolLabel,
  statusOf,
  usualLabels,
} from './node-object.ts';
import { PoolMembers } from './pool-members.ts';
import { MAX_NODES, MOST_NODES, type NodePoolSpec, usualCapacity } from './settings.ts';

export interface SimulatedNode {
  readonly name: string;
  readonly addresses: PodAddresses;
  readonly hostIP: string;
  /** Its agent does nothing. */
  readonly down: boolean;
}

export interface Pool extends NodePoolSpec {
  readonly name: string;
  /** The NodePool object; absent for the pool of the settings. */
  readonly owner?: { readonly apiVersion: string; readonly kind: string; readonly uid: string };
}

export interface FleetEvents {
  /** A node is simulated from now on, or works again. */
  up(name: string): void;
  /** It stops to report. */
  down(name: string): void;
  gone(name: string): void;
}

/** Nodes that are created or changed at a time. */
const WORKERS = 16;

export class Fleet {
  readonly nodes: Informer<NodeObject>;
  private readonly context: ControllerContext;
  private readonly most: number;
  private events: FleetEvents = { up: () => {}, down: () => {}, gone: () => {} };
  private readonly blocks = new PodBlocks();
  private readonly nodesByName = new Map<string, SimulatedNode>();
  private readonly pools = new Map<string, Pool>();
  /** The pool of every node that a pool wants, by the name of the node. */
  private readonly wantedNodes = new Map<string, { readonly pool: Pool; readonly index: number }>();
  /** How many nodes pools want beyond the limit, by the name of the pool. */
  private readonly short = new Map<string, number>();
  /** Nodes for whose pods no addresses are left, with their pools. */
  private readonly homeless = new Map<string, string>();
  readonly members: PoolMembers;
  /** Called when a pool gets other nodes than before, or cannot. */
  resized: (pool: string) => void = () => {};
  private readonly work: WorkQueue;

  /** `most`: nodes of all pools together. */
  constructor(context: ControllerContext, most = MOST_NODES) {
    this.context = context;
    this.most = most;
    this.nodes = context.informers.of<NodeObject>(refs.nodes);
    this.members = new PoolMembers(this.nodes, poolLabel(context.identity));
    this.work = context.queue((name) => this.repair(name), { name: 'simulated-nodes-nodes', workers: WORKERS, after: [this.nodes.synced] });
  }
  /** Begins; all nodes that are known already are reported. */
  follow(events: FleetEvents): void {
    this.events = events;
    this.nodes.onChange(({ type, object, old }) => this.changed(type === 'deleted' ? undefined : object, old ?? object));
  }
  get(name: string): SimulatedNode | undefined {
    return this.nodesByName.get(name);
  }
  /** All simulated nodes. */
  all(): IterableIterator<SimulatedNode> {
    return this.nodesByName.values();
  }
  get size(): number {
    return this.nodesByName.size;
  }

  /** Nodes of this pool are created or deleted until there are as many as it wants, or as there may be. */
  setPool(pool: Pool): void {
    this.drop(pool.name);
    this.pools.set(pool.name, pool);
    this.want(pool);
    for (const name of this.members.of(pool.name)) if (!this.wantedNodes.has(name)) this.work.add(name);
    this.fill();
  }
  removePool(name: string): void {
    this.drop(name);
    this.fill();
  }
  /** Why a pool has fewer nodes than it wants; undefined if it has or will have all. */
  shortageOf(pool: string): string | undefined {
    const short = this.short.get(pool) ?? 0;
    if (short > 0) return `${leftOut(short)}: a server simulates at most ${this.most}`;
    let homeless = 0;
    for (const name of this.homeless.values()) if (name === pool) homeless++;
    return homeless === 0 ? undefined : `${leftOut(homeless)}: no addresses are left for their pods`;
  }

  private drop(name: string): void {
    const pool = this.pools.get(name);
    if (pool === undefined) return;
    this.pools.delete(name);
    this.short.delete(name);
    for (let index = 0; index < pool.count; index++) {
      const node = `${name}-${index}`;
      this.homeless.delete(node);
      if (!this.wantedNodes.delete(node)) return;
      this.work.add(node);
    }
  }
  private want(pool: Pool): void {
    const count = Math.min(pool.count, MAX_NODES);
    for (let index = 0; index < count; index++) {
      const name = `${pool.name}-${index}`;
      if (!this.wantedNodes.has(name)) {
        if (this.wantedNodes.size >= this.most) {
          this.short.set(pool.name, count - index);
          return;
        }
        this.wantedNodes.set(name, { pool, index });
      }
      this.work.add(name);
    }
    this.short.delete(pool.name);
  }
  /** Gives room that has become free to pools that had none. */
  private fill(): void {
    for (const name of this.short.keys()) {
      if (this.wantedNodes.size >= this.most) return;
      const pool = this.pools.get(name);
      if (pool === undefined) continue;
      this.want(pool);
      this.resized(name);
    }
  }

  private changed(node: NodeObject | undefined, oldNode: NodeObject): void {
    const { identity } = this.context;
    const name = oldNode.metadata.name ?? '';
    if (node === undefined || !isSimulated(identity, node)) {
      if (this.nodesByName.delete(name)) {
        this.release(oldNode.spec?.podCIDR ?? '');
        this.events.gone(name);
      }
      if (this.wantedNodes.has(name)) this.work.add(name);
      return;
    }
    const cidr = node.spec?.podCIDR ?? '';
    if (cidr === '') {
      this.work.add(name);
      return;
    }
    this.note(node, cidr);
    const down = isDown(identity, node);
    if (!down && (!isReadyNode(node) || this.notReadyTaint(node) || allocatableOf(node) !== undefined)) this.work.add(name);
    const pool = node.metadata.labels?.[poolLabel(identity)];
    if (pool !== undefined && !this.wantedNodes.has(name)) this.work.add(name);
  }
  private note(node: NodeObject, cidr: string): void {
    const name = node.metadata.name ?? '';
    const oldNode = this.nodesByName.get(name);
    const down = isDown(this.context.identity, node);
    const hostIP = node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '';
    if (oldNode !== undefined && oldNode.down === down && oldNode.hostIP === hostIP) return;
    if (oldNode === undefined) this.blocks.note(cidr);
    this.nodesByName.set(name, { name, addresses: oldNode?.addresses ?? new PodAddresses(cidr), hostIP, down });
    if (!down && (oldNode === undefined || oldNode.down)) this.events.up(name);
    else if (down && oldNode?.down === false) this.events.down(name);
  }
  /** Admission adds it to every new node; a node that works does not keep it. */
  private notReadyTaint({ spec }: NodeObject): boolean {
    const key = domainName(this.context.identity, 'not-ready', 'node');
    return spec?.taints?.some((taint) => taint.key === key && taint.effect === 'NoSchedule') === true;
  }

  private async repair(name: string): Promise<void> {
    const { client } = this.context;
    const node = this.nodes.get('', name);
    const wantedNode = this.wantedNodes.get(name);
    if (node === undefined) {
      if (wantedNode !== undefined) await this.create(name, wantedNode.pool, wantedNode.index);
      return;
    }
    if (!isSimulated(this.context.identity, node)) return;
    const pool = node.metadata.labels?.[poolLabel(this.context.identity)];
    if (wantedNode === undefined && pool !== undefined && this.isSurplus(node, pool)) {
      await client.delete(refs.nodes, '', name, { preconditions: { uid: node.metadata.uid ?? '' } }).catch(unlessGoneOrReplaced);
      return;
    }
    await this.adopt(node);
  }
  /** Nodes of a pool that exists go when it is smaller; those of a pool that was deleted are collected with it. */
  private isSurplus({ metadata }: NodeObject, pool: string): boolean {
    return this.pools.has(pool) && metadata.deletionTimestamp === undefined;
  }

  private async create(name: string, pool: Pool, index: number): Promise<void> {
    const { client, clock, identity } = this.context;
    const cidr = this.blocks.take(Number(pool.capacity?.pods ?? usualCapacity.pods));
    if (cidr === undefined) {
      this.homeless.set(name, pool.name);
      this.resized(pool.name);
      return;
    }
    this.next();
    const node = nodeObject(identity, name, { ...pool, index }, cidr, clock.now());
    if (pool.owner !== undefined) {
      const { apiVersion, kind, uid } = pool.owner;
      node.metadata.ownerReferences = [{ apiVersion, kind, name: pool.name, uid, controller: true, blockOwnerDeletion: true }];
    }
    try {
      await this.nodes.whenArrived(await client.create<NodeObject>(refs.nodes, '', node));
    } catch (error) {
      this.release(cidr);
      if (!isConflict(error)) throw error;
    }
  }
  private release(cidr: string): void {
    this.blocks.free(cidr);
    this.next();
  }
  /** Addresses may be left for one more node. */
  private next(): void {
    const [first] = this.homeless;
    if (first === undefined) return;
    const [name, pool] = first;
    this.homeless.delete(name);
    this.work.add(name);
    this.resized(pool);
  }

  /** Gives a node what it lacks: addresses for its pods, a status, and no taint of nodes that do not work. */
  private async adopt(node: NodeObject): Promise<void> {
    const { client, clock, identity } = this.context;
    const name = node.metadata.name ?? '';
    const resourceVersion = node.metadata.resourceVersion ?? '';
    let cidr = node.spec?.podCIDR ?? '';
    const missing = Object.entries(usualLabels(identity, name)).filter(([label]) => own(node.metadata.labels, label) === undefined);
    const tainted = this.notReadyTaint(node) && !isDown(identity, node);
    if (cidr === '' || tainted || missing.length > 0) {
      const key = domainName(identity, 'not-ready', 'node');
      if (cidr === '') cidr = this.blocks.take(Number(node.status?.capacity?.pods ?? usualCapacity.pods)) ?? '';
      if (cidr === '') throw new Error(`no addresses are left for the pods of node ${name}`);
      const taints = (node.spec?.taints ?? []).filter((taint) => !(taint.key === key && taint.effect === 'NoSchedule'));
      const patch = {
        metadata: { resourceVersion, labels: Object.fromEntries(missing) },
        spec: { podCIDR: cidr, podCIDRs: [cidr], ...(tainted && { taints: taints.length === 0 ? null : taints }) },
      };
      let patched: NodeObject | undefined;
      try {
        patched = await client.patch<NodeObject>(refs.nodes, '', name, patch).catch(unlessGone);
      } finally {
        if (patched === undefined && cidr !== node.spec?.podCIDR) this.release(cidr);
      }
      if (patched !== undefined) await this.nodes.whenArrived(patched);
    }
    const current = this.nodes.get('', name);
    if (current === undefined || isDown(identity, current)) return;
    if (isReadyNode(current)) return this.updateAllocatable(current);
    const status = statusOf(identity, { name, cidr, capacity: usualCapacity, now: clock.now(), old: current.status });
    const patch = { metadata: { resourceVersion: current.metadata.resourceVersion }, status };
    const withStatus = await client.patch<NodeObject>(refs.nodes, '', name, patch, 'status').catch(unlessGone);
    if (withStatus !== undefined) await this.nodes.whenArrived(withStatus);
  }
  private async updateAllocatable(node: NodeObject): Promise<void> {
    const next = allocatableOf(node);
    if (next === undefined) return;
    const { name = '', resourceVersion } = node.metadata;
    // In a merge patch what is gone is null.
    const removedResources = Object.fromEntries(
      Object.keys(node.status?.allocatable ?? {}).flatMap((key) => (Object.hasOwn(next, key) ? [] : [[key, null]])),
    );
    const patch = { metadata: { resourceVersion }, status: { allocatable: { ...removedResources, ...next } } };
    const patched = await this.context.client.patch<NodeObject>(refs.nodes, '', name, patch, 'status').catch(unlessGone);
    if (patched !== undefined) await this.nodes.whenArrived(patched);
  }
}

const leftOut = (count: number): string => (count === 1 ? '1 node is left out' : `${count} nodes are left out`);
