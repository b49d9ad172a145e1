/**
 * Time as a value that is passed in, so that a test can stop or advance it.
 */
import { type Cancel, TimerQueue } from './timer-queue.ts';

export type { Cancel } from './timer-queue.ts';

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds of a monotonic counter; only differences are meaningful. */
  monotonic(): number;
  /** Calls once, after so many milliseconds. `keepAlive`: the process does not end before that, even if nothing else keeps it alive. */
  after(millis: number, call: () => void, keepAlive?: boolean): Cancel;
  /** Calls repeatedly, first after one period. */
  every(millis: number, call: () => void): Cancel;
  /** Resolves after so many milliseconds; rejects with the signal's reason when that is aborted first. */
  sleep(millis: number, signal?: AbortSignal): Promise<void>;
}

/** Longer delays overflow a timer of Node. */
const longestWait = 2 ** 31 - 1;
/**
 * Node has a list of timers for every delay, and the list of one that does not keep the process alive stays until its time, even
 * when the timer was cancelled. Watches have delays at random of up to an hour: long ones are rounded up to seconds.
 */
const roundedFrom = 60_000;
const delayOf = (millis: number): number => (millis <= roundedFrom ? millis : Math.min(Math.ceil(millis / 1000) * 1000, longestWait));

/** The global is a getter, which is called once: every request reads the clock several times. */
let performanceOnce: typeof performance | undefined;
function monotonicNow(): number {
  performanceOnce ??= performance;
  return performanceOnce.now();
}

/** The machine's clock. Its timers do not keep the process alive, unless requested: the listeners do that. Those of browsers never do. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: monotonicNow,
  after(millis, call, keepAlive) {
    const timer = setTimeout(call, delayOf(millis));
    if (keepAlive !== true) timer.unref?.();
    return () => clearTimeout(timer);
  },
  every(millis, call) {
    const timer = setInterval(call, Math.min(millis, longestWait));
    timer.unref?.();
    return () => clearInterval(timer);
  },
  sleep: (millis, signal) => sleepOn(systemClock, millis, signal),
};

/** The machine's clock for a command: its process does not end while it sleeps. */
export const commandClock: Clock = {
  ...systemClock,
  // Without the module of Node that `performance` loads.
  monotonic: () => process.uptime() * 1000,
  sleep: (millis, signal) => sleepOn(systemClock, millis, signal, true),
};

/** A clock that begins with another one, and passes time `factor` times as fast. */
export function fasterClock(clock: Clock, factor: number): Clock {
  if (factor === 1) return clock;
  const start = clock.now();
  const counter = clock.monotonic();
  const faster: Clock = {
    now: () => start + (clock.now() - start) * factor,
    monotonic: () => counter + (clock.monotonic() - counter) * factor,
    after: (millis, call, keepAlive) => clock.after(millis / factor, call, keepAlive),
    every: (millis, call) => clock.every(millis / factor, call),
    sleep: (millis, signal) => clock.sleep(millis / factor, signal),
  };
  return faster;
}

/** A signal that is aborted after so many milliseconds. */
export function timeoutSignal(clock: Clock, millis: number): AbortSignal {
  const controller = new AbortController();
  clock.after(millis, () => controller.abort(new DOMException('no answer in time', 'TimeoutError')));
  return controller.signal;
}

function sleepOn(clock: Clock, millis: number, signal: AbortSignal | undefined, keepAlive = false): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const done = (): void => {
      signal?.removeEventListener('abort', aborted);
      resolve();
    };
    const cancel = clock.after(millis, done, keepAlive);
    const aborted = (): void => {
      cancel();
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', aborted, { once: true });
  });
}

/**
 * A clock that only a test moves.
 *
 *   const clock = new FakeClock();
 *   clock.after(5_000, fire);
 *   await clock.advance(4_999);   // nothing yet
 *   await clock.advance(1);       // fires
 */
export class FakeClock implements Clock {
  private time: number;
  private readonly start: number;
  private readonly timers = new TimerQueue();
  /** The last of those that move the clock, while it is moved. */
  private moving: Promise<void> | undefined;
  /** An additional wait after the calls of a time, after a turn of the event loop: what they started may take longer. */
  readonly settling = new Set<() => Promise<void>>();

  constructor(start = Date.UTC(2024, 0, 1)) {
    this.time = start;
    this.start = start;
  }
  now(): number {
    return this.time;
  }
  monotonic(): number {
    return this.time - this.start;
  }
  after(millis: number, call: () => void): Cancel {
    return this.timers.add(this.time + millis, undefined, call);
  }
  every(millis: number, call: () => void): Cancel {
    return this.timers.add(this.time + millis, millis, call);
  }
  sleep(millis: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, millis, signal);
  }
  /** Number of pending calls. */
  get pending(): number {
    return this.timers.size;
  }
  /**
   * Advances time: due calls are made in order, and promises of the calls of one time can run before time
   * goes on. Calls that become due meanwhile are made after that; time never goes
   * back.
   */
  async advance(millis: number): Promise<void> {
    if (!(millis >= 0 && millis < Number.POSITIVE_INFINITY)) throw new RangeError(`time goes forward only, and not for ever: ${millis} ms`);
    // Nothing is due in it: it passes at once, also while the clock is advanced elsewhere.
    if (this.moving !== undefined && this.timers.next > this.time + millis) {
      this.time += millis;
      return this.settle();
    }
    await this.inTurn(() => this.pass(millis));
  }
  /** The clock jumps forward: calls that were due meanwhile are due now, once. */
  async jump(millis: number): Promise<void> {
    await this.inTurn(() => {
      this.time += millis;
      this.timers.delayTo(this.time);
      return this.pass(0);
    });
  }
  /** Begins at once if the clock is not being advanced. */
  private async inTurn(move: () => Promise<void>): Promise<void> {
    const movedClock = this.moving === undefined ? move() : this.moving.then(move);
    const last = movedClock.then(undefined, () => {});
    this.moving = last;
    try {
      await movedClock;
    } finally {
      if (this.moving === last) this.moving = undefined;
    }
  }
  private async pass(millis: number): Promise<void> {
    const end = this.time + millis;
    for (let at = this.timers.next; at <= end; at = this.timers.next) {
      this.time = Math.max(this.time, at);
      for (const due of this.timers.take(at)) if (!due.cancelled) due.call();
      await this.settle();
    }
    this.time = Math.max(this.time, end);
    await this.settle();
  }
  private async settle(): Promise<void> {
    await turn();
    for (const settled of this.settling) await settled();
  }
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
