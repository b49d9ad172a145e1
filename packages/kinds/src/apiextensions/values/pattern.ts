/** Patterns of schemas, in RE2 syntax. */

import { Matcher, type Meter, MOST_STEPS, TooLarge } from '@plat-dev/cel/pattern/match';
import { PatternError, parsePattern } from '@plat-dev/cel/pattern/parse';
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import { CHARACTERS_A_STEP, isShared, ownMatchers, spend } from './effort.ts';

export { PatternError };

export interface Pattern {
  /** Whether a text holds a match. */
  test(text: string): boolean;
}

/** Characters count as effort of the object that is validated, whichever matcher reads them. */
function read(characters: number): void {
  if (characters > CHARACTERS_A_STEP) spend(characters / CHARACTERS_A_STEP);
}
/** What a shared matcher has to do depends on the texts before. */
const sharedMeter: Meter = { spend: () => undefined, read };
const ownMeter: Meter = { spend, read };

class CompiledPattern implements Pattern {
  readonly shared: Matcher;
  private readonly source: string;

  /** Throws PatternError, with the message of a stock server. */
  constructor(source: string) {
    this.source = source;
    try {
      this.shared = new Matcher(parsePattern(source), sharedMeter);
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error;
      spend(MOST_STEPS);
      throw new PatternError('expression too large', source);
    }
  }
  test(text: string): boolean {
    return (isShared(this.shared.size * (text.length + 1)) ? this.shared : this.own()).test(text);
  }
  private own(): Matcher {
    const matchers = ownMatchers();
    let own = matchers.get(this.source);
    if (own === undefined) {
      spend(this.shared.cost);
      own = new Matcher(this.shared, ownMeter);
      matchers.set(this.source, own);
    }
    return own;
  }
}

/** Limits of cached patterns, and of the steps of all of them; beyond either the oldest are dropped. */
const KEPT = 1000;
const KEPT_STEPS = 200_000;
const compiled = new BoundedCache<string, CompiledPattern>(KEPT, { most: KEPT_STEPS, of: ({ shared }) => shared.size });

/** A pattern of a schema that was validated. Throws PatternError. */
export function patternFor(source: string): Pattern {
  return compiledFor(source);
}

/** Compiles a pattern, which counts as effort whether or not it was compiled before. Throws PatternError. */
export function compilePattern(source: string): Pattern {
  const pattern = compiledFor(source);
  spend(pattern.shared.cost);
  return pattern;
}

function compiledFor(source: string): CompiledPattern {
  let pattern = compiled.get(source);
  if (pattern === undefined) {
    pattern = new CompiledPattern(source);
    compiled.set(source, pattern);
  }
  return pattern;
}
