import { jsonText } from '@plat-dev/lib/json-text';
import { afterEach, expect, test } from 'vitest';
import { FakeApi, type FakeKind, fakeKinds, type Loose, runControllers, type TestRun } from '../testing.ts';
import { garbageCollector } from './controller.ts';

const { configMaps, secrets, definitions, apiServices } = fakeKinds;
const widgets: FakeKind = { group: 'example.com', version: 'v1', name: 'widgets', kind: 'Widget', namespaced: true };
const globals: FakeKind = { group: 'example.com', version: 'v1', name: 'globals', kind: 'Global', namespaced: false };

let run: TestRun | undefined;
afterEach(async () => {
  await run?.stop();
  run = undefined;
});

function start(...more: FakeKind[]) {
  const api = new FakeApi([configMaps, secrets, definitions, apiServices, ...more]);
  const collect = (): TestRun => {
    run = runControllers(api, [garbageCollector({ settleMs: 0 })]);
    return run;
  };
  return { api, collect };
}
const ref = (kind: FakeKind, owner: Loose, more = {}) => ({
  apiVersion: kind.group === '' ? kind.version : `${kind.group}/${kind.version}`,
  kind: kind.kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid,
  ...more,
});
const make = (api: FakeApi, kind: FakeKind, name: string, ownerReferences: Loose[] = [], more = {}): Loose =>
  api.put(kind, {
    metadata: { name, ...(kind.namespaced && { namespace: 'a' }), ...(ownerReferences.length > 0 && { ownerReferences }), ...more },
  });
const names = (api: FakeApi, kind: FakeKind): string[] => api.all(kind).map((object) => object.metadata.name);

test('dependents of any kind go after their owner, and theirs after them', async () => {
  const { api, collect } = start();
  const owner = make(api, configMaps, 'owner');
  const { idle } = collect();
  const middle = make(api, secrets, 'middle', [ref(configMaps, owner)]);
  make(api, configMaps, 'leaf', [ref(secrets, middle)]);
  make(api, configMaps, 'other');
  await idle();
  await api.remove(configMaps, 'a', 'owner');
  await idle();
  expect([names(api, configMaps), names(api, secrets)]).toEqual([['other'], []]);
});

test('objects without owners are followed but cost nothing', async () => {
  const { api, collect } = start();
  const { idle } = collect();
  await idle();
  const before = api.calls.length;
  for (let i = 0; i < 100; i++) make(api, configMaps, `m${i}`);
  await api.remove(configMaps, 'a', 'm1');
  await idle();
  expect(api.calls.slice(before).filter((call) => !call.startsWith('DELETE'))).toEqual([]);
});

test('an owner is asked for once, however many name it', async () => {
  const { api, collect } = start();
  const owner = make(api, configMaps, 'owner');
  const { idle } = collect();
  await idle();
  const before = api.calls.length;
  for (let i = 0; i < 50; i++) make(api, secrets, `s${i}`, [ref(configMaps, owner)]);
  await idle();
  expect(api.calls.slice(before)).toEqual(['GET /api/v1/namespaces/a/configmaps/owner']);
});

test('an owner that never was, and one in another namespace, count as gone', async () => {
  const { api, collect } = start();
  const far = api.put(configMaps, { metadata: { name: 'far', namespace: 'b' } });
  make(api, secrets, 'one', [ref(configMaps, { metadata: { name: 'never', uid: 'none' } })]);
  make(api, secrets, 'two', [ref(configMaps, far)]);
  await collect().idle();
  expect(names(api, secrets)).toEqual([]);
  expect(names(api, configMaps)).toEqual(['far']);
});

test('those who name the right uid in the right place stay beside one who gets the place wrong', async () => {
  const { api, collect } = start();
  const owner = make(api, configMaps, 'owner');
  api.put(secrets, { metadata: { name: 'wrong', namespace: 'b', ownerReferences: [ref(configMaps, owner)] } });
  make(api, secrets, 'right', [ref(configMaps, owner)]);
  await collect().idle();
  expect(names(api, secrets)).toEqual(['right']);
});

test('an object that was made anew under the name of its owner is not its owner', async () => {
  const { api, collect } = start();
  const owner = make(api, configMaps, 'owner');
  const { idle } = collect();
  make(api, secrets, 'child', [ref(configMaps, owner)]);
  await idle();
  await api.remove(configMaps, 'a', 'owner');
  make(api, configMaps, 'owner');
  await idle();
  expect([names(api, secrets), names(api, configMaps)]).toEqual([[], ['owner']]);
});

test('a living owner keeps a dependent; the reference to a dead one is taken away', async () => {
  const { api, collect } = start();
  const [one, two] = [make(api, configMaps, 'one'), make(api, configMaps, 'two')];
  const { idle } = collect();
  make(api, secrets, 'child', [ref(configMaps, one), ref(configMaps, two)]);
  await idle();
  await api.remove(configMaps, 'a', 'one');
  await idle();
  expect(api.get(secrets, 'a', 'child').metadata.ownerReferences).toEqual([ref(configMaps, two)]);
});

test('orphaning takes the references away before the owner goes', async () => {
  const { api, collect } = start();
  const owner = make(api, configMaps, 'owner');
  const { idle } = collect();
  for (let i = 0; i < 40; i++) make(api, secrets, `s${i}`, [ref(configMaps, owner)]);
  await idle();
  await api.remove(configMaps, 'a', 'owner', 'Orphan');
  await idle();
  expect(names(api, configMaps)).toEqual([]);
  expect(api.all(secrets).map((secret) => secret.metadata.ownerReferences)).toEqual(new Array(40).fill(undefined));
});

