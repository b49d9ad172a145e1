import { type Integer, integerOf, isInteger } from '@plat-dev/lib/integers';
import { badRequest } from '@plat-dev/meta/errors';

/** An integer of a query: an int64 in decimal digits. Throws ApiError. */
export function queryInteger(text: string): Integer {
  const refusal = (why: string): Error => badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${why}`);
  if (!/^[+-]?\d+$/.test(text)) throw refusal('invalid syntax');
  const value = integerOf(text);
  if (!isInteger(value)) throw refusal('value out of range');
  return value;
}
