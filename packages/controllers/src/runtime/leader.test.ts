import { Client } from '@plat-dev/client/dynamic';
import { FakeClock } from '@plat-dev/lib/clock';
import { kubernetes } from '@plat-dev/meta/identity';
import { afterEach, expect, test } from 'vitest';
import { FakeApi, type FakeKind } from '../testing.ts';
import { Election } from './leader.ts';

const leases: FakeKind = { group: 'coordination.k8s.io', version: 'v1', name: 'leases', kind: 'Lease', namespaced: true };
const times = { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2000 };
const clock = new FakeClock();
const started: Election[] = [];

function candidate(api: FakeApi, holder: string, log: string[]): Election {
  const election = new Election({
    ...times,
    client: new Client(api, { userAgent: 'test', metadataGroup: 'meta' }),
    identity: kubernetes,
    lease: 'work',
    holder,
    clock,
    spread: () => 0,
    start: () => {
      log.push(`${holder} begins`);
      return { stop: async () => void log.push(`${holder} ends`) };
    },
    report: () => {},
  });
  started.push(election);
  return election;
}
afterEach(async () => {
  const all = started.splice(0).map((election) => election.stop());
  await clock.advance(20_000);
  await Promise.all(all);
});
const lease = (api: FakeApi) => api.get(leases, 'kube-system', 'work');

test('one of two leads; the other takes over when the lease has run out', async () => {
  const api = new FakeApi([leases], clock);
  const log: string[] = [];
  let cut = false;
  const first = new Proxy(api, {
    get: (target, key) =>
      key === 'request' && cut
        ? () => Promise.reject(new Error('cut off'))
        : (Reflect.get(target, key).bind?.(target) ?? Reflect.get(target, key)),
  });
  candidate(first as FakeApi, 'one', log);
  await clock.advance(0);
  candidate(api, 'two', log);
  await clock.advance(60_000);
  expect(log).toEqual(['one begins']);
  cut = true;
  await clock.advance(13_000);
  // The first has given up before anybody else may begin.
  expect(log).toEqual(['one begins', 'one ends']);
  await clock.advance(8000);
  expect(log).toEqual(['one begins', 'one ends', 'two begins']);
  expect(lease(api).spec).toMatchObject({ holderIdentity: 'two', leaseTransitions: 1 });
});

test('a leader that ends gracefully leaves the lease to the next at once', async () => {
  const api = new FakeApi([leases], clock);
  const log: string[] = [];
  const one = candidate(api, 'one', log);
  await clock.advance(0);
  candidate(api, 'two', log);
  await clock.advance(2000);
  const stopping = one.stop();
  await clock.advance(0);
  await stopping;
  expect(lease(api).spec.holderIdentity).toBe('');
  await clock.advance(2500);
  expect(log).toEqual(['one begins', 'one ends', 'two begins']);
});

test('a lease that others renew is left alone, whatever time it tells', async () => {
  const api = new FakeApi([leases], clock);
  const log: string[] = [];
  const spec = { holderIdentity: 'other', leaseDurationSeconds: 15, renewTime: '2001-01-01T00:00:00.000000Z' };
  api.put(leases, { metadata: { name: 'work', namespace: 'kube-system' }, spec });
  candidate(api, 'one', log);
  for (let i = 0; i < 10; i++) {
    await clock.advance(10_000);
    api.put(leases, { metadata: { name: 'work', namespace: 'kube-system' }, spec });
  }
  expect(log).toEqual([]);
  await clock.advance(20_000);
  expect(log).toEqual(['one begins']);
});

test('who writes the lease at the same time as another does not lead', async () => {
  const api = new FakeApi([leases], clock);
  const log: string[] = [];
  api.before = (method) => {
    if (method === 'POST') FakeApi.refuse(409, 'AlreadyExists');
  };
  candidate(api, 'one', log);
  await clock.advance(1000);
  expect(log).toEqual([]);
});

test.each([
  [{ leaseMs: 10_000, renewDeadlineMs: 10_000, retryMs: 2000 }, 'the lease duration must be longer than the renew deadline'],
  [{ leaseMs: 15_000, renewDeadlineMs: 2000, retryMs: 2000 }, 'the renew deadline must be longer than the retry period'],
])('times that do not go together are refused', (wrong, message) => {
  const api = new FakeApi([leases], clock);
  const options = {
    ...wrong,
    client: new Client(api, { userAgent: 't', metadataGroup: 'm' }),
    identity: kubernetes,
    lease: 'l',
    holder: 'h',
    clock,
  };
  expect(() => new Election({ ...options, spread: () => 0, start: () => ({ stop: async () => {} }), report: () => {} })).toThrow(message);
});
