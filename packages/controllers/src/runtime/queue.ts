/**
 * A queue of keys to process. A key is queued once, however often it is added; it is never processed twice at the same
 * time, and a key that is added while it is processed is processed again afterwards. Failures are retried with
 * increasing delays.
 *
 *   add a, add b, add a     a, b are processed
 *   add a while a runs      a runs again when it is done
 *   a fails                 again after 5 ms, 10 ms, 20 ms, …
 */
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import { inNextTurn } from '@plat-dev/lib/next-turn';
import { whenTurnHasTime } from '@plat-dev/lib/slices';
import type { QueueMetrics } from './controller-metrics.ts';

/** The result of processing a key: nothing when it is done, or the milliseconds after which to process it again. */
// biome-ignore lint/suspicious/noConfusingVoidType: most work has nothing to say and simply ends.
export type Outcome = number | undefined | void;

export interface QueueOptions {
  readonly name: string;
  readonly clock: Clock;
  /** How many keys are processed at a time. */
  readonly workers?: number;
  readonly work: (key: string) => Promise<Outcome>;
  /** Called for every failure. */
  readonly report: (error: unknown, key: string) => void;
  /** How much faster the clock is than the machine: retries wait by the machine. Default: 1. */
  readonly timeFactor?: number;
  /** First and maximum delay of a key that fails. */
  readonly firstRetryMs?: number;
  readonly longestRetryMs?: number;
  /** Maximum queued keys. Beyond it keys are dropped, and `overflowed` is called when the queue has drained. */
  readonly limit?: number;
  readonly overflowed?: () => void;
  readonly metrics?: QueueMetrics;
}

const WORKERS = 4;
const FIRST_RETRY_MS = 5;
const LONGEST_RETRY_MS = 1000 * 1000;
const LIMIT = 200_000;

interface Later {
  readonly at: number;
  readonly cancel: Cancel;
}

export class WorkQueue {
  private readonly options: QueueOptions;
  /** Queued keys, with the time they were added, oldest first. */
  private readonly ready = new Map<string, number>();
  private readonly running = new Set<string>();
  /** Keys that were added while they are processed. */
  private readonly again = new Set<string>();
  private readonly later = new Map<string, Later>();
  private readonly failures = new Map<string, number>();
  private started = false;
  private stopped = false;
  private dropped = false;
  private scheduled = false;
  /** The next key waits for a turn of the event loop with time for it. */
  private waits = false;
  private idleWaiters: (() => void)[] = [];

  constructor(options: QueueOptions) {
    this.options = options;
  }
  get depth(): number {
    return this.ready.size;
  }
  /** Nothing is queued or processed now; delayed keys may be left. */
  get isIdle(): boolean {
    return this.ready.size === 0 && this.running.size === 0;
  }
  /** Whether a key that failed is processed again within so many milliseconds. */
  retriesWithin(millis: number): boolean {
    if (millis <= 0 || this.failures.size === 0) return false;
    const until = this.options.clock.monotonic() + millis;
    for (const key of this.failures.keys()) if ((this.later.get(key)?.at ?? Number.POSITIVE_INFINITY) <= until) return true;
    return false;
  }
  /** Resolves when nothing is queued or processed. */
  idle(): Promise<void> {
    return this.isIdle ? Promise.resolve() : new Promise((resolve) => this.idleWaiters.push(resolve));
  }
  /** Starts processing; keys may be added before. */
  start(): void {
    this.started = true;
    this.schedule();
  }
  /** Takes no more keys; resolves when those in progress are done. */
  stop(): Promise<void> {
    this.stopped = true;
    for (const { cancel } of this.later.values()) cancel();
    this.later.clear();
    this.ready.clear();
    this.again.clear();
    return this.idle();
  }

  add(key: string): void {
    if (this.stopped) return;
    this.forgetLater(key);
    if (this.running.has(key)) {
      this.again.add(key);
      return;
    }
    if (this.ready.has(key)) return;
    if (this.ready.size >= (this.options.limit ?? LIMIT)) {
      this.dropped = true;
      return;
    }
    this.ready.set(key, this.options.clock.monotonic());
    this.options.metrics?.added(this.ready.size);
    this.schedule();
  }
  /** Adds the key after a delay, unless it is added sooner. */
  addAfter(key: string, millis: number): void {
    if (this.stopped) return;
    if (millis <= 0) {
      this.add(key);
      return;
    }
    const at = this.options.clock.monotonic() + millis;
    const existing = this.later.get(key);
    if (existing !== undefined) {
      if (existing.at <= at) return;
      existing.cancel();
    }
    const cancel = this.options.clock.after(millis, () => {
      this.later.delete(key);
      // Delays longer than a timer can hold are split.
      const delayMs = at - this.options.clock.monotonic();
      if (delayMs > 1) this.addAfter(key, delayMs);
      else this.add(key);
    });
    this.later.set(key, { at, cancel });
  }

  private forgetLater(key: string): void {
    this.later.get(key)?.cancel();
    this.later.delete(key);
  }
  /** Keys that are added in one turn of the event loop are processed together after it. */
  private schedule(): void {
    if (!this.started || this.scheduled || this.stopped || this.ready.size === 0) return;
    this.scheduled = true;
    inNextTurn(() => {
      this.scheduled = false;
      this.pump();
    });
  }
  /** Where other work has used the time of a turn, keys wait for another. */
  private pump(): void {
    if (this.waits || this.running.size >= (this.options.workers ?? WORKERS) || this.ready.size === 0) return;
    this.waits = true;
    whenTurnHasTime(() => {
      this.waits = false;
      const next = this.ready.entries().next();
      if (next.done === true) return;
      const [key, since] = next.value;
      this.ready.delete(key);
      void this.run(key, since);
      this.pump();
    });
  }
  private async run(key: string, since: number): Promise<void> {
    const { clock, metrics, work, report } = this.options;
    const began = clock.monotonic();
    metrics?.dequeued(this.ready.size, began - since);
    this.running.add(key);
    try {
      const wait = await work(key);
      this.failures.delete(key);
      if (typeof wait === 'number') this.addAfter(key, Math.max(wait, 1));
    } catch (error) {
      // Failures caused by the stop are not reported.
      if (!this.stopped) report(error, key);
      this.retry(key);
    } finally {
      metrics?.done(clock.monotonic() - began);
      this.running.delete(key);
      if (this.again.delete(key)) this.add(key);
      this.pump();
      this.drained();
    }
  }
  private retry(key: string): void {
    const { firstRetryMs = FIRST_RETRY_MS, longestRetryMs = LONGEST_RETRY_MS, timeFactor = 1, metrics } = this.options;
    const failures = this.failures.get(key) ?? 0;
    this.failures.set(key, failures + 1);
    metrics?.retried();
    this.addAfter(key, Math.min(firstRetryMs * 2 ** failures, longestRetryMs) * timeFactor);
  }
  private drained(): void {
    if (!this.isIdle) return;
    if (this.dropped && !this.stopped) {
      this.dropped = false;
      this.options.overflowed?.();
    }
    const waiters = this.idleWaiters;
    this.idleWaiters = [];
    for (const wake of waiters) wake();
  }
}
