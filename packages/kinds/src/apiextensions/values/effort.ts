/**
 * The cost of validating one object by the schema of its definition. Most of validation grows with the object alone; patterns,
 * enumerations and combinations multiply with it, and a user that may write definitions and objects could block the server with
 * both. That work is counted; an object that exceeds the limit is refused.
 *
 *   withEffort(() => validate(…), () => errors.add(…));
 */

import type { Matcher } from '@plat-dev/cel/pattern/match';
import type { Work } from '@plat-dev/lib/slices';

/** Limit of counted work: steps of a pattern, branches of a combination, visited parts of a schema, some ten nanoseconds each. */
export const MAX_EFFORT = 500_000;
/** Characters of a text that count as one step. */
export const CHARACTERS_A_STEP = 10;

/**
 * Steps that patterns may take at most before their work is counted, estimated from the lengths of patterns and texts alone. Within it
 * they share matchers, which are quick with texts like those they have searched; beyond it an object has its own. So what is counted
 * depends on the object alone, and not on those that were validated before.
 */
const MAX_SHARED_STEPS = 100_000;

class EffortExceeded extends Error {}

interface Effort {
  remaining: number;
  /** What is left of `MAX_SHARED_STEPS`. */
  shared: number;
  /** The matchers of this object, by their patterns. */
  matchers: Map<string, Matcher> | undefined;
}
const newEffort = (most: number): Effort => ({ remaining: Math.min(most, MAX_EFFORT), shared: MAX_SHARED_STEPS, matchers: undefined });

/** One is enough: counted work is done in one turn, or in steps that restore the one before. Other work has no limit. */
const unbounded: Effort = { remaining: Number.POSITIVE_INFINITY, shared: Number.POSITIVE_INFINITY, matchers: undefined };
let current = unbounded;

/** Throws what `withEffort` catches. */
export function spend(steps: number): void {
  current.remaining -= steps;
  if (current.remaining < 0) throw new EffortExceeded();
}

/** Whether a search of at most so many steps may use a shared matcher. */
export function isShared(steps: number): boolean {
  current.shared -= steps;
  return current.shared >= 0;
}

/** The matchers of the object that is validated. Each costs at least its size, so that there are few. */
export function ownMatchers(): Map<string, Matcher> {
  current.matchers ??= new Map();
  return current.matchers;
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

/** Runs something that counts towards an effort, other work before and after it does not. False: the effort is exceeded. */
function counted(effort: Effort, run: () => void): boolean {
  const previousEffort = current;
  current = effort;
  try {
    run();
    return true;
  } catch (error) {
    if (!(error instanceof EffortExceeded)) throw error;
    return false;
  } finally {
    current = previousEffort;
    lastObject = undefined;
  }
}

export function withEffort(run: () => void, exceeded: () => void): void {
  if (!counted(newEffort(current.remaining), run)) exceeded();
}

/** Work that ends where it takes too much. */
export function* boundedWork(work: Work<void>, exceeded: () => void): Work<void> {
  const effort = newEffort(current.remaining);
  let step: ReturnType<typeof work.next> | undefined;
  const next = (): void => {
    step = work.next();
  };
  while (counted(effort, next)) {
    if (step?.done !== false) return;
    yield step.value;
  }
  exceeded();
}
