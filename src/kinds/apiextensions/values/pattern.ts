/** Patterns of schemas, in RE2's language. */
import { Matcher, TooLarge } from './pattern-match.ts';
import { PatternError, parsePattern } from './pattern-parse.ts';

export { PatternError };

export interface Pattern {
  /** Whether a text holds a match. */
  test(text: string): boolean;
}

/** Most patterns that are kept compiled; beyond it all are forgotten. */
const KEPT = 1000;
const compiled = new Map<string, Pattern>();

/** Throws PatternError, worded as clients know it. */
export function compilePattern(pattern: string): Pattern {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  const made = compile(pattern);
  if (compiled.size >= KEPT) compiled.clear();
  compiled.set(pattern, made);
  return made;
}

function compile(pattern: string): Pattern {
  try {
    return new Matcher(parsePattern(pattern));
  } catch (error) {
    if (error instanceof TooLarge) throw new PatternError('expression too large', pattern);
    throw error;
  }
}
