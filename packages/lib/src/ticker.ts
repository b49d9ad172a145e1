/**
 * A repeated call that is made only while it is needed: the caller starts it when there is work, and it ends when the call finds that
 * nothing is left. A server on which nothing happens sets no timers.
 *
 *   const ticker = new Ticker(clock, 5_000, () => look());     // whether there is more to look at
 *   ticker.start();                                            // the first call is after 5 seconds; no effect while it runs
 */
import type { Cancel, Clock } from './clock.ts';

export class Ticker {
  private readonly clock: Clock;
  private readonly millis: number;
  private readonly call: () => boolean;
  private cancel: Cancel | undefined;
  private closed = false;

  constructor(clock: Clock, millis: number, call: () => boolean) {
    this.clock = clock;
    this.millis = millis;
    this.call = call;
  }
  start(): void {
    if (this.cancel === undefined && !this.closed) this.cancel = this.clock.after(this.millis, this.tick);
  }
  /** Makes no more calls, also if it is started again. */
  close(): void {
    this.closed = true;
    this.cancel?.();
    this.cancel = undefined;
  }
  private readonly tick = (): void => {
    this.cancel = undefined;
    // Set before the call, so that one that fails is made again.
    this.start();
    if (this.call()) return;
    (this.cancel as Cancel | undefined)?.();
    this.cancel = undefined;
  };
}
