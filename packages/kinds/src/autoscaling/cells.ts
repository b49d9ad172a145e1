/** The metrics of an autoscaler in a Table row. */
import type { HorizontalPodAutoscaler, MetricSpec, MetricStatus } from './schema/v2.ts';

/** How many metrics a row shows. */
const SHOWN = 2;
const UNKNOWN = '<unknown>';

/** `40%/80%, <unknown>/100Mi + 1 more...`: the current and the target value of each metric. */
export function metricsCell({ spec, status }: HorizontalPodAutoscaler): string {
  const metrics = spec.metrics ?? [];
  if (metrics.length === 0) return '<none>';
  const metricTexts = metrics.slice(0, SHOWN).map((metric, i) => metricText(metric, status.currentMetrics?.[i]));
  const text = metricTexts.join(', ');
  return metrics.length > SHOWN ? `${text} + ${metrics.length - SHOWN} more...` : text;
}

function metricText(metric: MetricSpec, status: MetricStatus | undefined): string {
  switch (metric.type) {
    case 'External':
      return perPodText(metric.external, status?.external);
    case 'Object':
      return perPodText(metric.object, status?.object);
    case 'Pods':
      return `${status?.pods?.current.averageValue ?? UNKNOWN}/${metric.pods?.target.averageValue ?? UNKNOWN}`;
    case 'Resource':
      return resourceText(metric.resource, status?.resource);
    case 'ContainerResource':
      return resourceText(metric.containerResource, status?.containerResource);
    default:
      return '<unknown type>';
  }
}

/** A value as a whole, or as its average over the pods. */
function perPodText(metric: MetricSpec['external'], status: MetricStatus['external']): string {
  const { value, averageValue } = metric?.target ?? {};
  if (averageValue !== undefined) return `${status?.current.averageValue ?? UNKNOWN}/${averageValue} (avg)`;
  return `${status?.current.value ?? UNKNOWN}/${value ?? UNKNOWN}`;
}

function resourceText(metric: MetricSpec['resource'], status: MetricStatus['resource']): string {
  const { averageValue, averageUtilization } = metric?.target ?? {};
  if (averageValue !== undefined) return `${status?.current.averageValue ?? UNKNOWN}/${averageValue}`;
  const current = status?.current.averageUtilization;
  return `${current === undefined ? UNKNOWN : `${current}%`}/${averageUtilization === undefined ? '<auto>' : `${averageUtilization}%`}`;
}
