/** Whether pods of a class can be on a node with the pods that are there. The order of the checks is that of the stock scheduler. */

import { Cause } from './cause.ts';
import type { Cluster } from './cluster.ts';
import type { Misfit, Plan } from './plan.ts';
import type { NodeState, PodClass, PodState } from './state.ts';
import type { TopologySums } from './topology-sums.ts';
import { conflict } from './volumes/disks.ts';
import type { PodVolumes } from './volumes/pod-volumes.ts';

const noPorts: Misfit = { reasons: ["node(s) didn't have free ports for the requested pod ports"], cause: Cause.ports, final: false };
const noDisk: Misfit = { reasons: ['node(s) had no available disk'], cause: Cause.volumes, final: false };
const uneven: Misfit = { reasons: ["node(s) didn't match pod topology spread constraints"], cause: Cause.spread, final: false };
const noDomain: Misfit = {
  reasons: ["node(s) didn't match pod topology spread constraints (missing required label)"],
  cause: Cause.spread,
  final: true,
};
const noNeighbours: Misfit = { reasons: ["node(s) didn't match pod affinity rules"], cause: Cause.podAffinity, final: true };
const averse: Misfit = { reasons: ["node(s) didn't match pod anti-affinity rules"], cause: Cause.podAffinity, final: false };
const keptAway: Misfit = { reasons: ["node(s) didn't satisfy existing pods anti-affinity rules"], cause: Cause.podAffinity, final: false };

/** What keeps the pod from the node; undefined if it fits. The plan is up to date. */
function misfitOf(plan: Plan, volumes: PodVolumes | undefined, node: NodeState): Misfit | undefined {
  const { podClass } = plan;
  return (
    plan.nodeMisfit(node) ??
    (podClass.ports.length > 0 && podClass.ports.some((port) => node.ports.conflicts(port)) ? noPorts : undefined) ??
    resourceMisfit(podClass, node) ??
    (podClass.disks.length > 0 ? diskMisfit(podClass, node) : undefined) ??
    volumes?.misfit(node) ??
    (plan.hardSpread.length > 0 ? spreadMisfit(plan, node) : undefined) ??
    affinityMisfit(plan, node)
  );
}

function resourceMisfit({ requests }: PodClass, node: NodeState): Misfit | undefined {
  const { allocatable } = node;
  const full = node.pods.size + 1 > allocatable.pods;
  if (
    !full &&
    requests.others.length === 0 &&
    (requests.cpu === 0 || requests.cpu <= allocatable.cpu - node.cpu) &&
    (requests.memory === 0 || requests.memory <= allocatable.memory - node.memory) &&
    (requests.storage === 0 || requests.storage <= allocatable.storage - node.storage)
  )
    return undefined;
  const reasons: string[] = [];
  if (full) reasons.push('Too many pods');
  if (requests.cpu > 0 && requests.cpu > allocatable.cpu - node.cpu) reasons.push('Insufficient cpu');
  if (requests.memory > 0 && requests.memory > allocatable.memory - node.memory) reasons.push('Insufficient memory');
  if (requests.storage > 0 && requests.storage > allocatable.storage - node.storage) reasons.push('Insufficient ephemeral-storage');
  for (const [name, amount] of requests.others)
    if (amount > (allocatable.others.get(name) ?? 0) - (node.others.get(name) ?? 0)) reasons.push(`Insufficient ${name}`);
  return reasons.length === 0 ? undefined : { reasons, cause: Cause.resources, final: false };
}

function diskMisfit({ disks }: PodClass, node: NodeState): Misfit | undefined {
  for (const { class: other } of node.diskUsers) if (disks.some((disk) => other.disks.some((used) => conflict(disk, used)))) return noDisk;
  return undefined;
}

function spreadMisfit({ hardSpread }: Plan, node: NodeState): Misfit | undefined {
  for (const { constraint, counts, self } of hardSpread) {
    if (!node.labelMap.has(constraint.topologyKey)) return noDomain;
    const fewest = counts.domainCount < constraint.minDomains ? 0 : counts.fewest;
    if (counts.at(node) + self - fewest > constraint.maxSkew) return uneven;
  }
  return undefined;
}

function affinityMisfit(plan: Plan, node: NodeState): Misfit | undefined {
  const { wishes, reception } = plan;
  if (wishes !== undefined) {
    if (plan.neighbourKeys.length > 0 && !hasNeighbours(plan, wishes.neighbours, node)) return noNeighbours;
    if (wishes.barriers.at(node) > 0) return averse;
  }
  return reception.barriers.at(node) > 0 ? keptAway : undefined;
}

/** There is a pod in the node's domain of each topology; or there is no such pod anywhere, and the pod would be the first. */
function hasNeighbours({ neighbourKeys, affineToSelf }: Plan, neighbours: TopologySums, node: NodeState): boolean {
  let all = true;
  let any = false;
  for (const topologyKey of neighbourKeys) {
    if (!node.labelMap.has(topologyKey)) return false;
    if (neighbours.in(topologyKey, node) === 0) all = false;
    if (neighbours.has(topologyKey)) any = true;
  }
  return all || (!any && affineToSelf);
}

/**
 * The same with pods of at least the same priority that wait for victims on this node to go: the pod has to fit with them and
 * without them, since they may come or not.
 */
export function misfitWithNominated(
  cluster: Cluster,
  pod: PodState,
  plan: Plan,
  volumes: PodVolumes | undefined,
  node: NodeState,
): Misfit | undefined {
  const misfit = misfitOf(plan, volumes, node);
  if (misfit !== undefined || node.nominated.size === 0) return misfit;
  const others = [...node.nominated].filter((other) => other !== pod && other.priority >= pod.priority && other.node === undefined);
  if (others.length === 0) return undefined;
  const { version } = cluster;
  for (const other of others) cluster.put(other, node);
  try {
    return misfitOf(plan, volumes, node);
  } finally {
    for (const other of others) cluster.take(other);
    cluster.version = version;
  }
}
