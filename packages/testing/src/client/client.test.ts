import { getEventListeners } from 'node:events';
import { builtIn, groups } from '@plat-dev/client/typed/built-in';
import type { Entry } from '@plat-dev/client/typed/built-in-types';
import type { AnyObject } from '@plat-dev/client/typed/types';
import { builtinKinds } from '@plat-dev/kinds';
import { FakeClock } from '@plat-dev/lib/clock';
import { ApiError } from '@plat-dev/meta/errors';
import { groupName, kubernetes, plat } from '@plat-dev/meta/identity';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KeepAlive } from '../keep-alive.ts';
import { startTestServer } from '../server.ts';
import type { TestServer } from '../test-server.ts';
import type { TestClient } from './types.ts';
import { WaitTimeout, waitUntil } from './wait.ts';

let server: TestServer;
let client: TestClient;
beforeAll(async () => {
  server = await startTestServer();
  client = server.client();
  await client.core.v1.namespaces().create({ metadata: { name: 'a' } });
});
afterAll(() => server.close());

/** Subresources that are streams to other machines: no client method stands for them. */
const streams: readonly string[] = ['attach', 'exec', 'portforward', 'proxy'];

test.each([plat, kubernetes])('the client has every built-in kind, version and subresource ($name)', (identity) => {
  const wanted = builtinKinds(identity).flatMap(({ group, plural, kind, scope, versions, virtual = false, verbs, subresources = {} }) =>
    Object.entries(versions)
      .filter(([, { served = true }]) => served)
      .map(([version]) => ({
        path: `${group}/${version}/${plural}`,
        kind,
        namespaced: scope === 'Namespaced',
        verbs: !virtual ? 'all' : verbs?.includes('create') ? 'create' : 'read',
        subresources: Object.keys(subresources).filter((name) => !streams.includes(name)),
      })),
  );
  const has = Object.entries(builtIn).flatMap(([group, versions]) =>
    Object.entries(versions).flatMap(([version, resources]) =>
      Object.entries(resources as Record<string, Entry<unknown, boolean, 'all', string>>).map(([plural, entry]) => ({
        path: `${groups[group as keyof typeof groups]}/${version}/${plural}`,
        ...entry,
      })),
    ),
  );
  const sorted = <T extends { path: string }>(all: readonly T[]): T[] => [...all].sort((x, y) => (x.path < y.path ? -1 : 1));
  expect(sorted(has)).toEqual(sorted(wanted));
});

const deployment = (name: string) => ({
  metadata: { name, labels: { app: name } },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
});

test('objects of a built-in kind are made, read, changed and deleted', async () => {
  const deployments = client.apps.v1.deployments('a');
  const made = await deployments.create(deployment('web'));
  expect(made).toMatchObject({
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: { namespace: 'a' },
    spec: { revisionHistoryLimit: 10 },
  });
  const changed = await deployments.update({ ...made, spec: { ...made.spec, replicas: 3 } });
  expect(changed.spec.replicas).toBe(3);
  await expect(deployments.update(made)).rejects.toMatchObject({ code: 409, reason: 'Conflict' });
  expect((await deployments.patch('web', { spec: { paused: true } })).spec.paused).toBe(true);
  expect((await deployments.patch('web', [{ op: 'remove', path: '/spec/paused' }])).spec.paused).toBeUndefined();
  const applied = await deployments.apply({ metadata: { name: 'web' }, spec: { minReadySeconds: 5 } }, { fieldManager: 'me' });
  expect(applied.metadata.managedFields?.map(({ manager }) => manager)).toContain('me');
  await expect(
    deployments.apply({ metadata: { name: 'web' }, spec: { replicas: 9 } }, { fieldManager: 'you', force: false }),
  ).rejects.toMatchObject({ code: 409 });
  expect((await deployments.updateStatus({ ...applied, status: { replicas: 3, observedGeneration: 1 } })).status.replicas).toBe(3);
  expect((await deployments.patchStatus('web', { status: { readyReplicas: 1 } })).status.readyReplicas).toBe(1);
  expect(await deployments.getScale('web')).toMatchObject({ kind: 'Scale', spec: { replicas: 3 } });
  expect((await deployments.scale('web', 4)).spec?.replicas).toBe(4);
  expect((await deployments.create(deployment('dry'), { dryRun: true })).metadata.name).toBe('dry');
  const { items } = await deployments.list({ labelSelector: 'app=web' });
  expect(items.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([['Deployment', 'web']]);
  expect((await client.apps.v1.deployments().list()).items).toHaveLength(1);
  await deployments.delete('web');
  expect(await deployments.find('web')).toBeUndefined();
  const error = await deployments.get('web').catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ code: 404, reason: 'NotFound', details: { name: 'web', kind: 'deployments' } });
});

