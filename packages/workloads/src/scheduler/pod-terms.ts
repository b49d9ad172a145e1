/** Affinity to other pods, and aversion to them: which pods a term selects, and in which topology. */
import type { PodAffinityTerm } from '@plat-dev/kinds/core/schema/pods/scheduling';
import type { Part } from '@plat-dev/kinds/wire';
import { fromLabelSelector, type LabelSelector, type Labels, noLabel } from '@plat-dev/meta/labels';
import type { WorkloadPod } from '../shared/pods.ts';

export interface PodTerm {
  /** The same for terms that mean the same. */
  readonly text: string;
  readonly topologyKey: string;
  readonly selector: LabelSelector;
  readonly namespaces: ReadonlySet<string>;
  readonly namespaceSelector: LabelSelector;
}
/** A negative weight keeps pods apart. */
interface WeightedTerm {
  readonly term: PodTerm;
  readonly weight: number;
}

export interface PodTerms {
  readonly affinity: readonly PodTerm[];
  readonly antiAffinity: readonly PodTerm[];
  readonly preferred: readonly WeightedTerm[];
}

/** Labels of a namespace. */
export type NamespaceLabels = (namespace: string) => Labels | undefined;

type Spec = NonNullable<WorkloadPod['spec']>;

const none: PodTerms = { affinity: [], antiAffinity: [], preferred: [] };

export function podTerms(namespace: string, { affinity }: Pick<Spec, 'affinity'>): PodTerms {
  const { podAffinity: near, podAntiAffinity: far } = affinity ?? {};
  if (near === undefined && far === undefined) return none;
  const term = (one: Part<PodAffinityTerm>): PodTerm => podTerm(namespace, one);
  const weighted = (terms: NonNullable<typeof near>['preferredDuringSchedulingIgnoredDuringExecution'], sign: number): WeightedTerm[] =>
    (terms ?? []).flatMap(({ weight, podAffinityTerm }) =>
      podAffinityTerm === undefined ? [] : [{ term: term(podAffinityTerm), weight: sign * weight }],
    );
  return {
    affinity: (near?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map(term),
    antiAffinity: (far?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map(term),
    preferred: [
      ...weighted(near?.preferredDuringSchedulingIgnoredDuringExecution, 1),
      ...weighted(far?.preferredDuringSchedulingIgnoredDuringExecution, -1),
    ],
  };
}

/** A term that names no namespaces and selects none is about the namespace of its own pod. */
function podTerm(namespace: string, { topologyKey, labelSelector, namespaces, namespaceSelector }: Part<PodAffinityTerm>): PodTerm {
  const namespaceNames = namespaces ?? [];
  const own = namespaceNames.length === 0 && namespaceSelector === undefined;
  const all = own ? [namespace] : [...namespaceNames].sort();
  return {
    text: JSON.stringify([topologyKey, labelSelector ?? null, all, namespaceSelector ?? null]),
    topologyKey,
    selector: fromLabelSelector(labelSelector),
    namespaces: new Set(all),
    namespaceSelector: namespaceSelector === undefined ? noLabel : fromLabelSelector(namespaceSelector),
  };
}

export interface Labeled {
  readonly namespace: string;
  readonly labels: Labels | undefined;
}

/** Whether a term selects pods with these labels. */
export function selects(term: PodTerm, pod: Labeled, namespaceLabels: NamespaceLabels): boolean {
  const { namespaces, namespaceSelector, selector } = term;
  if (!namespaces.has(pod.namespace) && (namespaceSelector.nothing || !namespaceSelector.matches(namespaceLabels(pod.namespace))))
    return false;
  return selector.matches(pod.labels);
}
