import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import { startTestServer } from './server.ts';

const time = '2031-02-03T04:05:06Z';
const created = async (options: Parameters<typeof startTestServer>[0]): Promise<[time: string | undefined, uid: string | undefined]> => {
  await using server = await startTestServer(options);
  const { metadata } = await server.client().core.v1.namespaces().get('default');
  return [metadata.creationTimestamp, metadata.uid];
};

test('first objects are of the time that the clock of the server begins at', async () => {
  expect(await created({ clock: time })).toEqual([time, expect.any(String)]);
  expect((await created({ clock: new FakeClock(Date.parse(time) + 1000) }))[0]).toBe('2031-02-03T04:05:07Z');
  const [now = ''] = await created({});
  expect(Date.parse(now)).toBeLessThan(Date.parse(time));
});

test('servers that begin alike share their first objects, and no other', async () => {
  const [, first] = await created({ clock: time });
  const [, second] = await created({ clock: time });
  expect(second).toBe(first);
  const [, other] = await created({ clock: time, server: { eventTtl: 1000 } });
  expect(other).not.toBe(first);
  await using one = await startTestServer({ clock: time });
  await one
    .client()
    .core.v1.namespaces()
    .create({ metadata: { name: 'only-here' } });
  await using two = await startTestServer({ clock: time });
  expect(await two.client().core.v1.namespaces().find('only-here')).toBeUndefined();
});
