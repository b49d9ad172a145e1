/** Patterns of schemas, in RE2 syntax. */
import { BoundedCache } from '../../../lib/bounded-cache.ts';
import { Matcher, type Meter, TooLarge } from '../../../lib/pattern/match.ts';
import { PatternError, parsePattern } from '../../../lib/pattern/parse.ts';
import { CHARACTERS_A_STEP, spend } from './effort.ts';

export { PatternError };

export interface Pattern {
  /** Whether a text holds a match. */
  test(text: string): boolean;
}

/** Limits of cached patterns, and of the steps of all of them; beyond either the oldest are dropped. */
const KEPT = 1000;
const KEPT_STEPS = 200_000;
const compiled = new BoundedCache<string, Matcher>(KEPT, { most: KEPT_STEPS, of: ({ size }) => size });

/** Throws PatternError, with the message of a stock server. */
export function compilePattern(pattern: string): Pattern {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  const made = compile(pattern);
  compiled.set(pattern, made);
  return made;
}

/** Matching counts for the limit of the object that is validated. */
const meter: Meter = {
  spend,
  read: (characters) => {
    if (characters > CHARACTERS_A_STEP) spend(characters / CHARACTERS_A_STEP);
  },
};

function compile(pattern: string): Matcher {
  try {
    return new Matcher(parsePattern(pattern), meter);
  } catch (error) {
    if (error instanceof TooLarge) throw new PatternError('expression too large', pattern);
    throw error;
  }
}
