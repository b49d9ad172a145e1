/** Whether two states of a status are the same. A count of zero is not stored, so it is as good as none. */
import { equal } from '@plat-dev/lib/equal';

export function sameStatus(a: object | undefined, b: object): boolean {
  return equal(withoutZeros(a ?? {}), withoutZeros(b));
}
const withoutZeros = (status: object): object => Object.fromEntries(Object.entries(status).filter(([, value]) => value !== 0));
