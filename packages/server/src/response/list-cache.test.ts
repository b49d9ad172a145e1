import { expect, test } from 'vitest';
import { BLOCK, KEPT_AT_ONCE, KEPT_LISTS_BYTES, KeptLists } from './list-cache.ts';

const body = (size: number) => ({ change: 1, body: Buffer.alloc(size) });

test('the list used longest ago goes when all together are too large', () => {
  const lists = new KeptLists();
  for (const id of ['a', 'b', 'c']) lists.keep(id, body(KEPT_LISTS_BYTES / 3));
  expect(lists.find('a', 1)).toBeDefined();
  lists.keep('d', body(KEPT_LISTS_BYTES / 3));
  expect(['a', 'b', 'c', 'd'].filter((id) => lists.find(id, 1) !== undefined)).toEqual(['a', 'c', 'd']);
});

test('small lists count as the block of memory that they may hold', () => {
  const lists = new KeptLists();
  for (let i = 0; i < KEPT_LISTS_BYTES / BLOCK + 10; i++) lists.keep(`list${i}`, body(300));
  expect(lists.size).toBe(KEPT_LISTS_BYTES / BLOCK);
});

test('lists that are kept anew, of an older state, or of a collection that is gone are not counted any more', () => {
  const lists = new KeptLists();
  for (let i = 0; i < 10; i++) lists.keep('x/one', body(KEPT_LISTS_BYTES / 2));
  lists.keep('y/two', body(KEPT_LISTS_BYTES / 2));
  expect(lists.size).toBe(2);
  expect(lists.find('x/one', 2)).toBeUndefined();
  lists.forget('y/');
  expect(lists.size).toBe(0);
  lists.keep('z', body(KEPT_LISTS_BYTES));
  expect(lists.size).toBe(1);
});

test('a large list is kept when it is asked for again before its collection changes, a small one at once', () => {
  const lists = new KeptLists();
  expect(lists.isWorth('a', 1, KEPT_AT_ONCE)).toBe(true);
  expect(lists.isWorth('a', 1, KEPT_AT_ONCE + 1)).toBe(false);
  expect(lists.isWorth('b', 1, KEPT_AT_ONCE + 1)).toBe(false);
  expect(lists.isWorth('a', 2, KEPT_AT_ONCE + 1)).toBe(false);
  expect(lists.isWorth('a', 2, KEPT_AT_ONCE + 1)).toBe(true);
});

test('the rows of a Table are right for their resource and their second alone', () => {
  const lists = new KeptLists();
  const [one, other] = [{}, {}];
  const keep = () => lists.keep('a', { ...body(300), resource: one, second: 7 });
  keep();
  expect(lists.find('a', 1, one, 7)).toBeDefined();
  for (const [resource, second] of [
    [one, 8],
    [other, 7],
    [undefined, undefined],
  ] as const) {
    keep();
    expect(lists.find('a', 1, resource, second)).toBeUndefined();
  }
});
