/** Values that version 1 keeps in annotations, because it has no fields for them: metrics and conditions. */
import { type Infer, int32, message, opt, ptr, quantity, string, time } from '@plat-dev/schema/types';
import { LabelSelector } from '../../meta.ts';
import { CrossVersionObjectReference } from './v1.ts';

const ContainerResourceMetricSource = message('autoscaling.v1.ContainerResourceMetricSource', {
  name: opt(1, string),
  targetAverageUtilization: ptr(2, int32),
  targetAverageValue: ptr(3, quantity),
  container: opt(5, string),
});

const ContainerResourceMetricStatus = message('autoscaling.v1.ContainerResourceMetricStatus', {
  name: opt(1, string),
  currentAverageUtilization: ptr(2, int32),
  currentAverageValue: ptr(3, quantity),
  container: opt(4, string),
});

const ExternalMetricSource = message('autoscaling.v1.ExternalMetricSource', {
  metricName: opt(1, string),
  metricSelector: ptr(2, LabelSelector),
  targetValue: ptr(3, quantity),
  targetAverageValue: ptr(4, quantity),
});

const ExternalMetricStatus = message('autoscaling.v1.ExternalMetricStatus', {
  metricName: opt(1, string),
  metricSelector: ptr(2, LabelSelector),
  currentValue: ptr(3, quantity),
  currentAverageValue: ptr(4, quantity),
});

export const HorizontalPodAutoscalerCondition = message('autoscaling.v1.HorizontalPodAutoscalerCondition', {
  type: opt(1, string),
  status: opt(2, string),
  lastTransitionTime: opt(3, time),
  reason: opt(4, string),
  message: opt(5, string),
});
export type HorizontalPodAutoscalerCondition = Infer<typeof HorizontalPodAutoscalerCondition>;

const ObjectMetricSource = message('autoscaling.v1.ObjectMetricSource', {
  target: opt(1, CrossVersionObjectReference),
  metricName: opt(2, string),
  targetValue: ptr(3, quantity),
  selector: ptr(4, LabelSelector),
  averageValue: ptr(5, quantity),
});

const PodsMetricSource = message('autoscaling.v1.PodsMetricSource', {
  metricName: opt(1, string),
  targetAverageValue: ptr(2, quantity),
  selector: ptr(3, LabelSelector),
});

const ResourceMetricSource = message('autoscaling.v1.ResourceMetricSource', {
  name: opt(1, string),
  targetAverageUtilization: ptr(2, int32),
  targetAverageValue: ptr(3, quantity),
});

export const MetricSpec = message('autoscaling.v1.MetricSpec', {
  type: opt(1, string, { enum: ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'] }),
  object: ptr(2, ObjectMetricSource),
  pods: ptr(3, PodsMetricSource),
  resource: ptr(4, ResourceMetricSource),
  containerResource: ptr(7, ContainerResourceMetricSource),
  external: ptr(5, ExternalMetricSource),
});
export type MetricSpec = Infer<typeof MetricSpec>;

const ObjectMetricStatus = message('autoscaling.v1.ObjectMetricStatus', {
  target: opt(1, CrossVersionObjectReference),
  metricName: opt(2, string),
  currentValue: ptr(3, quantity),
  selector: ptr(4, LabelSelector),
  averageValue: ptr(5, quantity),
});

const PodsMetricStatus = message('autoscaling.v1.PodsMetricStatus', {
  metricName: opt(1, string),
  currentAverageValue: ptr(2, quantity),
  selector: ptr(3, LabelSelector),
});

const ResourceMetricStatus = message('autoscaling.v1.ResourceMetricStatus', {
  name: opt(1, string),
  currentAverageUtilization: ptr(2, int32),
  currentAverageValue: ptr(3, quantity),
});

export const MetricStatus = message('autoscaling.v1.MetricStatus', {
  type: opt(1, string, { enum: ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'] }),
  object: ptr(2, ObjectMetricStatus),
  pods: ptr(3, PodsMetricStatus),
  resource: ptr(4, ResourceMetricStatus),
  containerResource: ptr(7, ContainerResourceMetricStatus),
  external: ptr(5, ExternalMetricStatus),
});
export type MetricStatus = Infer<typeof MetricStatus>;
