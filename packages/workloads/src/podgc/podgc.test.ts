import { FakeApi, fakeKinds, type Loose, runControllers } from '@plat-dev/controllers/testing';
import { expect, test } from 'vitest';
import { podCollector } from './controller.ts';

const nodeKind = { group: '', version: 'v1', name: 'nodes', kind: 'Node', namespaced: false };
const pod = (name: string, more: Loose = {}): Loose => ({
  metadata: { name, namespace: 'a', ...more.metadata },
  spec: more.spec ?? {},
  status: { phase: more.phase ?? 'Running' },
});

test('pods of a node that is gone are deleted after a while, and those of others are not', async () => {
  const api = new FakeApi([nodeKind, fakeKinds.pods]);
  api.put(nodeKind, { metadata: { name: 'n' } });
  api.put(fakeKinds.pods, pod('one', { spec: { nodeName: 'n' } }));
  api.put(fakeKinds.pods, pod('lost', { spec: { nodeName: 'gone' } }));
  api.put(fakeKinds.pods, pod('waits'));
  const run = runControllers(api, [podCollector({ finishedLimit: 100 })]);
  const left = (): string[] => api.all(fakeKinds.pods).map(({ metadata }) => metadata.name);
  await run.pass(39_999);
  expect(left()).toEqual(['one', 'lost', 'waits']);
  await run.pass(1);
  expect(left()).toEqual(['one', 'waits']);
  await api.remove(nodeKind, '', 'n');
  await run.pass(20_000);
  // A node of that name comes back in time.
  api.put(nodeKind, { metadata: { name: 'n' } });
  await run.pass(60_000);
  expect(left()).toEqual(['one', 'waits']);
  await api.remove(nodeKind, '', 'n');
  await run.pass(40_000);
  expect(left()).toEqual(['waits']);
  expect(run.failures).toEqual([]);
  await run.stop();
});

test('a terminating pod without a node goes at once', async () => {
  const api = new FakeApi([nodeKind, fakeKinds.pods]);
  const run = runControllers(api, [podCollector({ finishedLimit: 100 })]);
  api.put(fakeKinds.pods, pod('going', { metadata: { deletionTimestamp: '2024-01-01T00:00:00Z' } }));
  api.put(fakeKinds.pods, pod('bound', { metadata: { deletionTimestamp: '2024-01-01T00:00:00Z' }, spec: { nodeName: 'n' } }));
  await run.idle();
  expect(api.all(fakeKinds.pods).map(({ metadata }) => metadata.name)).toEqual(['bound']);
  await run.stop();
});

test('the oldest finished pods beyond the limit go', async () => {
  const api = new FakeApi([nodeKind, fakeKinds.pods]);
  const run = runControllers(api, [podCollector({ finishedLimit: 2 })]);
  for (let i = 0; i < 5; i++) {
    const creationTimestamp = `2024-01-01T00:00:0${9 - i}Z`;
    api.put(fakeKinds.pods, pod(`p${i}`, { metadata: { creationTimestamp }, phase: i % 2 === 0 ? 'Succeeded' : 'Failed' }));
  }
  api.put(fakeKinds.pods, pod('runs', { metadata: { creationTimestamp: '2023-01-01T00:00:00Z' } }));
  await run.pass(19_999);
  expect(api.all(fakeKinds.pods)).toHaveLength(6);
  await run.pass(1);
  expect(api.all(fakeKinds.pods).map(({ metadata }) => metadata.name)).toEqual(['p0', 'p1', 'runs']);
  await run.stop();
});
