/** Evictions and pod disruption budgets. */
import {
  always,
  type Infer,
  int32,
  int64,
  intOrString,
  list,
  map,
  message,
  object,
  opt,
  ptr,
  req,
  string,
  time,
} from '@plat-dev/schema/types';
import { Condition, LabelSelector, ObjectMeta } from '../../meta.ts';
import { DeleteOptions } from '../../meta-kinds.ts';
import { pointerValues } from '../../published-values.ts';

export const Eviction = object('policy.v1.Eviction', {
  metadata: always(1, ObjectMeta),
  deleteOptions: ptr(2, DeleteOptions),
});
export type Eviction = Infer<typeof Eviction>;

export const evictionPolicies = {
  since: '1.26',
  gate: 'PDBUnhealthyPodEvictionPolicy',
  ...pointerValues('AlwaysAllow', 'IfHealthyBudget'),
} as const;
const PodDisruptionBudgetSpec = message('policy.v1.PodDisruptionBudgetSpec', {
  minAvailable: ptr(1, intOrString),
  selector: ptr(2, LabelSelector, { patch: 'replace' }),
  maxUnavailable: ptr(3, intOrString),
  unhealthyPodEvictionPolicy: ptr(4, string, evictionPolicies),
});

const optionalLater = { from: { '1.36': { required: false } } } as const;
export const PodDisruptionBudgetStatus = message('policy.v1.PodDisruptionBudgetStatus', {
  observedGeneration: opt(1, int64),
  disruptedPods: opt(2, map(time)),
  disruptionsAllowed: req(3, int32, optionalLater),
  currentHealthy: req(4, int32, optionalLater),
  desiredHealthy: req(5, int32, optionalLater),
  expectedPods: req(6, int32, optionalLater),
  conditions: opt(7, list(Condition, 'map', ['type']), { patch: 'merge', mergeKey: 'type' }),
});
export type PodDisruptionBudgetStatus = Infer<typeof PodDisruptionBudgetStatus>;

export const PodDisruptionBudget = object('policy.v1.PodDisruptionBudget', {
  metadata: always(1, ObjectMeta),
  spec: always(2, PodDisruptionBudgetSpec),
  status: always(3, PodDisruptionBudgetStatus),
});
export type PodDisruptionBudget = Infer<typeof PodDisruptionBudget>;
