/**
 * The terms of pods that have a node, about pods that are to come: required anti-affinity keeps them away, preferred terms and
 * required affinity attract or repel them. Equal terms of many pods form a group with one count by domain.
 */

import type { Labels } from '@plat-dev/meta/labels';
import type { PodTerm } from './pod-terms.ts';
import type { CountedBy, DomainCounts, PodClass } from './state.ts';

export interface TermGroup {
  readonly term: PodTerm;
  /** Undefined: pods that the term selects must not come. */
  readonly weight: number | undefined;
  readonly counts: DomainCounts;
  /** Classes with the term. */
  classes: number;
}

export interface GroupChange {
  readonly group: TermGroup;
  /** Whether it came or left. */
  readonly isThere: boolean;
}

/** Changes that are remembered; who is further behind looks at all groups. */
const CHANGES_LIMIT = 20_000;

/** Pods that an existing pod requires next to itself are attracted by it, a little. */
const REQUIRED_WEIGHT = 1;

/** What the groups need of the cluster. */
export interface CountingCluster {
  count(by: CountedBy): DomainCounts;
  readonly namespaceLabels: (name: string) => Labels | undefined;
}

export class TermGroups {
  /** Another number when groups came or left, or what they select may have changed. */
  version = 0;
  private readonly cluster: CountingCluster;
  private readonly groups = new Map<string, TermGroup>();
  /** What came and left since the version `changesFrom`, one change for each version. */
  private readonly changes: GroupChange[] = [];
  private changesFrom = 0;

  constructor(cluster: CountingCluster) {
    this.cluster = cluster;
  }
  enter(podClass: PodClass): void {
    for (const [key, term, weight] of termsOf(podClass)) {
      let group = this.groups.get(key);
      if (group === undefined) {
        group = { term, weight, counts: this.cluster.count({ topologyKey: term.topologyKey }), classes: 0 };
        this.groups.set(key, group);
        this.note({ group, isThere: true });
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
      this.note({ group, isThere: false });
    }
  }
  /** What terms select may have changed. */
  changed(): void {
    this.changesFrom = ++this.version;
    this.changes.length = 0;
  }
  private note(change: GroupChange): void {
    this.version++;
    this.changes.push(change);
    if (this.changes.length <= CHANGES_LIMIT) return;
    const forgotten = this.changes.splice(0, CHANGES_LIMIT / 2).length;
    this.changesFrom += forgotten;
  }
  all(): Iterable<TermGroup> {
    return this.groups.values();
  }
  /** What came and left since a version, in order. Undefined if that is not known any more, and all groups have to be looked at. */
  since(version: number): readonly GroupChange[] | undefined {
    return version < this.changesFrom ? undefined : this.changes.slice(version - this.changesFrom);
  }
}

function* termsOf({ terms }: PodClass): Generator<[key: string, term: PodTerm, weight: number | undefined]> {
  for (const term of terms.antiAffinity) yield [`anti ${term.text}`, term, undefined];
  for (const term of terms.affinity) yield [`required ${term.text}`, term, REQUIRED_WEIGHT];
  for (const { term, weight } of terms.preferred) yield [`${weight} ${term.text}`, term, weight];
}