test('subresources of pods and service accounts have methods', async () => {
  const pods = client.core.v1.pods('a');
  await pods.create({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
  await client.core.v1.nodes().create({ metadata: { name: 'n' } });
  await pods.bind('p', 'n');
  expect((await pods.get('p')).spec.nodeName).toBe('n');
  await pods.evict('p', { gracePeriodSeconds: 0 });
  expect(await pods.find('p')).toBeUndefined();
  await expect(pods.log('p')).rejects.toMatchObject({ code: 404 });
  await client.core.v1.serviceaccounts('a').create({ metadata: { name: 'robot' } });
  const token = await client.core.v1.serviceaccounts('a').createToken('robot');
  const { status } = await client.authentication.v1.tokenreviews().create({ spec: { token } });
  expect(status).toMatchObject({ authenticated: true, user: { username: 'system:serviceaccount:a:robot' } });
  await client.core.v1.pods('a').deleteCollection();
});

test('clients act as their users', async () => {
  const alice = server.client('alice', ['dev']);
  await expect(alice.core.v1.configmaps('a').list()).rejects.toMatchObject({ code: 403 });
  const group = groupName(server.identity, 'rbac.authorization');
  await client.rbac.v1.rolebindings('a').create({
    metadata: { name: 'dev' },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'view' },
    subjects: [{ apiGroup: group, kind: 'Group', name: 'dev' }],
  });
  expect((await alice.core.v1.configmaps('a').list()).items).toEqual([]);
});

test('watches hand over events, and end with the loop', async () => {
  const maps = client.core.v1.configmaps('a');
  const watch = maps.watch({ fieldSelector: 'metadata.name=w' });
  await watch.ready;
  const { metadata } = await maps.create({ metadata: { name: 'w' } });
  await maps.delete('w');
  const seen: string[] = [];
  for await (const { type, object } of watch) {
    seen.push(`${type} ${object.metadata.name}`);
    if (type === 'DELETED') break;
  }
  expect(seen).toEqual(['ADDED w', 'DELETED w']);
  expect(await watch.next()).toMatchObject({ done: true });
  await expect(maps.watch({ resourceVersion: 'x' }).next()).rejects.toMatchObject({ code: 400 });
  const again = maps.watch({ resourceVersion: metadata.resourceVersion as string });
  expect((await again.next()).value?.type).toBe('DELETED');
  again.close();
});

test('informers keep a copy up to date', async () => {
  const maps = client.core.v1.configmaps('a');
  await maps.create({ metadata: { name: 'i1', labels: { kept: 'yes' } } });
  const informer = maps.informer({ labelSelector: 'kept=yes' });
  const seen: string[] = [];
  let hear: () => void = () => {};
  const heard = new Promise<void>((resolve) => {
    hear = resolve;
  });
  informer.onChange(({ type, object }) => {
    seen.push(`${type} ${object.metadata.name}`);
    if (type === 'deleted') hear();
  });
  await informer.synced;
  expect([...informer.list()].map(({ metadata }) => metadata.name)).toEqual(['i1']);
  await maps.create({ metadata: { name: 'i2', labels: { kept: 'yes' } } });
  await maps.delete('i1');
  await heard;
  expect(seen).toEqual(['added i1', 'added i2', 'deleted i1']);
  expect(informer.get('a', 'i2')?.metadata.labels).toEqual({ kept: 'yes' });
  informer.stop();
});

test('an informer of a server that is closed rejects instead of waiting for ever', async () => {
  const short = await startTestServer();
  const { namespaces } = short.client().core.v1;
  await short.close();
  await expect(namespaces().informer().synced).rejects.toThrow();
});

const widgets = (group: string) => ({
  apiVersion: `${group}/v1`,
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: { size: { type: 'integer' } } },
              status: { type: 'object', properties: { phase: { type: 'string' } } },
            },
          },
        },
      },
    ],
  },
});

interface Widget {
  metadata: { name?: string };
  spec?: { size: number };
  status?: { phase: string };
}

test('custom kinds are found by kind, by plural and by word, once they are there', async () => {
  const byKind = client.resource<Widget>({ apiVersion: 'example.com/v1', kind: 'Widget' }, 'a');
  await expect(byKind.list()).rejects.toThrow('no kind "Widget"');
  const crd = await client.create({ ...widgets(groupName(server.identity, 'apiextensions')) });
  await client.waitFor(crd, 'Established');
  expect((await byKind.create({ metadata: { name: 'w' }, spec: { size: 1 } })).spec?.size).toBe(1);
  const byPlural = client.resource<Widget>({ apiVersion: 'example.com/v1', plural: 'widgets' }, 'a');
  expect((await byPlural.patch('w', { spec: { size: 2 } })).spec?.size).toBe(2);
  const byWord = client.resource<Widget>('widgets', 'a');
  const waiting = client.waitFor(
    { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { namespace: 'a', name: 'w' } },
    '{.status.phase}=Done',
  );
  await byWord.updateStatus({ ...(await byWord.get('w')), status: { phase: 'Done' } });
  expect(await waiting).toMatchObject({ spec: { size: 2 }, status: { phase: 'Done' } });
  const gone = client.waitFor({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { namespace: 'a', name: 'w' } }, 'delete');
  await byWord.delete('w');
  expect(await gone).toBeUndefined();
});

