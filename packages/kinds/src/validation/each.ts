import type { Path } from '@plat-dev/meta/field';

/** For each member of a list, whether an equal one comes before it. Members are compared by their text. */
export function repeats<T>(list: readonly T[], textOf: (member: T) => string): boolean[] {
  const visitedTexts = new Set<string>();
  return list.map((member) => {
    const text = textOf(member);
    if (visitedTexts.has(text)) return true;
    visitedTexts.add(text);
    return false;
  });
}
const itself = (text: string): string => text;
/** The same for texts. */
export const repeatedTexts = (list: readonly string[]): boolean[] => repeats(list, itself);

/** Checks every item of a list that may be absent; `at` is the path of the list. */
export function each<T>(list: readonly T[] | undefined, at: Path, check: (item: T, at: Path, index: number) => void): void {
  if (list === undefined) return;
  for (let i = 0; i < list.length; i++) check(list[i] as T, at.index(i), i);
}
