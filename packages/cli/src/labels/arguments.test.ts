import { expect, test } from 'vitest';
import { readChanges } from './arguments.ts';

test('args name objects until the first change', () => {
  const { args, pairs } = readChanges(['pods', 'a-b', 'x=1', 'y-', 'z=', 'w=a=b']);
  expect(args).toEqual(['pods', 'a-b']);
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
])('%j is refused', (args, message) => {
  expect(() => readChanges(args)).toThrow(message);
});
