/** The metrics of an autoscaler in a Table row. */
import type { ReleaseEnv } from '../kind.ts';
import type { HorizontalPodAutoscaler, MetricSpec, MetricStatus } from './schema/v2.ts';

/** How many metrics a row shows. */
const SHOWN = 2;
const UNKNOWN = '<unknown>';

/** `40%/80%, <unknown>/100Mi + 1 more...`: the current and the target value of each metric. */
export function metricsCell({ spec, status }: HorizontalPodAutoscaler, env: ReleaseEnv): string {
  const metrics = spec.metrics ?? [];
  if (metrics.length === 0) return '<none>';
  const metricTexts = metrics.slice(0, SHOWN).map((metric, i) => metricText(metric, status.currentMetrics?.[i], env));
  const text = metricTexts.join(', ');
  return metrics.length > SHOWN ? `${text} + ${metrics.length - SHOWN} more...` : text;
}

/** Since release 1.30 resources are named: `cpu: 40%/80%`. */
const named = (metric: { readonly name: string } | undefined, text: string, env: ReleaseEnv): string =>
  env.since('1.30') ? `${metric?.name}: ${text}` : text;

function metricText(metric: MetricSpec, status: MetricStatus | undefined, env: ReleaseEnv): string {
  switch (metric.type) {
    case 'External':
      return perPodText(metric.external, status?.external);
    case 'Object':
      return perPodText(metric.object, status?.object);
    case 'Pods':
      return `${status?.pods?.current.averageValue ?? UNKNOWN}/${metric.pods?.target.averageValue ?? UNKNOWN}`;
    case 'Resource':
      return named(metric.resource, resourceText(metric.resource, status?.resource), env);
    case 'ContainerResource':
      return named(metric.containerResource, resourceText(metric.containerResource, status?.containerResource), env);
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
