import { FakeClock } from '@plat-dev/lib/clock';
import { beforeEach, expect, test } from 'vitest';
import { Rounds } from './rounds.ts';

let clock: FakeClock;
let rounds: Rounds;
let written: string[];
beforeEach(() => {
  clock = new FakeClock();
  rounds = new Rounds(clock);
  written = [];
});

/** A watcher whose write takes so many milliseconds. */
const watcher = (name: string, takes = 0) => ({
  flush: () => {
    written.push(name);
    void clock.advance(takes);
  },
});
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a lone event goes out with the next turn of the loop, and so does the next one', async () => {
  for (const name of ['a', 'b']) {
    rounds.add(watcher(name));
    expect(written).not.toContain(name);
    await turn();
    expect(written).toContain(name);
  }
  expect(clock.pending).toBe(0);
});

test('after a long round there is a rest of twice its length, in which watchers gather', async () => {
  rounds.add(watcher('a', 3));
  await turn();
  expect(rounds.isPending).toBe(false);
  for (const name of ['b', 'c']) rounds.add(watcher(name));
  await clock.advance(5);
  expect(written).toEqual(['a']);
  expect(rounds.isPending).toBe(true);
  await clock.advance(1);
  expect(rounds.isPending).toBe(false);
  expect(written).toEqual(['a', 'b', 'c']);
});

test('who comes after the rest does not wait', async () => {
  rounds.add(watcher('a', 3));
  await turn();
  await clock.advance(6);
  rounds.add(watcher('b'));
  await turn();
  expect(written).toEqual(['a', 'b']);
});

test('no rest is longer than 20 ms', async () => {
  rounds.add(watcher('a', 1000));
  await turn();
  rounds.add(watcher('b'));
  await clock.advance(20);
  expect(written).toEqual(['a', 'b']);
});

test('a round lets others have the loop every few milliseconds; who is added meanwhile is of the next round', async () => {
  for (let i = 0; i < 40; i++) rounds.add(watcher(`a${i}`, 1));
  await turn();
  expect(written.length).toBe(16);
  rounds.add(watcher('b'));
  await turn();
  expect(written.length).toBe(32);
  await turn();
  expect(written.length).toBe(40);
  await turn();
  expect(written).not.toContain('b');
  await clock.advance(20);
  expect(written.at(-1)).toBe('b');
});

test('what waits for others is forgotten with every round', async () => {
  const { empty } = rounds;
  rounds.add(watcher('a'));
  await turn();
  expect(rounds.empty).not.toBe(empty);
});
