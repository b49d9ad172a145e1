/**
 * Requests that go on (watches, logs, exec, attach, port-forward, proxied streams) end when their user may no longer make
 * them. Each is asked about again, from its credential on, in a sweep over all of them:
 *
 *   roles or bindings change          → a sweep soon after, at most one every MIN_SPACING_MS
 *   what a credential names changes   → the same, over the streams of those callers whom it may concern
 *   RECHECK_MS went by                → a sweep: credentials expire, and remote services change their minds
 *
 * Where whoever decides cannot be asked, a stream goes on for UNCHECKED_MS and then ends: new requests have been refused for
 * as long, and whoever can keep the service from answering must not keep what it would take back.
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
/** Longest that a stream goes on while nobody can say whether it may. */
export const UNCHECKED_MS = 5 * 60_000;
/** Changed objects that are noted by themselves; where there are more, all streams are looked at. */
export const MAX_CHANGED_OBJECTS = 10_000;
/** Streams that are looked at in one turn of the loop. */
const SLICE = 100;
/** Answers of remote services that are waited for at once. */
const MAX_ASKED = 32;

/** `unknown`: whoever decides could not be asked. */
export type Verdict = 'allowed' | 'ended' | 'unknown';

export interface OpenStreamsOptions {
  readonly clock: Clock;
  /** Asks again who made a request, and whether they may make it. */
  readonly check: (ctx: Context) => Verdict | Promise<Verdict>;
  /** Whether the credential of a request may name one of the objects that changed. */
  readonly concerns: (ctx: Context, objects: ReadonlySet<string>) => boolean;
  /** Lets other work have its turn. */
  readonly yieldTurn: () => Promise<void>;
  readonly ended: (ctx: Context, why: 'ended' | 'unknown') => void;
}

export class OpenStreams {
  private readonly options: OpenStreamsOptions;
  private readonly open = new Set<Context>();
  private readonly stopTimer: Cancel;
  private planned: Cancel | undefined;
  private sweeping = false;
  /** What has changed since the last sweep began: everybody's rights, or single objects. */
  private allChanged = false;
  private changedObjects = new Set<string>();
  /** Since when the streams that could not be checked could not. */
  private readonly uncheckedSince = new Map<Context, number>();
  private lastSweep = Number.NEGATIVE_INFINITY;

  constructor(options: OpenStreamsOptions) {
    this.options = options;
    this.stopTimer = options.clock.every(RECHECK_MS, () => this.sweep(true));
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
    this.uncheckedSince.delete(ctx);
  };

  /** The rights of anybody may have changed. */
  readonly changed = (): void => {
    if (this.open.size === 0) return;
    this.allChanged = true;
    this.plan();
  };

  /** An object that credentials may name has changed. */
  readonly objectChanged = (object: string): void => {
    if (this.open.size === 0) return;
    if (this.changedObjects.size < MAX_CHANGED_OBJECTS) this.changedObjects.add(object);
    else this.allChanged = true;
    this.plan();
  };

  private plan(): void {
    // What changes during a sweep is looked at after it.
    if (this.planned !== undefined || this.sweeping) return;
    const { clock } = this.options;
    const wait = Math.max(SETTLE_MS, this.lastSweep + MIN_SPACING_MS - clock.monotonic());
    this.planned = clock.after(wait, () => {
      this.planned = undefined;
      this.sweep(false);
    });
  }

  close(): void {
    this.stopTimer();
    this.planned?.();
  }

  private sweep(everything: boolean): void {
    if (this.sweeping) return;
    const objects = everything || this.allChanged ? undefined : this.changedObjects;
    this.allChanged = false;
    this.changedObjects = new Set();
    const streams = [...this.open];
    const concerned = objects === undefined ? streams : streams.filter((ctx) => this.options.concerns(ctx, objects));
    if (!everything) this.lastSweep = this.options.clock.monotonic();
    if (concerned.length === 0) return;
    this.sweeping = true;
    void this.look(concerned).finally(() => {
      this.sweeping = false;
      this.lastSweep = this.options.clock.monotonic();
      if (this.allChanged || this.changedObjects.size > 0) this.plan();
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
    if (verdict === 'allowed') {
      this.uncheckedSince.delete(ctx);
      return;
    }
    if (verdict === 'unknown' && !this.isUncheckedTooLong(ctx)) return;
    if (!this.open.delete(ctx)) return;
    this.uncheckedSince.delete(ctx);
    this.options.ended(ctx, verdict);
    if (ctx.end !== undefined) ctx.end();
    else ctx.res.destroy(new Error('the user may no longer do this'));
  }

  private isUncheckedTooLong(ctx: Context): boolean {
    // A stream that ended while the answer was on its way is not noted.
    if (!this.open.has(ctx)) return false;
    const now = this.options.clock.monotonic();
    const since = this.uncheckedSince.get(ctx);
    if (since === undefined) this.uncheckedSince.set(ctx, now);
    return since !== undefined && now - since >= UNCHECKED_MS;
  }
}
