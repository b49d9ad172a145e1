/**
 * When a request runs. Its states:
 *
 *   classed      by its flow                                   → seated, waiting or rejected; with a body: unfinished
 *   unfinished   its body has not come whole (`bodies.ts`)      → seated, waiting or rejected when it has
 *   waiting      in a queue of its flow's hand                  → seated; rejected after the wait limit; gone
 *   seated       it runs, in a later turn of the event loop     → over, when it is answered or the client is gone
 *                where its user has had a part of this one (`turns.ts`)
 *
 * Watches hold a seat until they have begun; other requests that last hold none. Requests of the server's own parts wait
 * like others of their flow, and run at once where others would be rejected.
 */
import type { Cancel, Clock } from '../../lib/clock.ts';
import { tooManyRequests } from '../../meta/errors.ts';
import type { Catalog } from '../../registry/catalog.ts';
import { atEnd, type Context } from '../context.ts';
import type { Flow, Flows } from '../flow.ts';
import { hasBody } from '../has-body.ts';
import type { Step } from '../pipeline.ts';
import { AwaitedBody } from './awaited-body.ts';
import { Bodies } from './bodies.ts';
import type { Waiter, Width } from './level.ts';
import { LingeringSeats } from './lingering.ts';
import type { Reason } from './metrics.ts';
import { Turns } from './turns.ts';
import { oneSeat, widthOf } from './width.ts';

export interface FairnessOptions {
  readonly flows: Flows;
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** Longest that a request may take; a quarter of it may be spent in a queue. */
  readonly requestTimeoutMs: number;
  /** Counts a request that was rejected. */
  readonly dropped: (ctx: Context) => void;
  readonly turns?: Turns;
}

