import type { Descriptions } from '../descriptions.ts';

const identified = {
  metric: 'The name and selection of the metric.',
  metricName: 'The name of the metric.',
  metricSelector: 'The labels of the metric.',
  selector: 'The labels of the metric.',
};
const wanted = {
  target: 'The value that is wanted.',
  targetValue: 'The value that is wanted.',
  targetAverageValue: 'The value that is wanted on average over the pods.',
  targetAverageUtilization: 'The share of what is requested that is wanted on average over the pods, in percent.',
  averageValue: 'The value that is wanted on average over the pods.',
};
const seen = {
  current: 'The value at present.',
  currentValue: 'The value at present.',
  currentAverageValue: 'The value at present, on average over the pods.',
  currentAverageUtilization: 'The used share of what is requested at present, on average over the pods, in percent.',
  averageValue: 'The value at present, on average over the pods.',
};
const sources = {
  type: 'Which of the sources is given.',
  object: 'A metric of one object.',
  pods: 'A metric of each pod.',
  resource: 'A compute resource of each pod.',
  containerResource: 'A compute resource of one container of each pod.',
  external: 'A metric from outside the cluster.',
};
const amounts = {
  value: 'The value.',
  averageValue: 'The value on average over the pods.',
  averageUtilization: 'The used share of what is requested, on average over the pods, in percent.',
};

/** Horizontal pod autoscalers and the scale of workloads. */
export const scaling: Descriptions = {
  'autoscaling.Scale': { $: 'How many replicas of a workload there are to be, and are.' },
  'autoscaling.ScaleSpec': { $: 'How many replicas are wanted.' },
  'autoscaling.ScaleStatus': {
    $: 'How many replicas are seen.',
    replicas: 'How many replicas there are.',
    selector: 'The labels by which the pods are found, as text.',
  },
  'autoscaling.HorizontalPodAutoscaler': { $: 'Changes the number of pods of a workload with its load.' },
  'autoscaling.HorizontalPodAutoscalerSpec': {
    $: 'What an autoscaler is to do.',
    scaleTargetRef: 'The workload that is scaled.',
    minReplicas: 'The least number of pods.',
    maxReplicas: 'The greatest number of pods.',
    metrics: 'The metrics; the one that asks for most pods decides.',
    behavior: 'How fast to scale up and down.',
    targetCPUUtilizationPercentage: 'The share of requested processor time that is wanted on average, in percent.',
  },
  'autoscaling.HorizontalPodAutoscalerStatus': {
    $: 'What is seen of an autoscaler.',
    lastScaleTime: 'When the number of pods was last changed.',
    currentReplicas: 'How many pods there are.',
    desiredReplicas: 'How many pods there should be by the last reckoning.',
    currentMetrics: 'The metrics as last read.',
    currentCPUUtilizationPercentage: 'The used share of requested processor time on average, in percent.',
  },
  'autoscaling.HorizontalPodAutoscalerCondition': { $: 'One aspect of the state of an autoscaler.' },
  'autoscaling.HorizontalPodAutoscalerBehavior': {
    $: 'How fast to scale up and down.',
    scaleUp: 'How fast to scale up.',
    scaleDown: 'How fast to scale down.',
  },
  'autoscaling.HPAScalingRules': {
    $: 'How fast to scale in one direction.',
    stabilizationWindowSeconds: 'How many seconds of past reckonings are taken into account.',
    selectPolicy: 'Which of the policies counts: Max, Min, or Disabled for none.',
    policies: 'How much may change in what time.',
  },
  'autoscaling.HPAScalingPolicy': {
    $: 'How much may change in what time.',
    type: 'Whether the value is a number of pods or a percentage.',
    value: 'How much may change.',
    periodSeconds: 'In how many seconds.',
  },
  'autoscaling.CrossVersionObjectReference': { $: 'Names an object in the same namespace.', name: 'The name of the object.' },
  'autoscaling.MetricSpec': { $: 'A metric, and what it should be.', ...sources },
  'autoscaling.MetricStatus': { $: 'A metric, and what it is.', ...sources },
  'autoscaling.MetricIdentifier': { $: 'Which metric is meant.', name: 'The name of the metric.', selector: 'The labels of the metric.' },
  'autoscaling.MetricTarget': { $: 'What a metric should be.', type: 'Whether a value, an average or a share is wanted.', ...amounts },
  'autoscaling.MetricValueStatus': { $: 'What a metric is.', ...amounts },
  'autoscaling.ResourceMetricSource': { $: 'A compute resource, and what it should be.', name: 'The resource.', ...wanted },
  'autoscaling.ResourceMetricStatus': { $: 'A compute resource, and what it is.', name: 'The resource.', ...seen },
  'autoscaling.ContainerResourceMetricSource': {
    $: 'A compute resource of a container, and what it should be.',
    name: 'The resource.',
    container: 'The name of the container.',
    ...wanted,
  },
  'autoscaling.ContainerResourceMetricStatus': {
    $: 'A compute resource of a container, and what it is.',
    name: 'The resource.',
    container: 'The name of the container.',
    ...seen,
  },
  'autoscaling.PodsMetricSource': { $: 'A metric of each pod, and what it should be.', ...identified, ...wanted },
  'autoscaling.PodsMetricStatus': { $: 'A metric of each pod, and what it is.', ...identified, ...seen },
  'autoscaling.ObjectMetricSource': {
    $: 'A metric of one object, and what it should be.',
    ...identified,
    ...wanted,
    describedObject: 'The object.',
    target: 'The value that is wanted; in older versions, the object.',
  },
  'autoscaling.ObjectMetricStatus': {
    $: 'A metric of one object, and what it is.',
    ...identified,
    ...seen,
    describedObject: 'The object.',
    target: 'The object.',
  },
  'autoscaling.ExternalMetricSource': { $: 'A metric from outside the cluster, and what it should be.', ...identified, ...wanted },
  'autoscaling.ExternalMetricStatus': { $: 'A metric from outside the cluster, and what it is.', ...identified, ...seen },
};
