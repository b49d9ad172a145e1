import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { copied } from './copied.testing.ts';

test.each([
  ['nested lists and objects', { a: [1, { b: null, c: undefined }, []], d: {} }],
  ['a member named __proto__', JSON.parse('{"a":{"__proto__":{"b":1}}}')],
  ['bytes and times', { bytes: new Uint8Array([1, 2]), at: new Date(0) }],
  ['a text', 'x'],
])('%s: equal to what was copied, and nothing of it is shared', (_, value) => {
  const copy = copied(value);
  expect(isDeepStrictEqual(copy, value)).toBe(true);
  const shares = (a: unknown, b: unknown): boolean =>
    typeof a === 'object' &&
    a !== null &&
    (a === b || Object.keys(a).some((key) => shares(Reflect.get(a, key), Reflect.get(b as object, key))));
  expect(shares(copy, value)).toBe(false);
  expect(Object.getPrototypeOf(Object(copy))).toBe(Object.getPrototypeOf(Object(value)));
});
