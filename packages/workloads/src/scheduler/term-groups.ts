/**
 * The terms of pods that have a node, about pods that are to come: required anti-affinity keeps them away, preferred terms and
 * required affinity attract or repel them. Equal terms of many pods form a group with one count by domain.
 */

import type { Labels } from '@plat-dev/meta/labels';
import { type PodTerm, selects } from './pod-terms.ts';
import type { CountedBy, DomainCounts, PodClass } from './state.ts';

export interface TermGroup {
  readonly term: PodTerm;
  /** Undefined: pods that the term selects must not come. */
  readonly weight: number | undefined;
  readonly counts: DomainCounts;
  /** Classes with the term. */
  classes: number;
}

/** Pods that an existing pod requires next to itself are attracted by it, a little. */
const REQUIRED_WEIGHT = 1;

/** What the groups need of the cluster. */
export interface CountingCluster {
  count(by: CountedBy): DomainCounts;
  release(counts: DomainCounts): void;
  readonly namespaceLabels: (name: string) => Labels | undefined;
}

export class TermGroups {
  /** Another number when groups came or left, or what they select may have changed. */
  version = 0;
  private readonly cluster: CountingCluster;
  private readonly groups = new Map<string, TermGroup>();

  constructor(cluster: CountingCluster) {
    this.cluster = cluster;
  }
  enter(podClass: PodClass): void {
    for (const [key, term, weight] of termsOf(podClass)) {
      let group = this.groups.get(key);
      if (group === undefined) {
        group = { term, weight, counts: this.cluster.count({ topologyKey: term.topologyKey }), classes: 0 };
        this.groups.set(key, group);
        this.version++;
      }
      group.classes++;
      group.counts.member(podClass);
    }
  }
  leave(podClass: PodClass): void {
    for (const [key] of termsOf(podClass)) {
      const group = this.groups.get(key);
      if (group === undefined || --group.classes > 0) continue;
      this.groups.delete(key);
      this.cluster.release(group.counts);
      this.version++;
    }
  }
  changed(): void {
    this.version++;
  }
  /** The groups whose term selects pods of a class. */
  about(podClass: PodClass): { readonly keepAway: DomainCounts[]; readonly attract: { counts: DomainCounts; weight: number }[] } {
    const keepAway: DomainCounts[] = [];
    const attract: { counts: DomainCounts; weight: number }[] = [];
    for (const { term, weight, counts } of this.groups.values()) {
      if (!selects(term, podClass, this.cluster.namespaceLabels)) continue;
      if (weight === undefined) keepAway.push(counts);
      else attract.push({ counts, weight });
    }
    return { keepAway, attract };
  }
}

function* termsOf({ terms }: PodClass): Generator<[key: string, term: PodTerm, weight: number | undefined]> {
  for (const term of terms.antiAffinity) yield [`anti ${term.text}`, term, undefined];
  for (const term of terms.affinity) yield [`required ${term.text}`, term, REQUIRED_WEIGHT];
  for (const { term, weight } of terms.preferred) yield [`${weight} ${term.text}`, term, weight];
}
