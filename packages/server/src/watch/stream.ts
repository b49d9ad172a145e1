/**
 * The response to a watch. Its states:
 *
 *   unsent     events are buffered until the head is sent              → open, by `begin`
 *   open       pending events are written, round by round              → ended
 *   ended      by the client, by `end`, or because the client does not read
 */
import { nextTurn } from '@plat-dev/lib/next-turn';
import { SLICED_FROM, turnWithTime } from '@plat-dev/lib/slices';
import { ApiError, expired, internalError } from '@plat-dev/meta/errors';
import type { Item } from '@plat-dev/storage/item';
import type { CollectionEvent } from '@plat-dev/storage/recent-events';
import type { Context } from '../context.ts';
import { takesFrames } from '../in-process.ts';
import type { WatchSink, WatchType } from '../registry/watch.ts';
import { head } from '../response/respond.ts';
import type { Services } from '../services.ts';
import { Batch, type Frame } from './batch.ts';
import type { Frames } from './frames.ts';
import { type Outlet, outletOf } from './outlet.ts';
import type { Rounds } from './rounds.ts';

/** History is sent in pieces of about this size, each when the client has read the one before. */
const FULL_BYTES = 128 * 1024;

export interface WatchStreamOptions {
  readonly services: Services;
  readonly ctx: Context;
  readonly frames: Frames;
  readonly contentType: string;
  /** Counts the events. */
  readonly events: { inc(): void };
  /** A bookmark follows the objects with which the watch begins. */
  readonly marksInitial: boolean;
}

export class WatchStream implements WatchSink {
  private readonly options: WatchStreamOptions;
  private readonly rounds: Rounds;
  private outlet: Outlet | undefined;
  private stop: () => void = () => {};
  private waiting: Batch | undefined;
  /** Frames of which the first waits for a conversion, and their bytes. */
  private later: Frame[] = [];
  private laterBytes = 0;
  private scheduled = false;
  private ended = false;
  private failed = false;
  private finish: () => void = () => {};
  readonly done: Promise<void>;
  private start: () => void = () => {};
  private readonly started: Promise<void>;
  /** The history is sent. */
  upToDate = false;
  readonly waitingLimit: number;

  constructor(options: WatchStreamOptions) {
    this.options = options;
    const { services, ctx } = options;
    this.rounds = takesFrames(ctx.res) ? services.watches.inside : services.watches.outside;
    this.waitingLimit = services.limits.watchBufferBytes;
    this.done = new Promise((resolve) => {
      this.finish = resolve;
    });
    this.started = new Promise((resolve) => {
      this.start = resolve;
    });
  }

  /** Sends the head; from here on errors are events. */
  begin(stop: () => void): void {
    this.stop = stop;
    const { ctx, services, contentType } = this.options;
    if (ctx.res.destroyed) {
      this.close();
      return;
    }
    ctx.end = () => this.end();
    head(ctx, 200, ['Content-Type', contentType]);
    ctx.res.flushHeaders?.();
    ctx.res.once('close', () => this.close());
    this.outlet = outletOf(ctx);
    this.start();
    void this.writeInTurn();
    if (this.failed) this.end();
    else if (!this.ended) services.watches.add(this);
  }

