import { expect, test } from 'vitest';
import { atOnce } from './slices.ts';
import { sortedList } from './sorted-list.ts';
import fc from './testing/fast-check.testing.ts';

const byRank = (a: { rank: number }, b: { rank: number }): number => a.rank - b.rank;

test('lists of any length are sorted as Array.prototype.sort does, equal items in the order in which they came', () => {
  const lengths = fc.constantFrom(0, 1, 2, 1023, 1024, 1025, 2048, 2049, 3000, 5000);
  fc.assert(
    fc.property(lengths, fc.integer({ min: 1, max: 2 ** 30 }), (length, factor) => {
      const items = Array.from({ length }, (_, at) => ({ rank: ((at + 1) * factor) % 101, at }));
      expect(atOnce(sortedList([...items], byRank))).toEqual([...items].sort(byRank));
    }),
    { numRuns: 30 },
  );
});

test('a list is sorted in place, and with a pause after a thousand comparisons or so', () => {
  const items = Array.from({ length: 20_000 }, (_, at) => ({ rank: (at * 7919) % 20_011 }));
  let compared = 0;
  let most = 0;
  const work = sortedList(items, (a, b) => {
    compared++;
    return byRank(a, b);
  });
  let step = work.next();
  for (; !step.done; step = work.next()) {
    most = Math.max(most, compared);
    compared = 0;
  }
  expect(step.value).toBe(items);
  expect(items.every(({ rank }, i) => i === 0 || (items[i - 1] as { rank: number }).rank <= rank)).toBe(true);
  // Sorting a run of 1024 takes at most 10 comparisons an item.
  expect(most).toBeLessThanOrEqual(10_240);
});
