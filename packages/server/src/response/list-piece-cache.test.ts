import type { Item } from '@plat-dev/storage/item';
import { expect, test } from 'vitest';
import type { Resource } from '../registry/catalog.ts';
import { SharedPieces } from './list-piece-cache.ts';

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

const noWait = async (): Promise<void> => {};
function newMaker(): { make: () => Promise<Buffer>; made: () => number; settle: (bytes: Buffer | Error) => void } {
  let made = 0;
  let settle: (bytes: Buffer | Error) => void = () => {};
  const make = (): Promise<Buffer> => {
    made++;
    return new Promise((resolve, reject) => {
      settle = (bytes) => (bytes instanceof Error ? reject(bytes) : resolve(bytes));
    });
  };
  return { make, made: () => made, settle: (bytes) => settle(bytes) };
}

test('a piece that is being made is waited for, also when it is too large to be kept', async () => {
  const pieces = new SharedPieces(10);
  const { make, made, settle } = newMaker();
  const asked = Array.from({ length: 20 }, () => pieces.piece(resource, 'yaml', [a], make, noWait));
  const bytes = Buffer.alloc(11);
  settle(bytes);
  for (const piece of await Promise.all(asked)) expect(piece).toBe(bytes);
  expect(made()).toBe(1);
  expect(pieces.bytes).toBe(0);
});

test('when its maker gives up, one of those that wait makes it', async () => {
  const pieces = new SharedPieces();
  const first = newMaker();
  const second = newMaker();
  const given = pieces.piece(resource, 'yaml', [a], first.make, noWait);
  const asked = Array.from({ length: 5 }, () => pieces.piece(resource, 'yaml', [a], second.make, noWait));
  first.settle(new Error('the client went away'));
  await expect(given).rejects.toThrow('went away');
  while (second.made() === 0) await new Promise(setImmediate);
  const bytes = Buffer.from('a');
  second.settle(bytes);
  for (const piece of await Promise.all(asked)) expect(piece).toBe(bytes);
  expect(second.made()).toBe(1);
});

test('a piece that others wait for is taken in turns', async () => {
  const pieces = new SharedPieces();
  const { make, settle } = newMaker();
  const turns: (() => void)[] = [];
  const turn = (): Promise<void> => new Promise((resolve) => turns.push(resolve));
  const taken: number[] = [];
  const asked = [0, 1, 2].map((i) => pieces.piece(resource, 'yaml', [a], make, turn).then(() => taken.push(i)));
  settle(Buffer.from('a'));
  while (turns.length < 2) await new Promise(setImmediate);
  expect(taken).toEqual([0]);
  turns[0]?.();
  await asked[1];
  expect(taken).toEqual([0, 1]);
  turns[1]?.();
  await Promise.all(asked);
  expect(taken).toEqual([0, 1, 2]);
});
