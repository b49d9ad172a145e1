/**
 * Long-running requests (watches, logs, exec, attach, port-forward, proxied streams) end when their user loses the
 * permission. Each is checked again, beginning with its credential, in a sweep over all of them:
 *
 *   roles or bindings change          → a sweep soon after, at most one every MIN_SPACING_MS
 *   an object of a credential changes → the same, over the streams of users whom it may affect
 *   RECHECK_MS have passed            → a sweep: credentials expire, and webhooks change their answers
 *
 * If a webhook cannot answer, a stream goes on for UNCHECKED_MS and then ends: new requests have been refused for
 * as long, and an attacker that blocks the webhook must not keep access that it would revoke.
 *
 * Watch events cost nothing for this: streams are checked by sweeps only.
 */

import type { Cancel, Clock } from '@plat-dev/lib/clock';
import { Ticker } from '@plat-dev/lib/ticker';
import { atEnd, type Context, whenLeft } from '../context.ts';
import type { Step } from '../pipeline.ts';

/** Maximum time that a stream goes on after its credential has expired or was revoked. */
export const RECHECK_MS = 10_000;
/** Delay of a sweep after a change: changes of roles often come several at a time. */
export const SETTLE_MS = 100;
/** Minimum time from the end of a sweep to one that a change triggers. */
export const MIN_SPACING_MS = 1000;
/** Maximum time that a stream goes on while it cannot be checked. */
export const UNCHECKED_MS = 5 * 60_000;
/** Maximum changed objects that are tracked individually; beyond it all streams are checked. */
export const MAX_CHANGED_OBJECTS = 10_000;
/** Streams that are checked in one turn of the loop. */
const SLICE = 100;
/** Maximum concurrent calls of webhooks. */
const MAX_ASKED = 32;

/** `unknown`: the check failed. */
export type Verdict = 'allowed' | 'ended' | 'unknown';

export interface OpenStreamsOptions {
  readonly clock: Clock;
  /** Authenticates and authorizes a request again. */
  readonly check: (ctx: Context) => Promise<Verdict>;
  /** Whether the credential of a request may depend on one of the changed objects. */
  readonly concerns: (ctx: Context, objects: ReadonlySet<string>) => boolean;
  /** Lets other work run. */
  readonly yieldTurn: () => Promise<void>;
  readonly ended: (ctx: Context, why: 'ended' | 'unknown') => void;
}

export class OpenStreams {
  private readonly options: OpenStreamsOptions;
  private readonly open = new Set<Context>();
  /** Runs while there are streams. */
  private readonly rechecks: Ticker;
  private planned: Cancel | undefined;
  private sweeping = false;
  /** The changes since the last sweep began: of everybody's permissions, or of single objects. */
  private allChanged = false;
  private changedObjects = new Set<string>();
  /** When the streams that cannot be checked failed first. */
  private readonly uncheckedSince = new Map<Context, number>();
  private lastSweep = Number.NEGATIVE_INFINITY;

  constructor(options: OpenStreamsOptions) {
    this.options = options;
    this.rechecks = new Ticker(options.clock, RECHECK_MS, () => {
      this.sweep(true);
      return this.open.size > 0;
    });
  }

  /** How many there are. */
  get size(): number {
    return this.open.size;
  }

  /** After authorization: requests that arrive here were allowed. */
  readonly step: Step = (ctx) => {
    if ((!ctx.longRunning && ctx.upgrade === undefined) || ctx.inProcess || ctx.finished || ctx.res.destroyed) return;
    this.open.add(ctx);
    this.rechecks.start();
    atEnd(ctx, this.forget);
    whenLeft(ctx, () => end(ctx, 'the client has closed its side of the connection'));
  };
  private readonly forget = (ctx: Context): void => {
    this.open.delete(ctx);
    this.uncheckedSince.delete(ctx);
  };

  /** The permissions of any user may have changed. */
  readonly changed = (): void => {
    if (this.open.size === 0) return;
    this.allChanged = true;
    this.plan();
  };

  /** An object that credentials may depend on has changed. */
  readonly objectChanged = (object: string): void => {
    if (this.open.size === 0) return;
    if (this.changedObjects.size < MAX_CHANGED_OBJECTS) this.changedObjects.add(object);
    else this.allChanged = true;
    this.plan();
  };

  private plan(): void {
    // Changes during a sweep are handled after it.
    if (this.planned !== undefined || this.sweeping) return;
    const { clock } = this.options;
    const wait = Math.max(SETTLE_MS, this.lastSweep + MIN_SPACING_MS - clock.monotonic());
    this.planned = clock.after(wait, () => {
      this.planned = undefined;
      this.sweep(false);
    });
  }

  close(): void {
    this.rechecks.close();
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
    let pendingDecisions: Promise<void>[] = [];
    for (const [i, ctx] of streams.entries()) {
      if (i % SLICE === SLICE - 1) await this.options.yieldTurn();
      if (!this.open.has(ctx)) continue;
      pendingDecisions.push(this.options.check(ctx).then((verdict) => this.apply(ctx, verdict)));
      if (pendingDecisions.length < MAX_ASKED) continue;
      await Promise.all(pendingDecisions);
      pendingDecisions = [];
    }
    await Promise.all(pendingDecisions);
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
    end(ctx, 'the user may no longer do this');
  }

  private isUncheckedTooLong(ctx: Context): boolean {
    // A stream that ended during its check is not recorded.
    if (!this.open.has(ctx)) return false;
    const now = this.options.clock.monotonic();
    const since = this.uncheckedSince.get(ctx);
    if (since === undefined) this.uncheckedSince.set(ctx, now);
    return since !== undefined && now - since >= UNCHECKED_MS;
  }
}

function end(ctx: Context, why: string): void {
  if (ctx.end !== undefined) ctx.end();
  else ctx.res.destroy(new Error(why));
}
