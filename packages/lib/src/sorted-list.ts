/** Sorting that can be interrupted, for long lists: stable, with the result of Array.prototype.sort. */
import type { Work } from './slices.ts';

/** Items that are sorted or put in place between two yields. */
const ITEMS_A_STEP = 1024;

/** Sorts a list in place. */
export function* sortedList<T>(items: T[], compare: (a: T, b: T) => number): Work<T[]> {
  for (let from = 0; from < items.length; from += ITEMS_A_STEP) {
    const run = items.slice(from, from + ITEMS_A_STEP).sort(compare);
    for (let i = 0; i < run.length; i++) items[from + i] = run[i] as T;
    yield;
  }
  let source = items;
  let target = items.slice();
  for (let width = ITEMS_A_STEP; width < items.length; width *= 2) {
    for (let from = 0; from < items.length; from += 2 * width) yield* mergedRuns(source, target, from, width, compare);
    [source, target] = [target, source];
  }
  if (source !== items) for (let i = 0; i < items.length; i++) items[i] = source[i] as T;
  return items;
}

/** Keys that have a value, in the order of text. */
export function* sortedKeys(value: object): Work<string[]> {
  const keys = Object.keys(value).filter((key) => (value as Record<string, unknown>)[key] !== undefined);
  return keys.length <= ITEMS_A_STEP ? keys.sort() : yield* sortedList(keys, (a, b) => (a < b ? -1 : 1));
}

/** Merges two runs of `width` items that follow each other. */
function* mergedRuns<T>(source: readonly T[], target: T[], from: number, width: number, compare: (a: T, b: T) => number): Work<void> {
  const middle = Math.min(from + width, source.length);
  const end = Math.min(from + 2 * width, source.length);
  let left = from;
  let right = middle;
  for (let to = from; to < end; to++) {
    const takesLeft = left < middle && (right >= end || compare(source[left] as T, source[right] as T) <= 0);
    target[to] = source[takesLeft ? left++ : right++] as T;
    if (to % ITEMS_A_STEP === 0) yield;
  }
}
