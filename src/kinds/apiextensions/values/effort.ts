/**
 * The effort that one object may cause while it is validated with the schema of its definition. Most of validation grows with the
 * object alone; patterns, enumerations and combinations multiply with it, and whoever may write definitions and objects could
 * hold up the server with both. What grows so is counted; an object that takes more is refused.
 *
 *   withEffort(() => validate(…), () => errors.add(…));
 */

/** Steps of a pattern, branches of a combination, places of a schema that are looked at: some ten nanoseconds each. */
export const MAX_EFFORT = 500_000;
/** Characters of a text that are read at the price of one step. */
export const CHARACTERS_A_STEP = 20;

class EffortExceeded extends Error {}

/** Validation is done in one turn, so that one counter does for all. Outside of it there is no bound. */
let left = Number.POSITIVE_INFINITY;

/** Throws what `withEffort` catches. */
export function spend(steps: number): void {
  left -= steps;
  if (left < 0) throw new EffortExceeded();
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
  }
}
