/** Patterns of schemas, in RE2's language. */
import { Matcher, TooLarge } from './pattern-match.ts';
import { PatternError, parsePattern } from './pattern-parse.ts';

export { PatternError };

export interface Pattern {
  /** Whether a text holds a match. */
  test(text: string): boolean;
}

/** Most patterns that are kept compiled, and most steps of all of them; beyond either all are forgotten. */
const KEPT = 1000;
const KEPT_STEPS = 200_000;
const compiled = new Map<string, Pattern>();
let keptSteps = 0;

/** Throws PatternError, worded as clients know it. */
export function compilePattern(pattern: string): Pattern {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  const made = compile(pattern);
  if (compiled.size >= KEPT || keptSteps + made.size > KEPT_STEPS) {
    compiled.clear();
    keptSteps = 0;
  }
  compiled.set(pattern, made);
  keptSteps += made.size;
  return made;
}

function compile(pattern: string): Matcher {
  try {
    return new Matcher(parsePattern(pattern));
  } catch (error) {
    if (error instanceof TooLarge) throw new PatternError('expression too large', pattern);
    throw error;
  }
}
