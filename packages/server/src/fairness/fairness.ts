/**
 * When a request runs. Its states:
 *
 *   classed      by its flow, in a later turn of the event loop where its user has had a part of this one (`user-shares.ts`)
 *                                                               → seated, waiting or rejected; with a body: unfinished
 *   unfinished   its body has not come whole (`bodies.ts`)      → seated, waiting or rejected when it has
 *   waiting      in a queue of its flow's hand                  → seated; rejected after the wait limit; gone
 *   seated       it runs                                        → over, when it is answered or the client is gone
 *
 * Watches hold a seat until they have begun; other requests that last hold none. Requests of the server's own parts wait
 * like others of their flow, and run at once where others would be rejected.
 */

import type { Clock } from '@plat-dev/lib/clock';
import { Ticker } from '@plat-dev/lib/ticker';
import { isPending, type MaybePromise } from '@plat-dev/lib/when-ready';
import { tooManyRequests } from '@plat-dev/meta/errors';
import { atEnd, type Context, whenLeft } from '../context.ts';
import type { Step } from '../pipeline.ts';
import type { Catalog } from '../registry/catalog.ts';
import { hasBody } from '../request/has-body.ts';
import { AwaitedBody } from './awaited-body.ts';
import { Bodies } from './bodies.ts';
import type { Flow } from './flow.ts';
import type { Reason } from './flow-metrics.ts';
import type { Waiter, Width } from './level.ts';
import { LingeringSeats } from './lingering-seats.ts';
import type { Flows } from './request-flow.ts';
import { TURN_WORK, UserShares } from './user-shares.ts';
import { oneSeat, widthOf } from './width.ts';

export interface FairnessOptions {
  readonly flows: Flows;
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** Longest that a request may take; a quarter of it may be spent in a queue. */
  readonly requestTimeoutMs: number;
  /** Counts a request that was rejected. */
  readonly dropped: (ctx: Context) => void;
  readonly shares?: UserShares;
  /** False: lists are whole, whatever limit they name. */
  readonly chunks?: boolean;
}

/** How often requests are looked for that hold seats for too long. */
const SWEEP_MS = 5000;
/** What a request takes of a turn of the event loop: as much as its seats, and more where it changes something or begins a watch. */
const CHANGE_WORK = 4;
const WATCH_WORK = 4;
/** No request waits longer in a queue. */
const LONGEST_WAIT_MS = 60_000;
/** A request waits in a queue for a quarter of the time that it may take. */
export const waitLimit = (requestTimeoutMs: number): number => Math.min(requestTimeoutMs / 4, LONGEST_WAIT_MS);

export class Fairness {
  readonly bodies: Bodies;
  private readonly options: FairnessOptions;
  private readonly clock: Clock;
  private readonly waitMs: number;
  private readonly lingering: LingeringSeats;
  private readonly shares: UserShares;
  /** Runs while requests hold seats. */
  private readonly sweeper: Ticker;
  private readonly chunks: boolean;
  private closed = false;

  constructor(options: FairnessOptions) {
    this.options = options;
    this.clock = options.clock;
    this.bodies = new Bodies(options.clock);
    this.lingering = new LingeringSeats(options.clock);
    this.shares = options.shares ?? new UserShares();
    this.waitMs = waitLimit(options.requestTimeoutMs);
    this.chunks = options.chunks !== false;
    this.sweeper = new Ticker(options.clock, SWEEP_MS, () => this.sweep());
  }

  /** After the flow is known. Requests with a body go on to authorization without seats, and take them in `AwaitedBody`. */
  readonly step: Step = (ctx) => {
    if (ctx.finished || (ctx.longRunning && ctx.info.verb !== 'watch')) return;
    atEnd(ctx, this.over);
    if (ctx.longRunning) ctx.seating.leave = this.leave;
    if (ctx.inProcess || !hasBody(ctx)) return this.enter(ctx);
    const { bodies, level } = ctx.flow as Flow;
    ctx.body = new AwaitedBody(this.bodies, this.bodies.begin(bodies, ctx.started, level.exempt), this.enter);
  };

  /** Takes a part of the turn, then seats, at once where there are any. */
  private readonly enter = (ctx: Context): MaybePromise<void> => {
    if (ctx.finished) return;
    const flow = ctx.flow as Flow;
    if (flow.level.exempt) return this.takeSeats(ctx, flow, oneSeat);
    const width = widthOf(this.options.catalog, ctx, this.chunks);
    const entered = this.shares.take(flow.share, workOf(ctx, width)) ? this.takeSeats(ctx, flow, width) : this.later(ctx, flow, width);
    return isPending(entered) ? ctx.timing.during('queue', () => this.clock.monotonic(), entered) : entered;
  };

