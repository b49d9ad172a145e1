import { atOnce } from '@plat-dev/lib/slices';
import fc from '@plat-dev/lib/testing/fast-check.testing';
import type { JsonValue } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import { type ChangeOperation, jsonDiff as jsonDiffWork } from './json-diff.ts';
import { jsonPatch } from './json-patch.ts';

const jsonDiff = (from: JsonValue, to: JsonValue): ChangeOperation[] => atOnce(jsonDiffWork(from, to));

test('fields and items that were added, removed and replaced', () => {
  expect(jsonDiff({ a: 1, b: [1, 2], d: { e: 1 } }, { b: [1, 3], c: 1, d: { e: 1 } })).toEqual([
    { op: 'remove', path: '/a' },
    { op: 'replace', path: '/b/1', value: 3 },
    { op: 'add', path: '/c', value: 1 },
  ]);
});

test('an item that is added or removed within a list is one operation', () => {
  expect(jsonDiff({ l: ['a', 'b', 'c'] }, { l: ['a', 'c'] })).toEqual([{ op: 'remove', path: '/l/1' }]);
  expect(jsonDiff({ l: ['a', 'c'] }, { l: ['a', 'b', 'c'] })).toEqual([{ op: 'add', path: '/l/1', value: 'b' }]);
});

test('lists within lists: what is deep inside is not read once for each of them', () => {
  let reads = 0;
  const nested = (last: number): JsonValue => {
    const get = (list: number[], name: string | symbol): unknown => {
      if (name === '0') reads++;
      return Reflect.get(list, name);
    };
    const counted = new Proxy([1, last], { get });
    return Array.from({ length: 200 }).reduce<JsonValue>((inner) => [inner], counted);
  };
  expect(jsonDiff(nested(2), nested(3))).toEqual([{ op: 'replace', path: `${'/0'.repeat(200)}/1`, value: 3 }]);
  expect(reads).toBeLessThan(10);
});

test('slashes and tildes in names are escaped', () => {
  expect(jsonDiff({}, { 'app/~x': '1' })).toEqual([{ op: 'add', path: '/app~1~0x', value: '1' }]);
});

test('beyond 1,000 operations the document is replaced', () => {
  const many = (value: number): JsonValue => Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`k${i}`, value]));
  expect(jsonDiff(many(1), many(2))).toEqual([{ op: 'replace', path: '', value: many(2) }]);
});

test('the change from one document to another makes the other of the one', () => {
  const documents = fc.object({
    maxDepth: 4,
    values: [fc.integer(), fc.string(), fc.boolean(), fc.constant(null)],
    withNullPrototype: false,
  });
  fc.assert(
    fc.property(documents, documents, (from, to) => {
      const operations = jsonDiff(from as JsonValue, to as JsonValue);
      if (operations[0]?.path === '') return;
      expect(jsonPatch(operations as unknown as JsonValue)(from as JsonValue)).toEqual(to);
    }),
  );
});

test('large documents are compared in steps', () => {
  const large = (last: number): JsonValue => ({ list: Array.from({ length: 10_000 }, (_, i) => ({ i: i === 9999 ? last : i })) });
  const work = jsonDiffWork(large(1), large(2));
  let steps = 0;
  while (!work.next().done) steps++;
  expect(steps).toBeGreaterThan(10);
});
