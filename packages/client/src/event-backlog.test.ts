import { expect, test } from 'vitest';
import { EventBacklog, EventTurns } from './event-backlog.ts';
import type { StreamEvent } from './http.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const eventOf = (name: string, bytes: number): StreamEvent => ({ type: name, source: Buffer.alloc(bytes), bytes: Buffer.alloc(0) });
// Not the turns of the process, of which other watches may have used a part.
function backlogOf(turns = new EventTurns()): { backlog: EventBacklog; handled: string[] } {
  const handled: string[] = [];
  return {
    handled,
    backlog: new EventBacklog(function* ({ type }) {
      return () => void handled.push(type);
    }, turns),
  };
}

test('events are handled at once, as long as they are small', async () => {
  const { backlog, handled } = backlogOf();
  for (const name of ['a', 'b', 'c']) backlog.push(eventOf(name, 1000));
  expect([handled, backlog.isEmpty]).toEqual([['a', 'b', 'c'], true]);
});

test('large events are handled one in a turn, in order, and others wait for them', async () => {
  const { backlog, handled } = backlogOf();
  for (const name of ['a', 'b', 'c']) backlog.push(eventOf(name, 1 << 20));
  backlog.push(eventOf('d', 10));
  // The turn in which they come may be used by the writer of the first.
  expect([handled, backlog.isEmpty]).toEqual([[], false]);
  const counts: number[] = [];
  while (!backlog.isEmpty) {
    await turn();
    counts.push(handled.length);
  }
  expect(handled).toEqual(['a', 'b', 'c', 'd']);
  expect(counts.filter((count, i) => count - (counts[i - 1] ?? 0) > 1)).toEqual([]);
});

test('events of several watches share a turn, as far as it has room', async () => {
  const turns = new EventTurns();
  const [first, second, third] = [backlogOf(turns), backlogOf(turns), backlogOf(turns)];
  const watches = [first, second, third];
  const countsAfterTurn = async (): Promise<number[]> => {
    await turn();
    return watches.map(({ handled }) => handled.length);
  };
  // Each event fills a quarter of a turn: the first four are handled at once.
  for (let i = 0; i < 4; i++) for (const { backlog } of watches) backlog.push(eventOf(String(i), 32 * 1024));
  const counts = [watches.map(({ handled }) => handled.length)];
  while (watches.some(({ backlog }) => !backlog.isEmpty)) counts.push(await countsAfterTurn());
  const totals = counts.map((turnCounts) => turnCounts.reduce((sum, count) => sum + count, 0));
  expect(totals.filter((total, i) => total - (totals[i - 1] ?? 0) > 4)).toEqual([]);
  expect(totals.filter((total, i) => total - (totals[i - 1] ?? 0) > 1).length).toBeGreaterThan(1);
  for (const { handled } of watches) expect(handled).toEqual(['0', '1', '2', '3']);
});

test('beyond its limits the watch fails, and what waits is forgotten', async () => {
  const { backlog, handled } = backlogOf();
  const pushMany = (): void => {
    for (let i = 0; i < 100; i++) backlog.push(eventOf('x', 1 << 20));
  };
  expect(pushMany).toThrow('the watch is too far behind');
  backlog.clear();
  await turn();
  await turn();
  expect([handled, backlog.isEmpty]).toEqual([[], true]);
});

test('a large event is read in one turn and handed on in a later one, unless what waits is forgotten meanwhile', async () => {
  await turn();
  const steps: string[] = [];
  const backlog = new EventBacklog(function* ({ type }) {
    steps.push(`read ${type}`);
    return () => void steps.push(`hand on ${type}`);
  });
  const stepsOfTurns = async (): Promise<string[][]> => {
    const turns: string[][] = [];
    while (!backlog.isEmpty) {
      steps.length = 0;
      await turn();
      if (steps.length > 0) turns.push([...steps]);
    }
    return turns;
  };
  for (const name of ['a', 'b']) backlog.push(eventOf(name, 1 << 20));
  expect(await stepsOfTurns()).toEqual([['read a'], ['hand on a'], ['read b'], ['hand on b']]);
  backlog.push(eventOf('c', 1 << 20));
  while (!steps.includes('read c')) await turn();
  backlog.clear();
  for (let i = 0; i < 3; i++) await turn();
  expect(steps).not.toContain('hand on c');
});
