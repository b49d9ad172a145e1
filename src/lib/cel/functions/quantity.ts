/** Amounts of resources: `quantity('1.5Gi')`. */
import { parseQuantity, type Quantity, QuantityError, quantityOf } from '../../quantity.ts';
import { Failure, fail } from '../errors.ts';
import { reads } from '../estimates.ts';
import { BOOL, DOUBLE, INT, QUANTITY, STRING } from '../types.ts';
import { MAX_INT, MIN_INT, plainInt } from '../values.ts';
import { global, member, type Overload } from './signature.ts';

function read(text: string): Quantity {
  try {
    return parseQuantity(text);
  } catch (error) {
    if (error instanceof QuantityError) throw new Failure(error.message);
    throw error;
  }
}
function isQuantity(text: string): boolean {
  try {
    parseQuantity(text);
    return true;
  } catch {
    return false;
  }
}
/** Whether it is a whole number that an int can hold. */
const isInteger = (quantity: Quantity): boolean => quantity.isMultipleOf(0) && quantity.value() <= MAX_INT && quantity.value() >= MIN_INT;

export const quantityFunctions: readonly Overload[] = [
  global('quantity', [STRING], QUANTITY, (_, text: string) => read(text), reads(0)),
  global(
    'isQuantity',
    [STRING],
    BOOL,
    (frame, text: string) => {
      // A text that is none is found out by an error, which takes long.
      frame.spend(100);
      return isQuantity(text);
    },
    reads(0),
  ),
  member('isInteger', [QUANTITY], BOOL, (_, quantity: Quantity) => isInteger(quantity)),
  member('asInteger', [QUANTITY], INT, (_, quantity: Quantity) =>
    isInteger(quantity) ? plainInt(quantity.value()) : fail('cannot convert value to integer'),
  ),
  member('asApproximateFloat', [QUANTITY], DOUBLE, (_, quantity: Quantity) => quantity.toNumber()),
  member('sign', [QUANTITY], INT, (_, quantity: Quantity) => quantity.sign),
  member('compareTo', [QUANTITY, QUANTITY], INT, (_, a: Quantity, b: Quantity) => a.compare(b)),
  member('isLessThan', [QUANTITY, QUANTITY], BOOL, (_, a: Quantity, b: Quantity) => a.compare(b) < 0),
  member('isGreaterThan', [QUANTITY, QUANTITY], BOOL, (_, a: Quantity, b: Quantity) => a.compare(b) > 0),
  member('add', [QUANTITY, QUANTITY], QUANTITY, (_, a: Quantity, b: Quantity) => a.add(b)),
  member('add', [QUANTITY, INT], QUANTITY, (_, a: Quantity, b: number | bigint) => a.add(quantityOf(b))),
  member('sub', [QUANTITY, QUANTITY], QUANTITY, (_, a: Quantity, b: Quantity) => a.sub(b)),
  member('sub', [QUANTITY, INT], QUANTITY, (_, a: Quantity, b: number | bigint) => a.sub(quantityOf(b))),
];
