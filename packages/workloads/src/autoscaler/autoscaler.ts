/** Autoscalers as received, and their conditions. */
import type { HorizontalPodAutoscaler, HorizontalPodAutoscalerStatus, MetricSpec } from '@plat-dev/kinds/autoscaling/schema/v2';
import type { Part, Wire } from '@plat-dev/kinds/wire';
import { formatTime } from '@plat-dev/meta/time';
import type { About } from '../shared/events.ts';

export type Autoscaler = Wire<HorizontalPodAutoscaler>;
export type AutoscalerStatus = Part<HorizontalPodAutoscalerStatus>;
export type Condition = NonNullable<AutoscalerStatus['conditions']>[number];
export type Metric = Part<MetricSpec>;
export type MetricStatus = NonNullable<AutoscalerStatus['currentMetrics']>[number];

export const aboutAutoscaler = ({ metadata }: Autoscaler): About => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata,
});

export type ConditionType = 'AbleToScale' | 'ScalingActive' | 'ScalingLimited';

/** The conditions of one run, with the times of those that stay as they were. */
export class Conditions {
  private list: Condition[];
  private readonly now: number;

  constructor(oldConditions: readonly Condition[], now: number) {
    this.list = [...oldConditions];
    this.now = now;
  }
  set(type: ConditionType, holds: boolean, reason: string, message: string): void {
    const status = holds ? 'True' : 'False';
    const old = this.list.find((one) => one.type === type);
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : formatTime(this.now);
    const next = { type, status, lastTransitionTime, reason, message } as Condition;
    this.list = old === undefined ? [...this.list, next] : this.list.map((one) => (one === old ? next : one));
  }
  get all(): Condition[] {
    return this.list;
  }
}
