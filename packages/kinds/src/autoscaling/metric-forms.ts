/**
 * Metrics have two forms. Version 2 separates the metric from its values (`metric`, `target`, `current`); before
 * that every type of metric had flat fields of its own (`metricName`, `targetAverageValue`). The flat form has no field for
 * the type of a target: it follows from the values that are set.
 */
import { compact } from '../compact.ts';
import type * as v2 from './schema/v2.ts';
import type * as flat from './schema/v2beta1.ts';

type Values = Pick<v2.MetricTarget, 'value' | 'averageValue' | 'averageUtilization'>;
const target = (type: string, values: Values): v2.MetricTarget => compact({ type, ...values });

/** Written by the flat form for a value that it cannot leave out; read again, it is a value, as a stock server reads it. */
const ZERO = '0';

// ---- targets -----------------------------------------------------------------------------------------------------

export function flatMetric(metric: v2.MetricSpec): flat.MetricSpec {
  const { type, object, pods, resource, containerResource, external } = metric;
  return compact({
    type,
    object: object && flatObject(object),
    pods:
      pods &&
      compact({
        metricName: pods.metric.name,
        targetAverageValue: pods.target.averageValue ?? ZERO,
        selector: pods.metric.selector,
      }),
    resource: resource && compact({ name: resource.name, ...flatUtilization(resource.target) }),
    containerResource:
      containerResource &&
      compact({
        name: containerResource.name,
        ...flatUtilization(containerResource.target),
        container: containerResource.container,
      }),
    external:
      external &&
      compact({
        metricName: external.metric.name,
        metricSelector: external.metric.selector,
        targetValue: external.target.value,
        targetAverageValue: external.target.averageValue,
      }),
  });
}

function flatObject({ describedObject, metric, target }: v2.ObjectMetricSource): flat.ObjectMetricSource {
  const { value = ZERO, averageValue } = target;
  return compact({ target: describedObject, metricName: metric.name, targetValue: value, selector: metric.selector, averageValue });
}
const flatUtilization = ({ averageUtilization, averageValue }: v2.MetricTarget) =>
  compact({ targetAverageUtilization: averageUtilization, targetAverageValue: averageValue });

export function deepMetric(metric: flat.MetricSpec): v2.MetricSpec {
  const { type, object, pods, resource, containerResource, external } = metric;
  return compact({
    type,
    object: object && deepObject(object),
    pods: pods && {
      metric: compact({ name: pods.metricName, selector: pods.selector }),
      target: target('AverageValue', { averageValue: pods.targetAverageValue }),
    },
    resource: resource && { name: resource.name, target: deepUtilization(resource) },
    containerResource: containerResource && {
      name: containerResource.name,
      target: deepUtilization(containerResource),
      container: containerResource.container,
    },
    external: external && {
      metric: compact({ name: external.metricName, selector: external.metricSelector }),
      target: target(external.targetValue === undefined ? 'AverageValue' : 'Value', {
        value: external.targetValue,
        averageValue: external.targetAverageValue,
      }),
    },
  });
}

function deepObject(object: flat.ObjectMetricSource): v2.ObjectMetricSource {
  const { target: describedObject, metricName, targetValue, selector, averageValue } = object;
  return {
    describedObject,
    target: target(averageValue === undefined ? 'Value' : 'AverageValue', { value: targetValue, averageValue }),
    metric: compact({ name: metricName, selector }),
  };
}
const deepUtilization = (source: flat.ResourceMetricSource): v2.MetricTarget =>
  target(source.targetAverageUtilization === undefined ? 'AverageValue' : 'Utilization', {
    averageValue: source.targetAverageValue,
    averageUtilization: source.targetAverageUtilization,
  });

// ---- current values ----------------------------------------------------------------------------------------------

export function flatStatus(metric: v2.MetricStatus): flat.MetricStatus {
  const { type, object, pods, resource, containerResource, external } = metric;
  return compact({
    type,
    object: object && flatObjectStatus(object),
    pods:
      pods &&
      compact({
        metricName: pods.metric.name,
        currentAverageValue: pods.current.averageValue ?? ZERO,
        selector: pods.metric.selector,
      }),
    resource: resource && compact({ name: resource.name, ...flatUsage(resource.current) }),
    containerResource:
      containerResource &&
      compact({
        name: containerResource.name,
        ...flatUsage(containerResource.current),
        container: containerResource.container,
      }),
    external:
      external &&
      compact({
        metricName: external.metric.name,
        metricSelector: external.metric.selector,
        currentValue: external.current.value ?? ZERO,
        currentAverageValue: external.current.averageValue,
      }),
  });
}

function flatObjectStatus({ describedObject, metric, current }: v2.ObjectMetricStatus): flat.ObjectMetricStatus {
  const { value = ZERO, averageValue } = current;
  return compact({ target: describedObject, metricName: metric.name, currentValue: value, selector: metric.selector, averageValue });
}
const flatUsage = ({ averageUtilization, averageValue = ZERO }: v2.MetricValueStatus) =>
  compact({ currentAverageUtilization: averageUtilization, currentAverageValue: averageValue });

export function deepStatus(metric: flat.MetricStatus): v2.MetricStatus {
  const { type, object, pods, resource, containerResource, external } = metric;
  return compact({
    type,
    object: object && {
      metric: compact({ name: object.metricName, selector: object.selector }),
      current: compact({ value: object.currentValue, averageValue: object.averageValue }),
      describedObject: object.target,
    },
    pods: pods && {
      metric: compact({ name: pods.metricName, selector: pods.selector }),
      current: compact({ averageValue: pods.currentAverageValue }),
    },
    resource: resource && { name: resource.name, current: deepUsage(resource) },
    containerResource: containerResource && {
      name: containerResource.name,
      current: deepUsage(containerResource),
      container: containerResource.container,
    },
    external: external && {
      metric: compact({ name: external.metricName, selector: external.metricSelector }),
      current: compact({ value: external.currentValue, averageValue: external.currentAverageValue }),
    },
  });
}
const deepUsage = (status: flat.ResourceMetricStatus): v2.MetricValueStatus =>
  compact({ averageValue: status.currentAverageValue, averageUtilization: status.currentAverageUtilization });
