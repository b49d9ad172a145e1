/** Lists with a bound: a longer one is reported as such, and its items are not looked at. */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { each } from '../validation/each.ts';

type Check<T> = (item: T, at: Path) => void;

export function eachUpTo<T>(most: number, list: readonly T[] | undefined, at: Path, errors: FieldErrors, check: Check<T>): void {
  if (list !== undefined && list.length > most) errors.tooMany(at, list.length, most);
  else each(list, at, check);
}

/** The same for a list whose items have keys of their own: duplicates are reported after the items. */
export function eachOnceUpTo<T>(
  most: number,
  list: readonly T[] | undefined,
  at: Path,
  errors: FieldErrors,
  keyOf: (item: T) => string,
  check: Check<T>,
): void {
  eachUpTo(most, list, at, errors, check);
  if (list === undefined || list.length > most) return;
  const keys = new Set<string>();
  each(list, at, (item, here) => {
    const key = keyOf(item);
    if (keys.has(key)) errors.duplicate(here, key);
    keys.add(key);
  });
}
export const itself = (text: string): string => text;
