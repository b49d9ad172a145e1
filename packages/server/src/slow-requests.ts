/**
 * The last requests that took long, with the time in each step, for those who ask why. The newest 100 are kept until a restart; watches
 * and other requests that go on, and those of the server's own controllers, are not among them.
 */
import type { Clock } from '@plat-dev/lib/clock';
import { cut } from '@plat-dev/lib/message-values';
import type { Context } from './context.ts';

export interface SlowRequest {
  readonly auditID: string;
  /** When it was finished, in milliseconds since 1970. */
  readonly time: number;
  readonly user: string;
  readonly method: string;
  /** Without the query, which may hold a token. */
  readonly path: string;
  readonly code: number;
  readonly millis: number;
  readonly steps: readonly TimedStep[];
}
interface TimedStep {
  readonly name: string;
  readonly millis: number;
  /** The calls of webhooks within admission. */
  readonly webhook?: string;
}

export const MOST_REQUESTS = 100;
const MAX_PATH = 1024;
const MAX_NAME = 256;

export class SlowRequests {
  private readonly thresholdMs: number;
  private readonly clock: Clock;
  private readonly requests: SlowRequest[] = [];

  constructor(thresholdMs: number, clock: Clock) {
    this.thresholdMs = thresholdMs;
    this.clock = clock;
  }
  /** Called at the end of each request. */
  finished(ctx: Context): void {
    const end = this.clock.monotonic();
    if (end - ctx.started < this.thresholdMs || ctx.longRunning || ctx.inProcess) return;
    this.requests.push({
      auditID: cut(ctx.auditId, MAX_NAME),
      time: this.clock.now(),
      user: cut(ctx.user?.name ?? '', MAX_NAME),
      method: ctx.method,
      path: cut(ctx.path, MAX_PATH),
      code: ctx.status,
      millis: end - ctx.started,
      steps: stepsOf(ctx, end),
    });
    if (this.requests.length > MOST_REQUESTS) this.requests.shift();
  }
  /** Newest first; of one user, or of all. */
  of(user?: string): SlowRequest[] {
    return this.requests.filter((request) => user === undefined || request.user === user).reverse();
  }
}

/** A request that ended early has no later steps: what is left of its time was spent in the one that it had reached. */
function stepsOf({ started, timing }: Context, end: number): TimedStep[] {
  const { authenticatedAt, seatedAt, authorizedAt, answeredAt, admissionMs, storeMs, webhooks = [] } = timing;
  const answered = answeredAt === 0 ? end : answeredAt;
  const steps: TimedStep[] = [];
  let from = started;
  const until = (name: string, reachedAt: number): void => {
    const to = reachedAt === 0 ? answered : reachedAt;
    if (to > from) steps.push({ name, millis: to - from });
    from = Math.max(from, to);
  };
  until('authentication', authenticatedAt);
  until('queue', seatedAt);
  until('authorization', authorizedAt);
  const handling = answered - from - admissionMs - storeMs;
  if (admissionMs > 0) steps.push({ name: 'admission', millis: admissionMs });
  for (const { name, millis } of webhooks) steps.push({ name: 'webhook', webhook: cut(name, MAX_NAME), millis });
  if (storeMs > 0) steps.push({ name: 'store', millis: storeMs });
  if (handling > 0) steps.push({ name: 'handling', millis: handling });
  if (end > answered) steps.push({ name: 'sending', millis: end - answered });
  return steps;
}
