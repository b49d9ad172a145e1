/**
 * JSON text to plain values. JSON.parse of Node reads what is small. Our own parser (`parser.ts`) reads what it cannot: text so
 * large that the work must pause, integers beyond 2^53, repeated keys, and what needs the error messages of a stock server.
 *
 *   parseJson('{"a":{"x":1},"a":{"y":2}}')                    → { a: { y: 2 } }
 *   parseJson('{"a":{"x":1},"a":{"y":2}}', { merge: true })   → { a: { x: 1, y: 2 } }
 *
 * Bodies of built-in kinds are read with `merge`, since a stock server merges repeated objects; patches and
 * bodies of custom kinds without, since there the last one counts.
 */

import { hasLongDigits, LONG_DIGITS } from '@plat-dev/lib/integers';
import { setOwn } from '@plat-dev/lib/own';
import { atOnce, type Work } from '@plat-dev/lib/slices';
import type { TextBytes } from '@plat-dev/lib/text-bytes';
import { DecodeError, maxDepth } from '../errors.ts';
import type { ParserPlace } from '../fields/field-place.ts';
import type { JsonValue } from '../types.ts';
import { COUNTED_FROM, countedParts } from './counts.ts';
import { JsonParser } from './parser.ts';
import { toWellFormed, withoutUndefined } from './plain.ts';
import { countKeys, surveyText, unusualNumber } from './survey.ts';

export interface ParseOptions {
  /** Whether repeated objects are merged. */
  readonly merge?: boolean;
  /** Whether text that is parsed at once may hold any number of objects, lists and keys. */
  readonly uncounted?: boolean;
  /** Walks the text if keys are repeated, for field validation; otherwise the value is enough. */
  readonly place?: ParserPlace | undefined;
}

/** Limit of keys and values for JSON.parse, which never pauses. */
const PARTS_AT_ONCE = 20_000;

/** Reads one JSON value. Bytes that are not UTF-8 become replacement characters. Throws DecodeError. */
export function parseJson(input: string | Buffer, options: ParseOptions = {}): JsonValue {
  return atOnce(parsed(input, options, Number.POSITIVE_INFINITY));
}
/** The same for text that may be large. */
export function parsedJson(input: TextBytes, options: ParseOptions = {}): Work<JsonValue> {
  return parsed(input, options, PARTS_AT_ONCE);
}

/** As JSON.parse, with exact integers: for text of this program, of a server, or of a client that was parsed before. */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return hasLongDigits(text) && surveyText(text).digits >= LONG_DIGITS ? atOnce(new JsonParser(text, {}).value()) : value;
}

/** Values whose texts this process made. */
const valuesOfTexts = new WeakMap<TextBytes, JsonValue>();
/**
 * The text was made by JSON.stringify of this value, which nobody changes: it need not be parsed. Fields without a value count as
 * absent, as in the text.
 */
export function noteValue(text: Buffer, value: unknown): void {
  if (!valuesOfTexts.has(text)) valuesOfTexts.set(text, withoutUndefined(value) as JsonValue);
}

function* parsed(input: string | TextBytes, options: ParseOptions, engineParts: number): Work<JsonValue> {
  const notedValue = typeof input === 'string' ? undefined : valuesOfTexts.get(input);
  if (notedValue !== undefined) return notedValue;
  // A text has fewer parts than characters: a short one is not counted.
  let isForEngine = true;
  if (options.uncounted !== true && input.length > Math.min(COUNTED_FROM, engineParts)) {
    isForEngine = (yield* countedParts(typeof input === 'string' ? Buffer.from(input) : input)) <= engineParts;
    yield;
  }
  const text = typeof input === 'string' ? input : input.toString('utf8');
  yield;
  if (isForEngine) {
    const value = yield* parsedByEngine(text, options);
    if (value !== undefined) return value;
    yield;
  }
  const parser = new JsonParser(text, options);
  const value = yield* parser.value();
  if (parser.floats) noteFloats(value);
  return value;
}
/** Undefined where our own parser is needed. It yields after each pass over the text. */
function* parsedByEngine(text: string, options: ParseOptions): Work<JsonValue | undefined> {
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  yield;
  const watchKeys = options.merge === true || options.place !== undefined;
  let fractions = false;
  if (watchKeys || text.length > 2 * maxDepth || unusualNumber.test(text)) {
    const survey = surveyText(text);
    if (survey.depth > maxDepth) throw new DecodeError('exceeded max depth');
    if (survey.digits >= LONG_DIGITS || survey.exponents) return undefined;
    if (watchKeys && survey.keys !== countKeys(value)) return undefined;
    fractions = survey.fractions;
    yield;
  }
  if (text.includes('\\') && escapedSurrogate.test(text)) value = wellFormed(value);
  if (fractions) noteFloats(value);
  return value;
}

const valuesWithFloats = new WeakSet<object>();
function noteFloats(value: JsonValue): void {
  if (typeof value === 'object' && value !== null) valuesWithFloats.add(value);
}
/** Whether the text of an object or list that was parsed has numbers with a fraction or an exponent, or integers of more than 64 bits. */
export const holdsFloats = (value: JsonValue): boolean => typeof value === 'object' && value !== null && valuesWithFloats.has(value);

const escapedSurrogate = /\\u[dD][89a-fA-F]/;
/** Lone surrogates, which only an escape can produce, become replacement characters. */
function wellFormed(value: JsonValue): JsonValue {
  if (typeof value === 'string') return toWellFormed(value);
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null) return value;
  const out: Record<string, JsonValue> = {};
  for (const key of Object.keys(value)) setOwn(out, toWellFormed(key), wellFormed(value[key] as JsonValue));
  return out;
}
