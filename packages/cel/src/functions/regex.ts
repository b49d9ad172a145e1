/** Regular expressions in RE2's language, matched in time that grows with the text alone (lib/pattern). */
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import { ERROR_UNITS, type Frame } from '../budget.ts';
import { Failure } from '../errors.ts';
import { Matcher, type Meter, TooLarge } from '../pattern/match.ts';
import { PatternError, parsePattern } from '../pattern/parse.ts';
import { searches } from '../prices.ts';
import { BOOL, INT, listOf, STRING } from '../types.ts';
import { global, member, type Overload } from './signature.ts';

/**
 * Most expressions that are kept compiled, and most steps of all of them; beyond either the oldest make room. It is for those that an
 * evaluation makes: one that the source spells out is compiled with it.
 */
const KEPT = 64;
const KEPT_STEPS = 20_000;
const compiled = new BoundedCache<string, Matcher>(KEPT, { most: KEPT_STEPS, of: ({ size }) => size });
/** Units of a character of an expression that is compiled. */
const COMPILE_UNITS = 20;

/** Units of beginning a search, and of a step of a matcher. */
const SEARCH_UNITS = 20;
const STEP_UNITS = 20;
/** Characters that a matcher reads at the price of one unit. */
const CHARACTERS_A_UNIT = 2;

function meterOf(frame: Frame): Meter {
  frame.meter ??= {
    spend: (steps) => frame.spend(STEP_UNITS * steps),
    read: (characters) => frame.spend(characters / CHARACTERS_A_UNIT),
  };
  return frame.meter;
}

/** The matcher of an expression for this budget; it counts its work. What it costs is the same whether it was compiled before or not. Throws Failure. */
function matcherOf(frame: Frame, pattern: string | Matcher): Matcher {
  const frameMatcher = frame.matchers.get(pattern);
  if (frameMatcher !== undefined) {
    // What it has learned stays with the budget; who pays is the evaluation in progress.
    frameMatcher.meter = meterOf(frame);
    return frameMatcher;
  }
  const matcher = new Matcher(typeof pattern === 'string' ? programOf(frame, pattern) : pattern, meterOf(frame));
  frame.matchers.set(pattern, matcher);
  return matcher;
}

function programOf(frame: Frame, pattern: string): Matcher {
  frame.spend(COMPILE_UNITS * pattern.length);
  const cachedMatcher = compiled.get(pattern);
  if (cachedMatcher !== undefined) {
    meterOf(frame).spend(cachedMatcher.cost);
    return cachedMatcher;
  }
  const newMatcher = compiledNow(frame, pattern);
  newMatcher.meter = idle;
  compiled.set(pattern, newMatcher);
  return newMatcher;
}

function compiledNow(frame: Frame, pattern: string): Matcher {
  try {
    return compilePattern(pattern, meterOf(frame));
  } catch (error) {
    if (error instanceof Failure) frame.spend(ERROR_UNITS);
    throw error;
  }
}

/** Throws Failure, and what the meter throws. */
export function compilePattern(pattern: string, meter: Meter): Matcher {
  try {
    return new Matcher(parsePattern(pattern), meter);
  } catch (error) {
    if (error instanceof TooLarge) throw new Failure('error parsing regexp: expression too large');
    if (error instanceof PatternError) throw new Failure(error.message);
    throw error;
  }
}

/** Compiled patterns are shared: none keeps the frame of the evaluation that compiled it, and with it its values. */
export const idle: Meter = { spend: () => undefined, read: () => undefined };

function using<T>(frame: Frame, pattern: string | Matcher, use: (matcher: Matcher) => T): T {
  frame.spend(SEARCH_UNITS);
  return use(matcherOf(frame, pattern));
}

const matches = (frame: Frame, text: string, pattern: string | Matcher): boolean => using(frame, pattern, (matcher) => matcher.test(text));

const find = (frame: Frame, text: string, pattern: string | Matcher): string =>
  using(frame, pattern, (matcher) => {
    const range = matcher.find(text, 0);
    return range === undefined ? '' : text.slice(range[0], range[1]);
  });

const findAll = (frame: Frame, text: string, pattern: string | Matcher, limit: number | bigint = -1): readonly string[] =>
  using(frame, pattern, (matcher) => findEvery(matcher, text, limit));

function findEvery(matcher: Matcher, text: string, limit: number | bigint): readonly string[] {
  const all: string[] = [];
  let last = -1;
  for (let at = 0; at <= text.length && (limit < 0 || all.length < limit); ) {
    matcher.meter.spend(1);
    const range = matcher.find(text, at);
    if (range === undefined) break;
    const [begin, end] = range;
    // Nothing right behind a match is none.
    if (end > begin || begin !== last) all.push(text.slice(begin, end));
    last = end;
    at = end > begin ? end : end + ((text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1);
  }
  return all;
}

export const regexFunctions: readonly Overload[] = [
  global('matches', [STRING, STRING], BOOL, matches, searches),
  member('matches', [STRING, STRING], BOOL, matches, searches),
  member('find', [STRING, STRING], STRING, find, searches),
  member('findAll', [STRING, STRING], listOf(STRING), findAll, searches),
  member('findAll', [STRING, STRING, INT], listOf(STRING), findAll, searches),
];
