/**
 * What evaluations may cost. A unit is about what one call of a function or one look at a field takes; ten characters of a text that
 * is read count as one.
 */

import { CostExceeded } from './errors.ts';
import type { Matcher } from './pattern/match.ts';

export class CostBudget {
  /** Units that are left. Several evaluations may share a budget. */
  remaining: number;
  /**
   * Regular expressions by their source or their compiled form. A matcher is quicker, and cheaper, with texts like those it has
   * searched: if evaluations of several objects shared it, whether one exceeds its budget would depend on those before.
   */
  matchers: Map<string | Matcher, Matcher> | undefined;

  constructor(units: number) {
    this.remaining = units;
  }
}

/** Characters of a text, or items of a list that is copied, at the price of one unit. */
export const PER_UNIT = 10;
/** Units of a failure that `&&`, `||` or a macro absorbs: it takes as long as that many calls. */
export const FAILURE_UNITS = 100;
/** Units of an error that is caught: it notes the stack. */
export const ERROR_UNITS = 1000;

/** One evaluation in progress: its variables, its local variables, and what it may cost. */
export class Frame {
  readonly values: Readonly<Record<string, unknown>>;
  readonly locals: unknown[];
  private readonly budget: CostBudget;

  constructor(values: Readonly<Record<string, unknown>>, locals: unknown[], budget: CostBudget) {
    this.values = values;
    this.locals = locals;
    this.budget = budget;
  }

  /** Throws CostExceeded. */
  spend(units: number): void {
    const { budget } = this;
    budget.remaining -= units;
    if (budget.remaining < 0) throw new CostExceeded();
  }
  /** For work that grows with a length. */
  spendLength(length: number): void {
    if (length > PER_UNIT) this.spend(length / PER_UNIT);
  }
  get remaining(): number {
    return this.budget.remaining;
  }
  get matchers(): Map<string | Matcher, Matcher> {
    this.budget.matchers ??= new Map();
    return this.budget.matchers;
  }
}
