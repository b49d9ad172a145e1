import { expect, test } from 'vitest';
import { ByteBudget } from './byte-budget.ts';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Work of so many bytes each, in the order in which it went on. */
function begin(budget: ByteBudget, works: readonly [string, number, object?][]): string[] {
  const order: string[] = [];
  for (const [name, bytes, owner] of works) void budget.enter(bytes, owner).then(() => order.push(name));
  return order;
}

test('no more bytes than the limit are worked on at once', async () => {
  const budget = new ByteBudget(100);
  const order = begin(budget, [
    ['a', 60],
    ['b', 40],
    ['c', 50],
    ['d', 50],
  ]);
  await settled();
  expect(order).toEqual(['a', 'b']);
  expect(budget.inUse).toBe(100);
  budget.leave(40);
  await settled();
  expect(order).toEqual(['a', 'b']);
  budget.leave(60);
  await settled();
  expect(order).toEqual(['a', 'b', 'c', 'd']);
  budget.leave(50);
  budget.leave(50);
  expect(budget.inUse).toBe(0);
});

test('what is larger than the budget goes on alone', async () => {
  const budget = new ByteBudget(100);
  const order = begin(budget, [
    ['small', 10],
    ['large', 300],
    ['other', 10],
  ]);
  await settled();
  expect(order).toEqual(['small']);
  budget.leave(10);
  await settled();
  expect(order).toEqual(['small', 'large']);
  budget.leave(300);
  await settled();
  expect(order).toEqual(['small', 'large', 'other']);
});

test('owners take turns', async () => {
  const budget = new ByteBudget(1);
  const [a, b] = [{}, {}];
  const order = begin(budget, [
    ['a1', 1, a],
    ['a2', 1, a],
    ['a3', 1, a],
    ['a4', 1, a],
    ['b1', 1, b],
  ]);
  for (let i = 0; i < 5; i++) {
    await settled();
    budget.leave(1);
  }
  expect(order).toEqual(['a1', 'a2', 'b1', 'a3', 'a4']);
  expect(budget.inUse).toBe(0);
});
