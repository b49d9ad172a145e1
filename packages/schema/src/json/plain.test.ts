import { atOnce } from '@plat-dev/lib/slices';
import fc from '@plat-dev/lib/testing/fast-check.testing';
import { expect, test } from 'vitest';
import { maxDepth } from '../errors.ts';
import { clonedJson, cloneJson } from './plain.ts';

test('a copy with pauses is that without', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const copy = atOnce(clonedJson(value));
      expect(copy).toEqual(cloneJson(value));
      expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
      if (typeof value === 'object' && value !== null) expect(copy).not.toBe(value);
    }),
  );
});
test('it yields after some entries, of wide lists and objects or of many small ones', () => {
  const steps = (value: unknown): number => [...clonedJson(value)].length;
  const numbers = Array.from({ length: 10_240 }, (_, i) => i);
  const wideObject = (): object => Object.fromEntries(numbers.map((i) => [`k${i}`, i]));
  expect(steps(Array.from({ length: 10 }, () => [...numbers]))).toBeGreaterThanOrEqual(9);
  expect(steps(Array.from({ length: 10 }, wideObject))).toBeGreaterThanOrEqual(9);
  expect(steps(numbers.map((i) => ({ a: { b: i } })))).toBeGreaterThanOrEqual(30);
});
test('where a copy is the original itself, nothing is written to it', () => {
  const deepFrozen = (value: object): object => {
    for (const item of Object.values(value)) if (typeof item === 'object') deepFrozen(item);
    return Object.freeze(value);
  };
  const value = deepFrozen({ list: Array.from({ length: 3000 }, (_, i) => ({ a: { b: [i] } })) });
  expect(atOnce(clonedJson(value, (container) => container))).toBe(value);
});
test('it copies a key of the name of the prototype as any other, and nothing that is nested too deeply', () => {
  const value = JSON.parse('{"__proto__":{"a":[1]}}');
  const copy = atOnce(clonedJson(value)) as object;
  expect([Object.keys(copy), JSON.stringify(copy), Object.getPrototypeOf(copy)]).toEqual([
    ['__proto__'],
    '{"__proto__":{"a":[1]}}',
    Object.prototype,
  ]);
  const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
  expect(() => atOnce(clonedJson(nested(maxDepth + 1)))).not.toThrow();
  expect(() => atOnce(clonedJson(nested(maxDepth + 2)))).toThrow('exceeded max depth');
});
