import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import type { Context } from './context.ts';
import { RequestTiming, type StepName } from './request-timing.ts';
import { MOST_REQUESTS, SlowRequests } from './slow-requests.ts';

const request = (more: Partial<Context> = {}): Context =>
  ({
    started: 0,
    auditId: 'id',
    user: { name: 'alice', groups: [] },
    method: 'POST',
    path: '/api',
    status: 201,
    longRunning: false,
    inProcess: false,
    timing: new RequestTiming(),
    ...more,
  }) as unknown as Context;

/** A request that waited in these steps, from when to when. */
async function timingOf(waits: readonly (readonly [name: StepName, from: number, to: number])[]): Promise<RequestTiming> {
  const timing = new RequestTiming();
  for (const [name, from, to] of waits) {
    const moments = [from, to].values();
    await timing.during(name, () => moments.next().value ?? 0, Promise.resolve());
  }
  return timing;
}

async function after(millis: number): Promise<SlowRequests> {
  const clock = new FakeClock();
  const slow = new SlowRequests(500, clock);
  const started = clock.monotonic();
  await clock.advance(millis);
  const timing = await timingOf([
    ['authentication', started, started + 10],
    ['queue', started + 10, started + 110],
    ['authorization', started + 110, started + 111],
    ['admission', started + 115, started + 215],
    ['store', started + 420, started + 440],
    ['admission', started + 440, started + 640],
    ['store', started + 640, started + 650],
  ]);
  timing.addWebhook('hook', started + 120, 90);
  timing.answeredAt = started + 660;
  slow.finished(request({ started, timing } as Partial<Context>));
  return slow;
}

test('a request that takes the threshold is kept with the time of each step, one below is not', async () => {
  expect((await after(499)).of()).toEqual([]);
  const [kept] = (await after(700)).of();
  expect(kept?.millis).toBe(700);
  expect(kept?.steps).toEqual([
    { name: 'authentication', millis: 10 },
    { name: 'queue', millis: 100 },
    { name: 'authorization', millis: 1 },
    { name: 'admission', millis: 300 },
    { name: 'webhook', webhook: 'hook', millis: 90 },
    { name: 'store', millis: 30 },
    { name: 'handling', millis: 219 },
    { name: 'sending', millis: 40 },
  ]);
});

test('a request that waited for a seat in vain spent its time in the queue', async () => {
  const clock = new FakeClock();
  const slow = new SlowRequests(0, clock);
  const started = clock.monotonic();
  await clock.advance(900);
  const timing = await timingOf([['authentication', started, started + 100]]);
  void timing.during('queue', () => started + 100, new Promise(() => {}));
  slow.finished(request({ started, timing } as Partial<Context>));
  expect(slow.of()[0]?.steps).toEqual([
    { name: 'authentication', millis: 100 },
    { name: 'queue', millis: 800 },
  ]);
});

test('the newest are kept, newest first, with bounded texts; watches and own requests are not', () => {
  const clock = new FakeClock();
  const slow = new SlowRequests(0, clock);
  const started = clock.monotonic();
  for (let i = 0; i < MOST_REQUESTS + 3; i++) slow.finished(request({ started, auditId: `id-${i}`, path: `/${'x'.repeat(5000)}` }));
  slow.finished(request({ started, longRunning: true }));
  slow.finished(request({ started, inProcess: true }));
  const requests = slow.of('alice');
  expect([requests.length, requests[0]?.auditID, requests.at(-1)?.auditID]).toEqual([MOST_REQUESTS, `id-${MOST_REQUESTS + 2}`, 'id-3']);
  expect(requests[0]?.path.length).toBeLessThan(1100);
  expect(slow.of('bob')).toEqual([]);
});

test('calls of webhooks that are told apart are bounded', () => {
  const timing = new RequestTiming();
  for (let i = 0; i < 100; i++) timing.addWebhook(`hook-${i}`, i, 1);
  expect(timing.steps(0, 1000).filter(({ name }) => name === 'webhook')).toHaveLength(20);
});
