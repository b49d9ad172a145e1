/**
 * JSON text to plain values. The engine's own parser does the work; our own slower one is used only for what the
 * first cannot do: integers beyond 2^53, repeated keys, and the error messages of a stock server.
 *
 *   parseJson('{"a":{"x":1},"a":{"y":2}}')                    → { a: { y: 2 } }
 *   parseJson('{"a":{"x":1},"a":{"y":2}}', { merge: true })   → { a: { x: 1, y: 2 } }
 *
 * Bodies of built-in kinds are read with `merge`, since a stock server merges repeated objects; patches and
 * bodies of custom kinds without, since there the last one counts.
 */

import { hasLongDigits, LONG_DIGITS } from '@plat-dev/lib/integers';
import { setOwn } from '@plat-dev/lib/own';
import { atOnce, inSlices, type Slices, type Work } from '@plat-dev/lib/slices';
import type { TextBytes } from '@plat-dev/lib/text-bytes';
import { DecodeError, maxContainers, maxDepth, maxKeys, tooManyContainers, tooManyKeys } from '../errors.ts';
import type { Place } from '../fields/field-place.ts';
import type { JsonValue } from '../types.ts';
import { SlowParser } from './parser.ts';
import { toWellFormed, withoutUndefined } from './plain.ts';

export interface ParseOptions {
  /** Whether repeated objects are merged. */
  readonly merge?: boolean;
  /** Whether text that is parsed at once may hold any number of objects, lists and keys. */
  readonly uncounted?: boolean;
  /** Walks the text if keys are repeated, for field validation; otherwise the value is enough. */
  readonly place?: Place | undefined;
}

/** Values of texts that this process made of them. */
const knownValues = new WeakMap<TextBytes, JsonValue>();
/**
 * The text was made by JSON.stringify of this value, which nobody changes: it need not be parsed. Fields without a value count as
 * absent, as in the text.
 */
export function noteValue(text: Buffer, value: unknown): void {
  if (!knownValues.has(text)) knownValues.set(text, withoutUndefined(value) as JsonValue);
}

/** Reads one JSON value. Bytes that are not UTF-8 become replacement characters. Throws DecodeError. */
export function parseJson(input: string | Buffer, options: ParseOptions = {}): JsonValue {
  const known = typeof input === 'string' ? undefined : knownValues.get(input);
  if (known !== undefined) return known;
  // Text that is large enough to exceed the limits is checked before it is parsed.
  if (input.length > surveyedFrom && options.uncounted !== true) checkCounts(input);
  const text = typeof input === 'string' ? input : input.toString('utf8');
  return atOnce(parseSteps(text, options));
}

/** As JSON.parse, with exact integers: for text of this program, of a server, or of a client that was parsed before. */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return hasLongDigits(text) && survey(text).digits >= LONG_DIGITS ? new SlowParser(text, {}).parse() : value;
}

function* parseSteps(text: string, options: ParseOptions): Work<JsonValue> {
  const value = yield* quickSteps(text, options);
  if (value !== undefined) return value;
  yield;
  return yield* slowSteps(text, options);
}
/** By the engine's parser; undefined where our own is needed. It yields after each pass over the text. */
function* quickSteps(text: string, options: ParseOptions): Work<JsonValue | undefined> {
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
    const found = survey(text);
    if (found.depth > maxDepth) throw new DecodeError('exceeded max depth');
    if (found.digits >= LONG_DIGITS || found.exponents) return undefined;
    if (watchKeys && found.keys !== countKeys(value)) return undefined;
    fractions = found.fractions;
    yield;
  }
  if (text.includes('\\') && escapedSurrogate.test(text)) value = wellFormed(value);
  if (fractions) noteFloats(value);
  return value;
}
function* slowSteps(text: string, options: ParseOptions): Work<JsonValue> {
  const parser = new SlowParser(text, options);
  const value = yield* parser.steps();
  if (parser.floats) noteFloats(value);
  return value;
}

/** LONG_DIGITS digits, a fraction or an exponent. Strings may match, too: a match only means that the numbers must be checked. */
const unusualNumber = /\d(?:\d{15}|[.eE])/;

const withFloats = new WeakSet<object>();
function noteFloats(value: JsonValue): void {
  if (typeof value === 'object' && value !== null) withFloats.add(value);
}
/** Whether the text of an object or list that was parsed has numbers with a fraction or an exponent, or integers of more than 64 bits. */
export const holdsFloats = (value: JsonValue): boolean => typeof value === 'object' && value !== null && withFloats.has(value);

