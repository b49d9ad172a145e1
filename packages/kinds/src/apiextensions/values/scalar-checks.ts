/** Checks of texts, numbers and enumerations. */

import { equal } from '@plat-dev/lib/equal';
import { type Integer, isInteger } from '@plat-dev/lib/integers';
import type { JsonValue } from '@plat-dev/schema/types';
import { CHARACTERS_A_STEP, spend } from './effort.ts';
import { type Pattern, PatternError, patternFor } from './pattern.ts';

/** A null is never a member of an enumeration. */
export function isOneOf(value: JsonValue, members: readonly JsonValue[]): boolean {
  if (value === null) return false;
  if (members.length > LONG_ENUM && typeof value !== 'object') return scalarsOf(members).has(value);
  spend(members.length);
  return members.some((one) => equal(one, value));
}

/** Members from which an enumeration is looked up rather than compared. */
const LONG_ENUM = 8;
const scalars = new WeakMap<readonly JsonValue[], ReadonlySet<JsonValue>>();
function scalarsOf(members: readonly JsonValue[]): ReadonlySet<JsonValue> {
  let memberSet = scalars.get(members);
  if (memberSet === undefined) {
    memberSet = new Set(members);
    scalars.set(members, memberSet);
  }
  return memberSet;
}

/** Whether a text has at most so many characters. It has at most as many as UTF-16 units, and at least half as many. */
export const isAtMost = (text: string, most: Integer): boolean =>
  text.length <= most || (text.length / 2 <= most && lengthOf(text) <= most);
export const isAtLeast = (text: string, least: Integer): boolean =>
  text.length >= least && (text.length / 2 >= least || lengthOf(text) >= least);

/** The number of characters, not of UTF-16 units. */
function lengthOf(text: string): number {
  spend(text.length / CHARACTERS_A_STEP);
  let length = text.length;
  for (let i = 0; i < text.length - 1; i++)
    if ((text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      length--;
      i++;
    }
  return length;
}

/** An invalid pattern matches nothing; definitions with one are refused. */
export function patternOf(pattern: string): Pattern {
  try {
    return patternFor(pattern);
  } catch (error) {
    if (error instanceof PatternError) return nothing;
    throw error;
  }
}
const nothing: Pattern = { test: () => false };

/** An integer is compared with the integer part of a bound, as in a stock server. */
export const boundFor = (value: Integer, limit: Integer): number => (isInteger(value) ? Math.trunc(Number(limit)) : Number(limit));
export function isMultiple(value: Integer, factor: Integer): boolean {
  const step = Number(factor);
  if (step === 0) return true;
  if (typeof value === 'bigint' && Number.isInteger(step)) return value % BigInt(step) === 0n;
  return Number.isInteger(Number((Number(value) / step).toPrecision(12)));
}
