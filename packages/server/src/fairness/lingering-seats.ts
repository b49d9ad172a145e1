/**
 * Seats that stay taken for a while after their request, for its watch events. One timer serves all of them, whatever
 * the number of changes:
 *
 *   a until 5, b until 5, c until 12       the timer is set for 5, frees a and b, and is set for 12
 *
 * There are at most as many as seats.
 */
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import type { FairQueue, Level } from './level.ts';

interface Lingering {
  readonly until: number;
  readonly level: Level;
  readonly queue: FairQueue | undefined;
  readonly seats: number;
  readonly overtook: boolean;
}

export class LingeringSeats {
  private readonly clock: Clock;
  /** Sorted by time, the earliest last. */
  private readonly lingering: Lingering[] = [];
  private cancel: Cancel | undefined;
  private setFor = 0;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  get size(): number {
    return this.lingering.length;
  }

  add(level: Level, queue: FairQueue | undefined, seats: number, overtook: boolean, now: number, millis: number): void {
    const until = now + millis;
    const { lingering } = this;
    // Most have the same time, and are inserted at the beginning.
    let low = 0;
    let high = lingering.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((lingering[middle] as Lingering).until > until) low = middle + 1;
      else high = middle;
    }
    lingering.splice(low, 0, { until, level, queue, seats, overtook });
    if (this.cancel === undefined || until < this.setFor) this.set(now);
  }

  close(): void {
    this.cancel?.();
    this.cancel = undefined;
    this.lingering.length = 0;
  }

  private set(now: number): void {
    this.cancel?.();
    this.setFor = (this.lingering[this.lingering.length - 1] as Lingering).until;
    this.cancel = this.clock.after(Math.max(this.setFor - now, 0), this.free);
  }

  private readonly free = (): void => {
    this.cancel = undefined;
    const { lingering } = this;
    const now = this.clock.monotonic();
    for (let last = lingering.at(-1); last !== undefined && last.until <= now; last = lingering.at(-1)) {
      lingering.pop();
      last.level.release(last.queue, last.seats, last.overtook, now);
    }
    if (lingering.length > 0 && this.cancel === undefined) this.set(now);
  };
}
