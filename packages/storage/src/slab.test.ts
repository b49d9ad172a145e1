import { expect, test } from 'vitest';
import { Slab } from './slab.ts';

test('buffers of one block do not overlap, and the next block begins when one is full', () => {
  const slab = new Slab(100);
  const taken = Array.from({ length: 9 }, (_, i) => slab.take(25).fill(i));
  expect(taken.map((buffer) => [...new Set(buffer)])).toEqual(taken.map((_, i) => [i]));
  expect(taken.map(({ byteOffset }) => byteOffset)).toEqual([0, 25, 50, 75, 0, 25, 50, 75, 0]);
  expect(new Set(taken.map(({ buffer }) => buffer)).size).toBe(3);
});

test('a buffer of more than a quarter of a block has one of its own, and leaves the block as it is', () => {
  const slab = new Slab(100);
  const first = slab.take(10);
  const large = slab.take(26);
  expect([large.length, large.byteOffset, large.buffer.byteLength]).toEqual([26, 0, 26]);
  const next = slab.take(10);
  expect([next.buffer === first.buffer, next.byteOffset]).toEqual([true, 10]);
  expect(slab.take(0).length).toBe(0);
});
