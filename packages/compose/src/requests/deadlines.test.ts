import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import { Deadlines } from './deadlines.ts';

test('each is called once, when its time comes; one that is set again counts alone', async () => {
  const clock = new FakeClock();
  const due: string[] = [];
  const deadlines = new Deadlines(clock, 10, (name) => due.push(name));
  const start = clock.now();
  deadlines.set('a', start + 100);
  deadlines.set('b', start + 100);
  deadlines.set('c', start + 50);
  deadlines.set('c', undefined);
  deadlines.set('a', start + 200);
  await clock.advance(99);
  expect(due).toEqual([]);
  await clock.advance(1);
  expect(due).toEqual(['b']);
  await clock.advance(1000);
  expect([due, deadlines.size, clock.pending]).toEqual([['b', 'a'], 0, 0]);
});

test('what has passed or never comes is not kept, nor more than the limit', () => {
  const clock = new FakeClock();
  const deadlines = new Deadlines(clock, 2, () => {});
  for (const at of [clock.now(), clock.now() - 1, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN]) deadlines.set('x', at);
  expect(deadlines.size).toBe(0);
  for (let i = 0; i < 5; i++) deadlines.set(`d${i}`, clock.now() + 1000);
  expect(deadlines.size).toBe(2);
  deadlines.set('d0', clock.now() + 2000);
  expect(deadlines.size).toBe(2);
  deadlines.close();
  expect([deadlines.size, clock.pending]).toEqual([0, 0]);
});

test('a timer that comes too early is set again', async () => {
  const clock = new FakeClock();
  const due: string[] = [];
  const shortSighted = { ...clockOf(clock), after: (millis: number, call: () => void) => clock.after(Math.min(millis, 100), call) };
  const deadlines = new Deadlines(shortSighted, 10, (name) => due.push(name));
  deadlines.set('a', clock.now() + 250);
  await clock.advance(249);
  expect(due).toEqual([]);
  await clock.advance(1);
  expect(due).toEqual(['a']);
});

const clockOf = (clock: FakeClock) => ({
  now: () => clock.now(),
  monotonic: () => clock.monotonic(),
  every: clock.every.bind(clock),
  sleep: clock.sleep.bind(clock),
});
