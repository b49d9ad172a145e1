/**
 * Tracing of requests (feature APIServerTracing): requests are sampled at random and reported to a collector as spans, each with spans
 * of its steps. The trace of a client's `traceparent` is linked, not continued: clients do not decide what is sampled. Webhooks and
 * etcd are called with the span of a sampled request as their parent, else with what the client sent.
 *
 *   sampled → served → queued (at most 2,048; more are dropped and counted) → sent every 5 s, or when 512 wait
 */
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import type { Random } from '@plat-dev/lib/random';
import { atEnd, type Context } from '../context.ts';
import type { Step } from '../pipeline.ts';
import { readTraceparent } from '../request/traceparent.ts';
import { encodeSpans, type Span, type SpanLink } from './otlp.ts';

const MILLION = 1_000_000;
/** Most queued spans, and most spans of a batch. */
export const MAX_QUEUED = 2048;
export const BATCH = 512;
const SEND_MS = 5000;
const SCOPE = 'plat';
/** Longest text of an attribute. */
const MAX_TEXT = 1024;

export interface TracingOptions {
  readonly samplingRatePerMillion: number;
  /** Resource attributes of this server. */
  readonly resource: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly random: Random;
  /** Sends an encoded batch; rejects if the collector does not accept it. */
  send(batch: Buffer): Promise<void>;
  /** Called with the number of dropped spans and the reason. */
  readonly lost: (spans: number, why: string) => void;
}

export class Tracing {
  private readonly options: TracingOptions;
  private queue: Span[] = [];
  private sending: Promise<void> = Promise.resolve();
  private isSending = false;
  private readonly endTimer: Cancel;

  constructor(options: TracingOptions) {
    this.options = options;
    this.endTimer = options.clock.every(SEND_MS, () => this.flush());
  }

  readonly step: Step = (ctx) => {
    const { samplingRatePerMillion: rate, random, clock } = this.options;
    if (rate === 0 || random.below(MILLION) >= rate) return;
    const start = clock.now();
    const startedAt = clock.monotonic();
    const ids = { traceId: random.bytes(16), spanId: random.bytes(8) };
    ctx.traceparent = `00-${ids.traceId.toString('hex')}-${ids.spanId.toString('hex')}-01`;
    atEnd(ctx, (endedContext) => {
      const timeOf = (moment: number): number => start + moment - startedAt;
      const ended = clock.monotonic();
      this.add(this.spanOf(endedContext, ids, timeOf(endedContext.started), timeOf(ended)));
      for (const span of this.stepSpans(endedContext, ids, ended, timeOf)) this.add(span);
    });
  };

  /** Resolves when all queued spans are sent or dropped. */
  async close(): Promise<void> {
    this.endTimer();
    this.flush();
    await this.sending;
  }

  private spanOf(ctx: Context, ids: SpanLink, start: number, end: number): Span {
    const { verb, resource, group, namespace } = ctx.info;
    return {
      ...ids,
      name: 'KubernetesAPI',
      start,
      end,
      attributes: {
        'http.method': ctx.method,
        'http.target': (ctx.req.url ?? '').slice(0, MAX_TEXT),
        'http.status_code': ctx.status,
        'http.user_agent': (ctx.header('user-agent') ?? '').slice(0, MAX_TEXT),
        'audit-id': ctx.auditId,
        verb,
        ...(resource !== '' && { resource, group, namespace }),
      },
      failed: ctx.status >= 500,
      link: linkOf(ctx.header('traceparent')),
    };
  }

  /** A span for each step that took time; those of webhooks are parts of that of admission. */
  private stepSpans(ctx: Context, { traceId, spanId }: SpanLink, ended: number, timeOf: (moment: number) => number): Span[] {
    const spans: Span[] = [];
    let admission = spanId;
    for (const { name, began, millis, webhook } of ctx.timing.steps(ctx.started, ended)) {
      if (began === undefined) continue;
      const id = this.options.random.bytes(8);
      if (name === 'admission') admission = id;
      spans.push({
        traceId,
        spanId: id,
        parent: webhook === undefined ? spanId : admission,
        name,
        start: timeOf(began),
        end: timeOf(began + millis),
        attributes: webhook === undefined ? {} : { webhook: webhook.slice(0, MAX_TEXT) },
        failed: false,
      });
    }
    return spans;
  }

  private add(span: Span): void {
    if (this.queue.length >= MAX_QUEUED) {
      this.options.lost(1, 'too many spans wait to be sent');
      return;
    }
    this.queue.push(span);
    if (this.queue.length >= BATCH) this.flush();
  }

  /** Sends one batch at a time; further spans are queued. */
  private flush(): void {
    if (this.isSending || this.queue.length === 0) return;
    this.isSending = true;
    const batch = this.queue.splice(0, BATCH);
    this.sending = this.options
      .send(encodeSpans(batch, this.options.resource, SCOPE))
      .catch((error: unknown) => this.options.lost(batch.length, error instanceof Error ? error.message : String(error)))
      .then(() => {
        this.isSending = false;
        if (this.queue.length >= BATCH) this.flush();
      });
  }
}

function linkOf(traceparent: string | undefined): SpanLink | undefined {
  const ids = readTraceparent(traceparent);
  return ids && { traceId: Buffer.from(ids.trace, 'hex'), spanId: Buffer.from(ids.span, 'hex') };
}
