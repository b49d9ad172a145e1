/** Horizontal pod autoscalers as version 2beta1 shows them. */
import { always, type Infer, int32, int64, list, message, object, opt, ptr, quantity, req, string, time } from '@plat-dev/schema/types';
import { LabelSelector, ObjectMeta } from '../../meta.ts';

const ContainerResourceMetricSource = message('autoscaling.v2beta1.ContainerResourceMetricSource', {
  name: req(1, string),
  targetAverageUtilization: ptr(2, int32),
  targetAverageValue: ptr(3, quantity),
  container: req(4, string),
});

const ContainerResourceMetricStatus = message('autoscaling.v2beta1.ContainerResourceMetricStatus', {
  name: req(1, string),
  currentAverageUtilization: ptr(2, int32),
  currentAverageValue: req(3, quantity),
  container: req(4, string),
});

const CrossVersionObjectReference = message('autoscaling.v2beta1.CrossVersionObjectReference', {
  kind: req(1, string),
  name: req(2, string),
  apiVersion: opt(3, string),
});

const ExternalMetricSource = message('autoscaling.v2beta1.ExternalMetricSource', {
  metricName: req(1, string),
  metricSelector: ptr(2, LabelSelector),
  targetValue: ptr(3, quantity),
  targetAverageValue: ptr(4, quantity),
});

const ExternalMetricStatus = message('autoscaling.v2beta1.ExternalMetricStatus', {
  metricName: req(1, string),
  metricSelector: ptr(2, LabelSelector),
  currentValue: req(3, quantity),
  currentAverageValue: ptr(4, quantity),
});

export const ObjectMetricSource = message('autoscaling.v2beta1.ObjectMetricSource', {
  target: req(1, CrossVersionObjectReference),
  metricName: req(2, string),
  targetValue: req(3, quantity),
  selector: ptr(4, LabelSelector),
  averageValue: ptr(5, quantity),
});
export type ObjectMetricSource = Infer<typeof ObjectMetricSource>;

const PodsMetricSource = message('autoscaling.v2beta1.PodsMetricSource', {
  metricName: req(1, string),
  targetAverageValue: req(2, quantity),
  selector: ptr(3, LabelSelector),
});

export const ResourceMetricSource = message('autoscaling.v2beta1.ResourceMetricSource', {
  name: req(1, string),
  targetAverageUtilization: ptr(2, int32),
  targetAverageValue: ptr(3, quantity),
});
export type ResourceMetricSource = Infer<typeof ResourceMetricSource>;

export const MetricSpec = message('autoscaling.v2beta1.MetricSpec', {
  type: req(1, string),
  object: ptr(2, ObjectMetricSource),
  pods: ptr(3, PodsMetricSource),
  resource: ptr(4, ResourceMetricSource),
  containerResource: ptr(7, ContainerResourceMetricSource),
  external: ptr(5, ExternalMetricSource),
});
export type MetricSpec = Infer<typeof MetricSpec>;

const HorizontalPodAutoscalerSpec = message('autoscaling.v2beta1.HorizontalPodAutoscalerSpec', {
  scaleTargetRef: req(1, CrossVersionObjectReference),
  minReplicas: ptr(2, int32, { default: 1 }),
  maxReplicas: req(3, int32),
  metrics: opt(4, list(MetricSpec)),
});

export const ObjectMetricStatus = message('autoscaling.v2beta1.ObjectMetricStatus', {
  target: req(1, CrossVersionObjectReference),
  metricName: req(2, string),
  currentValue: req(3, quantity),
  selector: ptr(4, LabelSelector),
  averageValue: ptr(5, quantity),
});
export type ObjectMetricStatus = Infer<typeof ObjectMetricStatus>;

const PodsMetricStatus = message('autoscaling.v2beta1.PodsMetricStatus', {
  metricName: req(1, string),
  currentAverageValue: req(2, quantity),
  selector: ptr(3, LabelSelector),
});

export const ResourceMetricStatus = message('autoscaling.v2beta1.ResourceMetricStatus', {
  name: req(1, string),
  currentAverageUtilization: ptr(2, int32),
  currentAverageValue: req(3, quantity),
});
export type ResourceMetricStatus = Infer<typeof ResourceMetricStatus>;

export const MetricStatus = message('autoscaling.v2beta1.MetricStatus', {
  type: req(1, string),
  object: ptr(2, ObjectMetricStatus),
  pods: ptr(3, PodsMetricStatus),
  resource: ptr(4, ResourceMetricStatus),
  containerResource: ptr(7, ContainerResourceMetricStatus),
  external: ptr(5, ExternalMetricStatus),
});
export type MetricStatus = Infer<typeof MetricStatus>;

const HorizontalPodAutoscalerCondition = message('autoscaling.v2beta1.HorizontalPodAutoscalerCondition', {
  type: req(1, string),
  status: req(2, string),
  lastTransitionTime: always(3, time),
  reason: opt(4, string),
  message: opt(5, string),
});

const HorizontalPodAutoscalerStatus = message('autoscaling.v2beta1.HorizontalPodAutoscalerStatus', {
  observedGeneration: ptr(1, int64),
  lastScaleTime: ptr(2, time),
  currentReplicas: req(3, int32),
  desiredReplicas: req(4, int32),
  currentMetrics: always(5, list(MetricStatus)),
  conditions: always(6, list(HorizontalPodAutoscalerCondition)),
});

export const HorizontalPodAutoscaler = object('autoscaling.v2beta1.HorizontalPodAutoscaler', {
  metadata: always(1, ObjectMeta),
  spec: always(2, HorizontalPodAutoscalerSpec),
  status: always(3, HorizontalPodAutoscalerStatus),
});
export type HorizontalPodAutoscaler = Infer<typeof HorizontalPodAutoscaler>;
