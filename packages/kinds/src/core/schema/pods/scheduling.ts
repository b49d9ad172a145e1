/** Scheduling constraints of a pod. */
import { type Infer, int32, int64, list, message, opt, ptr, req, string, time } from '@plat-dev/schema/types';
import { LabelSelector } from '../../../meta.ts';

export const NodeSelectorRequirement = message('core.v1.NodeSelectorRequirement', {
  key: req(1, string),
  operator: req(2, string, { enum: ['DoesNotExist', 'Exists', 'Gt', 'In', 'Lt', 'NotIn'] }),
  values: opt(3, list(string)),
});
export type NodeSelectorRequirement = Infer<typeof NodeSelectorRequirement>;

export const NodeSelectorTerm = message(
  'core.v1.NodeSelectorTerm',
  {
    matchExpressions: opt(1, list(NodeSelectorRequirement)),
    matchFields: opt(2, list(NodeSelectorRequirement)),
  },
  { atomic: true },
);
export type NodeSelectorTerm = Infer<typeof NodeSelectorTerm>;

export const NodeSelector = message(
  'core.v1.NodeSelector',
  {
    nodeSelectorTerms: req(1, list(NodeSelectorTerm)),
  },
  { atomic: true },
);
export type NodeSelector = Infer<typeof NodeSelector>;

const PreferredSchedulingTerm = message('core.v1.PreferredSchedulingTerm', {
  weight: req(1, int32),
  preference: req(2, NodeSelectorTerm),
});

export const NodeAffinity = message('core.v1.NodeAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: ptr(1, NodeSelector),
  preferredDuringSchedulingIgnoredDuringExecution: opt(2, list(PreferredSchedulingTerm)),
});
export type NodeAffinity = Infer<typeof NodeAffinity>;

export const PodAffinityTerm = message('core.v1.PodAffinityTerm', {
  labelSelector: ptr(1, LabelSelector),
  namespaces: opt(2, list(string)),
  topologyKey: req(3, string),
  namespaceSelector: ptr(4, LabelSelector),
  matchLabelKeys: opt(5, list(string), { since: '1.29', gate: 'MatchLabelKeysInPodAffinity' }),
  mismatchLabelKeys: opt(6, list(string), { since: '1.29', gate: 'MatchLabelKeysInPodAffinity' }),
});
export type PodAffinityTerm = Infer<typeof PodAffinityTerm>;

const WeightedPodAffinityTerm = message('core.v1.WeightedPodAffinityTerm', {
  weight: req(1, int32),
  podAffinityTerm: req(2, PodAffinityTerm),
});

export const PodAffinity = message('core.v1.PodAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: opt(1, list(PodAffinityTerm)),
  preferredDuringSchedulingIgnoredDuringExecution: opt(2, list(WeightedPodAffinityTerm)),
});
export type PodAffinity = Infer<typeof PodAffinity>;

const PodAntiAffinity = message('core.v1.PodAntiAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: opt(1, list(PodAffinityTerm)),
  preferredDuringSchedulingIgnoredDuringExecution: opt(2, list(WeightedPodAffinityTerm)),
});

export const Affinity = message('core.v1.Affinity', {
  nodeAffinity: ptr(1, NodeAffinity),
  podAffinity: ptr(2, PodAffinity),
  podAntiAffinity: ptr(3, PodAntiAffinity),
});
export type Affinity = Infer<typeof Affinity>;

export const Taint = message('core.v1.Taint', {
  key: req(1, string),
  value: opt(2, string),
  effect: req(3, string, { enum: ['NoExecute', 'NoSchedule', 'PreferNoSchedule'] }),
  timeAdded: ptr(4, time),
});
export type Taint = Infer<typeof Taint>;

export const Toleration = message('core.v1.Toleration', {
  key: opt(1, string),
  operator: opt(2, string, { enum: ['Equal', 'Exists'], from: { '1.35': { enum: ['Equal', 'Exists', 'Gt', 'Lt'] } } }),
  value: opt(3, string),
  effect: opt(4, string, { enum: ['NoExecute', 'NoSchedule', 'PreferNoSchedule'] }),
  tolerationSeconds: ptr(5, int64),
});
export type Toleration = Infer<typeof Toleration>;

export const TopologySpreadConstraint = message('core.v1.TopologySpreadConstraint', {
  maxSkew: req(1, int32),
  topologyKey: req(2, string),
  whenUnsatisfiable: req(3, string, { enum: ['DoNotSchedule', 'ScheduleAnyway'] }),
  labelSelector: ptr(4, LabelSelector),
  minDomains: ptr(5, int32, { gate: 'MinDomainsInPodTopologySpread' }),
  nodeAffinityPolicy: ptr(6, string, { since: '1.25', gate: { name: 'NodeInclusionPolicyInPodTopologySpread', alone: true } }),
  nodeTaintsPolicy: ptr(7, string, { since: '1.25', gate: { name: 'NodeInclusionPolicyInPodTopologySpread', alone: true } }),
  matchLabelKeys: opt(8, list(string), { since: '1.25', gate: 'MatchLabelKeysInPodTopologySpread' }),
});
export type TopologySpreadConstraint = Infer<typeof TopologySpreadConstraint>;

const TopologySelectorLabelRequirement = message('core.v1.TopologySelectorLabelRequirement', {
  key: req(1, string),
  values: req(2, list(string)),
});

export const TopologySelectorTerm = message(
  'core.v1.TopologySelectorTerm',
  {
    matchLabelExpressions: opt(1, list(TopologySelectorLabelRequirement)),
  },
  { atomic: true },
);
export type TopologySelectorTerm = Infer<typeof TopologySelectorTerm>;
