import { expect, test } from 'vitest';
import { isOwn } from './private-file.ts';

test('a file is own by its owner and mode, where the system has these', () => {
  expect(isOwn({ uid: 7, mode: 0o100600 }, 7)).toBe(true);
  expect(isOwn({ uid: 7, mode: 0o100620 }, 7)).toBe(false);
  expect(isOwn({ uid: 8, mode: 0o100600 }, 7)).toBe(false);
  expect(isOwn({ uid: 0, mode: 0o100666 }, undefined)).toBe(true);
});
