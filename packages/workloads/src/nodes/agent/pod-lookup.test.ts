import type { Client } from '@plat-dev/client/dynamic';
import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import { PodLooks } from './pod-lookup.ts';

test('many that look at one pod make one request for a while, and a failed one is not kept', async () => {
  const clock = new FakeClock();
  const asked: string[] = [];
  let isBroken = false;
  const find = async (_ref: unknown, _namespace: string, name: string) => {
    asked.push(name);
    if (isBroken) throw new Error('broken');
    return { metadata: { name } };
  };
  const looks = new PodLooks({ find } as unknown as Client, clock);
  await Promise.all(Array.from({ length: 300 }, () => looks.recent('ns', 'a')));
  await looks.recent('ns', 'b');
  expect(asked).toEqual(['a', 'b']);
  await clock.advance(500);
  isBroken = true;
  await expect(looks.recent('ns', 'a')).rejects.toThrow('broken');
  isBroken = false;
  expect(await looks.recent('ns', 'a')).toMatchObject({ metadata: { name: 'a' } });
  expect(asked).toEqual(['a', 'b', 'a', 'a']);
});
