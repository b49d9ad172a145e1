/** Evictions and pod disruption budgets as version 1beta1 shows them. */
import { always, type Infer, intOrString, message, object, ptr, string } from '@plat-dev/schema/types';
import { LabelSelector, ObjectMeta } from '../../meta.ts';
import { inVersion } from '../../versions.ts';
import * as v1 from './v1.ts';

export const Eviction = inVersion(v1.Eviction, 'policy.v1beta1');
export type Eviction = Infer<typeof Eviction>;

const PodDisruptionBudgetStatus = inVersion(v1.PodDisruptionBudgetStatus, 'policy.v1beta1');

const PodDisruptionBudgetSpec = message('policy.v1beta1.PodDisruptionBudgetSpec', {
  minAvailable: ptr(1, intOrString),
  selector: ptr(2, LabelSelector),
  maxUnavailable: ptr(3, intOrString),
  unhealthyPodEvictionPolicy: ptr(4, string, v1.evictionPolicies),
});

export const PodDisruptionBudget = object('policy.v1beta1.PodDisruptionBudget', {
  metadata: always(1, ObjectMeta),
  spec: always(2, PodDisruptionBudgetSpec),
  status: always(3, PodDisruptionBudgetStatus),
});
export type PodDisruptionBudget = Infer<typeof PodDisruptionBudget>;
