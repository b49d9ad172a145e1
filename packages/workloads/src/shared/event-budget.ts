/**
 * How many events about single pods simulated nodes and the scheduler report, each by itself: under load they are left out, as node
 * agents limit theirs, since a hundred thousand of them would take as much memory as the pods do. Warnings are few and matter, so
 * that they have a part of their own.
 */
import type { Clock } from '@plat-dev/lib/clock';

/** Events at once, and those that are gained in a second. */
const BURST = 300;
const PER_SECOND = 50;

export class EventBudget {
  private readonly clock: Clock;
  private readonly remainingEvents = { Normal: BURST, Warning: BURST };
  private at: number;

  constructor(clock: Clock) {
    this.clock = clock;
    this.at = clock.monotonic();
  }
  take(type: 'Normal' | 'Warning'): boolean {
    const now = this.clock.monotonic();
    const gained = ((now - this.at) / 1000) * PER_SECOND;
    if (gained >= 1) {
      this.remainingEvents.Normal = Math.min(BURST, this.remainingEvents.Normal + gained);
      this.remainingEvents.Warning = Math.min(BURST, this.remainingEvents.Warning + gained);
      this.at = now;
    }
    if (this.remainingEvents[type] < 1) return false;
    this.remainingEvents[type]--;
    return true;
  }
}
