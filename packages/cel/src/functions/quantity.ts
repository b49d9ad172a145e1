/** Amounts of resources: `quantity('1.5Gi')`. */
import { MAX_INT64, MIN_INT64, toInteger } from '@plat-dev/lib/integers';
import { parseQuantity, Quantity, QuantityError, quantityOf } from '@plat-dev/lib/quantity';
import { ERROR_UNITS, type Frame } from '../budget.ts';
import { Failure, fail } from '../errors.ts';
import { reads } from '../prices.ts';
import { BOOL, DOUBLE, INT, QUANTITY, STRING } from '../types.ts';

import { global, member, type Overload } from './signature.ts';

/** Units of reading an amount. */
const READ_UNITS = 80;
/** Units of computing with an amount, or of its number. */
const NUMBER_UNITS = 40;
/** What cannot be an amount. */
const shape = /^[+-]?[0-9.]+(?:[eEinumkKMGTP]{0,2}[-+]?[0-9]*)$/;

function read(frame: Frame, text: string): Quantity {
  frame.spend(READ_UNITS);
  try {
    return parseQuantity(text);
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    frame.spend(ERROR_UNITS);
    throw new Failure(error.message);
  }
}
function isQuantity(frame: Frame, text: string): boolean {
  frame.spend(READ_UNITS);
  if (text.length > 512 || !shape.test(text)) return false;
  try {
    parseQuantity(text);
    return true;
  } catch {
    frame.spend(ERROR_UNITS);
    return false;
  }
}
/** Two amounts of very different size are large numbers while they are added or compared. */
function spendBoth(frame: Frame, a: Quantity, b: Quantity): void {
  frame.spend(NUMBER_UNITS + Math.abs(a.scale - b.scale) / 2);
}
const two =
  <T>(operate: (a: Quantity, b: Quantity) => T) =>
  (frame: Frame, a: Quantity, other: Quantity | number | bigint): T => {
    const b = other instanceof Quantity ? other : quantityOf(other);
    spendBoth(frame, a, b);
    return operate(a, b);
  };
const add = two((a, b) => a.add(b));
const sub = two((a, b) => a.sub(b));
/** Whether it is a whole number that an int can hold. */
const isInteger = (quantity: Quantity): boolean =>
  quantity.isMultipleOf(0) && quantity.value() <= MAX_INT64 && quantity.value() >= MIN_INT64;

export const quantityFunctions: readonly Overload[] = [
  global('quantity', [STRING], QUANTITY, read, reads(0)),
  global('isQuantity', [STRING], BOOL, isQuantity, reads(0)),
  member('isInteger', [QUANTITY], BOOL, (frame, quantity: Quantity) => {
    frame.spend(NUMBER_UNITS);
    return isInteger(quantity);
  }),
  member('asInteger', [QUANTITY], INT, (frame, quantity: Quantity) => {
    frame.spend(NUMBER_UNITS);
    return isInteger(quantity) ? toInteger(quantity.value()) : fail('cannot convert value to integer');
  }),
  member('asApproximateFloat', [QUANTITY], DOUBLE, (frame, quantity: Quantity) => {
    frame.spend(NUMBER_UNITS);
    return quantity.toNumber();
  }),
  global('sign', [QUANTITY], INT, (_, quantity: Quantity) => quantity.sign),
  member(
    'compareTo',
    [QUANTITY, QUANTITY],
    INT,
    two((a, b) => a.compare(b)),
  ),
  member(
    'isLessThan',
    [QUANTITY, QUANTITY],
    BOOL,
    two((a, b) => a.compare(b) < 0),
  ),
  member(
    'isGreaterThan',
    [QUANTITY, QUANTITY],
    BOOL,
    two((a, b) => a.compare(b) > 0),
  ),
  member('add', [QUANTITY, QUANTITY], QUANTITY, add),
  member('add', [QUANTITY, INT], QUANTITY, add),
  member('sub', [QUANTITY, QUANTITY], QUANTITY, sub),
  member('sub', [QUANTITY, INT], QUANTITY, sub),
];
/** Not of any stock server. */
export const moreQuantityFunctions: readonly Overload[] = [member('sign', [QUANTITY], INT, (_, quantity: Quantity) => quantity.sign)];
