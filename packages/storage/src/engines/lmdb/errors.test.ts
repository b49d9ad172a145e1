import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import { freeBytesNow } from './errors.ts';

test('free space is read again after a moment, and each time where there is not plenty', async () => {
  const clock = new FakeClock();
  let free = 2 ** 40;
  let reads = 0;
  const freeNow = freeBytesNow('/data', clock, () => {
    reads++;
    return free;
  });
  expect([freeNow(), freeNow(), reads]).toEqual([2 ** 40, 2 ** 40, 1]);
  free = 2 ** 30;
  await clock.advance(50);
  expect([freeNow(), reads]).toEqual([2 ** 30, 2]);
  free = 2 ** 20;
  expect([freeNow(), reads]).toEqual([2 ** 20, 3]);
});
