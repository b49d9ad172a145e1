/** Histories made by hand: what can be explained, and each way in which one cannot. */
import { expect, test } from 'vitest';
import { checkObject, type Operation, type Outcome } from './checker.ts';

/** `operation(from, to, …)`: called at `from`, answered at `to`. */
const write = (kind: 'create' | 'update', start: number, end: number, token: string, outcome: Outcome, guard?: number): Operation => ({
  kind,
  start,
  end,
  token,
  outcome,
  guard,
});
const get = (start: number, end: number, token?: string, revision = 0): Operation => ({
  kind: 'get',
  start,
  end,
  outcome: token === undefined ? { type: 'missing' } : { type: 'found', token, revision },
});
const remove = (start: number, end: number, outcome: Outcome, guard?: number): Operation => ({
  kind: 'delete',
  start,
  end,
  outcome,
  guard,
});
const done = (revision = 0): Outcome => ({ type: 'done', revision });
const [unknown, missing, exists, conflict] = (['unknown', 'missing', 'exists', 'conflict'] as const).map((type) => ({ type })) as [
  Outcome,
  Outcome,
  Outcome,
  Outcome,
];
const result = (...operations: Operation[]) => checkObject(operations).result;
const created = write('create', 0, 1, 'a', done(5));

test('histories that an order explains', () => {
  expect(result()).toBe('ok');
  expect(
    result(created, get(2, 3, 'a', 5), write('update', 4, 5, 'b', done(7), 5), get(6, 7, 'b', 7), remove(8, 9, done()), get(10, 11)),
  ).toBe('ok');
  // Concurrent reads may see the old and the new state, in this order.
  expect(result(created, write('update', 2, 10, 'b', done(7), 5), get(3, 4, 'a', 5), get(5, 6, 'b', 7))).toBe('ok');
  expect(result(created, write('create', 2, 3, 'b', exists), write('update', 4, 5, 'c', conflict, 4), remove(6, 7, conflict, 3))).toBe(
    'ok',
  );
  expect(result(get(0, 1), write('update', 2, 3, 'x', missing), remove(4, 5, missing))).toBe('ok');
  // Of two guarded by the same revision one wins.
  expect(result(created, write('update', 2, 6, 'b', done(7), 5), write('update', 2, 6, 'c', conflict, 5))).toBe('ok');
});

test('an unknown outcome may have happened late, or never', () => {
  const lost = write('update', 2, 3, 'b', unknown, 5);
  expect(result(created, lost, get(4, 5, 'a', 5))).toBe('ok');
  expect(result(created, lost, get(4, 5, 'a', 5), get(6, 7, 'b', 7), get(8, 9, 'b', 7))).toBe('ok');
  expect(result(created, remove(2, 3, unknown), get(4, 5, 'a', 5), get(6, 7))).toBe('ok');
  expect(result(created, lost, get(4, 5, 'b', 7), get(6, 7, 'a', 5))).toBe('violation');
  // Not before it was called.
  expect(result(created, get(2, 3, 'b', 7), write('update', 4, 5, 'b', unknown, 5))).toBe('violation');
  // Nor twice.
  expect(result(created, remove(2, 3, unknown), get(4, 5), write('create', 6, 7, 'c', done(9)), get(8, 9))).toBe('violation');
});

test('a stale read', () => {
  expect(result(created, write('update', 2, 3, 'b', done(7), 5), get(4, 5, 'a', 5))).toBe('violation');
  expect(result(created, get(2, 3))).toBe('violation');
});

test('reads that go back', () => {
  expect(result(created, write('update', 2, 10, 'b', done(7), 5), get(3, 4, 'b', 7), get(5, 6, 'a', 5))).toBe('violation');
});

test('a lost update: two writers win with the same guard', () => {
  expect(result(created, write('update', 2, 6, 'b', done(7), 5), write('update', 2, 6, 'c', done(8), 5))).toBe('violation');
});

test('a write that is lost, or a deleted object that comes back', () => {
  expect(result(created, write('update', 2, 3, 'b', done(7), 5), write('update', 4, 5, 'c', done(9), 5))).toBe('violation');
  expect(result(created, remove(2, 3, done()), get(4, 5, 'a', 5))).toBe('violation');
});

test('two creates that both succeed', () => {
  expect(result(created, write('create', 2, 3, 'b', done(6)))).toBe('violation');
});

test('refusals without a reason', () => {
  expect(result(created, write('update', 2, 3, 'b', conflict, 5))).toBe('violation');
  expect(result(created, write('update', 2, 3, 'b', missing, 5))).toBe('violation');
  expect(result(write('create', 0, 1, 'b', exists))).toBe('violation');
  expect(result(created, remove(2, 3, missing))).toBe('violation');
});

test('revisions that go back, and a value under another revision', () => {
  expect(result(created, write('update', 2, 3, 'b', done(4), 5))).toBe('violation');
  expect(result(created, get(2, 3, 'a', 6))).toBe('violation');
  // A revision that is known from a watch holds for an unanswered write as well.
  const lost = write('update', 2, 3, 'b', unknown, 5);
  expect(checkObject([created, lost, get(4, 5, 'b', 8)], new Map([['b', 7]])).result).toBe('violation');
});

test('many concurrent operations are decided quickly', () => {
  const operations: Operation[] = [created];
  for (let round = 0; round < 60; round++) {
    const at = 10 + round * 10;
    const revision = round === 0 ? 5 : 100 + round - 1;
    const token = round === 0 ? 'a' : `t${round - 1}`;
    for (let i = 0; i < 5; i++)
      operations.push(get(at, at + 9, token, revision), write('update', at, at + 9, `x${round}-${i}`, conflict, 1));
    operations.push(
      write('update', at, at + 9.5, `t${round}`, done(100 + round), revision),
      write('update', at, at, `u${round}`, unknown, revision),
    );
  }
  expect(result(...operations)).toBe('ok');
  expect(result(...operations, get(10_000, 10_001, 't0', 100))).toBe('violation');
});
