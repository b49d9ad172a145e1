import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import { everyRetentionInterval } from './retention.ts';

test('what is due while history is being compacted is compacted afterwards, once', async () => {
  const clock = new FakeClock();
  const calls: { readonly before: number; readonly end: () => void }[] = [];
  const forget = (before: number): Promise<void> => new Promise((resolve) => void calls.push({ before, end: resolve }));
  const start = clock.now();
  const ticker = everyRetentionInterval(clock, 6_400, forget, () => true);
  await clock.advance(100);
  await clock.advance(300);
  expect(calls.map(({ before }) => before - start)).toEqual([100 - 6_400]);
  calls[0]?.end();
  await expect.poll(() => calls.map(({ before }) => before - start)).toEqual([100 - 6_400, 400 - 6_400]);
  calls[1]?.end();
  await clock.advance(50);
  expect(calls).toHaveLength(2);
  ticker.close();
});
