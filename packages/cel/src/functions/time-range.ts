/** The times that there are: from year 1 to the end of year 9999. */
import { fail } from '../errors.ts';
import { Timestamp } from '../values.ts';

const FIRST = -62_135_596_800_000_000_000n;
const LAST = 253_402_300_799_999_999_999n;

export function checkedTimestamp(nanos: bigint): Timestamp {
  if (nanos < FIRST || nanos > LAST) fail('timestamp overflow');
  return new Timestamp(nanos);
}
