import type { Toleration } from '@plat-dev/kinds/core/schema/pods/scheduling';
import { equal } from '@plat-dev/lib/equal';
import { expectEqual } from '@plat-dev/lib/testing/expect-equal.testing';
import fc, { rounds } from '@plat-dev/lib/testing/fast-check.testing';
import { expect, test } from 'vitest';
import { covers, mergeTolerations } from './tolerations.ts';

/** The rule as it reads: each is compared with all others. */
function plainly(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second];
  const merged: Toleration[] = [];
  all.forEach((toleration, i) => {
    if (merged.some((kept) => covers(kept, toleration))) return;
    if (all.slice(i + 1).some((later) => !equal(later, toleration) && covers(later, toleration))) return;
    merged.push(toleration);
  });
  return merged;
}

const some = <T>(...values: T[]) => fc.constantFrom(undefined, ...values);
const toleration = fc
  .record({
    key: some('a', 'b'),
    operator: some('Exists', 'Equal', 'Other'),
    value: some('x', 'y'),
    effect: some('NoSchedule', 'NoExecute'),
    tolerationSeconds: some(0, 5, 9),
  })
  .map((given) => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Toleration);

test('merging says what comparing each with all others says', () => {
  const list = fc.array(toleration, { maxLength: 8 });
  fc.assert(
    fc.property(list, list, (first, second) => {
      expectEqual(mergeTolerations(first, second), plainly(first, second));
    }),
    { numRuns: rounds(2_000) },
  );
});

test.each([
  ['of many keys', (i: number) => ({ key: `k${i}`, operator: 'Exists' })],
  ['of many times', (i: number) => ({ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: i })],
  ['of many values', (i: number) => ({ key: 'a', operator: 'Equal', value: `v${i}` })],
])('the work of merging tolerations %s grows with the list', (_, make) => {
  const reads = (length: number): number => {
    let count = 0;
    const counted = Array.from(
      { length },
      (_, i) =>
        new Proxy(make(i), {
          get(target, name) {
            count++;
            return Reflect.get(target, name);
          },
        }) as Toleration,
    );
    mergeTolerations(counted.slice(0, length / 2), counted.slice(length / 2));
    return count;
  };
  expect(reads(4_000)).toBeLessThan(2.5 * reads(2_000));
});
