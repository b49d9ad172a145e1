/**
 * Time under the control of a test:
 *
 *   const server = await startTestServer({ clock: '2026-01-01T00:00:00Z', controllers: true });
 *   await server.clock.advance('1h');      // tokens, events, finished Jobs… expire, in order
 */

import { type Cancel, type Clock, FakeClock, systemClock } from '@plat-dev/lib/clock';
import { jsonText } from '@plat-dev/lib/json-text';
import { durationMillis } from '@plat-dev/lib/time';
import type { Activity } from './activity.ts';

/**
 * `fake`: the time of the machine when the server starts, at which it stands still. Text: such a time, as `2026-01-01T00:00:00Z`. A
 * clock: that one, which several servers may share.
 */
export type ClockChoice = 'fake' | (string & {}) | FakeClock;

export interface TestClock {
  /** Milliseconds since 1970. */
  now(): number;
  /**
   * Advances time by `1h30m`, `10s`, `500ms`, or milliseconds. Timers fire in order, each at its own time, and the work that they
   * start is waited for: requests, controllers, custom kinds.
   */
  advance(by: string | number): Promise<void>;
  /** Calls once, after so many milliseconds of this clock: for programs under test that take their clock as a value. */
  after(millis: number, call: () => void): Cancel;
}

/** The clock of an option; undefined for that of the machine. */
export function clockOf(choice: ClockChoice | undefined): Clock | undefined {
  if (choice === undefined || choice instanceof FakeClock) return choice;
  if (choice === 'fake') return new FakeClock(systemClock.now());
  const time = Date.parse(choice);
  if (Number.isNaN(time))
    throw new Error(`clock: ${jsonText(choice)} is not a time: use "fake", a time like 2026-01-01T00:00:00Z, or a FakeClock`);
  return new FakeClock(time);
}

/** A fork has a clock of its own, which starts at the time of the snapshot. */
export const clockOfFork = (clock: Clock, now: number): FakeClock | undefined =>
  clock instanceof FakeClock ? new FakeClock(now) : undefined;

/** `by` in milliseconds. */
export function millisecondsOf(by: string | number): number {
  const millis = typeof by === 'number' ? by : durationMillis(by);
  if (!(millis >= 0)) throw new Error(`time goes forward only: ${by}`);
  return millis;
}

/** Advances the clock of a server; throws if it is the machine's. */
export class ControlledClock implements TestClock {
  private readonly clock: Clock;
  private readonly activity: Activity;
  private readonly settle: () => Promise<void>;

  constructor(clock: Clock, activity: Activity) {
    this.clock = clock;
    this.activity = activity;
    this.settle = () => activity.settledAfterCall();
    if (clock instanceof FakeClock) clock.settling.add(this.settle);
  }
  now(): number {
    return this.clock.now();
  }
  after(millis: number, call: () => void): Cancel {
    return this.clock.after(millis, call);
  }
  async advance(by: string | number): Promise<void> {
    if (!(this.clock instanceof FakeClock)) throw new Error("the server has the machine's clock: start it with { clock: 'fake' }");
    const millis = millisecondsOf(by);
    await this.activity.settled();
    await this.clock.advance(millis);
    await this.activity.settled();
  }
  close(): void {
    if (this.clock instanceof FakeClock) this.clock.settling.delete(this.settle);
  }
}
