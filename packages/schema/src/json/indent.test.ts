import { jsonText } from '@plat-dev/lib/json-text';
import fc from '@plat-dev/lib/testing/fast-check.testing';
import { expect, test } from 'vitest';
import { indentedJson, indentJson } from './indent.ts';

const indented = (value: unknown, margin: number): string => jsonText(value, 2).replaceAll('\n', `\n${' '.repeat(margin)}`);

test('any value is indented as the engine does it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(0, 4), (value, margin) => {
      const known = JSON.parse(JSON.stringify(value)) as unknown;
      expect(indentJson(Buffer.from(jsonText(known)), margin).toString()).toBe(indented(known, margin));
    }),
  );
});

test.each([
  [{}],
  [[]],
  [{ a: {}, b: [], c: [[], {}] }],
  ['a "text" with , : { } [ ] \\ and \n'],
  [{ 'a "key": {': '\\', b: '\\"' }],
  [[null, true, -1.5e-7]],
])('%j', (value) => {
  expect(indentJson(Buffer.from(jsonText(value))).toString()).toBe(indented(value, 0));
});

test.each<[string, unknown, number]>([
  ['many keys', Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key ${i}`, { i }])), 10],
  ['many items', Array.from({ length: 50_000 }, (_, i) => i), 5],
  ['a long text between others', { a: 1, b: 'x"'.repeat(200_000), c: [2] }, 1],
  ['a deep value', Array.from({ length: 900 }).reduce((inner) => ({ inner }), 1), 10],
])('%s: the work can be interrupted', (_, value, least) => {
  const work = indentedJson(Buffer.from(jsonText(value)), 4);
  let pauses = 0;
  let step = work.next();
  for (; !step.done; step = work.next()) pauses++;
  expect(step.value.toString()).toBe(indented(value, 4));
  expect(pauses).toBeGreaterThanOrEqual(least);
});
