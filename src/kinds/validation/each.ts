import type { Path } from '../../meta/field.ts';

/** Checks every item of a list that may be absent; `at` is where the list stands. */
export function each<T>(list: readonly T[] | undefined, at: Path, check: (item: T, at: Path, index: number) => void): void {
  if (list === undefined) return;
  for (let i = 0; i < list.length; i++) check(list[i] as T, at.index(i), i);
}
