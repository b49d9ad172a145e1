import { expect, test } from 'vitest';
import type { Resource } from '../registry/catalog.ts';
import type { Item } from '../storage/item.ts';
import { SharedPieces } from './shared-pieces.ts';

const resource = {} as Resource;
const item = (key: string, revision: number): Item => ({ key, revision }) as Item;
const a = item('n/a', 1);
const b = item('n/b', 2);
const c = item('n/c', 3);

test('a piece is found for exactly its items, its form and its resource', () => {
  const pieces = new SharedPieces();
  const bytes = Buffer.from('a and b');
  pieces.keep(resource, 'yaml', [a, b], bytes);
  expect(pieces.find(resource, 'yaml', [a, b])).toBe(bytes);
  expect(pieces.find(resource, 'pretty', [a, b])).toBeUndefined();
  expect(pieces.find({} as Resource, 'yaml', [a, b])).toBeUndefined();
  expect(pieces.find(resource, 'yaml', [a])).toBeUndefined();
  expect(pieces.find(resource, 'yaml', [a, c])).toBeUndefined();
  // The same object after a change, though it is not the first of the piece.
  expect(pieces.find(resource, 'yaml', [a, item('n/b', 9)])).toBeUndefined();
});

test('no more bytes are kept than the limit, and the oldest go first', () => {
  const pieces = new SharedPieces(100);
  for (const one of [a, b, c]) pieces.keep(resource, 'yaml', [one], Buffer.alloc(40));
  expect(pieces.bytes).toBe(80);
  expect(pieces.find(resource, 'yaml', [a])).toBeUndefined();
  expect(pieces.find(resource, 'yaml', [c])).toBeDefined();
  // Kept again, it counts once; one beyond the limit is not kept at all.
  pieces.keep(resource, 'yaml', [c], Buffer.alloc(50));
  expect(pieces.bytes).toBe(90);
  pieces.keep(resource, 'yaml', [a], Buffer.alloc(101));
  expect(pieces.bytes).toBe(90);
});
