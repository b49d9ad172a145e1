import { jsonText } from '@plat-dev/lib/json-text';
import { atOnce } from '@plat-dev/lib/slices';
import fc from '@plat-dev/lib/testing/fast-check.testing';
import { expect, test } from 'vitest';
import { parseExact } from './parse.ts';
import { parsedExact } from './parse-parts.ts';

const read = (text: string): unknown => atOnce(parsedExact(Buffer.from(text)));
/** Longer than a part. */
const long = 'x'.repeat(40_000);
const numbers = Array.from({ length: 20_000 }, (_, i) => i);

test.each([
  ['one long list', numbers],
  ['one long object', Object.fromEntries(numbers.map((i) => [`k${i}`, { i }]))],
  [
    'a long list within small values',
    { kind: 'Pod', spec: { containers: [{ env: numbers.map((i) => ({ name: `N${i}` })) }], last: 1 }, z: [] },
  ],
  ['long strings and keys', { a: long, [long]: [long, 1, `${long}"]},\\`, ''], empty: {} }],
  ['keys that objects have of their own', { constructor: long, b: { toString: long } }],
])('%s is parsed as a whole would be', (_, value) => {
  const text = jsonText(value);
  expect(read(text)).toEqual(value);
  expect(jsonText(read(jsonText(value, 2)))).toBe(text);
});

test('integers are exact, a key that is repeated has its last value, and __proto__ is a key', () => {
  expect(read(`{"pad":"${long}","n":9007199254740993,"list":[1,9007199254740993]}`)).toMatchObject({
    n: 9007199254740993n,
    list: [1, 9007199254740993n],
  });
  expect(read(`{"a":1,"b":2,"pad":"${long}","a":"${long}","b":3}`)).toEqual({ a: long, b: 3, pad: long });
  const value = read(`{"__proto__":{"a":1},"pad":"${long}"}`) as object;
  expect([Object.getPrototypeOf(value), Object.keys(value)]).toEqual([Object.prototype, ['__proto__', 'pad']]);
});

test.each([
  '',
  '@',
  '@ 1',
  '[@',
  '[@,',
  '[@,]',
  '[,@]',
  '[1,,@]',
  '[@}',
  '[@ 1]',
  '[@] 1',
  '[@]]',
  '{@}',
  '{"a":@',
  '{"a":@,}',
  '{"a" @}',
  '{@:1}',
  '{@ 1}',
  '{"a":1 "b":@}',
  '{"a":[}],"b":@}',
  '{1:@}',
])('what is not JSON is refused as by the engine, and what is, is not: %j', (form) => {
  for (const part of [jsonText(long), `[${jsonText(long)}]`, `"${long}`, '9'.repeat(40_000)]) {
    const text = form.replace('@', part);
    let expected: unknown;
    try {
      expected = parseExact(text);
    } catch (error) {
      expect(() => read(text)).toThrow(error as Error);
      continue;
    }
    expect(read(text)).toEqual(expected);
  }
});

test('any values beside a long one', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.jsonValue(), fc.constantFrom(undefined, 1), (list, value, space) => {
      const text = jsonText({ list, long, inner: { value, list: [value, long, ...list] }, value }, space);
      expect(read(text)).toEqual(parseExact(text));
    }),
  );
});

test.each([100, 900, 5_000])('a value that is nested %d times', (depth) => {
  let value = read(`${'['.repeat(depth)}"${long}"${']'.repeat(depth)}`);
  for (let i = 0; i < depth; i++) value = (value as unknown[])[0];
  expect(value).toBe(long);
});

test('it yields for every part of lists, objects and strings of many escapes', () => {
  const yieldsOf = (value: unknown): number => [...parsedExact(Buffer.from(jsonText(value)))].length;
  const parts = (value: unknown): number => jsonText(value).length / (32 * 1024);
  for (const value of [
    numbers,
    Object.fromEntries(numbers.map((i) => [`k${i}`, i])),
    { spec: { list: numbers.map((i) => ({ a: { b: i } })) } },
    { a: '"'.repeat(200_000) },
  ])
    expect(yieldsOf(value)).toBeGreaterThan(parts(value) - 2);
});
