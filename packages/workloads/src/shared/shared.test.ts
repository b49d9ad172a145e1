import { Client } from '@plat-dev/client/dynamic';
import { refs } from '@plat-dev/controllers/runtime/controller';
import { Informers } from '@plat-dev/controllers/runtime/informers';
import { FakeApi, fakeKinds, type Loose } from '@plat-dev/controllers/testing';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { FakeClock } from '@plat-dev/lib/clock';
import { atOnce } from '@plat-dev/lib/slices';
import { expect, test } from 'vitest';
import { claim } from './claim.ts';
import { EventRecorder } from './events.ts';
import { slowStart } from './pod-control.ts';
import { availability } from './pod-state.ts';
import { podIndex, type WorkloadPod, workloadPods } from './pods.ts';
import { templateHash } from './template-hash.ts';

const eventKind = { group: '', version: 'v1', name: 'events', kind: 'Event', namespaced: true };
const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: 'web', namespace: 'a', uid: 'u1' } };
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function world(): { api: FakeApi; clock: FakeClock; client: Client; informers: Informers } {
  const clock = new FakeClock();
  const api = new FakeApi([fakeKinds.pods, eventKind], clock);
  const client = new Client(api, { userAgent: 'test', metadataGroup: 'meta' });
  const informers = new Informers({ client, clock, spread: () => 0.5, report: () => {} });
  return { api, clock, client, informers };
}
const pod = (name: string, more: Loose = {}): Loose => ({ metadata: { name, namespace: 'a', ...more.metadata }, spec: more.spec ?? {} });

test('templates have the same hash whatever the order of their keys, and another one after a collision', () => {
  const hashOf = (template: unknown, collisions?: number): string => atOnce(templateHash(template, collisions));
  const hash = hashOf({ a: 1, b: { c: [1, 2], d: 'x' } });
  expect(hashOf({ b: { d: 'x', c: [1, 2], e: undefined }, a: 1 })).toBe(hash);
  expect(hashOf({ b: { d: 'x', c: [2, 1] }, a: 1 })).not.toBe(hash);
  expect(hashOf({ a: 1, b: { c: [1, 2], d: 'x' } }, 1)).not.toBe(hash);
  expect(hash).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/);
});

test('the hash of a large template yields within lists, objects and keys that have to be sorted', () => {
  const yieldsOf = (template: unknown): number => [...templateHash(template)].length;
  const numbers = Array.from({ length: 20_000 }, (_, i) => i);
  expect(yieldsOf({ a: 1, b: [{ c: 2 }] })).toBe(0);
  expect(yieldsOf({ args: numbers.map(String) })).toBeGreaterThanOrEqual(20);
  expect(yieldsOf({ aliases: numbers.map((i) => ({ ip: '10.0.0.1', names: [`h${i}`] })) })).toBeGreaterThanOrEqual(100);
  const shuffled = numbers.map((i) => (i * 7919) % numbers.length);
  const labels = Object.fromEntries(shuffled.map((i) => [`k${i}`, 'v']));
  expect(yieldsOf({ labels })).toBeGreaterThanOrEqual(100);
});

test('a pod is available when it has been ready for long enough', () => {
  const ready = (status: string, lastTransitionTime?: string): WorkloadPod =>
    ({ metadata: {}, status: { conditions: [{ type: 'Ready', status, lastTransitionTime }] } }) as WorkloadPod;
  const now = Date.parse('2024-01-01T00:00:06Z');
  expect(availability(ready('True', '2024-01-01T00:00:00Z'), 10, now)).toBe(4000);
  expect(availability(ready('True', '2024-01-01T00:00:00Z'), 6, now)).toBe(true);
  expect(availability(ready('True', '2024-01-01T00:01:00Z'), 0, now)).toBe(true);
  expect(availability(ready('False', '2024-01-01T00:00:00Z'), 0, now)).toBe(false);
});

test('batches grow until one fails', async () => {
  const tried: number[] = [];
  const all = await slowStart(6, async (i) => void tried.push(i));
  expect([tried, all.error]).toEqual([[0, 1, 2, 3, 4, 5], undefined]);
  let calls = 0;
  const some = await slowStart(100, async (i) => {
    calls++;
    if (i === 4) throw new Error('no more');
    return i;
  });
  expect([calls, some.created, (some.error as Error).message]).toEqual([7, [0, 1, 2, 3, 5, 6], 'no more']);
});

