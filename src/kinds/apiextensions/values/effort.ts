/**
 * The cost of validating one object by the schema of its definition. Most of validation grows with the object alone; patterns,
 * enumerations and combinations multiply with it, and a user that may write definitions and objects could block the server with
 * both. That work is counted; an object that exceeds the limit is refused.
 *
 *   withEffort(() => validate(…), () => errors.add(…));
 */

import type { Work } from '../../../lib/slices.ts';

/** Limit of counted work: steps of a pattern, branches of a combination, visited parts of a schema, some ten nanoseconds each. */
export const MAX_EFFORT = 500_000;
/** Characters of a text that count as one step. */
export const CHARACTERS_A_STEP = 10;

class EffortExceeded extends Error {}

/** One counter is enough: counted work is done in one turn, or in steps that restore their count. Other work has no limit. */
let left = Number.POSITIVE_INFINITY;

/** Throws what `withEffort` catches. */
export function spend(steps: number): void {
  left -= steps;
  if (left < 0) throw new EffortExceeded();
}

/** The object that was visited last, and its keys: branches of a combination visit the same one, one after another. */
let lastObject: object | undefined;
let lastKeys = 0;

/** Counts a visit of an object. Starting a walk over the keys of a wide object takes as long as the walk. */
export function spendOn(object: object): void {
  if (object !== lastObject) {
    lastObject = object;
    lastKeys = Object.keys(object).length;
  }
  spend(lastKeys <= FEW_KEYS ? FEW_KEYS : lastKeys * STEPS_OF_A_KEY);
}
const FEW_KEYS = 4;
const STEPS_OF_A_KEY = 2;

/** The same for work in steps: other work between them does not count. */
export function* withEffortInSteps(work: Work<void>, exceeded: () => void): Work<void> {
  let mine = Math.min(left, MAX_EFFORT);
  for (;;) {
    const before = left;
    let step: IteratorResult<Promise<unknown> | undefined, void>;
    left = mine;
    try {
      step = work.next();
    } catch (error) {
      if (!(error instanceof EffortExceeded)) throw error;
      exceeded();
      return;
    } finally {
      mine = left;
      left = before;
      lastObject = undefined;
    }
    if (step.done === true) return;
    yield step.value;
  }
}

export function withEffort(run: () => void, exceeded: () => void): void {
  const before = left;
  left = Math.min(before, MAX_EFFORT);
  try {
    run();
  } catch (error) {
    if (!(error instanceof EffortExceeded)) throw error;
    exceeded();
  } finally {
    left = before;
    lastObject = undefined;
  }
}