test('waiting takes conditions, goals, paths and functions', async () => {
  const pod = await client.core.v1.pods('a').create({ metadata: { name: 'q' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
  const waits = [
    client.waitFor(pod, 'Ready'),
    client.waitFor(pod, 'condition=Ready=True'),
    client.waitFor(pod, 'jsonpath={.status.phase}=Running'),
    client.waitFor(pod, (now) => now?.status.phase === 'Running'),
  ];
  await client.core.v1.pods('a').updateStatus({ ...pod, status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } });
  for (const found of await Promise.all(waits)) expect(found?.status.phase).toBe('Running');
  await expect(client.waitFor(pod, 'no such form=')).rejects.toThrow('is none of');
});

type Listener = (change: { type: 'added'; object: AnyObject; old: undefined }) => void;
const followed = (listen: (listener: Listener) => void = () => {}) => ({
  synced: Promise.resolve(),
  size: 0,
  get: () => undefined,
  list: () => [],
  onChange: (listener: Listener) => {
    listen(listener);
    return () => {};
  },
  stop: () => {},
});
const waitingFor = { what: 'Pod (v1) a/p', keepAlive: new KeepAlive(), whenClosed: () => () => {} };

test('a wait that is over shows the last state, on the clock that it was given', async () => {
  const clock = new FakeClock();
  let send: Listener = () => {};
  const informer = followed((listener) => {
    send = listener;
  });
  const waiting = waitUntil({ ...waitingFor, informer, clock }, 'Ready', { timeout: '10s' });
  await clock.advance(9_999);
  send({ type: 'added', object: { metadata: { name: 'p' }, status: { phase: 'Pending' } }, old: undefined });
  const over = waiting.catch((error: unknown) => error);
  await clock.advance(1);
  const error = await over;
  expect(error).toBeInstanceOf(WaitTimeout);
  expect((error as Error).message).toMatch(/^Pod \(v1\) a\/p: .* after 10000 ms\nIts last state:\n/);
  expect((error as Error).message).toContain('"phase": "Pending"');
});

test('a wait that is over shows the last ten changes of the object', async () => {
  await using server = await startTestServer();
  const client = server.client('alice', ['system:masters']);
  const maps = client.core.v1.configmaps('default');
  const map = await maps.create({ metadata: { name: 'waited' } });
  for (let i = 0; i < 10; i++) await maps.patch('waited', { data: { step: String(i) } });
  const error = await client.waitFor({ ...map, apiVersion: 'v1', kind: 'ConfigMap' }, () => false, { timeout: 10 }).catch(String);
  const lines = String(error).split('\n');
  const start = lines.indexOf('Its history, without 1 earlier changes:');
  expect(lines.slice(start + 1)).toHaveLength(10);
  expect(lines.at(-1)).toMatch(/^\d\d:\d\d:\d\d\.\d{3} changed by alice \(patch\): .*data\.step/);
});

test('a wait by a fake clock that nobody moves ends by the clock of the machine', async () => {
  const [clock, realClock] = [new FakeClock(), new FakeClock()];
  const waiting = (timeout: string) =>
    waitUntil({ ...waitingFor, informer: followed(), clock, realClock }, 'Ready', { timeout }).catch((error: unknown) => String(error));
  const [short, long] = [waiting('10s'), waiting('1m')];
  await realClock.advance(29_999);
  expect(clock.pending).toBe(2);
  await realClock.advance(1);
  expect(await short).toBe(
    'WaitTimeout: Pod (v1) a/p: it does not exist after 30000 ms of real time (the fake clock was not advanced by 10000 ms)',
  );
  expect(clock.pending).toBe(1);
  await realClock.advance(30_000);
  expect(await long).toContain('after 60000 ms of real time');
  expect([clock.pending, realClock.pending]).toEqual([0, 0]);
});

test('a watch ends with its signal, even one that is aborted already, and leaves no listener on it', async () => {
  const maps = client.core.v1.configmaps('a');
  const none = maps.watch({ signal: AbortSignal.abort(new Error('no longer needed')) });
  await expect(none.ready).rejects.toThrow('no longer needed');
  await expect(none.next()).rejects.toThrow('no longer needed');
  const { signal } = new AbortController();
  const watch = maps.watch({ signal });
  await watch.ready;
  expect(getEventListeners(signal, 'abort').length).toBeGreaterThan(0);
  watch.close();
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

test('an object of a namespaced kind without a namespace is refused in the words of the client', async () => {
  const pods = client.core.v1.pods();
  await expect(pods.get('x')).rejects.toThrow('pods are namespaced: pods(NAMESPACE).get(…)');
  await expect(pods.delete('x')).rejects.toThrow('pods(NAMESPACE).delete(…)');
  await expect(pods.create({ metadata: { name: 'x' }, spec: { containers: [] } })).rejects.toThrow('pods(NAMESPACE).create(…)');
  expect(Array.isArray((await pods.list()).items)).toBe(true);
});
