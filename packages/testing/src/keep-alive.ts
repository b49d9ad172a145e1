/**
 * Keeps the process of a test alive while a client of the test waits for something. A server without a port has no handle that does:
 * a script that only waits for it would exit early. An idle server does not keep the process alive.
 */
import { type Cancel, systemClock } from '@plat-dev/lib/clock';

/** Ends one hold. May be called more than once. */
export type Release = () => void;

/** Interval of the timer that keeps the process alive: the longest that a timer can have. */
const LONGEST_MS = 2 ** 31 - 1;

export class KeepAlive {
  private holds = 0;
  private closed = false;
  private cancel: Cancel | undefined;

  hold(): Release {
    if (this.closed) return () => {};
    this.holds++;
    this.cancel ??= systemClock.after(LONGEST_MS, () => {}, true);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      if (--this.holds === 0) this.end();
    };
  }
  /** Until the promise is settled. */
  during<T>(promise: Promise<T>): Promise<T> {
    return promise.finally(this.hold());
  }
  /** Ends all holds, including later ones. */
  close(): void {
    this.closed = true;
    this.end();
  }
  private end(): void {
    this.cancel?.();
    this.cancel = undefined;
  }
}
