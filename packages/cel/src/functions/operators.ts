/** Operators on numbers, texts, lists and times. */
import { MAX_INT64, MIN_INT64 } from '@plat-dev/lib/integers';
import type { Frame } from '../budget.ts';
import { compare, equal } from '../equal.ts';
import { fail } from '../errors.ts';
import { compares, countsItems, findsItem, joinsLists, joinsTexts } from '../prices.ts';
import { BOOL, BYTES, type CelType, DOUBLE, DURATION, INT, listOf, mapOf, parameter, STRING, TIMESTAMP, UINT } from '../types.ts';
import { type CelMap, checkedInt, checkedUInt, Double, Duration, lookUp, type Timestamp, UInt } from '../values.ts';
import { global, type Overload } from './signature.ts';
import { checkedTimestamp } from './time-range.ts';

type Int = number | bigint;
const A = parameter('A');
const B = parameter('B');

// ---- arithmetic ----------------------------------------------------------------------------------------------------

/** Units of an operation on integers that numbers cannot hold, in addition to the one of any call. */
const BIG_UNITS = 10;

const addInts = (frame: Frame, a: Int, b: Int): Int => {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  frame.spend(BIG_UNITS);
  return checkedInt(BigInt(a) + BigInt(b));
};
const subtractInts = (frame: Frame, a: Int, b: Int): Int => {
  if (typeof a === 'number' && typeof b === 'number') {
    const difference = a - b;
    if (Number.isSafeInteger(difference)) return difference;
  }
  frame.spend(BIG_UNITS);
  return checkedInt(BigInt(a) - BigInt(b));
};
const multiplyInts = (frame: Frame, a: Int, b: Int): Int => {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b;
    // Minus zero is a double.
    if (Number.isSafeInteger(product)) return product + 0;
  }
  frame.spend(BIG_UNITS);
  return checkedInt(BigInt(a) * BigInt(b));
};
const isZero = (value: Int): boolean => Number(value) === 0;
const divideInts = (frame: Frame, a: Int, b: Int): Int => {
  if (isZero(b)) fail('division by zero');
  if (typeof a === 'number' && typeof b === 'number') return Math.trunc(a / b) + 0;
  frame.spend(BIG_UNITS);
  return checkedInt(BigInt(a) / BigInt(b));
};
const remainderOfInts = (frame: Frame, a: Int, b: Int): Int => {
  if (isZero(b)) fail('modulus by zero');
  if (typeof a === 'number' && typeof b === 'number') return (a % b) + 0;
  frame.spend(BIG_UNITS);
  return checkedInt(BigInt(a) % BigInt(b));
};
const uints =
  (operate: (a: bigint, b: bigint) => bigint) =>
  (frame: Frame, a: UInt, b: UInt): UInt => {
    frame.spend(BIG_UNITS);
    return checkedUInt(operate(a.value, b.value));
  };
const divisor = (value: bigint): bigint => (value === 0n ? fail('division by zero') : value);

const durationOf = (nanos: bigint): Duration => (nanos > MAX_INT64 || nanos < MIN_INT64 ? fail('integer overflow') : new Duration(nanos));

const arithmetic: Overload[] = [
  global('_+_', [INT, INT], INT, addInts),
  global('_+_', [DOUBLE, DOUBLE], DOUBLE, (_, a: number, b: number) => a + b),
  global('_+_', [STRING, STRING], STRING, concatenate, joinsTexts),
  global('_+_', [listOf(A), listOf(A)], listOf(A), joinLists, joinsLists),
  global(
    '_+_',
    [UINT, UINT],
    UINT,
    uints((a, b) => a + b),
  ),
  global('_+_', [BYTES, BYTES], BYTES, joinBytes, joinsTexts),
  global('_+_', [TIMESTAMP, DURATION], TIMESTAMP, (_, a: Timestamp, b: Duration) => checkedTimestamp(a.nanos + b.nanos)),
  global('_+_', [DURATION, TIMESTAMP], TIMESTAMP, (_, a: Duration, b: Timestamp) => checkedTimestamp(a.nanos + b.nanos)),
  global('_+_', [DURATION, DURATION], DURATION, (_, a: Duration, b: Duration) => durationOf(a.nanos + b.nanos)),
  global('_-_', [INT, INT], INT, subtractInts),
  global('_-_', [DOUBLE, DOUBLE], DOUBLE, (_, a: number, b: number) => a - b),
  global(
    '_-_',
    [UINT, UINT],
    UINT,
    uints((a, b) => a - b),
  ),
  global('_-_', [TIMESTAMP, TIMESTAMP], DURATION, (_, a: Timestamp, b: Timestamp) => durationOf(a.nanos - b.nanos)),
  global('_-_', [TIMESTAMP, DURATION], TIMESTAMP, (_, a: Timestamp, b: Duration) => checkedTimestamp(a.nanos - b.nanos)),
  global('_-_', [DURATION, DURATION], DURATION, (_, a: Duration, b: Duration) => durationOf(a.nanos - b.nanos)),
  global('_*_', [INT, INT], INT, multiplyInts),
  global('_*_', [DOUBLE, DOUBLE], DOUBLE, (_, a: number, b: number) => a * b),
  global(
    '_*_',
    [UINT, UINT],
    UINT,
    uints((a, b) => a * b),
  ),
  global('_/_', [INT, INT], INT, divideInts),
  global('_/_', [DOUBLE, DOUBLE], DOUBLE, (_, a: number, b: number) => a / b),
  global(
    '_/_',
    [UINT, UINT],
    UINT,
    uints((a, b) => a / divisor(b)),
  ),
  global('_%_', [INT, INT], INT, remainderOfInts),
  global(
    '_%_',
    [UINT, UINT],
    UINT,
    uints((a, b) => a % (b === 0n ? fail('modulus by zero') : b)),
  ),
  global('-_', [INT], INT, (_, a: Int) => (typeof a === 'number' ? 0 - a : checkedInt(-a))),
  global('-_', [DOUBLE], DOUBLE, (_, a: number) => -a),
  global('!_', [BOOL], BOOL, (_, a: boolean) => !a),
];

