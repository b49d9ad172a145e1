/**
 * The last requests that took long, with the time in each step, for those who ask why. The newest 100 are kept until a restart; watches
 * and other requests that go on, and those of the server's own controllers, are not among them.
 */
import type { Clock } from '@plat-dev/lib/clock';
import { cut } from '@plat-dev/lib/message-values';
import type { Context } from './context.ts';
import type { TimedStep } from './request-timing.ts';

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
  readonly steps: readonly Omit<TimedStep, 'began'>[];
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
      steps: ctx.timing.steps(ctx.started, end).map(withoutBegin),
    });
    if (this.requests.length > MOST_REQUESTS) this.requests.shift();
  }
  /** Newest first; of one user, or of all. */
  of(user?: string): SlowRequest[] {
    return this.requests.filter((request) => user === undefined || request.user === user).reverse();
  }
}

const withoutBegin = ({ name, webhook, millis }: TimedStep): Omit<TimedStep, 'began'> =>
  webhook === undefined ? { name, millis } : { name, webhook: cut(webhook, MAX_NAME), millis };
