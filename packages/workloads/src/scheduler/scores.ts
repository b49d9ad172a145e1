/** How good each node is for a pod that fits on all of them: the sum of scores from 0 to 100, with the weights of the stock scheduler. */
import type { Cluster } from './cluster.ts';
import type { Plan } from './plan.ts';
import type { NodeState } from './state.ts';

const BEST = 100;
const weights = { taints: 3, nodeAffinity: 2, spread: 2, podAffinity: 2 } as const;

/** Images are worth something from the first size on, and everything from the second on for each container. */
const SMALL_IMAGE = 23 * 1024 * 1024;
const LARGE_IMAGE = 1000 * 1024 * 1024;

/** The score of each node, in order. */
export function scoreNodes(cluster: Cluster, plan: Plan, nodes: readonly NodeState[]): Float64Array {
  const totals = new Float64Array(nodes.length);
  addResources(plan, nodes, totals);
  addTaints(plan, nodes, totals);
  if (plan.podClass.preferredNodes.length > 0) addNodeAffinity(plan, nodes, totals);
  if (plan.softSpread.length > 0) addSpread(cluster, plan, nodes, totals);
  else for (let i = 0; i < totals.length; i++) totals[i] = (totals[i] as number) + weights.spread * BEST;
  if (plan.podClass.terms.preferred.length > 0 || !plan.reception.attraction.isEmpty) addPodAffinity(plan, nodes, totals);
  if (plan.podClass.images.some((image) => cluster.nodesWithImage(image) > 0)) addImages(cluster, plan, nodes, totals);
  return totals;
}

/** Free room counts, and that cpu and memory are used to the same part. */
function addResources({ podClass: { requests } }: Plan, nodes: readonly NodeState[], totals: Float64Array): void {
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i] as NodeState;
    const { cpu, memory } = node.allocatable;
    let free = 0;
    let kinds = 0;
    if (cpu > 0) {
      free += freeScore(node.scoredCpu + requests.scoredCpu, cpu);
      kinds++;
    }
    if (memory > 0) {
      free += freeScore(node.scoredMemory + requests.scoredMemory, memory);
      kinds++;
    }
    let imbalance = 0;
    if (kinds === 2) {
      const usedCpu = Math.min((node.cpu + requests.cpu) / cpu, 1);
      const usedMemory = Math.min((node.memory + requests.memory) / memory, 1);
      imbalance = Math.abs(usedCpu - usedMemory) / 2;
    }
    totals[i] = (totals[i] as number) + (kinds === 0 ? 0 : Math.floor(free / kinds)) + Math.floor((1 - imbalance) * BEST);
  }
}
const freeScore = (used: number, all: number): number => (used > all ? 0 : Math.floor(((all - used) * BEST) / all));

/** The more taints ask pods to stay away, the less. */
function addTaints(plan: Plan, nodes: readonly NodeState[], totals: Float64Array): void {
  let most = 0;
  for (const node of nodes) most = Math.max(most, plan.unwelcomeOn(node));
  for (let i = 0; i < nodes.length; i++) {
    const score = most === 0 ? BEST : BEST - Math.floor((plan.unwelcomeOn(nodes[i] as NodeState) * BEST) / most);
    totals[i] = (totals[i] as number) + weights.taints * score;
  }
}

function addNodeAffinity(plan: Plan, nodes: readonly NodeState[], totals: Float64Array): void {
  let most = 0;
  for (const node of nodes) most = Math.max(most, plan.preferenceFor(node));
  if (most === 0) return;
  for (let i = 0; i < nodes.length; i++) {
    const score = Math.floor((plan.preferenceFor(nodes[i] as NodeState) * BEST) / most);
    totals[i] = (totals[i] as number) + weights.nodeAffinity * score;
  }
}

/** Domains with fewer pods of the same kind are better. A topology with many domains weighs more. */
function addSpread(cluster: Cluster, plan: Plan, nodes: readonly NodeState[], totals: Float64Array): void {
  const { softSpread, softNeedsAll } = plan;
  const ignored = (node: NodeState): boolean =>
    softNeedsAll && softSpread.some(({ constraint }) => !node.labelMap.has(constraint.topologyKey));
  const scored = softNeedsAll ? nodes.filter((node) => !ignored(node)) : nodes;
  const factors = softSpread.map(({ constraint: { topologyKey } }) => {
    const domains =
      topologyKey === cluster.labels.hostname ? scored.length : new Set(scored.map((node) => node.labelMap.get(topologyKey))).size;
    return Math.log(domains + 2);
  });
  const raw = new Float64Array(nodes.length);
  let [least, most] = [Number.POSITIVE_INFINITY, 0];
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i] as NodeState;
    if (ignored(node)) {
      raw[i] = -1;
      continue;
    }
    let sum = 0;
    for (let j = 0; j < softSpread.length; j++) {
      const { constraint, counts } = softSpread[j] as (typeof softSpread)[number];
      if (node.labelMap.has(constraint.topologyKey)) sum += counts.at(node) * (factors[j] as number) + constraint.maxSkew - 1;
    }
    const score = Math.round(sum);
    raw[i] = score;
    if (score < least) least = score;
    if (score > most) most = score;
  }
  for (let i = 0; i < nodes.length; i++) {
    const score = raw[i] as number;
    if (score < 0) continue;
    totals[i] = (totals[i] as number) + weights.spread * (most === 0 ? BEST : Math.floor((BEST * (most + least - score)) / most));
  }
}

function addPodAffinity(plan: Plan, nodes: readonly NodeState[], totals: Float64Array): void {
  const { wishes, reception } = plan;
  const raw = new Float64Array(nodes.length);
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i] as NodeState;
    const sum = (wishes?.attraction.at(node) ?? 0) + reception.attraction.at(node);
    raw[i] = sum;
    if (sum < least) least = sum;
    if (sum > most) most = sum;
  }
  if (most === least) return;
  for (let i = 0; i < nodes.length; i++) {
    const score = Math.floor((BEST * ((raw[i] as number) - least)) / (most - least));
    totals[i] = (totals[i] as number) + weights.podAffinity * score;
  }
}

/** Nodes with the images are better; less so where few nodes have them, or all pods would go there. */
function addImages(cluster: Cluster, { podClass: { images } }: Plan, nodes: readonly NodeState[], totals: Float64Array): void {
  const all = cluster.list().length;
  const most = LARGE_IMAGE * images.length;
  const shares = images.map((image) => cluster.nodesWithImage(image) / all);
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i] as NodeState;
    let sum = 0;
    images.forEach((image, j) => {
      sum += Math.floor((node.images.get(image) ?? 0) * (shares[j] as number));
    });
    const bounded = Math.min(Math.max(sum, SMALL_IMAGE), most);
    totals[i] = (totals[i] as number) + Math.floor((BEST * (bounded - SMALL_IMAGE)) / (most - SMALL_IMAGE));
  }
}
