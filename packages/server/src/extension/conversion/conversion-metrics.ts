/** Metrics of conversions by webhooks, as in a stock server. */
import type { Metrics } from '@plat-dev/lib/metrics';

/** Called after a conversion: the definition, the versions, whether it succeeded, and the seconds it took. */
export type ObserveConversion = (definition: string, from: string, to: string, succeeded: boolean, seconds: number) => void;

export function conversionMetrics(metrics: Metrics): ObserveConversion {
  const durations = metrics.histogram({
    name: 'apiserver_crd_webhook_conversion_duration_seconds',
    help: 'Time that webhooks took for a conversion, by definition and versions.',
    labels: ['crd_name', 'from_version', 'succeeded', 'to_version'],
    buckets: Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i),
  });
  return (definition, from, to, succeeded, seconds) => durations.with(definition, from, String(succeeded), to).observe(seconds);
}
