/** What pods of each class mean for those of others by their terms of affinity: the tables of it, and the changes that they follow. */
import { AffinityTable } from './affinity-table.ts';
import { type Influence, influenceOnOther, influenceOnOwner, type Surroundings } from './influence.ts';
import { PlacementLog } from './placement-log.ts';
import type { LabelSet, NodeState, PodClass } from './state.ts';

export interface AffineCluster extends Surroundings {
  classes(): Iterable<PodClass>;
  /** Changes with every label of a node or namespace. */
  readonly labelsVersion: number;
}

interface Reception {
  readonly table: AffinityTable;
  /** Those who need it. */
  users: number;
}

export class Affinities {
  private readonly cluster: AffineCluster;
  private readonly placements = new PlacementLog();
  /** Those of classes with terms alone: mostly few. */
  private readonly placementsWithTerms = new PlacementLog();
  private readonly classesWithTerms = new Set<PodClass>();
  /** Tables for labels that plans need: pods with equal labels share one, whatever else they differ in. */
  private readonly receptions = new Map<LabelSet, Reception>();

  constructor(cluster: AffineCluster) {
    this.cluster = cluster;
  }
  classCame(podClass: PodClass): void {
    if (hasTerms(podClass)) this.classesWithTerms.add(podClass);
  }
  classLeft(podClass: PodClass): void {
    this.classesWithTerms.delete(podClass);
    this.placed(podClass, undefined, 0);
  }
  /** Pods came to a node or left it. Without a node: the class has gone. */
  placed(podClass: PodClass, node: NodeState | undefined, delta: number): void {
    const change = { podClass, node, delta };
    this.placements.add(change);
    if (hasTerms(podClass)) this.placementsWithTerms.add(change);
  }
  /** What the terms of a class say of pods that have a node. */
  wishesOf({ terms }: PodClass): AffinityTable {
    const { cluster } = this;
    let influencesAt = -1;
    let influences = new WeakMap<LabelSet, Influence>();
    return new AffinityTable({
      ...this.common,
      classes: () => cluster.classes(),
      log: this.placements,
      neighbourKeys: [...new Set(terms.affinity.map(({ topologyKey }) => topologyKey))],
      *influenceOf({ labelSet }) {
        if (influencesAt !== cluster.labelsVersion) influences = new WeakMap();
        influencesAt = cluster.labelsVersion;
        // Those of these labels, even if they change while a term is looked at.
        const currentInfluences = influences;
        const influence = currentInfluences.get(labelSet) ?? (yield* influenceOnOwner(terms, labelSet, cluster));
        currentInfluences.set(labelSet, influence);
        return influence;
      },
    });
  }
  /** What terms of pods that have a node say of pods with these labels; to be dismissed when it is no longer needed. */
  receptionOf(labelSet: LabelSet): AffinityTable {
    let reception = this.receptions.get(labelSet);
    if (reception === undefined) {
      const table = new AffinityTable({
        ...this.common,
        classes: () => this.classesWithTerms,
        log: this.placementsWithTerms,
        influenceOf: ({ terms }) => influenceOnOther(terms, labelSet, this.cluster),
      });
      reception = { table, users: 0 };
      this.receptions.set(labelSet, reception);
    }
    reception.users++;
    return reception.table;
  }
  dismiss(labelSet: LabelSet): void {
    const reception = this.receptions.get(labelSet);
    if (reception !== undefined && --reception.users === 0) this.receptions.delete(labelSet);
  }
  get tableCount(): number {
    return this.receptions.size;
  }
  private get common() {
    return { labelsVersion: () => this.cluster.labelsVersion };
  }
}

export const hasTerms = ({ terms: { affinity, antiAffinity, preferred } }: PodClass): boolean =>
  affinity.length + antiAffinity.length + preferred.length > 0;
