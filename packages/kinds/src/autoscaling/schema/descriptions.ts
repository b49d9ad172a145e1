import type { Descriptions } from '../../description-texts.ts';

const metric = 'Which metric is read, by name and by labels.';
const metricName = 'Name of the metric, as its source publishes it.';
const metricSelector = 'Labels that narrow the metric down. Without it the name alone selects.';
const target = 'Value that the autoscaler tries to hold.';
const current = 'Value of the metric when it was last read, in the form of its target.';
const averageUtilization = 'Average over all pods, as a percentage of what they request.';
const resource = 'Resource that is measured: cpu or memory.';
const container = 'Container of the scaled pods whose use is measured.';

const targets = {
  targetAverageUtilization: 'Average use over all pods to hold, as a percentage of what they request.',
  targetAverageValue: 'Average use over all pods to hold, as an amount instead of a percentage.',
};
const currents = {
  currentAverageUtilization: 'Present average use over all pods, as a percentage of what they request. Only set if it is the target.',
  currentAverageValue: 'Present average use over all pods, as an amount. Always set.',
};
const sources = {
  object: 'A metric of a single object, such as requests per second of an ingress.',
  pods: 'A metric of each scaled pod, which is averaged over them.',
  resource: 'CPU or memory of the scaled pods, in relation to their requests.',
  containerResource: 'CPU or memory of one container of each scaled pod. An alpha feature.',
  external: 'A metric that belongs to no object of the cluster, such as the length of a queue.',
};

