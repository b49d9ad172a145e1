import { expect, test } from 'vitest';
import { SortedMap } from './sorted-map.ts';
import fc from './testing/fast-check.testing.ts';

test('agrees with a sorted array over random histories', () => {
  const key = fc.stringMatching(/^[a-d]{1,3}$/);
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), key), { maxLength: 2000 }), key, (history, from) => {
      const map = new SortedMap<string>();
      const model = new Map<string, string>();
      for (const [put, k] of history) {
        if (put) {
          map.set(k, `v${k}`);
          model.set(k, `v${k}`);
        } else {
          expect(map.delete(k)).toBe(model.delete(k));
        }
      }
      const keys = [...model.keys()].sort();
      expect(map.all()).toEqual(keys.map((k) => `v${k}`));
      expect(map.size).toBe(keys.length);
      expect(map.withPrefix(from)).toEqual(keys.filter((k) => k.startsWith(from)).map((k) => `v${k}`));
      const seen: string[] = [];
      map.each(from, (_, k) => {
        seen.push(k);
        return true;
      });
      expect(seen).toEqual(keys.filter((k) => k >= from));
      for (const prefix of ['', from.slice(0, 1), from]) {
        const within = keys.filter((k) => k >= from && k.startsWith(prefix));
        expect(map.countFrom(from, prefix)).toBe(within.length);
        expect(map.take(from, prefix, 5)).toEqual(within.slice(0, 5).map((k) => `v${k}`));
      }
    }),
  );
});

test('stays in order over many chunks', () => {
  const map = new SortedMap<number>();
  for (let i = 0; i < 5000; i++) map.set(String((i * 7919) % 5000).padStart(4, '0'), i);
  let last = '';
  map.each('', (_, key) => {
    expect(key > last).toBe(true);
    last = key;
    return true;
  });
  expect(map.size).toBe(5000);
});

test('keys after each key of many chunks are counted, those of its prefix alone', () => {
  const map = new SortedMap<number>();
  const keys = Array.from({ length: 3000 }, (_, i) => `${Math.floor(i / 1000)}/${String(i).padStart(4, '0')}`);
  keys.forEach((key, i) => {
    map.set(key, i);
  });
  expect(keys.map((key) => map.countFrom(`${key}\u0000`, key.slice(0, 2)))).toEqual(keys.map((_, i) => 999 - (i % 1000)));
  expect(map.countFrom('1/', '1/')).toBe(1000);
  expect(new SortedMap<number>().countFrom('', '')).toBe(0);
});

test('a page does not walk the keys of other pages', () => {
  const map = new SortedMap<number>();
  for (let i = 0; i < 10_000; i++) map.set(String(i).padStart(4, '0'), i);
  const each = map.each.bind(map);
  let visited = 0;
  map.each = (from, visit) =>
    each(from, (value, key) => {
      visited++;
      return visit(value, key);
    });
  expect(map.take('5000', '', 500)).toHaveLength(500);
  expect(map.countFrom('5500', '')).toBe(4_500);
  expect(visited).toBe(501);
});

test('a copy and what it was made of change each on their own', () => {
  const map = new SortedMap<number[]>();
  for (let i = 0; i < 2000; i++) map.set(String(i).padStart(4, '0'), [i]);
  const copy = map.copy((value) => value.slice());
  copy.delete('0000');
  copy.get('0001')?.push(1);
  map.set('2000', [2000]);
  expect([map.size, copy.size]).toEqual([2001, 1999]);
  expect([map.get('0000'), map.get('0001'), copy.get('0000'), copy.get('0001'), copy.get('2000')]).toEqual([
    [0],
    [1],
    undefined,
    [1, 1],
    undefined,
  ]);
  expect(copy.all().map(([first]) => first)).toEqual(Array.from({ length: 1999 }, (_, i) => i + 1));
});
