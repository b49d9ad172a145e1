/**
 * Integers of 64 bits: a number where that is exact, and a bigint beyond (docs/decisions/048-integers-of-64-bits.md). Each has one
 * form, so that `===` compares them. A number beyond 2^53 is a float, also where it is whole: it was written with a fraction or an
 * exponent, or is no int64.
 *
 *   9007199254740991      number        2^53 - 1
 *   9007199254740992      bigint        2^53, which as a number would also be the next integer
 *   9223372036854775807   bigint        2^63 - 1
 *   9223372036854775808   number        2^63, no int64
 *   1e16                  number        a float
 */
export type Integer = number | bigint;

export const MAX_INT64 = 2n ** 63n - 1n;
export const MIN_INT64 = -(2n ** 63n);
const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/** An integer in its one form. */
export const toInteger = (value: bigint): Integer => (value <= MAX_SAFE && value >= -MAX_SAFE ? Number(value) : value);

/** The value of digits with an optional sign, decimal or after 0x, 0o or 0b: an integer if it is an int64, else the nearest float. */
export function integerOf(text: string): Integer {
  const isNegative = text.startsWith('-');
  const digits = isNegative || text.startsWith('+') ? text.slice(1) : text;
  const magnitude = Number(digits);
  const nearest = isNegative ? -magnitude : magnitude;
  if (Number.isSafeInteger(nearest) || magnitude > 2 ** 63) return nearest;
  const exact = isNegative ? -BigInt(digits) : BigInt(digits);
  return isInt64(exact) ? exact : nearest;
}
const isInt64 = (value: bigint): boolean => value >= MIN_INT64 && value <= MAX_INT64;

/** Whether a value is an integer, not a float. */
export const isInteger = (value: unknown): value is Integer => Number.isSafeInteger(value) || typeof value === 'bigint';
/** Whether a value is an integer or a float. */
export const isNumeric = (value: unknown): value is Integer => typeof value === 'number' || typeof value === 'bigint';

/**
 * The value that is read from the text of a number: a whole float beyond 2^53 has the text of an integer.
 *
 *   readBack(1e16) → 10000000000000000n      readBack(1.5) → 1.5      readBack(1e19) → 1e19
 */
export const readBack = (value: number): Integer =>
  Number.isInteger(value) && !Number.isSafeInteger(value) ? integerOf(String(value)) : value;

/** The int64 after another; after the largest comes the least, as in a stock server. */
export function nextInt64(value: Integer): Integer {
  if (typeof value === 'number' && value < Number.MAX_SAFE_INTEGER) return value + 1;
  return toInteger(BigInt.asIntN(64, BigInt(value) + 1n));
}

/** Order of numbers, exact for integers. */
export const compareNumbers = (a: Integer, b: Integer): number => (a < b ? -1 : a > b ? 1 : 0);

/** Minimum number of digits of integers beyond 2^53. */
export const LONG_DIGITS = 16;
/**
 * Whether so many digits stand together somewhere in a text: if not, JSON.parse loses none of its integers. Only every 16th
 * character is read, which takes a hundredth of the time of parsing the text.
 */
export function hasLongDigits(text: string): boolean {
  for (let at = LONG_DIGITS - 1; at < text.length; at += LONG_DIGITS) {
    if (isDigit(text.charCodeAt(at)) && digitsAround(text, at) >= LONG_DIGITS) return true;
  }
  return false;
}
function digitsAround(text: string, at: number): number {
  let start = at;
  while (at - start < LONG_DIGITS && isDigit(text.charCodeAt(start - 1))) start--;
  let end = at;
  while (end - start < LONG_DIGITS && isDigit(text.charCodeAt(end + 1))) end++;
  return end - start + 1;
}
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
