import { expect, test } from 'vitest';
import { TURN_TOTAL, TURN_WORK, UserShare, UserShares, WAITING_LIMIT } from './user-shares.ts';

/** Turns that a test lets pass, and what ran in each. */
function world() {
  let due: (() => void)[] = [];
  const shares = new UserShares((call) => void due.push(call));
  const ran: string[] = [];
  const ask = (user: UserShare, name: string, work = 1, request = { finished: false }): void => {
    if (shares.take(user, work)) ran.push(name);
    else shares.wait(user, work, request, () => ran.push(name));
  };
  const many = (user: UserShare, name: string, count: number, work = 1): void => {
    for (let i = 0; i < count; i++) ask(user, `${name}${i}`, work);
  };
  /** Answers what ran at the end of this turn. */
  const turn = (): string[] => {
    const before = ran.length;
    const calls = due;
    due = [];
    for (const call of calls) call();
    return ran.slice(before);
  };
  return { shares, ran, ask, many, turn, scheduled: () => due.length };
}
const count = (names: readonly string[], user: string): number => names.filter((name) => name.startsWith(user)).length;

test('requests of a user beyond a part of the turn begin in later turns, in their order; others run at once', () => {
  const { ran, many, turn, scheduled } = world();
  const [flood, other] = [new UserShare(), new UserShare()];
  many(flood, 'f', 2 * TURN_WORK + 3);
  many(other, 'o', 1);
  expect([count(ran, 'f'), count(ran, 'o')]).toEqual([TURN_WORK, 1]);
  expect(turn()).toHaveLength(TURN_WORK);
  expect(turn()).toHaveLength(3);
  expect(ran.filter((name) => name.startsWith('f'))).toEqual(Array.from({ length: 2 * TURN_WORK + 3 }, (_, i) => `f${i}`));
  turn();
  expect(scheduled()).toBe(0);
});

test('what comes while others of the same user wait goes behind them', () => {
  const { ran, ask, many, turn } = world();
  const flood = new UserShare();
  many(flood, 'f', TURN_WORK + 1);
  turn();
  many(flood, 'g', TURN_WORK);
  expect([ran.includes('f16'), count(ran, 'g')]).toEqual([true, TURN_WORK - 1]);
  ask(flood, 'h');
  expect(turn()).toEqual([`g${TURN_WORK - 1}`, 'h']);
});

test('a few requests of a user set nothing going', () => {
  const { ran, many, scheduled } = world();
  many(new UserShare(), 'a', TURN_WORK / 2 - 1);
  many(new UserShare(), 'b', TURN_WORK / 2 - 1);
  expect([ran.length, scheduled()]).toEqual([TURN_WORK - 2, 0]);
});

test('requests of more work have fewer of them in a turn; one that is more than a part runs alone', () => {
  const { ran, many, turn } = world();
  const user = new UserShare();
  many(user, 'w', 9, TURN_WORK / 4);
  expect(ran).toHaveLength(4);
  expect(turn()).toHaveLength(4);
  many(user, 'x', 2, 3 * TURN_WORK);
  expect([turn(), turn()]).toEqual([['w8', 'x0'], ['x1']]);
});

test('many users: a turn has a bound, and each has a part before any has a second', () => {
  const { ran, many, turn } = world();
  const users = Array.from({ length: 5 }, () => new UserShare());
  for (const [i, user] of users.entries()) many(user, `${i}-`, 3 * TURN_WORK);
  const parts = () => users.map((_, i) => count(ran, `${i}-`) / TURN_WORK);
  expect(parts()).toEqual([1, 1, 1, 1, 1]);
  for (let i = 0; i < 5; i++) expect(turn().length).toBeLessThanOrEqual(TURN_TOTAL);
  expect(parts()).toEqual([3, 3, 3, 3, 3]);
});

test('who has gone meanwhile takes no part', () => {
  const { ran, ask, many, turn } = world();
  const user = new UserShare();
  many(user, 'a', TURN_WORK);
  const gone = { finished: false };
  for (let i = 0; i < 100; i++) ask(user, 'gone', 1, gone);
  ask(user, 'b');
  gone.finished = true;
  expect([turn(), ran.includes('gone')]).toEqual([['b'], false]);
});

test('the number of those who wait is bounded', () => {
  const { many } = world();
  const user = new UserShare();
  many(user, 'a', TURN_WORK + WAITING_LIMIT - 1);
  expect(user.full).toBe(false);
  many(user, 'last', 1);
  expect(user.full).toBe(true);
});