test('pods are found by their controller, their node, and where they have none', async () => {
  const { api, informers } = world();
  const index = podIndex(informers);
  expect(podIndex(informers)).toBe(index);
  const ownerReferences = [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'u1', controller: true }];
  api.put(fakeKinds.pods, pod('one', { metadata: { ownerReferences }, spec: { nodeName: 'n1' } }));
  api.put(fakeKinds.pods, pod('two'));
  await workloadPods(informers).synced;
  const names = (pods: Iterable<WorkloadPod>): unknown[] => [...pods].map(({ metadata }) => metadata.name);
  expect([names(index.ownedBy('u1')), names(index.orphansIn('a')), names(index.onNode('n1'))]).toEqual([['one'], ['two'], ['one']]);
  api.put(fakeKinds.pods, pod('one', { spec: { nodeName: 'n2' } }));
  await turn();
  expect([names(index.ownedBy('u1')), names(index.orphansIn('a')), names(index.onNode('n1'))]).toEqual([[], ['two', 'one'], []]);
  informers.stop();
});

test('an owner adopts what nobody controls and releases what it does not select', async () => {
  const { api, client, informers } = world();
  const pods = workloadPods(informers);
  const controls = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u1', controller: true }];
  api.put(fakeKinds.pods, pod('orphan', { metadata: { labels: { app: 'web' } } }));
  api.put(fakeKinds.pods, pod('other', { metadata: { labels: { app: 'db' } } }));
  api.put(fakeKinds.pods, pod('own', { metadata: { labels: { app: 'web' }, ownerReferences: controls } }));
  api.put(fakeKinds.pods, pod('changed', { metadata: { labels: { app: 'db' }, ownerReferences: controls } }));
  api.put(fakeKinds.pods, pod('foreign', { metadata: { labels: { app: 'web' }, ownerReferences: [{ ...controls[0], uid: 'u2' }] } }));
  await pods.synced;
  let asked = 0;
  const claimed = await claim<WorkloadPod>({
    client,
    resource: refs.pods,
    owner,
    matches: ({ metadata }) => metadata.labels?.app === 'web',
    mayAdopt: async () => ++asked === 1,
    candidates: [...pods.list('a')],
  });
  expect([claimed.map(({ metadata }) => metadata.name).sort(), asked]).toEqual([['orphan', 'own'], 1]);
  const ownersOf = async (name: string): Promise<unknown> =>
    (await client.get<ApiObject>(refs.pods, 'a', name)).metadata.ownerReferences?.map(({ uid }) => uid);
  expect([await ownersOf('orphan'), await ownersOf('changed'), await ownersOf('foreign')]).toEqual([['u1'], [], ['u2']]);
  informers.stop();
});

test('a repeated event raises its count, and an object has no more than 25 at once', async () => {
  const { api, clock, client } = world();
  const recorder = new EventRecorder({ client, clock, component: 'test' });
  recorder.event(owner, 'Normal', 'Made', 'one');
  await turn();
  recorder.event(owner, 'Normal', 'Made', 'one');
  recorder.event(owner, 'Warning', 'Made', 'two');
  await turn();
  const stored = api.all(eventKind);
  expect(stored.map(({ type, message, count }) => [type, message, count])).toEqual([
    ['Normal', 'one', 2],
    ['Warning', 'two', 1],
  ]);
  for (let i = 0; i < 40; i++) recorder.event(owner, 'Normal', 'Made', `more ${i}`);
  await turn();
  expect(api.all(eventKind)).toHaveLength(2 + 22);
  await clock.advance(5 * 60_000);
  recorder.event(owner, 'Normal', 'Made', 'later');
  recorder.event(owner, 'Normal', 'Made', 'too early');
  await turn();
  expect(api.all(eventKind)).toHaveLength(2 + 22 + 1);
});

test('a writer waits until its own write has arrived, or half a minute', async () => {
  const { api, clock, client, informers } = world();
  const pods = workloadPods(informers);
  await pods.synced;
  const made = await client.create<WorkloadPod>(refs.pods, 'a', pod('one'));
  await pods.whenArrived(made);
  expect(pods.get('a', 'one')).toBeDefined();
  await api.remove(fakeKinds.pods, 'a', 'one');
  await pods.gone(made);
  expect(pods.get('a', 'one')).toBeUndefined();
  let ended = false;
  const never = pods.whenArrived({ metadata: { resourceVersion: '999999' } } as ApiObject).then(() => {
    ended = true;
  });
  await clock.advance(29_999);
  expect(ended).toBe(false);
  await clock.advance(1);
  await never;
  informers.stop();
});
