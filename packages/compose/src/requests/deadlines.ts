/**
 * Points in time by name, each with a call when it is reached.
 *
 *   deadlines.set('a', clock.now() + 5_000)   // due('a') in five seconds
 *   deadlines.set('a', undefined)             // not any more
 */
import type { Cancel, Clock } from '@plat-dev/lib/clock';

export class Deadlines {
  private readonly clock: Clock;
  private readonly limit: number;
  private readonly due: (name: string) => void;
  private readonly timers = new Map<string, Cancel>();

  /** Maximum number of deadlines; the caller must handle further ones in another way. */
  constructor(clock: Clock, limit: number, due: (name: string) => void) {
    this.clock = clock;
    this.limit = limit;
    this.due = due;
  }

  get size(): number {
    return this.timers.size;
  }

  /** `at` in milliseconds since 1970. A time in the past, or infinity, is no deadline. */
  set(name: string, at: number | undefined): void {
    this.timers.get(name)?.();
    this.timers.delete(name);
    const wait = (at ?? 0) - this.clock.now();
    if (!(wait > 0) || wait === Number.POSITIVE_INFINITY || this.timers.size >= this.limit) return;
    this.timers.set(
      name,
      this.clock.after(wait, () => {
        this.timers.delete(name);
        // A timer cannot wait for longer than some weeks, and clocks may be set back.
        if (this.clock.now() < (at as number)) this.set(name, at);
        else this.due(name);
      }),
    );
  }

  close(): void {
    for (const cancel of this.timers.values()) cancel();
    this.timers.clear();
  }
}
