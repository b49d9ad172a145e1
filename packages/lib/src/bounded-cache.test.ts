import { expect, test } from 'vitest';
import { BoundedCache } from './bounded-cache.ts';

const keysOf = <K, V>(cache: BoundedCache<K, V>): K[] => [...cache.keys()];

test('at its bound the oldest makes room, and get leaves the order as it is', () => {
  const cache = new BoundedCache<string, number>(2);
  cache.set('a', 1);
  cache.set('b', 2);
  expect(keysOf(cache)).toEqual(['a', 'b']);
  expect(cache.get('a')).toBe(1);
  cache.set('c', 3);
  expect(keysOf(cache)).toEqual(['b', 'c']);
  expect(cache.get('a')).toBeUndefined();
  expect(cache.size).toBe(2);
});

test('what is used or set again is the newest', () => {
  const cache = new BoundedCache<string, number>(2);
  cache.set('a', 1);
  cache.set('b', 2);
  expect(cache.use('a')).toBe(1);
  cache.set('c', 3);
  expect(keysOf(cache)).toEqual(['a', 'c']);
  cache.set('a', 4);
  cache.set('d', 5);
  expect([...cache]).toEqual([
    ['a', 4],
    ['d', 5],
  ]);
  expect(cache.use('b')).toBeUndefined();
});

test('as many of the oldest go as weigh too much, and one that weighs too much alone is not kept', () => {
  const cache = new BoundedCache<string, string>(10, { most: 10, of: (value) => value.length });
  cache.set('a', '1234');
  cache.set('b', '123456');
  expect([cache.size, cache.total]).toEqual([2, 10]);
  cache.set('c', '12345');
  expect(keysOf(cache)).toEqual(['c']);
  expect(cache.total).toBe(5);
  cache.set('d', '12345678901');
  expect(keysOf(cache)).toEqual(['c']);
  cache.set('c', '12345678901');
  expect([cache.size, cache.total]).toEqual([0, 0]);
});

test('weight goes with what is replaced, deleted and cleared', () => {
  const cache = new BoundedCache<string, string>(10, { most: 10, of: (value) => value.length });
  cache.set('a', '1234');
  cache.set('a', '12');
  expect(cache.total).toBe(2);
  cache.use('a');
  expect(cache.total).toBe(2);
  expect([cache.delete('a'), cache.delete('a'), cache.total]).toEqual([true, false, 0]);
  cache.set('a', '1234');
  cache.clear();
  expect([cache.size, cache.total, cache.get('a')]).toEqual([0, 0, undefined]);
});

test('a cache without room keeps nothing', () => {
  const cache = new BoundedCache<string, number>(0);
  cache.set('a', 1);
  expect(cache.size).toBe(0);
});
