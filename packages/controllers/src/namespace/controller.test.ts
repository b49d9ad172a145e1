import { afterEach, expect, test } from 'vitest';
import { FakeApi, type FakeKind, fakeKinds, type Loose, runControllers, type TestRun } from '../testing.ts';
import { namespaceController } from './controller.ts';

const { namespaces, configMaps, secrets, pods, definitions, apiServices } = fakeKinds;
const policies: FakeKind = { group: 'networking.k8s.io', version: 'v1', name: 'networkpolicies', kind: 'NetworkPolicy', namespaced: true };

let run: TestRun | undefined;
afterEach(async () => {
  await run?.stop();
  run = undefined;
});

function start(delayMs = 0, podsFirst = false) {
  const api = new FakeApi([namespaces, configMaps, secrets, pods, policies, definitions, apiServices]);
  api.put(namespaces, { metadata: { name: 'a' }, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } });
  run = runControllers(api, [namespaceController({ delayMs, podsFirst })]);
  return { api, run };
}
const make = (api: FakeApi, kind: FakeKind, name: string, more = {}): Loose =>
  api.put(kind, { metadata: { name, namespace: 'a', ...more } });
const release = (api: FakeApi, path: string) =>
  api.request({ method: 'PATCH', path, body: JSON.stringify({ metadata: { finalizers: null } }) });
const conditions = (api: FakeApi): Record<string, string> =>
  Object.fromEntries(
    (api.get(namespaces, '', 'a').status.conditions ?? []).map((one: Loose) => [one.type, `${one.status} ${one.reason}: ${one.message}`]),
  );

test('a namespace that is deleted is emptied of every kind, and goes', async () => {
  const { api, run } = start();
  for (const kind of [configMaps, secrets, pods, policies]) for (let i = 0; i < 3; i++) make(api, kind, `o${i}`);
  api.put(configMaps, { metadata: { name: 'other', namespace: 'b' } });
  await run.idle();
  await api.remove(namespaces, '', 'a');
  await run.idle();
  expect([configMaps, secrets, pods, policies].flatMap((kind) => api.all(kind)).map((object) => object.metadata.name)).toEqual(['other']);
  expect(api.get(namespaces, '', 'a')).toBeUndefined();
});

test('a namespace that is in use is left alone', async () => {
  const { api, run } = start();
  make(api, configMaps, 'one');
  await run.pass(60_000);
  expect(api.calls.filter((call) => call.startsWith('DELETE'))).toEqual([]);
});

test('what is held is reported by kind, finalizer and name, and the namespace goes when it is released', async () => {
  const { api, run } = start();
  make(api, configMaps, 'held', { finalizers: ['example.com/hold', 'example.com/more'] });
  make(api, secrets, 'held', { finalizers: ['example.com/hold'] });
  make(api, configMaps, 'free');
  await run.idle();
  await api.remove(namespaces, '', 'a');
  await run.idle();
  expect(api.get(namespaces, '', 'a').status.phase).toBe('Terminating');
  expect(conditions(api)).toEqual({
    NamespaceDeletionDiscoveryFailure: 'False ResourcesDiscovered: All resources successfully discovered',
    NamespaceDeletionGroupVersionParsingFailure: 'False ParsedGroupVersions: All legacy kube types successfully parsed',
    NamespaceDeletionContentFailure: 'False ContentDeleted: All content successfully deleted, may be waiting on finalization',
    NamespaceContentRemaining:
      'True SomeResourcesRemain: Some resources are remaining: configmaps. has 1 resource instances, secrets. has 1 resource instances',
    NamespaceFinalizersRemaining:
      'True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/hold in 2 resource instances, example.com/more in 1 resource instances',
    NamespaceObjectsHeld:
      'True WaitingForFinalizers: configmaps/held waits for example.com/hold and example.com/more; secrets/held waits for example.com/hold',
  });
  await release(api, '/api/v1/namespaces/a/configmaps/held');
  await release(api, '/api/v1/namespaces/a/secrets/held');
  await run.pass(10_000);
  expect(api.get(namespaces, '', 'a')).toBeUndefined();
});

test('looks at a namespace that is held become rarer, and delete nothing twice', async () => {
  const { api, run } = start();
  make(api, configMaps, 'held', { finalizers: ['example.com/hold'] });
  await run.idle();
  await api.remove(namespaces, '', 'a');
  await run.pass(60_000);
  const before = api.calls.length;
  await run.pass(60_000);
  const later = api.calls.slice(before);
  expect(later.filter((call) => call.startsWith('DELETE') || call.startsWith('PUT'))).toEqual([]);
  expect(later.filter((call) => call.startsWith('GET /api/v1/namespaces/a/configmaps'))).toHaveLength(8);
});

test('network policies outlive the pods that they guard', async () => {
  const { api, run } = start();
  make(api, pods, 'slow', { finalizers: ['example.com/hold'] });
  make(api, policies, 'guard');
  await run.idle();
  await api.remove(namespaces, '', 'a');
  await run.pass(5000);
  expect(api.get(policies, 'a', 'guard')).toBeDefined();
  await release(api, '/api/v1/namespaces/a/pods/slow');
  await run.pass(10_000);
  expect([api.get(policies, 'a', 'guard'), api.get(namespaces, '', 'a')]).toEqual([undefined, undefined]);
});

