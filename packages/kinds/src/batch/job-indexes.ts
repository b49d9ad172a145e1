/** Indexes of pods of a job, as text: `0-2,5`. */

interface Interval {
  readonly first: number;
  readonly last: number;
}

const quote = (text: string): string => JSON.stringify(text);

/** Throws an Error that says what is wrong. */
function readInterval(text: string, completions: number): Interval {
  const limits = text.split('-');
  if (limits.length > 2)
    throw new Error(
      `the fragment ${quote(text)} violates the requirement that an index interval can have at most two parts separated by '-'`,
    );
  const [first = 0, last = first] = limits.map((limit) => {
    if (!/^[+]?[0-9]+$/.test(limit)) throw new Error(`cannot convert string to integer for index: ${quote(limit)}`);
    const index = Number(limit);
    if (index >= completions) throw new Error(`too large index: ${quote(limit)}`);
    return index;
  });
  if (limits.length > 1 && first >= last) throw new Error(`non-increasing order, previous: ${first}, current: ${last}`);
  return { first, last };
}

/** The indexes below `completions`, in order. Throws an Error that says what is wrong. */
export function readIndexes(text: string, completions: number): Interval[] {
  if (text === '') return [];
  const intervals: Interval[] = [];
  for (const part of text.split(',')) {
    const interval = readInterval(part, completions);
    const previous = intervals.at(-1);
    if (previous !== undefined && previous.last >= interval.first)
      throw new Error(`non-increasing order, previous: ${previous.last}, current: ${interval.first}`);
    intervals.push(interval);
  }
  return intervals;
}

export const countIndexes = (intervals: readonly Interval[]): number =>
  intervals.reduce((count, { first, last }) => count + last - first + 1, 0);

/** What is wrong with the text of indexes; undefined if nothing is. */
export function indexesProblem(text: string, completions: number): string | undefined {
  try {
    readIndexes(text, completions);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The first index that two lists share; texts that cannot be read share none. */
export function sharedIndex(one: string, other: string, completions: number): number | undefined {
  if (indexesProblem(one, completions) !== undefined || indexesProblem(other, completions) !== undefined) return undefined;
  const [a, b] = [readIndexes(one, completions), readIndexes(other, completions)];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const [x, y] = [a[i] as Interval, b[j] as Interval];
    if (x.first <= y.last && y.first <= x.last) return Math.max(x.first, y.first);
    if (x.first <= y.first) i++;
    else j++;
  }
  return undefined;
}
