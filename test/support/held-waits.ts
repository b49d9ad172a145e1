/**
 * The machine's clock, on which waits of the named lengths do not end by themselves. A test ends them when it has seen what must come
 * before, so that no wait is too short on a busy machine and none takes its time:
 *
 *   const held = new HeldWaits(2_000);
 *   const server = await startTestServer({ clock: held.clock });
 *   const watch = await server.admin.watch(`${path}?watch=1&timeoutSeconds=2`);
 *   await server.admin.ok('POST', path, { metadata: { name: 'a' } });
 *   await held.end(2_000);
 */
import { type Clock, systemClock } from '../../packages/lib/src/clock.ts';

export class HeldWaits {
  readonly clock: Clock;
  readonly #held = new Map<number, Set<() => void>>();
  readonly #lookers = new Set<() => void>();
  /** Waits of this length share timers, by the time that has passed: it passes when they are ended. */
  #shared = 0;
  #passed = 0;

  constructor(...lengths: number[]) {
    for (const millis of lengths) this.#held.set(millis, new Set());
    this.clock = {
      ...systemClock,
      monotonic: () => systemClock.monotonic() + this.#passed,
      after: (millis, call, keepAlive) => {
        const calls = this.#held.get(millis);
        if (calls === undefined) return systemClock.after(millis, call, keepAlive);
        const own = (): void => call();
        calls.add(own);
        for (const look of this.#lookers) look();
        return () => calls.delete(own);
      },
      sleep: (millis, signal) => (this.#held.has(millis) ? this.#sleep(millis, signal) : systemClock.sleep(millis, signal)),
    };
  }

  #sleep(millis: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const cancel = this.clock.after(millis, resolve);
      signal?.addEventListener(
        'abort',
        () => {
          cancel();
          reject(signal.reason);
        },
        { once: true },
      );
    });
  }

  /** Waits of this length are those of `TimeLimits`. */
  shared(millis: number): this {
    this.#shared = millis;
    return this;
  }

  /** How many waits of this length are under way. */
  underWay(millis: number): number {
    return this.#callsOf(millis).size;
  }

  /** Resolves when a wait of this length is under way. */
  begun(millis: number): Promise<void> {
    const calls = this.#callsOf(millis);
    return new Promise((resolve) => {
      const look = (): void => {
        if (calls.size === 0) return;
        this.#lookers.delete(look);
        resolve();
      };
      this.#lookers.add(look);
      look();
    });
  }

  /** Ends the waits of this length that are under way, or the first that begins. */
  async end(millis: number): Promise<void> {
    await this.begun(millis);
    this.#endNow(millis);
  }

  /** Ends the waits of this length that are under way and those that begin, until something is done. */
  async endUntil<T>(millis: number, done: Promise<T>): Promise<T> {
    // One that begins ends in a later turn, as by a timer.
    const look = (): void => void setImmediate(() => this.#lookers.has(look) && this.#endNow(millis));
    this.#lookers.add(look);
    look();
    try {
      return await done;
    } finally {
      this.#lookers.delete(look);
    }
  }

  #endNow(millis: number): void {
    const calls = this.#callsOf(millis);
    if (millis === this.#shared && calls.size > 0) this.#passed += millis;
    for (const call of [...calls]) {
      // One may cancel others.
      if (calls.delete(call)) call();
    }
  }

  #callsOf(millis: number): Set<() => void> {
    const calls = this.#held.get(millis);
    if (calls === undefined) throw new Error(`waits of ${millis} ms are not held: ${[...this.#held.keys()].join(', ')} are`);
    return calls;
  }
}