test('where pods go first, nothing else is deleted before the last of them is gone', async () => {
  const { api, run } = start(0, true);
  make(api, pods, 'slow', { finalizers: ['example.com/hold'] });
  make(api, configMaps, 'one');
  await run.idle();
  await api.remove(namespaces, '', 'a');
  await run.pass(5000);
  expect(api.get(configMaps, 'a', 'one').metadata).not.toHaveProperty('deletionTimestamp');
  expect(conditions(api).NamespaceContentRemaining).toContain('configmaps. has 1 resource instances, pods. has 1 resource instances');
  await release(api, '/api/v1/namespaces/a/pods/slow');
  await run.pass(10_000);
  expect([api.get(configMaps, 'a', 'one'), api.get(namespaces, '', 'a')]).toEqual([undefined, undefined]);
});

test('where pods go first and cannot be listed, nothing else is deleted either', async () => {
  const { api, run } = start(0, true);
  make(api, configMaps, 'one');
  let broken = true;
  api.before = (_method, path) => {
    if (broken && path.includes('/pods')) FakeApi.refuse(500, 'InternalError', 'the store is full');
  };
  await run.idle();
  await api.remove(namespaces, '', 'a');
  await run.pass(5000);
  expect(api.all(configMaps)).toHaveLength(1);
  broken = false;
  await run.pass(10_000);
  expect(api.get(namespaces, '', 'a')).toBeUndefined();
});

test('a kind whose objects cannot be deleted is reported, and all others go', async () => {
  const { api, run } = start();
  make(api, configMaps, 'one');
  make(api, secrets, 'one');
  let broken = true;
  api.before = (method, path) => {
    if (broken && method === 'DELETE' && path.includes('/secrets')) FakeApi.refuse(500, 'InternalError', 'the store is full');
  };
  await run.idle();
  await api.remove(namespaces, '', 'a');
  await run.idle();
  expect(api.all(configMaps)).toEqual([]);
  expect(conditions(api).NamespaceDeletionContentFailure).toBe(
    'True ContentDeletionFailed: Failed to delete all resource types, 1 remaining: /v1, Resource=secrets: the store is full',
  );
  broken = false;
  await run.pass(10_000);
  expect(api.get(namespaces, '', 'a')).toBeUndefined();
});

test('a group that cannot be asked keeps the namespace: it may hold something', async () => {
  const { api, run } = start();
  api.serve({ group: 'broken.example.com', version: 'v1', name: 'things', kind: 'Thing', namespaced: true });
  let broken = true;
  api.before = (_method, path) => {
    if (broken && path === '/apis/broken.example.com/v1') FakeApi.refuse(503, 'ServiceUnavailable', 'no server');
  };
  await run.idle();
  await api.remove(namespaces, '', 'a');
  await run.pass(5000);
  expect(conditions(api).NamespaceDeletionDiscoveryFailure).toBe(
    'True DiscoveryFailed: Discovery failed for some groups, 1 failing: broken.example.com/v1: no server',
  );
  broken = false;
  await run.pass(120_000);
  expect(api.get(namespaces, '', 'a')).toBeUndefined();
});

test('a namespace with a finalizer of somebody else is left to them when it is empty', async () => {
  const { api, run } = start();
  api.put(namespaces, { metadata: { name: 'b', finalizers: ['example.com/last'] }, spec: { finalizers: ['kubernetes'] } });
  await run.idle();
  await api.remove(namespaces, '', 'b');
  await run.pass(60_000);
  expect(api.get(namespaces, '', 'b').spec.finalizers).toEqual([]);
  const before = api.calls.length;
  await run.pass(60_000);
  expect(api.calls.slice(before).filter((call) => !call.startsWith('GET /api'))).toEqual([]);
});

test('where servers share a store, they are given time to hear of the deletion', async () => {
  const { api, run } = start(5000);
  make(api, configMaps, 'one');
  await run.idle();
  await api.remove(namespaces, '', 'a');
  await run.pass(4900);
  expect(api.all(configMaps)).toHaveLength(1);
  await run.pass(200);
  expect(api.all(configMaps)).toEqual([]);
});

test('a deletion that was under way is finished by whoever comes next', async () => {
  const { api, run: first } = start();
  for (let i = 0; i < 20; i++) make(api, configMaps, `m${i}`);
  await first.idle();
  let refused = false;
  api.before = (method) => {
    if (method === 'PUT') {
      refused = true;
      FakeApi.refuse(503);
    }
  };
  await api.remove(namespaces, '', 'a');
  await first.idle();
  expect(refused).toBe(true);
  await first.stop();
  api.before = () => {};
  run = runControllers(api, [namespaceController({ delayMs: 0 })]);
  await run.idle();
  expect(api.get(namespaces, '', 'a')).toBeUndefined();
});
