/** What the terms of one class of pods mean for pods with certain labels, summed up: a term that is looked at once is not kept. */
import type { Work } from '@plat-dev/lib/slices';
import { type Labeled, type NamespaceLabels, type PodTerm, type PodTerms, selects } from './pod-terms.ts';

/** What terms are about besides pods. */
export interface Surroundings {
  readonly namespaceLabels: NamespaceLabels;
  /** Whether a node has the label. Terms of other topologies have no domains, and no influence. */
  hasTopology(topologyKey: string): boolean;
}

export interface Influence {
  /** How much each topology's domain attracts, for each pod there; less than nothing repels. */
  readonly weights: ReadonlyMap<string, number>;
  /** Topologies in whose domains the two must not be together. */
  readonly apart: ReadonlySet<string>;
  /** All terms of required affinity select the labels. */
  readonly isNeighbour: boolean;
}
export const noInfluence: Influence = { weights: new Map(), apart: new Set(), isNeighbour: false };

/** Pods that an existing pod requires next to itself are attracted by it, a little. */
const REQUIRED_WEIGHT = 1;

/** Terms that are looked at before the work yields. */
const TERMS_A_STEP = 16;

/** Of terms of a pod that is to come, about a pod that has a node. */
export function* influenceOnOwner({ affinity, antiAffinity, preferred }: PodTerms, other: Labeled, around: Surroundings): Work<Influence> {
  const look = new Look(other, around);
  yield* look.atPreferred(preferred);
  yield* look.atAverse(antiAffinity);
  const isNeighbour = affinity.length > 0 && (yield* look.areAllSelecting(affinity));
  return look.influence(isNeighbour);
}

/** Of terms of a pod that has a node, about a pod that is to come. */
export function* influenceOnOther({ affinity, antiAffinity, preferred }: PodTerms, other: Labeled, around: Surroundings): Work<Influence> {
  const look = new Look(other, around);
  yield* look.atPreferred(preferred);
  yield* look.atAverse(antiAffinity);
  yield* look.atRequired(affinity);
  return look.influence(false);
}

class Look {
  private readonly weights = new Map<string, number>();
  private readonly apart = new Set<string>();
  private readonly other: Labeled;
  private readonly around: Surroundings;
  private termsSeen = 0;

  constructor(other: Labeled, around: Surroundings) {
    this.other = other;
    this.around = around;
  }
  *atPreferred(preferred: PodTerms['preferred']): Work<void> {
    for (const { term, weight } of preferred) {
      if (this.hasDomains(term) && this.selects(term)) this.attract(term.topologyKey, weight);
      if (this.isStepOver) yield;
    }
  }
  *atAverse(terms: readonly PodTerm[]): Work<void> {
    for (const term of terms) {
      if (!this.apart.has(term.topologyKey) && this.hasDomains(term) && this.selects(term)) this.apart.add(term.topologyKey);
      if (this.isStepOver) yield;
    }
  }
  *atRequired(terms: readonly PodTerm[]): Work<void> {
    for (const term of terms) {
      if (this.hasDomains(term) && this.selects(term)) this.attract(term.topologyKey, REQUIRED_WEIGHT);
      if (this.isStepOver) yield;
    }
  }
  *areAllSelecting(terms: readonly PodTerm[]): Work<boolean> {
    for (const term of terms) {
      if (!this.selects(term)) return false;
      if (this.isStepOver) yield;
    }
    return true;
  }
  influence(isNeighbour: boolean): Influence {
    const { weights, apart } = this;
    return weights.size === 0 && apart.size === 0 && !isNeighbour ? noInfluence : { weights, apart, isNeighbour };
  }
  private attract(topologyKey: string, weight: number): void {
    this.weights.set(topologyKey, (this.weights.get(topologyKey) ?? 0) + weight);
  }
  private hasDomains({ topologyKey }: PodTerm): boolean {
    return this.around.hasTopology(topologyKey);
  }
  private selects(term: PodTerm): boolean {
    return selects(term, this.other, this.around.namespaceLabels);
  }
  private get isStepOver(): boolean {
    return ++this.termsSeen % TERMS_A_STEP === 0;
  }
}
