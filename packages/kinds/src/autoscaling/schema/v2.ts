/** Horizontal pod autoscalers as version 2 shows them. */
import { always, type Infer, int32, int64, list, message, object, opt, ptr, quantity, req, string, time } from '@plat-dev/schema/types';
import { LabelSelector, ObjectMeta } from '../../meta.ts';

export const MetricTarget = message('autoscaling.v2.MetricTarget', {
  type: req(1, string),
  value: ptr(2, quantity),
  averageValue: ptr(3, quantity),
  averageUtilization: ptr(4, int32),
});
export type MetricTarget = Infer<typeof MetricTarget>;

const ContainerResourceMetricSource = message('autoscaling.v2.ContainerResourceMetricSource', {
  name: req(1, string),
  target: req(2, MetricTarget),
  container: req(3, string),
});

export const MetricValueStatus = message('autoscaling.v2.MetricValueStatus', {
  value: ptr(1, quantity),
  averageValue: ptr(2, quantity),
  averageUtilization: ptr(3, int32),
});
export type MetricValueStatus = Infer<typeof MetricValueStatus>;

const ContainerResourceMetricStatus = message('autoscaling.v2.ContainerResourceMetricStatus', {
  name: req(1, string),
  current: req(2, MetricValueStatus),
  container: req(3, string),
});

export const CrossVersionObjectReference = message('autoscaling.v2.CrossVersionObjectReference', {
  kind: req(1, string),
  name: req(2, string),
  apiVersion: opt(3, string),
});
export type CrossVersionObjectReference = Infer<typeof CrossVersionObjectReference>;

export const MetricIdentifier = message('autoscaling.v2.MetricIdentifier', {
  name: req(1, string),
  selector: ptr(2, LabelSelector),
});
export type MetricIdentifier = Infer<typeof MetricIdentifier>;

const ExternalMetricSource = message('autoscaling.v2.ExternalMetricSource', {
  metric: req(1, MetricIdentifier),
  target: req(2, MetricTarget),
});

const ExternalMetricStatus = message('autoscaling.v2.ExternalMetricStatus', {
  metric: req(1, MetricIdentifier),
  current: req(2, MetricValueStatus),
});

export const HPAScalingPolicy = message('autoscaling.v2.HPAScalingPolicy', {
  type: req(1, string),
  value: req(2, int32),
  periodSeconds: req(3, int32),
});
export type HPAScalingPolicy = Infer<typeof HPAScalingPolicy>;

export const HPAScalingRules = message('autoscaling.v2.HPAScalingRules', {
  stabilizationWindowSeconds: ptr(3, int32),
  selectPolicy: ptr(1, string),
  // An empty list is an error; absent metrics have defaults.
  policies: ptr(2, list(HPAScalingPolicy)),
  tolerance: ptr(4, quantity, { since: '1.33', gate: 'HPAConfigurableTolerance' }),
});
export type HPAScalingRules = Infer<typeof HPAScalingRules>;

export const ObjectMetricSource = message('autoscaling.v2.ObjectMetricSource', {
  describedObject: req(1, CrossVersionObjectReference),
  target: req(2, MetricTarget),
  metric: req(3, MetricIdentifier),
});
export type ObjectMetricSource = Infer<typeof ObjectMetricSource>;

const PodsMetricSource = message('autoscaling.v2.PodsMetricSource', {
  metric: req(1, MetricIdentifier),
  target: req(2, MetricTarget),
});

const ResourceMetricSource = message('autoscaling.v2.ResourceMetricSource', {
  name: req(1, string),
  target: req(2, MetricTarget),
});

export const MetricSpec = message('autoscaling.v2.MetricSpec', {
  type: req(1, string),
  object: ptr(2, ObjectMetricSource),
  pods: ptr(3, PodsMetricSource),
  resource: ptr(4, ResourceMetricSource),
  containerResource: ptr(7, ContainerResourceMetricSource, { gate: 'HPAContainerMetrics' }),
  external: ptr(5, ExternalMetricSource),
});
export type MetricSpec = Infer<typeof MetricSpec>;

export const HorizontalPodAutoscalerBehavior = message('autoscaling.v2.HorizontalPodAutoscalerBehavior', {
  scaleUp: ptr(1, HPAScalingRules),
  scaleDown: ptr(2, HPAScalingRules),
});
export type HorizontalPodAutoscalerBehavior = Infer<typeof HorizontalPodAutoscalerBehavior>;

export const HorizontalPodAutoscalerSpec = message('autoscaling.v2.HorizontalPodAutoscalerSpec', {
  scaleTargetRef: req(1, CrossVersionObjectReference),
  minReplicas: ptr(2, int32, { default: 1 }),
  maxReplicas: req(3, int32),
  metrics: opt(4, list(MetricSpec)),
  behavior: ptr(5, HorizontalPodAutoscalerBehavior),
});
export type HorizontalPodAutoscalerSpec = Infer<typeof HorizontalPodAutoscalerSpec>;

export const ObjectMetricStatus = message('autoscaling.v2.ObjectMetricStatus', {
  metric: req(1, MetricIdentifier),
  current: req(2, MetricValueStatus),
  describedObject: req(3, CrossVersionObjectReference),
});
export type ObjectMetricStatus = Infer<typeof ObjectMetricStatus>;

const PodsMetricStatus = message('autoscaling.v2.PodsMetricStatus', {
  metric: req(1, MetricIdentifier),
  current: req(2, MetricValueStatus),
});

const ResourceMetricStatus = message('autoscaling.v2.ResourceMetricStatus', {
  name: req(1, string),
  current: req(2, MetricValueStatus),
});

export const MetricStatus = message('autoscaling.v2.MetricStatus', {
  type: req(1, string),
  object: ptr(2, ObjectMetricStatus),
  pods: ptr(3, PodsMetricStatus),
  resource: ptr(4, ResourceMetricStatus),
  containerResource: ptr(7, ContainerResourceMetricStatus),
  external: ptr(5, ExternalMetricStatus),
});
export type MetricStatus = Infer<typeof MetricStatus>;

export const HorizontalPodAutoscalerCondition = message('autoscaling.v2.HorizontalPodAutoscalerCondition', {
  type: req(1, string),
  status: req(2, string),
  lastTransitionTime: always(3, time),
  reason: opt(4, string),
  message: opt(5, string),
});
export type HorizontalPodAutoscalerCondition = Infer<typeof HorizontalPodAutoscalerCondition>;

export const HorizontalPodAutoscalerStatus = message('autoscaling.v2.HorizontalPodAutoscalerStatus', {
  observedGeneration: ptr(1, int64),
  lastScaleTime: ptr(2, time),
  currentReplicas: opt(3, int32),
  desiredReplicas: req(4, int32),
  currentMetrics: always(5, list(MetricStatus)),
  conditions: opt(6, list(HorizontalPodAutoscalerCondition, 'map', ['type']), { patch: 'merge', mergeKey: 'type' }),
});
export type HorizontalPodAutoscalerStatus = Infer<typeof HorizontalPodAutoscalerStatus>;

export const HorizontalPodAutoscaler = object('autoscaling.v2.HorizontalPodAutoscaler', {
  metadata: always(1, ObjectMeta),
  spec: always(2, HorizontalPodAutoscalerSpec, { from: { '1.36': { required: true } } }),
  status: always(3, HorizontalPodAutoscalerStatus),
});
export type HorizontalPodAutoscaler = Infer<typeof HorizontalPodAutoscaler>;