/** How often requests are looked for that hold seats for too long. */
const SWEEP_MS = 5000;
/** What a request takes of a turn of the event loop: as much as its seats, and more where it has a body or begins a watch. */
const REJECTION_WORK = 2;
const CHANGE_WORK = 4;
const WATCH_WORK = 8;
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
  private readonly turns: Turns;
  private readonly endSweep: Cancel;

  constructor(options: FairnessOptions) {
    this.options = options;
    this.clock = options.clock;
    this.bodies = new Bodies(options.clock);
    this.lingering = new LingeringSeats(options.clock);
    this.turns = options.turns ?? new Turns();
    this.waitMs = waitLimit(options.requestTimeoutMs);
    this.endSweep = options.clock.every(SWEEP_MS, () => this.sweep());
  }

  /** After the flow is known. Requests with a body go on to authorization without seats, and take them in `AwaitedBody`. */
  readonly step: Step = (ctx) => {
    if (ctx.finished || (ctx.longRunning && ctx.info.verb !== 'watch')) return;
    atEnd(ctx, this.over);
    if (ctx.longRunning) ctx.leaveSeats = this.leave;
    if (ctx.inProcess || !hasBody(ctx)) return this.enter(ctx);
    const { bodies, level } = ctx.flow as Flow;
    ctx.body = new AwaitedBody(this.bodies, this.bodies.begin(bodies, ctx.started, level.exempt), this.enter);
  };

  /** Takes seats, at once where there are any. */
  private readonly enter = (ctx: Context): void | Promise<void> => {
    if (ctx.finished) return;
    const flow = ctx.flow as Flow;
    const { level } = flow;
    const width = level.exempt ? oneSeat : widthOf(this.options.catalog, ctx);
    const now = this.clock.monotonic();
    if (!level.enter(ctx, flow.hand, width, now)) return this.crowded(ctx, flow, width, now);
    seated(ctx, flow, width, 0);
    if (level.exempt || this.turns.take(flow.turns, workOf(ctx, width))) return;
    return new Promise((resolve) => this.turns.wait(flow.turns, workOf(ctx, width), ctx, resolve));
  };

  private crowded(ctx: Context, flow: Flow, width: Width, now: number): void | Promise<void> {
    if (flow.hand.length === 0) return this.rejectInTurn(ctx, flow, width, 'concurrency-limit');
    const { level } = flow;
    const { metrics } = flow.schema;
    let settle: (() => void) | undefined;
    let started = false;
    const waiter: Waiter<Context> = {
      holder: ctx,
      width,
      arrived: now,
      virtual: 0,
      queue: undefined,
      start: (at) => {
        started = true;
        ctx.waiter = undefined;
        seated(ctx, flow, width, at - now);
        settle?.();
      },
    };
    const length = level.wait(waiter, flow.hand, now);
    if (length === 0) return this.rejectInTurn(ctx, flow, width, 'queue-full');
    metrics.queueLength.observe(length);
    const work = workOf(ctx, width);
    if (started) {
      if (this.turns.take(flow.turns, work)) return;
      return new Promise((resolve) => this.turns.wait(flow.turns, work, ctx, resolve));
    }
    ctx.waiter = waiter;
    metrics.waiting.value++;
    return new Promise((resolve, reject) => {
      const cancel = this.clock.after(Math.min(this.waitMs, ctx.timeoutMs ?? Number.POSITIVE_INFINITY), () => {
        if (!level.leaveQueue(waiter, this.clock.monotonic())) return;
        metrics.waiting.value--;
        ctx.waiter = undefined;
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
        if (this.turns.take(flow.turns, work)) resolve();
        else this.turns.wait(flow.turns, work, ctx, resolve);
      };
    });
  }

  /** A rejection is work, too: one of a user who has had a part of this turn waits for another. */
  private rejectInTurn(ctx: Context, flow: Flow, width: Width, reason: Reason): void | Promise<void> {
    if (this.turns.take(flow.turns, REJECTION_WORK)) return this.reject(ctx, flow, width, reason);
    return new Promise((resolve, reject) => {
      this.turns.wait(flow.turns, REJECTION_WORK, ctx, () => {
        try {
          this.reject(ctx, flow, width, reason);
          resolve();
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  private reject(ctx: Context, flow: Flow, width: Width, reason: Reason): void {
    const { level } = flow;
    if (ctx.inProcess) {
      level.force(ctx, width, this.clock.monotonic());
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
    const { waiter } = ctx;
    if (ctx.seats > 0) this.leave(ctx);
    else if (waiter !== undefined) this.cancel(ctx, waiter);
  };

  private cancel(ctx: Context, waiter: Waiter): void {
    const { level, schema } = ctx.flow as Flow;
    ctx.waiter = undefined;
    const now = this.clock.monotonic();
    if (!level.leaveQueue(waiter, now)) return;
    level.cancelled++;
    schema.metrics.waiting.value--;
    schema.metrics.waitedInVain.observe((now - waiter.arrived) / 1000);
    schema.metrics.rejected('cancelled').value++;
  }

  /** Gives seats back; a watch does so when it has begun. */
  private readonly leave = (ctx: Context): void => {
    if (ctx.seats === 0) return;
    const { level, schema } = ctx.flow as Flow;
    const { seats, seatQueue, seatFinalMs, seatOvertook } = ctx;
    const now = this.clock.monotonic();
    schema.metrics.executing.value--;
    schema.metrics.seats.value -= seats;
    schema.metrics.ran.observe((now - ctx.seatSince) / 1000);
    // What was refused sent no events.
    if (seatFinalMs === 0 || ctx.status >= 300) {
      level.finish(ctx, now);
      return;
    }
    level.finish(ctx, now, true);
    this.lingering.add(level, seatQueue, seats, seatOvertook, now, seatFinalMs);
  };

  /** Lets go of clients that do not take their answers: those hold seats as well. */
  private sweep(): void {
    const longest = this.options.requestTimeoutMs + SWEEP_MS;
    for (const level of this.options.flows.levels.all()) {
      const before = this.clock.monotonic() - longest;
      let next = level.oldest as Context | undefined;
      while (next !== undefined && next.seatSince < before) {
        const ctx = next;
        next = ctx.newerSeat as Context | undefined;
        ctx.res.destroy();
      }
    }
  }

  close(): void {
    this.endSweep();
    this.lingering.close();
    this.bodies.close();
  }
}

function workOf({ body, info, longRunning }: Context, { seats }: Width): number {
  if (body !== undefined || info.verb === 'delete') return CHANGE_WORK;
  return longRunning ? WATCH_WORK : seats;
}

function seated(ctx: Context, flow: Flow, width: Width, waitedMs: number): void {
  const { metrics } = flow.schema;
  metrics.dispatched.value++;
  metrics.executing.value++;
  metrics.seats.value += ctx.seats;
  metrics.waited.observe(waitedMs / 1000);
  if (width !== oneSeat) metrics.width.observe(ctx.seats);
  else metrics.width.counts[0] = (metrics.width.counts[0] as number) + 1;
}
