/** Time as the engines see it: passed in, so that tests decide when it passes. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls once after this many milliseconds, unless the returned function is called before. Keeps no process alive. */
  after(milliseconds: number, call: () => void): () => void;
}

/** The longest wait that a timer of the platform can hold. */
const LONGEST_WAIT = 0x7fffffff;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(milliseconds, call) {
    const timer = setTimeout(call, Math.min(Math.max(0, milliseconds), LONGEST_WAIT));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** A clock that stands still until it is told to go on. */
export class ManualClock implements Clock {
  #now: number;
  #timers = new Set<{ at: number; call: () => void }>();

  constructor(now = 1_600_000_000_000) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, call: () => void): () => void {
    const timer = { at: this.#now + milliseconds, call };
    this.#timers.add(timer);
    // What is due already is not made to wait until the clock goes on.
    if (milliseconds <= 0) setImmediate(() => this.#timers.delete(timer) && call());
    return () => this.#timers.delete(timer);
  }

  /** Lets time pass; timers that fall due are called in order. */
  advance(milliseconds: number): void {
    const end = this.#now + milliseconds;
    for (;;) {
      let next: { at: number; call: () => void } | undefined;
      for (const timer of this.#timers) if (timer.at <= end && (next === undefined || timer.at < next.at)) next = timer;
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.call();
    }
    this.#now = end;
  }
}
