/** Metrics of webhooks, under the names of a stock server. */
import type { Metrics } from '@plat-dev/lib/metrics';
import type { AdmissionOperation } from '../types.ts';
import type { Webhook } from './webhook.ts';

/** The type of a webhook in metrics. */
export type WebhookType = 'admit' | 'validating';
export type RejectionCause = 'calling_webhook_error' | 'no_error' | 'apiserver_internal_error';

/** Codes beyond this are counted as this. */
const MAX_CODE = 600;
const buckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5];

export class WebhookMetrics {
  private readonly rejections;
  private readonly failOpen;
  private readonly durations;
  private readonly requests;

  constructor(metrics: Metrics) {
    this.rejections = metrics.counter({
      name: 'apiserver_admission_webhook_rejection_count',
      help: 'Requests that webhooks rejected, by the name of the webhook, the operation, and why.',
      labels: ['error_type', 'name', 'operation', 'rejection_code', 'type'],
    });
    this.failOpen = metrics.counter({
      name: 'apiserver_admission_webhook_fail_open_count',
      help: 'Failed calls of webhooks that are passed over when they fail.',
      labels: ['name', 'type'],
    });
    this.durations = metrics.histogram({
      name: 'apiserver_admission_webhook_admission_duration_seconds',
      help: 'Time that webhooks took, by their name.',
      labels: ['name', 'operation', 'rejected', 'type'],
      stability: 'STABLE',
      buckets,
    });
    this.requests = metrics.counter({
      name: 'apiserver_admission_webhook_request_total',
      help: 'Calls of webhooks, by the code of the answer.',
      labels: ['code', 'name', 'operation', 'rejected', 'type'],
    });
  }

  called({ name }: Webhook, type: WebhookType, operation: AdmissionOperation, seconds: number, rejected: boolean, code: number): void {
    this.durations.with(name, operation, String(rejected), type).observe(seconds);
    this.requests.with(String(Math.min(code, MAX_CODE)), name, operation, String(rejected), type).inc();
  }
  /** `code` is that of the rejection; 0 if the webhook did not respond. */
  rejected({ name }: Webhook, type: WebhookType, operation: AdmissionOperation, cause: RejectionCause, code: number): void {
    this.rejections.with(cause, name, operation, String(Math.min(code, MAX_CODE)), type).inc();
  }
  failedOpen({ name }: Webhook, type: WebhookType): void {
    this.failOpen.with(name, type).inc();
  }
}

const metricsOf = new WeakMap<Metrics, WebhookMetrics>();
/** Both plug-ins use the same metrics. */
export function webhookMetrics(metrics: Metrics): WebhookMetrics {
  let webhookSeries = metricsOf.get(metrics);
  if (webhookSeries === undefined) {
    webhookSeries = new WebhookMetrics(metrics);
    metricsOf.set(metrics, webhookSeries);
  }
  return webhookSeries;
}
