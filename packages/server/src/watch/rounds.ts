/**
 * Schedules the writes to watchers. The events of one turn of the event loop are written in one round: one write to each
 * watcher with pending events. Writes to many connections take time, which requests need, too:
 *
 *   idle      nothing is pending                                          → due, with the first event
 *   due       the round begins with the next turn of the loop, or after the rest                    → running
 *   running   watchers are written to, for a few milliseconds a turn     → resting
 *   resting   for twice as long as the round took: rapid events share their writes                  → idle or due
 *
 * So a single event is sent at once, and a flood to many watchers takes at most a third of the time, in fewer and
 * larger writes.
 */
import type { Clock } from '@plat-dev/lib/clock';
import { inNextTurn } from '@plat-dev/lib/next-turn';
import { Batch } from './batch.ts';

/** After this long other work gets a turn of the loop. */
const SLICE_MS = 4;
/** Writes between two reads of the clock. */
const SLICE_WRITES = 16;
/** A round shorter than this needs no rest. */
const SHORT_MS = 1;
const REST_PER_ROUND = 2;
/** Maximum delay of an event by resting. */
const LONGEST_REST_MS = 20;

export class Rounds {
  /** The empty batch of a watcher without pending events. A new one with every round, because it refers to its successors. */
  empty = new Batch();
  private readonly clock: Clock;
  private due: { flush(): void }[] = [];
  private scheduled = false;
  private restUntil = 0;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Whether events wait to be written, also for the end of a rest. */
  get isPending(): boolean {
    return this.scheduled;
  }
  /** Events are pending for a watcher. Called once until its `flush`, which must not throw. */
  add(watcher: { flush(): void }): void {
    this.due.push(watcher);
    if (this.scheduled) return;
    this.scheduled = true;
    const rest = this.restUntil - this.clock.monotonic();
    const begin = (): void => this.begin();
    if (rest > 0) this.clock.after(Math.ceil(rest), begin);
    else inNextTurn(begin);
  }

  private begin(): void {
    const watchers = this.due;
    this.due = [];
    this.empty = new Batch();
    this.go(watchers, 0, 0);
  }
  private go(watchers: readonly { flush(): void }[], from: number, spent: number): void {
    const began = this.clock.monotonic();
    let took = 0;
    let next = from;
    while (next < watchers.length && took < SLICE_MS) {
      const end = Math.min(next + SLICE_WRITES, watchers.length);
      while (next < end) (watchers[next++] as { flush(): void }).flush();
      took = this.clock.monotonic() - began;
    }
    const all = spent + took;
    if (next < watchers.length) inNextTurn(() => this.go(watchers, next, all));
    else this.rest(all);
  }
  private rest(took: number): void {
    this.restUntil = took < SHORT_MS ? 0 : this.clock.monotonic() + Math.min(REST_PER_ROUND * took, LONGEST_REST_MS);
    this.scheduled = false;
    const first = this.due.pop();
    if (first !== undefined) this.add(first);
  }
}
