import { expect, test } from 'vitest';
import { MOST_COMPARED, sharing } from './shared-parts.ts';
import fc from './testing/fast-check.testing.ts';

test('equal parts are those of the other value, and the rest is its own', () => {
  const like = { labels: { app: 'web' }, list: [{ a: 1 }, { b: 2 }], node: 'a', gone: {} };
  const value = { labels: { app: 'web' }, list: [{ a: 1 }, { b: 3 }, { c: 4 }], node: 'b' };
  const before = structuredClone([value, like]);
  const shared = sharing(value, like);
  expect(shared).toEqual(value);
  expect(shared.labels).toBe(like.labels);
  expect(shared.list[0]).toBe(like.list[0]);
  expect(shared.list[1]).not.toBe(like.list[1]);
  expect([value, like]).toEqual(before);
});

test('a value that is equal as a whole is the other one', () => {
  const like = { a: [{ b: null }, 'text', 1.5, true] };
  expect(sharing(structuredClone(like), like)).toBe(like);
  expect(sharing({ a: undefined }, {})).toStrictEqual({ a: undefined });
  expect(sharing({}, { a: 1 })).toEqual({});
  expect(sharing({ a: [] }, { a: {} })).toEqual({ a: [] });
});

test('whatever both values are, the result is equal to the first', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), fc.boolean(), (value, like, near) => {
      const other = near && typeof value === 'object' ? { ...structuredClone(value as object), more: like } : like;
      expect(JSON.stringify(sharing(value, other))).toBe(JSON.stringify(value));
    }),
  );
});

test('of a large value the first parts are shared', () => {
  const large = () => ({ first: { a: 1 }, list: Array.from({ length: MOST_COMPARED }, (_, i) => ({ i })), last: { b: 2 } });
  const like = large();
  const shared = sharing(large(), like);
  expect(shared).toEqual(like);
  expect([shared.first === like.first, shared.list[0] === like.list[0], shared.last === like.last]).toEqual([true, true, false]);
});
