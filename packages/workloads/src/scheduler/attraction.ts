import type { DomainCounts, NodeState } from './state.ts';

export interface Weighted {
  readonly counts: DomainCounts;
  readonly weight: number;
}

/** How much terms that count pods attract a pod to each node, or repel it. Terms may be many more than domains: each is added once. */
export class Attraction {
  /** By topology and domain. */
  private readonly sums = new Map<string, Map<string, number>>();

  add({ counts, weight }: Weighted): void {
    const { topologyKey } = counts.by;
    for (const [domain, pods] of counts.byDomain) {
      let sums = this.sums.get(topologyKey);
      if (sums === undefined) {
        sums = new Map();
        this.sums.set(topologyKey, sums);
      }
      sums.set(domain, (sums.get(domain) ?? 0) + weight * pods);
    }
  }
  at({ labelMap }: NodeState): number {
    let total = 0;
    for (const [topologyKey, sums] of this.sums) {
      const domain = labelMap.get(topologyKey);
      if (domain !== undefined) total += sums.get(domain) ?? 0;
    }
    return total;
  }
}
