/** Reads a node of the API into what the scheduler knows of it. */

import type { Node } from '@plat-dev/kinds/core/schema/node';
import type { Wire } from '@plat-dev/kinds/wire';
import { jsonText } from '@plat-dev/lib/json-text';
import { own } from '@plat-dev/lib/own';
import type { Labels } from '@plat-dev/meta/labels';
import { type Allocatable, nodeAllocatable } from './requests.ts';
import { type NodeState, noLabels } from './state.ts';
import { taggedImage } from './tagged-image.ts';

export type WireNode = Wire<Node>;

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
  const oldFingerprint = state.exists ? fingerprintOf(state) : undefined;
  const labels = node.metadata.labels ?? noLabels;
  const changed: NodeChange = {
    labels: oldFingerprint === undefined || !sameLabels(state.labels, labels),
    taints: oldFingerprint === undefined || oldFingerprint.taints !== JSON.stringify(node.spec?.taints ?? []),
    allocatable: oldFingerprint === undefined || !sameAllocatable(state.allocatable, nodeAllocatable(node.status?.allocatable)),
    unschedulable: oldFingerprint === undefined || state.unschedulable !== (node.spec?.unschedulable ?? false),
    images: oldFingerprint === undefined ? (node.status?.images ?? []).length > 0 : oldFingerprint.images !== imagesText(node),
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