test('in the foreground the owner waits for those who block it, and for no others', async () => {
  const { api, collect } = start();
  const owner = make(api, configMaps, 'owner');
  const { idle } = collect();
  const hold = { finalizers: ['example.com/hold'] };
  make(api, secrets, 'blocks', [ref(configMaps, owner, { blockOwnerDeletion: true })], hold);
  make(api, secrets, 'does-not', [ref(configMaps, owner)], hold);
  await idle();
  await api.remove(configMaps, 'a', 'owner', 'Foreground');
  await idle();
  expect(api.all(secrets).every((secret) => secret.metadata.deletionTimestamp !== undefined)).toBe(true);
  expect(names(api, configMaps)).toEqual(['owner']);
  const { metadata } = api.get(secrets, 'a', 'blocks');
  await api.request({
    method: 'PATCH',
    path: '/api/v1/namespaces/a/secrets/blocks',
    body: jsonText({ metadata: { uid: metadata.uid, finalizers: null } }),
  });
  await idle();
  expect([names(api, configMaps), names(api, secrets)]).toEqual([[], ['does-not']]);
});

test('a dependent that stops blocking lets its owner go', async () => {
  const { api, collect } = start();
  const owner = make(api, configMaps, 'owner');
  const { idle } = collect();
  make(api, secrets, 'child', [ref(configMaps, owner, { blockOwnerDeletion: true })], { finalizers: ['example.com/hold'] });
  await idle();
  await api.remove(configMaps, 'a', 'owner', 'Foreground');
  await idle();
  const ownerReferences = [ref(configMaps, owner, { blockOwnerDeletion: false })];
  await api.request({
    method: 'PATCH',
    path: '/api/v1/namespaces/a/secrets/child',
    body: jsonText({ metadata: { ownerReferences } }),
  });
  await idle();
  expect(names(api, configMaps)).toEqual([]);
});

test('objects that wait for each other in a circle do not wait for ever', async () => {
  const { api, collect } = start();
  const block = { blockOwnerDeletion: true };
  const one = make(api, configMaps, 'one');
  const two = make(api, configMaps, 'two', [ref(configMaps, one, block)]);
  make(api, configMaps, 'one', [ref(configMaps, two, block)]);
  const { idle } = collect();
  await idle();
  await api.remove(configMaps, 'a', 'one', 'Foreground');
  await idle();
  expect(names(api, configMaps)).toEqual([]);
});

test('what an unknown kind owns is left alone until the kind is served', async () => {
  const { api, collect } = start();
  make(api, secrets, 'child', [ref(widgets, { metadata: { name: 'w', uid: 'w1' } })]);
  const { idle, pass } = collect();
  await idle();
  expect(names(api, secrets)).toEqual(['child']);
  api.serve(widgets);
  api.put(definitions, { metadata: { name: 'widgets.example.com' } });
  await pass(1000);
  expect(names(api, secrets)).toEqual([]);
});

test('kinds that appear while it runs are collected, and those that vanish do no harm', async () => {
  const { api, collect } = start();
  const { idle, pass } = collect();
  await idle();
  api.serve(widgets);
  api.put(definitions, { metadata: { name: 'widgets.example.com' } });
  await pass(1000);
  const widget = make(api, widgets, 'w');
  make(api, secrets, 'of-widget', [ref(widgets, widget)]);
  const owner = make(api, configMaps, 'owner');
  make(api, widgets, 'owned', [ref(configMaps, owner)]);
  await idle();
  await api.remove(configMaps, 'a', 'owner');
  await idle();
  expect(names(api, widgets)).toEqual(['w']);
  api.unserve(widgets);
  await api.remove(definitions, '', 'widgets.example.com');
  await pass(1000);
  expect(names(api, secrets)).toEqual(['of-widget']);
});

test('an object of the cluster may own ones of namespaces, but not the other way round', async () => {
  const { api, collect } = start(globals);
  const owner = make(api, globals, 'owner');
  make(api, secrets, 'child', [ref(globals, owner)]);
  const map = make(api, configMaps, 'map');
  make(api, globals, 'odd', [ref(configMaps, map)]);
  const { idle } = collect();
  await idle();
  await api.remove(globals, '', 'owner');
  await api.remove(configMaps, 'a', 'map');
  await idle();
  expect([names(api, secrets), names(api, globals)]).toEqual([[], ['odd']]);
});

test('what was deleted while nobody watched is found at the start', async () => {
  const { api, collect } = start();
  const owner = make(api, configMaps, 'owner');
  make(api, secrets, 'child', [ref(configMaps, owner)]);
  await api.remove(configMaps, 'a', 'owner');
  const other = make(api, configMaps, 'other');
  make(api, secrets, 'blocks', [ref(configMaps, other, { blockOwnerDeletion: true })]);
  await api.remove(configMaps, 'a', 'other', 'Foreground');
  await collect().idle();
  expect([names(api, secrets), names(api, configMaps)]).toEqual([[], []]);
});

test('what fails is retried', async () => {
  const { api, collect } = start();
  const owner = make(api, configMaps, 'owner');
  const { idle, pass } = collect();
  make(api, secrets, 'child', [ref(configMaps, owner)]);
  await idle();
  let refusals = 3;
  api.before = (method) => {
    if (method === 'DELETE' && refusals-- > 0) FakeApi.refuse(500, 'InternalError');
  };
  refusals = 0;
  await api.remove(configMaps, 'a', 'owner');
  refusals = 3;
  await idle();
  expect(names(api, secrets)).toEqual(['child']);
  await pass(1000);
  expect(names(api, secrets)).toEqual([]);
});
