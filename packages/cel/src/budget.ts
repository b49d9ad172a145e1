/**
 * What evaluations may take, in two measures. Work is what an evaluation takes here: a unit is about one call of a function or one
 * look at a field, and whatever takes longer is priced by measurement, so that work bounds time and memory. Cost is what a stock
 * server counts, by which clients know its limits; it leaves many things out.
 */

import { CostExceeded } from './errors.ts';
import type { Matcher, Meter } from './pattern/match.ts';

export class CostBudget {
  /** Units of work that are left. Several evaluations may share a budget. */
  remaining: number;
  /** Units of cost that are left, as a stock server counts them. */
  cost: number;
  /**
   * Regular expressions by their source or their compiled form. A matcher is quicker, and cheaper, with texts like those it has
   * searched: if evaluations of several objects shared it, whether one exceeds its budget would depend on those before.
   */
  matchers: Map<string | Matcher, Matcher> | undefined;

  constructor(work: number, cost = Number.POSITIVE_INFINITY) {
    this.remaining = work;
    this.cost = cost;
  }
}

/** Characters of a text, or items of a list that is copied, at the price of one unit. */
export const PER_UNIT = 10;
/** Units of a failure that `&&`, `||` or a macro absorbs: it takes as long as that many calls. */
export const FAILURE_UNITS = 100;
/** Units of an error that is caught: it notes the stack. */
export const ERROR_UNITS = 1000;

/** One evaluation in progress: its variables, its local variables, and what it has taken of its budget so far. */
export class Frame {
  readonly values: Readonly<Record<string, unknown>>;
  readonly locals: unknown[];
  private readonly budget: CostBudget;
  private readonly workLimit: number;
  private readonly costLimit: number;
  private work = 0;
  cost = 0;
  /** Counts the work of regular expressions. */
  meter: Meter | undefined;

  constructor(values: Readonly<Record<string, unknown>>, locals: unknown[], budget: CostBudget) {
    this.values = values;
    this.locals = locals;
    this.budget = budget;
    this.workLimit = budget.remaining;
    this.costLimit = budget.cost;
  }

  /** Throws CostExceeded. */
  spend(units: number): void {
    this.work += units;
    if (this.work > this.workLimit) throw new CostExceeded();
  }
  /** Counts what a stock server does. Throws CostExceeded. */
  charge(units: number): void {
    this.cost += units;
    if (this.cost > this.costLimit) throw new CostExceeded();
  }
  /** For work that grows with a length. */
  spendLength(length: number): void {
    if (length > PER_UNIT) this.spend(length / PER_UNIT);
  }
  /** Takes from the budget what the evaluation took. */
  end(): void {
    this.budget.remaining -= this.work;
    this.budget.cost -= this.cost;
  }
  get matchers(): Map<string | Matcher, Matcher> {
    this.budget.matchers ??= new Map();
    return this.budget.matchers;
  }
}
