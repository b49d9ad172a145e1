/** Metrics of unavailable aggregated servers, as in a stock server. */
import type { Metrics } from '@plat-dev/lib/metrics';
import type { Verdict } from './check.ts';

export class AvailabilityMetrics {
  private readonly unavailable;
  private readonly total;
  private readonly last = new Map<string, string>();
  private readonly reasons = new Map<string, Set<string>>();

  constructor(metrics: Metrics) {
    this.unavailable = metrics.gauge({
      name: 'aggregator_unavailable_apiservice',
      help: 'APIServices that are marked as unavailable, by name.',
      labels: ['name'],
    });
    this.total = metrics.counter({
      name: 'aggregator_unavailable_apiservice_total',
      help: 'How often APIServices became unavailable, by name and reason.',
      labels: ['name', 'reason'],
    });
  }

  /** Without a verdict: the APIService was deleted. */
  observed(name: string, verdict: Verdict | undefined): void {
    const lastReason = this.last.get(name);
    if (verdict === undefined) {
      if (lastReason === undefined) return;
      this.last.delete(name);
      this.unavailable.remove(name);
      for (const reason of this.reasons.get(name) ?? []) this.total.remove(name, reason);
      this.reasons.delete(name);
      return;
    }
    const reason = verdict.status === 'True' ? '' : verdict.reason;
    this.last.set(name, reason);
    this.unavailable.with(name).set(reason === '' ? 0 : 1);
    if (reason === '' || reason === lastReason) return;
    this.total.with(name, reason).inc();
    this.reasons.set(name, (this.reasons.get(name) ?? new Set()).add(reason));
  }
}