  /** In a later turn: many requests of this user have begun in this one. */
  private later(ctx: Context, flow: Flow, width: Width): MaybePromise<void> {
    if (flow.share.full) return this.reject(ctx, flow, width, 'queue-full');
    return new Promise((resolve, reject) => {
      this.shares.wait(flow.share, workOf(ctx, width), ctx, () => {
        try {
          resolve(this.takeSeats(ctx, flow, width));
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  private takeSeats(ctx: Context, flow: Flow, width: Width): MaybePromise<void> {
    const now = this.clock.monotonic();
    this.sweeper.start();
    if (!flow.level.enter(ctx.seating, flow.hand, width, now)) return this.crowded(ctx, flow, width, now);
    seated(ctx, flow, width, 0);
  }

  private crowded(ctx: Context, flow: Flow, width: Width, now: number): MaybePromise<void> {
    if (flow.hand.length === 0) return this.reject(ctx, flow, width, 'concurrency-limit');
    const { level } = flow;
    const { metrics } = flow.schema;
    let settle: (() => void) | undefined;
    let started = false;
    const waiter: Waiter = {
      holder: ctx.seating,
      width,
      arrived: now,
      virtual: 0,
      queue: undefined,
      start: (at) => {
        started = true;
        ctx.seating.waiter = undefined;
        seated(ctx, flow, width, at - now);
        settle?.();
      },
    };
    const length = level.wait(waiter, flow.hand, now);
    if (length === 0) return this.reject(ctx, flow, width, 'queue-full');
    metrics.queueLength.observe(length);
    if (started) return;
    ctx.seating.waiter = waiter;
    metrics.waiting.value++;
    whenLeft(ctx, () => {
      if (ctx.seating.waiter === waiter) ctx.res.destroy();
    });
    return new Promise((resolve, reject) => {
      const cancel = this.clock.after(Math.min(this.waitMs, ctx.timeoutMs ?? Number.POSITIVE_INFINITY), () => {
        if (!level.leaveQueue(waiter, this.clock.monotonic())) return;
        metrics.waiting.value--;
        ctx.seating.waiter = undefined;
        level.timedOut++;
        metrics.waitedInVain.observe((this.clock.monotonic() - now) / 1000);
        try {
          this.reject(ctx, flow, width, 'time-out');
          resolve();
        } catch (error) {
          reject(error);
        }
      });
      settle = () => {
        cancel();
        metrics.waiting.value--;
        // Where many wait, those that end let others start: all of them would begin in the same turn.
        if (this.shares.take(flow.share, width.seats) || flow.share.full) resolve();
        else this.shares.wait(flow.share, width.seats, ctx, resolve);
      };
    });
  }

  private reject(ctx: Context, flow: Flow, width: Width, reason: Reason): void {
    const { level } = flow;
    if (ctx.inProcess) {
      level.force(ctx.seating, width, this.clock.monotonic());
      seated(ctx, flow, width, 0);
      return;
    }
    if (reason !== 'time-out') level.rejected++;
    flow.schema.metrics.rejected(reason).value++;
    this.options.dropped(ctx);
    throw tooManyRequests('Too many requests, please try again later.', 1);
  }

  /** The end of a request, in whatever state it is. */
  private readonly over = (ctx: Context): void => {
    ctx.body?.end();
    const { waiter, seats } = ctx.seating;
    if (seats > 0) this.leave(ctx);
    else if (waiter !== undefined) this.cancel(ctx, waiter);
  };

  private cancel(ctx: Context, waiter: Waiter): void {
    const { level, schema } = ctx.flow as Flow;
    ctx.seating.waiter = undefined;
    const now = this.clock.monotonic();
    if (!level.leaveQueue(waiter, now)) return;
    level.cancelled++;
    schema.metrics.waiting.value--;
    schema.metrics.waitedInVain.observe((now - waiter.arrived) / 1000);
    schema.metrics.rejected('cancelled').value++;
  }

  /** Gives seats back; a watch does so when it has begun. */
  private readonly leave = (ctx: Context): void => {
    const { seats, seatQueue, seatSince, seatFinalMs, seatOvertook } = ctx.seating;
    if (seats === 0) return;
    const { level, schema } = ctx.flow as Flow;
    const now = this.clock.monotonic();
    schema.metrics.executing.value--;
    schema.metrics.seats.value -= seats;
    schema.metrics.ran.observe((now - seatSince) / 1000);
    // What was refused sent no events.
    if (seatFinalMs === 0 || ctx.status >= 300) {
      level.finish(ctx.seating, now);
      return;
    }
    level.finish(ctx.seating, now, true);
    this.lingering.add(level, seatQueue, seats, seatOvertook, now, seatFinalMs);
  };

  /** Lets go of clients that do not take their answers: those hold seats as well. Returns whether any seat is taken. */
  private sweep(): boolean {
    const longest = this.options.requestTimeoutMs + SWEEP_MS;
    let isAnySeatTaken = false;
    for (const level of this.options.flows.levels.all()) {
      const oldestStart = this.clock.monotonic() - longest;
      let next = level.oldest as Context['seating'] | undefined;
      isAnySeatTaken ||= next !== undefined || level.waiting > 0;
      while (next !== undefined && next.seatSince < oldestStart) {
        const { request } = next;
        next = next.newerSeat as Context['seating'] | undefined;
        request.res.destroy();
      }
    }
    return isAnySeatTaken;
  }

  /** Whether requests are given seats and let go of. */
  get isOpen(): boolean {
    return !this.closed;
  }
  close(): void {
    this.closed = true;
    this.sweeper.close();
    this.lingering.close();
    this.bodies.close();
  }
}

function workOf(ctx: Context, { seats }: Width): number {
  if (ctx.body !== undefined || ctx.info.verb === 'delete') return CHANGE_WORK;
  if (!ctx.longRunning) return seats;
  // Without a version a watch begins with all objects.
  const version = ctx.param('resourceVersion');
  return version === undefined || version === '' || version === '0' ? TURN_WORK : WATCH_WORK;
}

function seated(ctx: Context, flow: Flow, width: Width, waitedMs: number): void {
  const { metrics } = flow.schema;
  metrics.dispatched.value++;
  metrics.executing.value++;
  metrics.seats.value += ctx.seating.seats;
  metrics.waited.observe(waitedMs / 1000);
  if (width !== oneSeat) metrics.width.observe(ctx.seating.seats);
  else metrics.width.counts[0] = (metrics.width.counts[0] as number) + 1;
}
