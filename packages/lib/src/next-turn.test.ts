import { expect, it } from 'vitest';
import { fitsTurn, nextTurn, TURN_BYTES } from './next-turn.ts';

it('lets one piece of long work go on in each turn of the loop, however many wait', async () => {
  const seen: string[] = [];
  let turns = 0;
  let ended = false;
  const turn = (): void => {
    seen.push(`turn ${++turns}`);
    if (!ended) setImmediate(turn);
  };
  const works = ['a', 'b', 'c'].map(async (name) => {
    await nextTurn();
    seen.push(name);
  });
  setImmediate(turn);
  await Promise.all(works);
  ended = true;
  expect(seen.filter((entry) => !entry.startsWith('turn'))).toEqual(['a', 'b', 'c']);
  // Between two of them the loop has turned.
  expect(seen.indexOf('b') - seen.indexOf('a')).toBeGreaterThan(1);
  expect(seen.indexOf('c') - seen.indexOf('b')).toBeGreaterThan(1);
});

it('gives owners their turns one after another, however much one of them asked for', async () => {
  const seen: string[] = [];
  const ask = async (owner: object | undefined, name: string): Promise<void> => {
    await nextTurn(owner);
    seen.push(name);
  };
  const [a, b] = [{}, {}];
  await Promise.all([ask(a, 'a1'), ask(a, 'a2'), ask(a, 'a3'), ask(b, 'b1'), ask(undefined, 'own'), ask(b, 'b2')]);
  expect(seen).toEqual(['a1', 'b1', 'own', 'a2', 'b2', 'a3']);
});

it('lets so many bytes be written in one turn of the loop, and one large write in any', async () => {
  await new Promise((resolve) => setImmediate(resolve));
  expect([fitsTurn(TURN_BYTES - 10), fitsTurn(10), fitsTurn(1)]).toEqual([true, true, false]);
  await new Promise((resolve) => setImmediate(resolve));
  expect([fitsTurn(TURN_BYTES + 1), fitsTurn(1)]).toEqual([true, false]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(fitsTurn(1)).toBe(true);
  // Nobody overtakes who waits.
  const turn = nextTurn();
  expect(fitsTurn(1)).toBe(false);
  await turn;
  expect(fitsTurn(1)).toBe(true);
});
