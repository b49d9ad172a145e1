import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { FakeClock } from '../lib/clock.ts';
import { giveHeapRoom, growthPercent } from './heap-growth.ts';

const MB = 2 ** 20;

test('a small heap may grow to three times its size, a large one as the engine decides', () => {
  expect([10, 30, 32, 64, 100, 128, 256, 257, 2000].map((size) => growthPercent(size * MB))).toEqual([
    200, 200, 200, 100, 50, 50, 25, 0, 0,
  ]);
});

test('the room follows the size of the heap, and is set only when it changes', async () => {
  const clock = new FakeClock();
  let size = 30;
  const set: number[] = [];
  const end = giveHeapRoom(clock, { oldBytes: () => size * MB, setPercent: (percent) => set.push(percent) });
  await clock.advance(5000);
  expect(set).toEqual([200]);
  size = 60;
  await clock.advance(1000);
  size = 400;
  await clock.advance(1000);
  size = 31;
  await clock.advance(1000);
  expect(set).toEqual([200, 100, 0, 200]);
  end();
  expect(clock.pending).toBe(0);
});

test('the engine knows its flag', () => {
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  expect(known).toContain('--heap-growing-percent (');
});
