/**
 * What commands of simulated containers may do at once: they run on the event loop of the server, and a script may name any amount of
 * work. Units are about as much as a character that is split or copied.
 *
 *   5,000 commands, or a million characters      about 30 ms
 */
import { NotSupported } from './words.ts';

/** Longest sleep: a program that sleeps longer never ends here. */
export const FOREVER_MS = 100 * 365 * 24 * 3_600_000;

/** The work of a command besides its arguments. */
export const COMMAND_WORK = 200;
/** A script that does more without waiting is ended. */
const WORK_LIMIT = 5000 * COMMAND_WORK;
/** A command of which only the outcome is of interest is followed no further than this. */
export const OUTCOME_WORK = 2 * WORK_LIMIT;

/** A command gives way to others each time it has done so much, about a millisecond of it. */
const BUSY_WORK = 100 * COMMAND_WORK;

/** What all shells of one run have done together. */
export class ShellWork {
  total = 0;
  private busyTotal = 0;
  /** Shells within shells. */
  depth = 0;
  private recent = 0;

  /** Throws NotSupported when there was too much of it since the last wait. */
  spend(units: number): void {
    this.total += units;
    this.recent += units;
    if (this.recent > WORK_LIMIT) throw new NotSupported('the script runs too many commands, or too long ones');
  }
  waited(): void {
    this.recent = 0;
  }
  /** Whether others may go first now. */
  givesWay(): boolean {
    if (this.total - this.busyTotal < BUSY_WORK) return false;
    this.busyTotal = this.total;
    return true;
  }
}
