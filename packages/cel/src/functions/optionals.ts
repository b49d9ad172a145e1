/** Values that may be missing: `optional.of(x)`, `a.?b.orValue(1)`. */
import { Quantity } from '@plat-dev/lib/quantity';
import type { Frame } from '../budget.ts';
import { fail } from '../errors.ts';
import { BOOL, INT, listOf, mapOf, optionalOf, parameter } from '../types.ts';
import { type CelMap, Double, Duration, isMap, lookUp, mapSize, NONE, Optional, UInt } from '../values.ts';
import { itemOf } from './operators.ts';
import { global, member, type Overload } from './signature.ts';

const A = parameter('A');
const B = parameter('B');
const MAYBE = optionalOf(A);

/** False, zero, and what is empty. */
function isZero(frame: Frame, value: unknown): boolean {
  if (value === null || value === false || value === '' || value === 0) return true;
  if (value instanceof UInt) return value.value === 0n;
  if (value instanceof Double) return value.value === 0;
  if (value instanceof Duration) return value.nanos === 0n;
  if (value instanceof Quantity) return value.isZero;
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0;
  if (!isMap(value)) return false;
  const size = mapSize(value);
  frame.spend(2 * size);
  return size === 0;
}
const maybe = (value: unknown): Optional => (value === undefined ? NONE : new Optional(value));

export const optionalFunctions: readonly Overload[] = [
  global('optional.of', [A], MAYBE, (_, value: unknown) => new Optional(value)),
  global('optional.none', [], MAYBE, () => NONE),
  global('optional.ofNonZeroValue', [A], MAYBE, (frame, value: unknown) => (isZero(frame, value) ? NONE : new Optional(value))),
  member('hasValue', [MAYBE], BOOL, (_, { present }: Optional) => present),
  member('value', [MAYBE], A, (_, { present, value }: Optional) => (present ? value : fail('optional.none() dereference'))),
  global('_[?_]', [listOf(A), INT], MAYBE, (_, list: readonly unknown[], index: unknown) => maybe(itemOf(list, index))),
  global('_[?_]', [mapOf(A, B), A], optionalOf(B), (_, map: CelMap, key: unknown) => maybe(lookUp(map, key))),
  global('_[?_]', [optionalOf(listOf(A)), INT], MAYBE, (_, { value }: Optional, index: unknown) =>
    value === undefined ? NONE : maybe(itemOf(value as readonly unknown[], index)),
  ),
  global('_[?_]', [optionalOf(mapOf(A, B)), A], optionalOf(B), (_, { value }: Optional, key: unknown) =>
    value === undefined ? NONE : maybe(lookUp(value as CelMap, key)),
  ),
  // A part of an optional value is an optional one.
  global('_[_]', [optionalOf(listOf(A)), INT], MAYBE, (_, { value }: Optional, index: unknown) =>
    value === undefined ? NONE : maybe(itemOf(value as readonly unknown[], index)),
  ),
  global('_[_]', [optionalOf(mapOf(A, B)), A], optionalOf(B), (_, { value }: Optional, key: unknown) =>
    value === undefined ? NONE : maybe(lookUp(value as CelMap, key)),
  ),
];
function unwrapped(frame: Frame, list: readonly unknown[]): readonly unknown[] {
  frame.spend(list.length);
  const values: unknown[] = [];
  for (const item of list) {
    if (!(item instanceof Optional)) fail('value is not optional');
    else if (item.present) values.push(item.value);
  }
  return values;
}
/** Those of the second version of the library. */
export const newerOptionalFunctions: readonly Overload[] = [
  member('first', [listOf(A)], MAYBE, (_, list: readonly unknown[]) => maybe(list[0])),
  member('last', [listOf(A)], MAYBE, (_, list: readonly unknown[]) => maybe(list[list.length - 1])),
  global('optional.unwrap', [listOf(MAYBE)], listOf(A), unwrapped),
  member('unwrapOpt', [listOf(MAYBE)], listOf(A), unwrapped),
];
/** `a.or(b)` and `a.orValue(b)` look at `b` only where there is no `a`: the evaluation does that (plan.ts). */
export const lazyOptionalFunctions: readonly Overload[] = [
  member('or', [MAYBE, MAYBE], MAYBE, (_, a: Optional, b: Optional) => (a.present ? a : b)),
  member('orValue', [MAYBE, A], A, (_, a: Optional, b: unknown) => (a.present ? a.value : b)),
];
