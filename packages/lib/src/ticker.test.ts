import { expect, test } from 'vitest';
import { FakeClock } from './clock.ts';
import { Ticker } from './ticker.ts';

test('calls are made while there is something to do, and again when it is started', async () => {
  const clock = new FakeClock(0);
  const calls: number[] = [];
  let left = 2;
  const ticker = new Ticker(clock, 10, () => {
    calls.push(clock.now());
    return --left > 0;
  });
  expect(clock.pending).toBe(0);
  ticker.start();
  ticker.start();
  await clock.advance(100);
  expect([calls, clock.pending]).toEqual([[10, 20], 0]);
  left = 1;
  ticker.start();
  await clock.advance(100);
  expect([calls, clock.pending]).toEqual([[10, 20, 110], 0]);
});

test('a call that fails is made again, and none after the end', async () => {
  const clock = new FakeClock(0);
  let calls = 0;
  const ticker = new Ticker(clock, 10, () => {
    calls++;
    throw new Error('broken');
  });
  ticker.start();
  await expect(clock.advance(10)).rejects.toThrow('broken');
  await expect(clock.advance(10)).rejects.toThrow('broken');
  ticker.close();
  ticker.start();
  await clock.advance(100);
  expect([calls, clock.pending]).toEqual([2, 0]);
});
