/** A node and the sums of what its pods use, kept up to date by every pod that comes and goes. */

import type { Node } from '../../kinds/core/schema/node.ts';
import type { Taint } from '../../kinds/core/schema/pods/scheduling.ts';
import type { Part, Wire } from '../../kinds/wire.ts';
import { jsonText } from '../../lib/json-text.ts';
import { own } from '../../lib/own.ts';
import type { Labels } from '../../meta/labels.ts';
import { UsedPorts } from './host-ports.ts';
import { taggedImage } from './pod-class.ts';
import type { PodState } from './pod-state.ts';
import { type Allocatable, nodeAllocatable } from './requests.ts';

export type WireNode = Wire<Node>;

const noLabels: Labels = {};
const nothing: Allocatable = { cpu: 0, memory: 0, storage: 0, pods: 0, others: new Map() };

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

/** What a change of a node means. */
export interface NodeChange {
  readonly labels: boolean;
  readonly taints: boolean;
  readonly allocatable: boolean;
  readonly unschedulable: boolean;
  readonly images: boolean;
}

/** Takes over what a node object says; reports what is another than before. */
export function readNode(state: NodeState, node: WireNode): NodeChange {
  const before = state.exists ? fingerprintOf(state) : undefined;
  const labels = node.metadata.labels ?? noLabels;
  const changed: NodeChange = {
    labels: before === undefined || !sameLabels(state.labels, labels),
    taints: before === undefined || before.taints !== JSON.stringify(node.spec?.taints ?? []),
    allocatable: before === undefined || !sameAllocatable(state.allocatable, nodeAllocatable(node.status?.allocatable)),
    unschedulable: before === undefined || state.unschedulable !== (node.spec?.unschedulable ?? false),
    images: before === undefined ? (node.status?.images ?? []).length > 0 : before.images !== imagesText(node),
  };
  state.exists = true;
  if (changed.labels) {
    state.labels = labels;
    state.labelMap = new Map(Object.entries(labels));
  }
  if (changed.taints) state.taints = node.spec?.taints ?? [];
  if (changed.allocatable) state.allocatable = nodeAllocatable(node.status?.allocatable);
  state.unschedulable = node.spec?.unschedulable ?? false;
  if (changed.images) {
    const images = new Map<string, number>();
    for (const { names, sizeBytes = 0 } of node.status?.images ?? [])
      for (const name of names ?? []) images.set(taggedImage(name), Number(sizeBytes));
    state.images = images;
  }
  return changed;
}

const fingerprintOf = ({ taints, images }: NodeState): { taints: string; images: string } => ({
  taints: JSON.stringify(taints),
  images: JSON.stringify([...images]),
});
const imagesText = (node: WireNode): string =>
  jsonText((node.status?.images ?? []).flatMap(({ names, sizeBytes = 0 }) => (names ?? []).map((name) => [taggedImage(name), sizeBytes])));

function sameLabels(a: Labels, b: Labels): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => own(a, key) === own(b, key));
}
function sameAllocatable(a: Allocatable, b: Allocatable): boolean {
  if (a.cpu !== b.cpu || a.memory !== b.memory || a.storage !== b.storage || a.pods !== b.pods || a.others.size !== b.others.size)
    return false;
  for (const [name, amount] of a.others) if (b.others.get(name) !== amount) return false;
  return true;
}