  send(type: WatchType, item: Item, shared: CollectionEvent | undefined): void {
    if (this.ended) return;
    this.options.events.inc();
    this.push(this.options.frames.event(type, item, shared));
  }
  full(): boolean {
    return this.laterBytes + (this.waiting?.size ?? 0) + (this.outlet?.waiting() ?? 0) > FULL_BYTES;
  }
  async drained(): Promise<void> {
    await this.started;
    await this.writeInTurn();
    const { outlet, ended } = this;
    const { res } = this.options.ctx;
    if (outlet === undefined || ended || res.destroyed) return;
    if (this.later[0]?.ready !== undefined) return this.later[0].ready;
    // Even for a client that reads everything at once other work runs in between.
    if (outlet.waiting() < outlet.stream.writableHighWaterMark) return nextTurn(this.owner);
    return new Promise((resolve) => {
      const go = (): void => {
        outlet.stream.off('drain', go);
        res.off('close', go);
        // Many clients may have read theirs in this turn of the loop.
        resolve(nextTurn(this.owner));
      };
      outlet.stream.on('drain', go);
      res.on('close', go);
    });
  }
  get owner(): object | undefined {
    return this.options.ctx.owner;
  }
  initialSent(revision: number): void {
    if (this.options.marksInitial && !this.ended) this.push(this.options.frames.initialEnd(revision));
  }
  current(): void {
    this.upToDate = true;
  }
  bookmark(revision: number): void {
    if (!this.ended) this.push(this.options.frames.bookmark(revision));
  }
  fail(error: ApiError): void {
    if (this.ended) return;
    // Events that wait for a conversion are dropped: after an error the client lists again.
    this.later = [];
    this.laterBytes = 0;
    this.append(this.options.frames.error(error));
    this.failed = true;
    // Before the head is sent the error waits with the other frames.
    if (this.outlet !== undefined) this.end();
  }
  /** Sends the pending events and ends the stream. */
  end(): void {
    this.write();
    if (this.ended) return;
    this.close();
    this.options.ctx.res.end();
  }

  private close(): void {
    if (this.ended) return;
    this.ended = true;
    this.start();
    this.options.services.watches.delete(this);
    this.stop();
    this.waiting = undefined;
    this.later = [];
    this.finish();
  }

  private push(frame: Frame): void {
    if (frame.ready === undefined && this.later.length === 0) {
      this.append(frame);
      return;
    }
    this.later.push(frame);
    this.laterBytes += frame.source.length;
    if (this.laterBytes > this.waitingLimit) this.fail(expired('objects change faster than they can be converted; list and watch again'));
    else if (this.later.length === 1) void this.advance();
  }
  /** Appends frames in order, each when it is ready. */
  private async advance(): Promise<void> {
    for (let frame = this.later[0]; frame !== undefined; frame = this.later[0]) {
      if (frame.ready !== undefined) await frame.ready;
      // The watch ended or failed meanwhile.
      if (this.later[0] !== frame) return;
      if (frame.fault !== undefined) {
        this.fail(frame.fault instanceof ApiError ? frame.fault : internalError('an object could not be converted'));
        return;
      }
      this.later.shift();
      this.laterBytes -= frame.source.length;
      this.append(frame);
    }
  }
  private append(frame: Frame): void {
    // Only live events are shared; frames of the history must not be cached for others.
    const batch = this.waiting ?? (this.upToDate ? this.rounds.empty : new Batch());
    this.waiting = batch.and(frame);
    if (this.outlet === undefined || this.scheduled) return;
    this.scheduled = true;
    this.rounds.add(this);
  }
  /** Called in a round. */
  flush(): void {
    this.scheduled = false;
    this.write();
  }
  /** Whether the pending events are much to copy and encrypt. Within the process they are handed over as they are. */
  private get isLarge(): boolean {
    return this.waiting !== undefined && this.waiting.size > SLICED_FROM && !takesFrames(this.options.ctx.res);
  }
  /** Many clients may begin at once, each with the first objects of its history. */
  private async writeInTurn(): Promise<void> {
    const pause = this.isLarge ? turnWithTime(this.owner) : undefined;
    if (pause !== undefined) await pause;
    this.write();
  }
  /** Writes the pending events. An error ends this watch only. */
  private write(): void {
    const { waiting, outlet, ended } = this;
    if (ended || waiting === undefined || outlet === undefined) return;
    this.waiting = undefined;
    try {
      outlet.write(waiting);
    } catch (error) {
      this.break(error as Error);
      return;
    }
    // A watcher that does not read is ended instead of buffering without limit; it may resume from its last event.
    if (outlet.waiting() > this.waitingLimit) this.break(new Error('the client of a watch does not read'));
  }
  /** Ends with an error, so that no client takes it for a regular end. */
  private break(error: Error): void {
    this.close();
    this.options.ctx.res.destroy(error);
  }
}
