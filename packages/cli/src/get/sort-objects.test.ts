import { expect, test } from 'vitest';
import { naturalOrder, sortedBy } from './sort-objects.ts';

const sorted = (values: readonly unknown[]): unknown[] =>
  sortedBy(
    values.map((v) => ({ v })),
    '.v',
    (one) => one,
  ).map(({ v }) => v);

test.each([
  ['numbers', [10, 9, -1], [-1, 9, 10]],
  ['texts with numbers in them', ['pod-10', 'pod-9', 'pod-09', 'a'], ['a', 'pod-9', 'pod-09', 'pod-10']],
  ['quantities', ['1Gi', '500Mi', '2'], ['2', '500Mi', '1Gi']],
  ['times', ['2024-02-01T00:00:00Z', '2023-12-01T00:00:00Z'], ['2023-12-01T00:00:00Z', '2024-02-01T00:00:00Z']],
  ['booleans', [true, false], [false, true]],
  ['no value first', ['b', undefined, 'a', null], [undefined, null, 'a', 'b']],
])('%s', (_, values, expected) => {
  expect(sorted(values)).toEqual(expected);
});

test('equal ones stay in order', () => {
  const entries = [
    { v: 1, n: 'a' },
    { v: 0, n: 'b' },
    { v: 1, n: 'c' },
  ];
  expect(sortedBy(entries, 'v', (one) => one).map(({ n }) => n)).toEqual(['b', 'a', 'c']);
});

test('values that cannot be compared, fields that nothing has', () => {
  expect(() => sorted([1, 'a'])).toThrow('values must be texts or numbers, and all of them of the same type');
  expect(() => sorted([{}, {}])).toThrow('values must be texts or numbers');
  expect(() => sortedBy([{ metadata: { name: 'a' } }], '{.metadata.nmae}', (one) => one)).toThrow(
    `couldn't find any field with path "{.metadata.nmae}" in the list of objects (did you mean name?)`,
  );
  expect(sortedBy([], '.x', (one) => one)).toEqual([]);
});

test('natural order', () => {
  expect(['a10', 'a2', 'a', '', 'b1', 'a02'].sort(naturalOrder)).toEqual(['', 'a', 'a2', 'a02', 'a10', 'b1']);
});
