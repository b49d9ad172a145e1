import { posix, win32 } from 'node:path';
import { expect, test } from 'vitest';
import { isWithin } from './path-within.ts';

test.each([
  ['/a', '/a', true],
  ['/a/b/c', '/a', true],
  ['/a/..b', '/a', true],
  ['/', '/a', false],
  ['/ab', '/a', false],
])('%s in %s: %s', (path, directory, expected) => {
  expect(isWithin(path, directory, posix)).toBe(expected);
  expect(isWithin(`C:${path.replaceAll('/', '\\')}`, `c:${directory.replaceAll('/', '\\')}`, win32)).toBe(expected);
});

test('nothing of one drive is in a directory of another', () => {
  expect(isWithin('D:\\a\\b', 'C:\\a', win32)).toBe(false);
});
