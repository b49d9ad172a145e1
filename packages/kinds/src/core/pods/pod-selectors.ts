/** Keys of selectors whose labels a new pod has become requirements of the selectors: `app: a` and the key `app` make `app in (a)`. */
import { own } from '@plat-dev/lib/own';
import type { KindEnv } from '../../kind.ts';
import type { LabelSelector } from '../../meta.ts';
import type { Pod } from '../schema/pods/pod.ts';
import type { PodAffinityTerm } from '../schema/pods/scheduling.ts';

type Labels = Readonly<Record<string, string>> | undefined;

export function mergeLabelKeys({ metadata: { labels }, spec }: Pod, env: KindEnv): void {
  if (env.feature('MatchLabelKeysInPodAffinity')) {
    for (const affinity of [spec.affinity?.podAffinity, spec.affinity?.podAntiAffinity]) {
      for (const term of affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) mergeKeysOfTerm(term, labels);
      for (const { podAffinityTerm } of affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [])
        mergeKeysOfTerm(podAffinityTerm, labels);
    }
  }
  if (!env.feature('MatchLabelKeysInPodTopologySpread') || !env.feature('MatchLabelKeysInPodTopologySpreadSelectorMerge')) return;
  for (const { labelSelector, matchLabelKeys } of spec.topologySpreadConstraints ?? [])
    mergeKeys(labelSelector, matchLabelKeys, 'In', labels);
}

function mergeKeysOfTerm({ labelSelector, matchLabelKeys, mismatchLabelKeys }: PodAffinityTerm, labels: Labels): void {
  mergeKeys(labelSelector, matchLabelKeys, 'In', labels);
  mergeKeys(labelSelector, mismatchLabelKeys, 'NotIn', labels);
}

function mergeKeys(
  selector: LabelSelector | undefined,
  keys: readonly string[] | undefined,
  operator: 'In' | 'NotIn',
  labels: Labels,
): void {
  if (selector === undefined) return;
  for (const key of keys ?? []) {
    const value = own(labels, key);
    if (value === undefined) continue;
    selector.matchExpressions ??= [];
    selector.matchExpressions.push({ key, operator, values: [value] });
  }
}
