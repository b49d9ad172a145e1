/**
 * One time limit for many: what begins first expires first, so that one timer serves all of them, whatever their number.
 *
 *   limit 60      add a at 0 → the timer is set for 60; add b at 5; cancel a at 7
 *   at 60         a is gone, and b is due at 65: the timer is set for that
 *
 * Adding and cancelling set and clear no timer. Whatever is added is expired or cancelled, so that there are as many as callers
 * have at a time.
 */
import type { Cancel, Clock } from '@plat-dev/lib/clock';

export interface TimeLimit {
  cancel(): void;
}

class Entry<T> implements TimeLimit {
  readonly limits: TimeLimits<T>;
  readonly value: T;
  readonly expired: (value: T) => void;
  readonly due: number;
  /** Neighbours in the list, while it is in it. */
  earlier: Entry<T> | undefined;
  later: Entry<T> | undefined;
  listed = true;

  constructor(limits: TimeLimits<T>, value: T, expired: (value: T) => void, due: number) {
    this.limits = limits;
    this.value = value;
    this.expired = expired;
    this.due = due;
  }
  cancel(): void {
    if (this.listed) this.limits.remove(this);
  }
}

export class TimeLimits<T> {
  readonly millis: number;
  private readonly clock: Clock;
  private first: Entry<T> | undefined;
  private last: Entry<T> | undefined;
  private timer: Cancel | undefined;

  constructor(clock: Clock, millis: number) {
    this.clock = clock;
    this.millis = millis;
  }

  /** Calls `expired` with the value when the time is over, unless the limit is cancelled. */
  add(value: T, expired: (value: T) => void): TimeLimit {
    const entry = new Entry(this, value, expired, this.clock.monotonic() + this.millis);
    const { last } = this;
    entry.earlier = last;
    if (last === undefined) this.first = entry;
    else last.later = entry;
    this.last = entry;
    this.timer ??= this.clock.after(this.millis, this.look);
    return entry;
  }

  remove(entry: Entry<T>): void {
    const { earlier, later } = entry;
    if (earlier === undefined) this.first = later;
    else earlier.later = later;
    if (later === undefined) this.last = earlier;
    else later.earlier = earlier;
    entry.earlier = entry.later = undefined;
    entry.listed = false;
  }

  /** Nothing expires any more. */
  close(): void {
    this.timer?.();
    this.timer = undefined;
    while (this.first !== undefined) this.remove(this.first);
  }

  private readonly look = (): void => {
    this.timer = undefined;
    const now = this.clock.monotonic();
    // Timers may come a little early.
    for (let entry = this.first; entry !== undefined && entry.due <= now + EARLY_MS; entry = this.first) {
      this.remove(entry);
      entry.expired(entry.value);
    }
    const { first } = this;
    if (first !== undefined) this.timer ??= this.clock.after(Math.max(first.due - now, 0), this.look);
  };
}
/** What is due within this time is due. */
const EARLY_MS = 1;
