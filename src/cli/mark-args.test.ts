import { expect, test } from 'vitest';
import { readChanges } from './mark-args.ts';

test('words name objects until the first change', () => {
  const { words, pairs } = readChanges(['pods', 'a-b', 'x=1', 'y-', 'z=', 'w=a=b']);
  expect(words).toEqual(['pods', 'a-b']);
  expect([...pairs]).toEqual([
    ['x', '1'],
    ['y', null],
    ['z', ''],
    ['w', 'a=b'],
  ]);
});

test.each([
  [['pods', 'x=1', 'b'], 'objects come before them'],
  [['pods', 'x=1', 'x-'], '"x" is given twice'],
  [['pods', '=1'], 'has no key'],
])('%j is refused', (words, message) => {
  expect(() => readChanges(words)).toThrow(message);
});
