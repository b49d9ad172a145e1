import { afterEach, expect, test } from 'vitest';
import { FakeApi, type FakeKind, fakeKinds, type Loose, runControllers, type TestRun } from '../testing.ts';
import { resourceQuotaController } from './controller.ts';

const { configMaps, pods, definitions, apiServices } = fakeKinds;
const quotas: FakeKind = { group: '', version: 'v1', name: 'resourcequotas', kind: 'ResourceQuota', namespaced: true };
let run: TestRun | undefined;
afterEach(async () => {
  await run?.stop();
  run = undefined;
});

function start() {
  const api = new FakeApi([configMaps, pods, quotas, definitions, apiServices]);
  run = runControllers(api, [resourceQuotaController]);
  const quota = (hard: Record<string, string>, more = {}): Loose =>
    api.put(quotas, { metadata: { name: 'q', namespace: 'a' }, spec: { hard, ...more } });
  const used = (): Loose => api.get(quotas, 'a', 'q').status?.used;
  const map = (name: string, namespace = 'a'): Loose => api.put(configMaps, { metadata: { name, namespace } });
  const pod = (name: string, cpu: string): Loose =>
    api.put(pods, {
      metadata: { name, namespace: 'a' },
      spec: { containers: [{ name: 'c', resources: { requests: { cpu } } }] },
      status: { phase: 'Running' },
    });
  return { api, run, quota, used, map, pod };
}

test('a new quota is filled with what is there', async () => {
  const { api, run, quota, used, map, pod } = start();
  for (const name of ['one', 'two', 'three']) map(name);
  map('other', 'b');
  pod('p', '500m');
  quota({ 'count/configmaps': '5', 'requests.cpu': '2', pods: '3', 'count/ghosts.example.com': '1' });
  await run.idle();
  expect(used()).toEqual({ 'count/configmaps': '3', 'requests.cpu': '500m', pods: '1' });
  expect(api.get(quotas, 'a', 'q').status.hard).toEqual({
    'count/configmaps': '5',
    'requests.cpu': '2',
    pods: '3',
    'count/ghosts.example.com': '1',
  });
});

test('a kind that two groups serve is counted in both', async () => {
  const moved = { ...configMaps, group: 'extensions', version: 'v1beta1' };
  const api = new FakeApi([configMaps, moved, pods, quotas, definitions, apiServices]);
  run = runControllers(api, [resourceQuotaController]);
  for (const kind of [configMaps, moved]) api.put(kind, { metadata: { name: 'one', namespace: 'a' } });
  const hard = { 'count/configmaps': '5', 'count/configmaps.extensions': '5' };
  api.put(quotas, { metadata: { name: 'q', namespace: 'a' }, spec: { hard } });
  await run.idle();
  expect(api.get(quotas, 'a', 'q').status?.used).toEqual({ 'count/configmaps': '1', 'count/configmaps.extensions': '1' });
});

test('objects are counted without being fetched', async () => {
  const { api, run, quota, used, map } = start();
  for (let i = 0; i < 50; i++) map(`m${i}`);
  quota({ configmaps: '100' });
  await run.idle();
  expect(used()).toEqual({ configmaps: '50' });
  expect(api.calls.filter((call) => call.startsWith('GET /api/v1/namespaces/a/configmaps'))).toEqual([
    'GET /api/v1/namespaces/a/configmaps?limit=1',
  ]);
});

test('a server that does not say how many objects follow is asked for all of them', async () => {
  const { api, run, quota, used, map } = start();
  const { request } = api;
  api.request = async (asked) => {
    const answer = await request.call(api, asked);
    return { ...answer, body: Buffer.from(answer.body.toString().replace(/,"remainingItemCount":\d+/, '')) };
  };
  for (let i = 0; i < 50; i++) map(`m${i}`);
  quota({ configmaps: '100' });
  await run.idle();
  expect(used()).toEqual({ configmaps: '50' });
});

test('it counts anew when something goes, and when the quota changes', async () => {
  const { api, run, quota, used, map } = start();
  map('one');
  map('two');
  quota({ configmaps: '5' });
  await run.idle();
  await api.remove(configMaps, 'a', 'one');
  await run.pass(200);
  expect(used()).toEqual({ configmaps: '1' });
  quota({ configmaps: '6', pods: '1' });
  await run.idle();
  expect(used()).toEqual({ configmaps: '1', pods: '0' });
});

test('a quota with scopes is about pods alone', async () => {
  const { run, quota, used, map, pod } = start();
  map('one');
  pod('p', '1');
  quota({ pods: '5', configmaps: '5' }, { scopes: ['NotBestEffort'] });
  await run.idle();
  expect(used()).toEqual({ pods: '1', configmaps: '0' });
});

test('kinds that no quota counts are not followed', async () => {
  const { api, run, quota } = start();
  quota({ configmaps: '5' });
  await run.idle();
  const followed = (): string[] =>
    api.calls.filter((call) => call.startsWith('WATCH') && !call.includes('/apis/') && !call.includes('resourcequotas'));
  expect(followed()).toEqual([expect.stringContaining('/api/v1/configmaps')]);
});

test('kinds of a quota that has gone are no longer followed, unless another quota counts them', async () => {
  const { api, run, quota } = start();
  quota({ configmaps: '5', pods: '5' });
  api.put(quotas, { metadata: { name: 'other', namespace: 'b' }, spec: { hard: { configmaps: '1' } } });
  await run.idle();
  await api.remove(quotas, 'a', 'q');
  await run.idle();
  // A watch that is still followed begins again.
  const callsBefore = api.calls.length;
  api.endWatches();
  await run.pass(2000);
  const begun = api.calls.slice(callsBefore).filter((call) => call.startsWith('WATCH'));
  expect(begun.some((call) => call.includes('/api/v1/configmaps'))).toBe(true);
  expect(begun.filter((call) => call.includes('/api/v1/pods'))).toEqual([]);
});

test('what was missed while a watch was broken is found', async () => {
  const { api, run, quota, used, map } = start();
  map('one');
  quota({ configmaps: '5' });
  await run.pass(2000);
  api.endWatches();
  await api.remove(configMaps, 'a', 'one');
  api.compact();
  await run.pass(2000);
  expect(used()).toEqual({ configmaps: '0' });
});