function concatenate(frame: Frame, a: string, b: string): string {
  frame.spendLength(a.length + b.length);
  return a + b;
}
function joinBytes(frame: Frame, a: Uint8Array, b: Uint8Array): Uint8Array {
  frame.spendLength(a.length + b.length);
  return Buffer.concat([a, b]);
}
function joinLists(frame: Frame, a: readonly unknown[], b: readonly unknown[]): readonly unknown[] {
  frame.spend(a.length + b.length);
  return a.length === 0 ? b : b.length === 0 ? a : a.concat(b);
}

// ---- comparisons -----------------------------------------------------------------------------------------------------

const ordered: readonly CelType[] = [BOOL, UINT, STRING, BYTES, TIMESTAMP, DURATION];
const numbers: readonly CelType[] = [INT, UINT, DOUBLE];

/** One operator, by whether what it says holds for numbers as they are, and for an order that was found. */
function comparison(name: string, direct: (a: Int, b: Int) => boolean, holds: (order: number) => boolean): Comparison {
  const numeric = (_: Frame, a: Int, b: Int): boolean => direct(a, b);
  const general = (frame: Frame, a: unknown, b: unknown): boolean => holds(compare(frame, a, b));
  // Numbers and big integers compare as the amounts they are.
  const same = [INT, DOUBLE].map((type) => global(name, [type, type], BOOL, numeric));
  for (const type of ordered)
    same.push(global(name, [type, type], BOOL, general, type === STRING || type === BYTES ? compares : undefined));
  const across = numbers.flatMap((a) =>
    numbers.filter((b) => a !== b).map((b) => global(name, [a, b], BOOL, a === UINT || b === UINT ? general : numeric)),
  );
  return { same, across };
}
interface Comparison {
  readonly same: readonly Overload[];
  /** Between numbers of different types. */
  readonly across: readonly Overload[];
}
const comparisons: readonly Comparison[] = [
  comparison(
    '_<_',
    (a, b) => a < b,
    (order) => order < 0,
  ),
  comparison(
    '_<=_',
    (a, b) => a <= b,
    (order) => order <= 0,
  ),
  comparison(
    '_>_',
    (a, b) => a > b,
    (order) => order > 0,
  ),
  comparison(
    '_>=_',
    (a, b) => a >= b,
    (order) => order >= 0,
  ),
];
const equalities: readonly Overload[] = [
  global('_==_', [A, A], BOOL, equal, compares),
  global('_!=_', [A, A], BOOL, (frame, a: unknown, b: unknown) => !equal(frame, a, b), compares),
];

// ---- lists and maps ----------------------------------------------------------------------------------------------------

function isIn(frame: Frame, value: unknown, list: readonly unknown[]): boolean {
  for (const item of list) {
    frame.spend(1);
    if (equal(frame, item, value)) return true;
  }
  return false;
}

/** A key or an index: numbers that are equal are the same. */
function wholeNumber(key: unknown): unknown {
  if (key instanceof UInt) return key.value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(key.value) : key.value;
  return key instanceof Double ? key.value : key;
}

export function itemOf(list: readonly unknown[], key: unknown): unknown {
  const index = wholeNumber(key);
  return typeof index === 'number' && Number.isInteger(index)
    ? list[index]
    : typeof index === 'bigint'
      ? undefined
      : fail('no such overload');
}
export const shownKey = (key: unknown): string => String(wholeNumber(key)).slice(0, 100);

const containers: Overload[] = [
  global('@in', [A, listOf(A)], BOOL, isIn, countsItems(1)),
  global('@in', [A, mapOf(A, B)], BOOL, (_, key: unknown, map: CelMap) => lookUp(map, key) !== undefined),
  global(
    '_[_]',
    [listOf(A), INT],
    A,
    (_, list: readonly unknown[], index: unknown) => {
      const item = itemOf(list, index);
      return item === undefined ? fail(`index out of bounds: ${shownKey(index)}`) : item;
    },
    findsItem,
  ),
  global(
    '_[_]',
    [mapOf(A, B), A],
    B,
    (_, map: CelMap, key: unknown) => {
      const value = lookUp(map, key);
      return value === undefined ? fail(`no such key: ${shownKey(key)}`) : value;
    },
    findsItem,
  ),
];

/** An index that is known at run time only may be any number that is whole. */
const otherIndexes: Overload[] = [UINT, DOUBLE].map((type) => ({
  ...global('_[_]', [listOf(A), type], A, (_, list: readonly unknown[], index: unknown) => {
    const item = itemOf(list, index);
    return item === undefined ? fail(`index out of bounds: ${shownKey(index)}`) : item;
  }),
  dynamicOnly: true,
}));

export const operators: readonly Overload[] = [
  ...arithmetic,
  ...comparisons.flatMap(({ same }) => same),
  ...equalities,
  ...containers,
  ...otherIndexes,
];
/** Of numbers of different types, for those whose types are known before they are. */
export const crossTypeComparisons: readonly Overload[] = comparisons.flatMap(({ across }) => across);
/** The same for values whose types are known at run time only. */
export const dynamicComparisons: readonly Overload[] = crossTypeComparisons.map((overload) => ({ ...overload, dynamicOnly: true }));