export const autoscaling: Descriptions = {
  'autoscaling.Scale': {
    $: 'The number of replicas of a resource, as the scale subresource shows and changes it.',
    metadata: 'Name and version of the scaled object.',
    spec: 'Desired number of replicas.',
    status: 'Observed number of replicas.',
  },
  'autoscaling.ScaleSpec': { $: 'The desired scale of a resource.', replicas: 'Number of replicas to run; 0 is allowed.' },
  'autoscaling.ScaleStatus': {
    $: 'The observed scale of a resource.',
    replicas: 'Number of replicas that were last observed.',
    selector: 'Label selector of the pods that count, in the text form of queries.',
  },
  'autoscaling.HorizontalPodAutoscaler': {
    $: 'Changes the number of replicas of a workload so that metrics stay near their targets.',
    spec: 'What is scaled, within which bounds, and by which metrics.',
    status: 'What the autoscaler last observed and decided.',
  },
  'autoscaling.HorizontalPodAutoscalerSpec': {
    $: 'The desired behavior of an autoscaler.',
    scaleTargetRef: 'Workload to scale; it must have a scale subresource.',
    minReplicas: 'Least number of replicas. Defaults to 1; 0 requires a metric of an object or from outside, and an alpha feature.',
    maxReplicas: 'Greatest number of replicas. Must not be less than minReplicas.',
    metrics: 'Metrics to scale by; the one that needs the most replicas decides. Defaults to 80% of the requested CPU.',
    behavior: 'How fast to scale up and down. Without it the defaults apply: up quickly, down after 5 minutes.',
    targetCPUUtilizationPercentage:
      'Average CPU use over all pods to hold, as a percentage of what they request. Defaults to the policy of the controller.',
  },
  'autoscaling.HorizontalPodAutoscalerStatus': {
    $: 'The observed state of an autoscaler.',
    observedGeneration: 'Value of metadata.generation that the autoscaler last acted on.',
    lastScaleTime: 'When the autoscaler last changed the number of replicas.',
    currentReplicas: 'Number of replicas that the autoscaler last saw.',
    desiredReplicas: 'Number of replicas that it last calculated.',
    currentMetrics: 'Last values of the metrics that it scales by.',
    conditions: 'Observed conditions: ScalingActive, AbleToScale and ScalingLimited.',
    currentCPUUtilizationPercentage: 'Present average CPU use over all pods, as a percentage of what they request.',
  },
  'autoscaling.HorizontalPodAutoscalerCondition': {
    $: 'One observed aspect of the state of an autoscaler.',
    type: 'ScalingActive (metrics can be read), AbleToScale (the target can be scaled) or ScalingLimited (a bound was reached).',
  },
  'autoscaling.HorizontalPodAutoscalerBehavior': {
    $: 'How fast to scale in each direction.',
    scaleUp: 'Rules for scaling up. By default the greater of 4 pods and 100% every 15 seconds, without a stabilization window.',
    scaleDown: 'Rules for scaling down. By default down to minReplicas, with a stabilization window of 300 seconds.',
  },
  'autoscaling.HPAScalingRules': {
    $: 'How fast to scale in one direction.',
    stabilizationWindowSeconds:
      'Seconds of past recommendations from which the most cautious one is taken, from 0 to 3600. Defaults to 0 for scaling up and 300 for scaling down.',
    selectPolicy:
      'Which policy applies: Max (the largest change), Min (the smallest), or Disabled for no scaling in this direction. Defaults to Max.',
    policies: 'Limits of the change. At least one is required, or the rules are invalid.',
    tolerance:
      'How far a metric may differ from its target without scaling, as a part of 1. Without it that of the cluster applies, 0.1 by default.',
  },
  'autoscaling.HPAScalingPolicy': {
    $: 'A limit of the change within a period.',
    type: 'Whether value counts Pods or Percent of the present replicas.',
    value: 'Largest change within the period. Must be positive.',
    periodSeconds: 'Length of the period, from 1 to 1800 seconds.',
  },
  'autoscaling.CrossVersionObjectReference': {
    $: 'A reference to an object in the namespace of the autoscaler.',
    kind: 'Kind of the object referred to, such as Deployment.',
    name: 'Name of the object referred to.',
    apiVersion: 'Group and version of the object referred to, such as apps/v1.',
  },
  'autoscaling.MetricSpec': {
    $: 'A metric to scale by, and its target. The source that type names is set.',
    type: 'Source of the metric: Object, Pods, Resource, ContainerResource or External.',
    ...sources,
  },
  'autoscaling.MetricStatus': {
    $: 'The last value of a metric. The source that type names is set.',
    type: 'Source of the metric: Object, Pods, Resource, ContainerResource or External.',
    ...sources,
  },
  'autoscaling.MetricIdentifier': { $: 'Identifies a metric, by name and by labels.', name: metricName, selector: metricSelector },
  'autoscaling.MetricTarget': {
    $: 'The target of a metric, in one of three forms.',
    type: 'Which form is used: Utilization, Value or AverageValue.',
    value: 'Value of the metric to hold.',
    averageValue: 'Average of the metric over all pods to hold.',
    averageUtilization: `${averageUtilization} Only for resource metrics.`,
  },
  'autoscaling.MetricValueStatus': {
    $: 'The present value of a metric.',
    value: 'Present value of the metric as a whole.',
    averageValue: 'Present average of the metric over all pods.',
    averageUtilization: `Present use. ${averageUtilization}`,
  },
  'autoscaling.ResourceMetricSource': { $: 'CPU or memory of the scaled pods, and its target.', name: resource, target, ...targets },
  'autoscaling.ResourceMetricStatus': { $: 'The present use of CPU or memory by the scaled pods.', name: resource, current, ...currents },
  'autoscaling.ContainerResourceMetricSource': {
    $: 'CPU or memory of one container of the scaled pods, and its target.',
    name: resource,
    container,
    target,
    ...targets,
  },
  'autoscaling.ContainerResourceMetricStatus': {
    $: 'The present use of CPU or memory by one container of the scaled pods.',
    name: resource,
    container,
    current,
    ...currents,
  },
  'autoscaling.PodsMetricSource': {
    $: 'A metric of each scaled pod, and the average to hold.',
    metric,
    target,
    metricName,
    targetAverageValue: 'Average of the metric over all pods to hold.',
    selector: metricSelector,
  },
  'autoscaling.PodsMetricStatus': {
    $: 'The present average of a metric over the scaled pods.',
    metric,
    current,
    metricName,
    currentAverageValue: 'Present average of the metric over all pods.',
    selector: metricSelector,
  },
  'autoscaling.ObjectMetricSource': {
    $: 'A metric of a single object, and its target.',
    describedObject: 'Object that the metric describes.',
    target: 'Value that the autoscaler tries to hold; in v2beta1, the object that the metric describes.',
    metric,
    metricName,
    targetValue: 'Value to hold for the metric of that object.',
    selector: metricSelector,
    averageValue: 'Value to hold after division by the number of pods, instead of targetValue.',
  },
  'autoscaling.ObjectMetricStatus': {
    $: 'The present value of a metric of a single object.',
    metric,
    current,
    describedObject: 'Object that the metric describes.',
    target: 'Object that the metric describes, in v2beta1.',
    metricName,
    currentValue: 'Present value of the metric of that object.',
    selector: metricSelector,
    averageValue: 'Present value divided by the number of pods.',
  },
  'autoscaling.ExternalMetricSource': {
    $: 'A metric from outside the cluster, and its target.',
    metric,
    target,
    metricName,
    metricSelector,
    targetValue: 'Value of the metric to hold. Excludes targetAverageValue.',
    targetAverageValue: 'Value to hold after division by the number of pods. Excludes targetValue.',
  },
  'autoscaling.ExternalMetricStatus': {
    $: 'The present value of a metric from outside the cluster.',
    metric,
    current,
    metricName,
    metricSelector,
    currentValue: 'Present value of the external metric as a whole.',
    currentAverageValue: 'Present value divided by the number of pods.',
  },
};
