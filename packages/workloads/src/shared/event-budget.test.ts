import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import { EventBudget } from './event-budget.ts';

test('events are left out beyond three hundred at once and fifty a second; warnings count by themselves', async () => {
  const clock = new FakeClock();
  const budget = new EventBudget(clock);
  const taken = (type: 'Normal' | 'Warning'): number => Array.from({ length: 400 }, () => budget.take(type)).filter(Boolean).length;
  expect([taken('Normal'), taken('Normal'), taken('Warning')]).toEqual([300, 0, 300]);
  await clock.advance(1000);
  expect([taken('Normal'), taken('Warning')]).toEqual([50, 50]);
  await clock.advance(60_000);
  expect(taken('Normal')).toBe(300);
});
