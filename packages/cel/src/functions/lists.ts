/** Functions on lists, and on lists as sets. */
import { isInteger, MAX_INT64, MIN_INT64 } from '@plat-dev/lib/integers';
import type { Frame } from '../budget.ts';
import { compare, equal } from '../equal.ts';
import { fail } from '../errors.ts';
import { exactly, type Range, type Sized } from '../estimates.ts';
import { comparesItems, flattens, looksAtItems, looksAtPairs, makesList } from '../prices.ts';
import { BOOL, BYTES, type CelType, DOUBLE, DURATION, DYN, INT, listOf, parameter, STRING, TIMESTAMP, UINT } from '../types.ts';
import { checkedInt, checkedUInt, Duration, UInt, unboxDouble } from '../values.ts';
import { global, member, type Overload } from './signature.ts';

type List = readonly unknown[];
type Int = number | bigint;
const A = parameter('A');
const LIST = listOf(A);

const orderable: readonly CelType[] = [INT, UINT, DOUBLE, BOOL, STRING, BYTES, DURATION, TIMESTAMP];

/** Units of comparing two items. */
const COMPARE_UNITS = 10;

function order(frame: Frame, a: unknown, b: unknown): number {
  frame.spend(COMPARE_UNITS);
  const comparison = compare(frame, a, b);
  return Number.isNaN(comparison) && typeof a !== 'number' ? fail('no such overload') : comparison;
}
function isSorted(frame: Frame, list: List): boolean {
  for (let i = 1; i < list.length; i++) if (order(frame, list[i - 1], list[i]) > 0) return false;
  return true;
}
/** The one of which no other comes before. */
function best(frame: Frame, list: List, sign: number, name: string): unknown {
  if (list.length === 0) fail(`${name} called on empty list`);
  let bestItem = list[0];
  for (let i = 1; i < list.length; i++) if (sign * order(frame, list[i], bestItem) < 0) bestItem = list[i];
  return bestItem;
}
/** Doubles within lists are boxed where they could be taken for ints. */
const asOf = (type: CelType, value: unknown): unknown => (type === DOUBLE ? unboxDouble(value) : value);
function indexOf(frame: Frame, list: List, value: unknown): number {
  for (let i = 0; i < list.length; i++) {
    frame.spend(1);
    if (equal(frame, list[i], value)) return i;
  }
  return -1;
}
function lastIndexOf(frame: Frame, list: List, value: unknown): number {
  for (let i = list.length - 1; i >= 0; i--) {
    frame.spend(1);
    if (equal(frame, list[i], value)) return i;
  }
  return -1;
}
function sumOfInts(frame: Frame, list: List): Int {
  frame.spend(list.length);
  let sum = 0n;
  let quick = 0;
  for (const item of list) {
    if (!isInteger(item)) fail('no such overload');
    quick = typeof item === 'number' ? quick + item : Number.NaN;
    if (Number.isSafeInteger(quick)) continue;
    // Only what leaves the range of an int on the way is an overflow.
    return list.reduce<Int>((total, next) => checkedInt(BigInt(total) + BigInt(next as Int)), 0);
  }
  sum += BigInt(quick);
  return checkedInt(sum);
}
const sums: Overload[] = [
  member('sum', [listOf(INT)], INT, sumOfInts, looksAtItems),
  member(
    'sum',
    [listOf(DOUBLE)],
    DOUBLE,
    (frame, list: List) => {
      frame.spend(list.length);
      return list.reduce<number>((sum, item) => sum + unboxDouble(item), 0);
    },
    looksAtItems,
  ),
  member(
    'sum',
    [listOf(UINT)],
    UINT,
    (frame, list: List) => {
      frame.spend(2 * list.length);
      return list.reduce<UInt>(
        (sum, item) => checkedUInt(sum.value + (item instanceof UInt ? item.value : fail('no such overload'))),
        new UInt(0n),
      );
    },
    looksAtItems,
  ),
  member(
    'sum',
    [listOf(DURATION)],
    DURATION,
    (frame, list: List) => {
      frame.spend(2 * list.length);
      const nanos = list.reduce<bigint>((sum, item) => sum + (item instanceof Duration ? item.nanos : fail('no such overload')), 0n);
      return nanos > MAX_INT64 || nanos < MIN_INT64 ? fail('integer overflow') : new Duration(nanos);
    },
    looksAtItems,
  ),
];

// ---- other lists of the same items ---------------------------------------------------------------------------------

