import { atOnce } from '@plat-dev/lib/slices';
import fc from '@plat-dev/lib/testing/fast-check.testing';
import { expect, test } from 'vitest';
import { maxDepth } from '../errors.ts';
import { cloneJson, cloneSteps } from './plain.ts';

test('a copy in steps is that of one step', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const copy = atOnce(cloneSteps(value));
      expect(copy).toEqual(cloneJson(value));
      expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
      if (typeof value === 'object' && value !== null) expect(copy).not.toBe(value);
    }),
  );
});
test('it yields after some entries, of one list, one object or many', () => {
  const steps = (value: unknown): number => [...cloneSteps(value)].length;
  const numbers = Array.from({ length: 10_240 }, (_, i) => i);
  expect(steps(numbers)).toBe(10);
  expect(steps(Object.fromEntries(numbers.map((i) => [`k${i}`, i])))).toBe(10);
  expect(steps(numbers.map((i) => ({ a: { b: i } })))).toBeGreaterThanOrEqual(30);
});
test('it copies a key of the name of the prototype as any other, and nothing that is nested too deeply', () => {
  const value = JSON.parse('{"__proto__":{"a":[1]}}');
  const copy = atOnce(cloneSteps(value)) as object;
  expect([Object.keys(copy), JSON.stringify(copy), Object.getPrototypeOf(copy)]).toEqual([
    ['__proto__'],
    '{"__proto__":{"a":[1]}}',
    Object.prototype,
  ]);
  const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
  expect(() => atOnce(cloneSteps(nested(maxDepth + 1)))).not.toThrow();
  expect(() => atOnce(cloneSteps(nested(maxDepth + 2)))).toThrow('exceeded max depth');
});
