import type { NodeState } from './state.ts';

/** Sums by topology and domain. Only domains of nodes have some, so that these are few however many terms were added. */
export class TopologySums {
  private readonly topologies = new Map<string, Map<string, number>>();

  get isEmpty(): boolean {
    return this.topologies.size === 0;
  }
  clear(): void {
    this.topologies.clear();
  }
  /** Whether a topology has a domain with a sum. */
  has(topologyKey: string): boolean {
    return this.topologies.has(topologyKey);
  }
  add(topologyKey: string, { labelMap }: NodeState, amount: number): void {
    const domain = labelMap.get(topologyKey);
    if (domain === undefined) return;
    let sums = this.topologies.get(topologyKey);
    if (sums === undefined) {
      sums = new Map();
      this.topologies.set(topologyKey, sums);
    }
    const sum = (sums.get(domain) ?? 0) + amount;
    if (sum !== 0) sums.set(domain, sum);
    else if (sums.delete(domain) && sums.size === 0) this.topologies.delete(topologyKey);
  }
  /** The sum in the node's domain of one topology. */
  in(topologyKey: string, { labelMap }: NodeState): number {
    const domain = labelMap.get(topologyKey);
    return domain === undefined ? 0 : (this.topologies.get(topologyKey)?.get(domain) ?? 0);
  }
  /** The sum of those in all domains of a node. */
  at(node: NodeState): number {
    let total = 0;
    for (const topologyKey of this.topologies.keys()) total += this.in(topologyKey, node);
    return total;
  }
}
