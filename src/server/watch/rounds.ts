/**
 * When watchers are written to. What happens in one turn of the event loop goes out in one round: a write to each watcher
 * for whom something waits. Writes to many connections take their time, and requests want theirs:
 *
 *   idle      nothing waits                                               → due, with the first event
 *   due       the round begins with the next turn of the loop, or when the rest is over             → running
 *   running   watchers are written to, for a few milliseconds a turn     → resting
 *   resting   for twice as long as the round took: events that come fast share their writes         → idle or due
 *
 * So a lone event goes out at once, and a flood to many watchers takes no more than a third of the time, in fewer and
 * larger writes.
 */
import type { Clock } from '../../lib/clock.ts';
import { inNextTurn } from '../../lib/next-turn.ts';
import { Batch } from './batch.ts';

/** After this long others have a turn of the loop. */
const SLICE_MS = 4;
/** So many writes are made before the clock is asked again. */
const SLICE_WRITES = 16;
/** A round shorter than this needs no rest. */
const SHORT_MS = 1;
const REST_PER_ROUND = 2;
/** No event waits longer than this for the sake of others. */
const LONGEST_REST_MS = 20;

export class Rounds {
  /** Where a watcher begins for whom nothing waits. Another with every round, because it remembers what came after. */
  empty = new Batch();
  private readonly clock: Clock;
  private due: { flush(): void }[] = [];
  private scheduled = false;
  private restUntil = 0;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Something waits for a watcher. Called once until its `flush`, which must not throw. */
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
