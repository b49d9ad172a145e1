import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import { TimeLimits } from './time-limits.ts';

function start(millis: number) {
  const clock = new FakeClock();
  const limits = new TimeLimits<string>(clock, millis);
  const expired: string[] = [];
  const add = (name: string) => limits.add(name, (value) => expired.push(`${value} at ${clock.monotonic()}`));
  return { clock, limits, expired, add };
}

test('each expires after the same time, in the order of their beginnings', async () => {
  const { clock, expired, add } = start(60);
  add('a');
  await clock.advance(5);
  add('b');
  await clock.advance(54);
  expect(expired).toEqual([]);
  await clock.advance(1);
  expect(expired).toEqual(['a at 60']);
  await clock.advance(1000);
  expect(expired).toEqual(['a at 60', 'b at 65']);
});

test('what is cancelled does not expire, wherever it stands in the list', async () => {
  const { clock, expired, add } = start(60);
  const [first, second, , last] = [add('a'), add('b'), add('c'), add('d')];
  second?.cancel();
  last?.cancel();
  first?.cancel();
  first?.cancel();
  const again = add('e');
  again.cancel();
  await clock.advance(60);
  expect(expired).toEqual(['c at 60']);
});

test('one timer serves all of them, and none is left when nothing is', async () => {
  const { clock, add } = start(60);
  for (let i = 0; i < 100; i++) add(String(i)).cancel();
  expect(clock.pending).toBe(1);
  add('last');
  expect(clock.pending).toBe(1);
  await clock.advance(60);
  expect(clock.pending).toBe(0);
});

test('one that expires may add another', async () => {
  const { clock, limits, expired, add } = start(60);
  limits.add('a', () => add('b'));
  await clock.advance(60);
  expect(expired).toEqual([]);
  await clock.advance(60);
  expect(expired).toEqual(['b at 120']);
});

test('nothing expires after the end', async () => {
  const { clock, limits, expired, add } = start(60);
  const one = add('a');
  limits.close();
  one.cancel();
  expect(clock.pending).toBe(0);
  await clock.advance(60);
  expect(expired).toEqual([]);
});