const sorted = (frame: Frame, list: List): List => sortedByKeys(frame, list, list);
function sortedByKeys(frame: Frame, list: List, keys: List): List {
  frame.spend(list.length);
  const [first] = keys;
  for (const key of keys) if (Number.isNaN(compare(frame, first, key))) fail('list elements must have the same type');
  return list
    .map((item, i) => ({ item, key: keys[i] }))
    .sort((a, b) => order(frame, a.key, b.key))
    .map(({ item }) => item);
}
function slice(frame: Frame, list: List, from: Int, to: Int): List {
  const slicing = `cannot slice(${from}, ${to})`;
  if (from < 0 || to < 0) fail(`${slicing}, negative indexes not supported`);
  if (from > to) fail(`${slicing}, start index must be less than or equal to end index`);
  if (to > list.length) fail(`${slicing}, list is length ${list.length}`);
  frame.spendLength(Number(to) - Number(from));
  return list.slice(Number(from), Number(to));
}
function distinct(frame: Frame, list: List): List {
  const distinctItems: unknown[] = [];
  for (const item of list) if (indexOf(frame, distinctItems, item) < 0) distinctItems.push(item);
  return distinctItems;
}
function flatten(frame: Frame, list: List, depth: Int = 1): List {
  if (depth < 0) fail('level must be non-negative');
  const all: unknown[] = [];
  const add = (items: List, depth: number): void => {
    frame.spend(items.length + 10);
    for (const item of items) {
      if (Array.isArray(item) && depth > 0) add(item, depth - 1);
      else all.push(item);
    }
  };
  add(list, Math.min(Number(depth), 100));
  return all;
}
/** Units of a number of a list that is made. */
const NUMBER_UNITS = 2;
function numbers(frame: Frame, count: Int): List {
  if (count < 0) fail('lists.range called with a negative number');
  // Paid before it is made.
  frame.spend(NUMBER_UNITS * Number(count));
  const indexes: number[] = [];
  for (let i = 0; i < count; i++) indexes.push(i);
  return indexes;
}
/** Those of the list library of 1.34. */
export const newerListFunctions: readonly Overload[] = [
  member('slice', [LIST, INT, INT], LIST, slice, makesList(sliceSize)),
  ...orderable.map((type) => member('sort', [listOf(type)], listOf(type), sorted, comparesItems(0))),
  ...orderable.map((type) => member('@sortByAssociatedKeys', [LIST, listOf(type)], LIST, sortedByKeys, comparesItems(1))),
  member('distinct', [LIST], LIST, distinct, comparesItems(0)),
  member(
    'reverse',
    [LIST],
    LIST,
    (frame, list: List) => {
      frame.spend(list.length);
      return [...list].reverse();
    },
    makesList(),
  ),
  member('flatten', [listOf(listOf(A))], LIST, flatten, flattens),
  member('flatten', [listOf(DYN)], listOf(DYN), flatten, flattens),
  member('flatten', [listOf(DYN), INT], listOf(DYN), flatten, flattens),
  global('lists.range', [INT], listOf(INT), numbers, makesList(rangeSize)),
];
/** Sizes of lists where the source says what they are made of. */
function sliceSize(args: readonly Sized[]): Range {
  const [list, from, to] = args;
  const first = whole(from?.literal) ?? 0;
  return exactly(Math.max(0, (whole(to?.literal) ?? list?.size.max ?? 0) - first));
}
function rangeSize([count]: readonly Sized[]): Range {
  return exactly(whole(count?.literal) ?? Number.POSITIVE_INFINITY);
}
const whole = (literal: unknown): number | undefined => (isInteger(literal) ? Math.max(0, Number(literal)) : undefined);

// ---- sets ------------------------------------------------------------------------------------------------------------

function containsAll(frame: Frame, list: List, other: List): boolean {
  frame.spend(other.length);
  return other.every((item) => indexOf(frame, list, item) >= 0);
}
function intersects(frame: Frame, list: List, other: List): boolean {
  frame.spend(list.length);
  return list.some((item) => indexOf(frame, other, item) >= 0);
}
export const setFunctions: readonly Overload[] = [
  global('sets.contains', [LIST, LIST], BOOL, containsAll, looksAtPairs(1)),
  global(
    'sets.equivalent',
    [LIST, LIST],
    BOOL,
    (frame, a: List, b: List) => containsAll(frame, a, b) && containsAll(frame, b, a),
    looksAtPairs(2),
  ),
  global('sets.intersects', [LIST, LIST], BOOL, intersects, looksAtPairs(1)),
];

export const listFunctions: readonly Overload[] = [
  ...orderable.flatMap((type) => [
    member('isSorted', [listOf(type)], BOOL, isSorted, looksAtItems),
    member('min', [listOf(type)], type, (frame, list: List) => asOf(type, best(frame, list, 1, 'min')), looksAtItems),
    member('max', [listOf(type)], type, (frame, list: List) => asOf(type, best(frame, list, -1, 'max')), looksAtItems),
  ]),
  ...sums,
  member('indexOf', [LIST, A], INT, indexOf, looksAtItems),
  member('lastIndexOf', [LIST, A], INT, lastIndexOf, looksAtItems),
];