/** The same for text that is large, in slices. Throws RequestEnded, too. */
export function parseJsonInSlices(input: TextBytes, options: ParseOptions, slices: Slices): Promise<JsonValue> {
  return inSlices(parseJsonSteps(input, options), slices);
}
/** The same as work that can be interrupted. */
export function* parseJsonSteps(input: TextBytes, options: ParseOptions = {}): Work<JsonValue> {
  const known = knownValues.get(input);
  if (known !== undefined) return known;
  const { parts } = yield* countSteps(input);
  yield;
  const text = input.toString('utf8');
  yield;
  return yield* parts <= PARTS_AT_ONCE ? parseSteps(text, options) : slowSteps(text, options);
}
/** Limit of keys and values for the engine's parser, which never yields. */
const PARTS_AT_ONCE = 20_000;

/** Shorter text cannot exceed the limits of objects, lists and keys: an item takes two characters, and a key five. */
const surveyedFrom = 2 * maxContainers;

/** Refuses text that holds too many objects, lists or keys, and text that is nested too deeply. It need not be valid. */
function checkCounts(input: string | Buffer): { readonly parts: number } {
  return atOnce(countSteps(typeof input === 'string' ? Buffer.from(input) : input));
}
function* countSteps(bytes: Uint8Array): Work<{ readonly parts: number }> {
  const counts = new Counts();
  for (let end = BYTES_A_STEP; end < bytes.length; end += BYTES_A_STEP) {
    counts.read(bytes, end);
    yield;
  }
  counts.read(bytes, bytes.length);
  return counts.result();
}
/** Bytes after which counting yields: less than a millisecond of it. */
const BYTES_A_STEP = 64 * 1024;

/** Counts the parts of JSON text, one slice at a time. */
class Counts {
  private at = 0;
  private inString = false;
  private containers = 0;
  private keys = 0;
  private depth = 0;
  private commas = 0;

  /** Reads on to `end`. */
  read(bytes: Uint8Array, end: number): void {
    let { at, inString, containers, keys, depth, commas } = this;
    while (at < end) {
      const byte = bytes[at++];
      if (inString) {
        if (byte === 0x5c) at++;
        else if (byte === 0x22) inString = false;
      } else if (byte === 0x22) inString = true;
      else if (byte === 0x3a) keys++;
      else if (byte === 0x2c) commas++;
      else if (byte === 0x7b || byte === 0x5b) {
        containers++;
        if (++depth > maxDepth) throw new DecodeError('exceeded max depth');
      } else if (byte === 0x7d || byte === 0x5d) depth--;
    }
    this.at = at;
    this.inString = inString;
    this.containers = containers;
    this.keys = keys;
    this.depth = depth;
    this.commas = commas;
  }

  /** Throws TooLargeError. */
  result(): { readonly parts: number } {
    const { containers, keys, commas } = this;
    if (containers > maxContainers) throw tooManyContainers();
    if (keys > maxKeys) throw tooManyKeys();
    return { parts: containers + keys + commas };
  }
}

const escapedSurrogate = /\\u[dD][89a-fA-F]/;

/**
 * How many keys valid JSON text has, how deep it goes, the most digits that stand together outside of strings, whether a number
 * has a fraction or an exponent, and whether one has an exponent.
 */
function survey(text: string): { keys: number; depth: number; digits: number; fractions: boolean; exponents: boolean } {
  let fractions = false;
  let exponents = false;
  let keys = 0;
  let depth = 0;
  let deepest = 0;
  let digits = 0;
  let longest = 0;
  const length = text.length;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) i = endOfString(text, i + 1);
    else if (code === 0x3a) {
      keys++;
    } else if (code === 0x7b || code === 0x5b) {
      if (++depth > deepest) deepest = depth;
    } else if (code === 0x7d || code === 0x5d) {
      depth--;
    } else if (code >= 0x30 && code <= 0x39) {
      if (++digits > longest) longest = digits;
      continue;
    } else if (digits > 0 && (code === 0x2e || code === 0x65 || code === 0x45)) {
      fractions = true;
      if (code !== 0x2e) exponents = true;
    }
    digits = 0;
  }
  return { keys, depth: deepest, digits: longest, fractions, exponents };
}
/** The closing quote of a string that begins at a place. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start);
  if (text.charCodeAt(end - 1) !== 0x5c) return end;
  for (end = start; ; end++) {
    const code = text.charCodeAt(end);
    if (code === 0x22) return end;
    // What a backslash escapes may be a quote.
    if (code === 0x5c) end++;
  }
}

function countKeys(value: unknown): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const item = value[i];
      if (typeof item === 'object' && item !== null) count += countKeys(item);
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const key in value) {
      count++;
      const item = (value as Record<string, unknown>)[key];
      if (typeof item === 'object' && item !== null) count += countKeys(item);
    }
  }
  return count;
}

/** Lone surrogates, which only an escape can produce, become replacement characters. */
function wellFormed(value: JsonValue): JsonValue {
  if (typeof value === 'string') return toWellFormed(value);
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null) return value;
  const out: Record<string, JsonValue> = {};
  for (const key of Object.keys(value)) setOwn(out, toWellFormed(key), wellFormed(value[key] as JsonValue));
  return out;
}
