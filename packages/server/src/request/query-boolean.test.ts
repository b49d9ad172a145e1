import { expect, test } from 'vitest';
import { isWatch, queryBoolean } from './query-boolean.ts';

test.each(['', '1', 't', 'T', 'true', 'True', 'TRUE', 'tRuE'])('"%s" is true', (text) => {
  expect(queryBoolean('force', text)).toBe(true);
  expect(isWatch(text)).toBe(true);
});

test.each(['0', 'f', 'F', 'false', 'False', 'FALSE', 'fAlSe'])('"%s" is false', (text) => {
  expect(queryBoolean('force', text)).toBe(false);
  expect(isWatch(text)).toBe(false);
});

test('a parameter that is not given has no value', () => {
  expect(queryBoolean('force', undefined)).toBeUndefined();
  expect(isWatch(undefined)).toBe(false);
});

test.each(['yes', 'no', '2', 'true ', 'off', 'nil', '00'])('"%s" is refused, and needs the right to watch until then', (text) => {
  expect(() => queryBoolean('force', text)).toThrow(`query parameter "force" must be true or false, not ${JSON.stringify(text)}`);
  expect(isWatch(text)).toBe(true);
});
