/**
 * Requests that go on (watches, logs, exec, attach, port-forward, proxied streams) end when their user may no longer make
 * them. Each is asked about again, from its credential on, in a sweep over all of them:
 *
 *   roles, bindings or service accounts change   → a sweep soon after, at most one every MIN_SPACING_MS
 *   RECHECK_MS went by                           → a sweep: credentials expire, and remote services change their minds
 *
 * Events of watches cost nothing for this: streams are looked at by sweeps alone.
 */
import type { Cancel, Clock } from '../../lib/clock.ts';
import type { Context } from '../context.ts';
import type { Step } from '../pipeline.ts';

/** Longest that a stream goes on after its credential has expired or was taken back. */
export const RECHECK_MS = 10_000;
/** Changes of roles often come several at a time: they are waited for. */
export const SETTLE_MS = 100;
/** Shortest time from the end of a sweep to one that changes asked for. */
export const MIN_SPACING_MS = 1000;
/** Streams that are looked at in one turn of the loop. */
const SLICE = 100;
/** Answers of remote services that are waited for at once. */
const MAX_ASKED = 32;

/** `unknown`: whoever decides could not be asked. The stream goes on until they can. */
export type Verdict = 'allowed' | 'ended' | 'unknown';

export interface OpenStreamsOptions {
  readonly clock: Clock;
  /** Asks again who made a request, and whether they may make it. */
  readonly check: (ctx: Context) => Verdict | Promise<Verdict>;
  /** Lets other work have its turn. */
  readonly yieldTurn: () => Promise<void>;
  readonly ended: (ctx: Context) => void;
}

export class OpenStreams {
  private readonly options: OpenStreamsOptions;
  private readonly open = new Set<Context>();
  private readonly stopTimer: Cancel;
  private planned: Cancel | undefined;
  private sweeping = false;
  /** Something changed while a sweep was under way. */
  private again = false;
  private lastSweep = Number.NEGATIVE_INFINITY;

  constructor(options: OpenStreamsOptions) {
    this.options = options;
    this.stopTimer = options.clock.every(RECHECK_MS, () => this.sweep());
  }

  /** How many there are. */
  get size(): number {
    return this.open.size;
  }

  /** Behind authorization: what arrives here was allowed. */
  readonly step: Step = (ctx) => {
    if ((!ctx.longRunning && ctx.upgrade === undefined) || ctx.inProcess || ctx.finished || ctx.res.destroyed) return;
    this.open.add(ctx);
    if (ctx.onFinished === undefined) ctx.onFinished = [this.forget];
    else ctx.onFinished.push(this.forget);
  };
  private readonly forget = (ctx: Context): void => {
    this.open.delete(ctx);
  };

  /** Rights may have changed. */
  readonly changed = (): void => {
    if (this.open.size === 0 || this.planned !== undefined) return;
    if (this.sweeping) {
      this.again = true;
      return;
    }
    const { clock } = this.options;
    const wait = Math.max(SETTLE_MS, this.lastSweep + MIN_SPACING_MS - clock.monotonic());
    this.planned = clock.after(wait, () => {
      this.planned = undefined;
      this.sweep();
    });
  };

  close(): void {
    this.stopTimer();
    this.planned?.();
  }

  private sweep(): void {
    if (this.sweeping || this.open.size === 0) return;
    this.sweeping = true;
    this.again = false;
    void this.look([...this.open]).finally(() => {
      this.sweeping = false;
      this.lastSweep = this.options.clock.monotonic();
      if (this.again) this.changed();
    });
  }

  private async look(streams: readonly Context[]): Promise<void> {
    let asked: Promise<void>[] = [];
    for (const [i, ctx] of streams.entries()) {
      if (i % SLICE === SLICE - 1) await this.options.yieldTurn();
      if (!this.open.has(ctx)) continue;
      const verdict = this.options.check(ctx);
      if (!(verdict instanceof Promise)) {
        this.apply(ctx, verdict);
        continue;
      }
      asked.push(verdict.then((later) => this.apply(ctx, later)));
      if (asked.length < MAX_ASKED) continue;
      await Promise.all(asked);
      asked = [];
    }
    await Promise.all(asked);
  }

  private apply(ctx: Context, verdict: Verdict): void {
    if (verdict !== 'ended' || !this.open.delete(ctx)) return;
    this.options.ended(ctx);
    if (ctx.end !== undefined) ctx.end();
    else ctx.res.destroy(new Error('the user may no longer do this'));
  }
}
