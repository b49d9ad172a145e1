/** A server that starts on a store with many objects: it is ready before they are loaded, and its first answers are right. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { labelPrefix } from '../../src/admission/pod-security/policy.ts';
import { temporaryDirectory } from '../../src/lib/temporary.testing.ts';
import type { Engine, RangeRequest } from '../../src/storage/engine.ts';
import { openLmdbEngine } from '../../src/storage/engines/lmdb.ts';
import { storedText, storedValue } from '../../src/storage/item.ts';
import { LOADED_AT_ONCE } from '../../src/storage/loader.ts';
import { define, definitionOf } from '../support/custom.ts';
import { type Answer, type Loose, startTestServer, summary, type TestServer, type Watch } from '../support/server.ts';

const MANY = LOADED_AT_ONCE + 1;
const GROUP = 'garden.example.com';
const PODS = '/api/v1/namespaces/a/pods';
const MAPS = '/api/v1/namespaces/a/configmaps';
const SEEDS = `/apis/${GROUP}/v1/namespaces/a/seeds`;
const stored = { pods: 'core/pods/a/', maps: 'core/configmaps/a/', seeds: `~${GROUP}/seeds/a/` };
const pod = (name: string): Loose => ({
  metadata: { name, labels: { n: name } },
  spec: {
    nodeName: 'node1',
    automountServiceAccountToken: false,
    containers: [{ name: 'main', image: 'registry.example/app:1' }],
    volumes: [{ name: 'v', secret: { secretName: 'needed' } }],
  },
});

/** Adds copies of the object `one`, each with a name, uid and label of its own. */
async function multiply(engine: Engine, prefix: string): Promise<void> {
  const entry = await engine.get(`${prefix}one`);
  const text = storedText(entry?.value as Buffer).toString();
  const { metadata } = JSON.parse(text) as { metadata: { uid: string } };
  await engine.commit(
    Array.from({ length: MANY - 1 }, (_, i) => {
      const uid = metadata.uid.replace(/^.{8}/, String(i).padStart(8, '0'));
      const copy = text.replaceAll(metadata.uid, uid).replaceAll('"one"', `"copy${i}"`);
      return { type: 'put' as const, key: `${prefix}copy${i}`, value: storedValue(copy, uid) };
    }),
  );
}

/** The engine, whose reads of large collections wait for `open`. */
function gated(engine: Engine, isOpen: Promise<void>): Engine {
  return new Proxy(engine, {
    get(target, name) {
      if (name === 'range')
        return async (request: RangeRequest) => {
          const isFirst = request.prefix === '' || (request.prefix.startsWith('~') && request.limit === LOADED_AT_ONCE);
          if (!isFirst) await isOpen;
          return target.range(request);
        };
      const value = Reflect.get(target, name, target) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

const names = ({ items }: Loose): string[] => items.map((item: Loose) => item.metadata.name);

describe.each(['plat', 'kubernetes'] as const)('%s: before its large collections are loaded', (identity) => {
  let server: TestServer;
  let open: () => void;
  /** A version before the last changes, and the token of a pod. */
  let [old, token] = ['', ''];

  beforeAll(async () => {
    const dataDir = temporaryDirectory('plat-restart');
    const first = await startTestServer({ store: 'lmdb', identity, dataDir, controllers: [] });
    const { admin } = first;
    await admin.ok('POST', '/api/v1/namespaces', { metadata: { name: 'a' } });
    await admin.ok('POST', '/api/v1/namespaces/a/serviceaccounts', { metadata: { name: 'default' } });
    for (const name of ['needed', 'other']) await admin.ok('POST', '/api/v1/namespaces/a/secrets', { metadata: { name } });
    await define(first, definitionOf(first, GROUP, 'Seed', [{}]));
    await admin.ok('POST', PODS, pod('one'));
    await admin.ok('POST', MAPS, { metadata: { name: 'one', labels: { n: 'one' } } });
    await admin.ok('POST', SEEDS, { apiVersion: `${GROUP}/v1`, kind: 'Seed', metadata: { name: 'one', labels: { n: 'one' } } });
    const bound = { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'one' } };
    token = (await admin.ok('POST', '/api/v1/namespaces/a/serviceaccounts/default/token', { spec: bound })).status.token;
    const gone = await admin.ok('POST', PODS, pod('gone'));
    old = gone.metadata.resourceVersion;
    await admin.ok('DELETE', `${PODS}/gone?gracePeriodSeconds=0`);
    await first.running.close();
    const engine = await openLmdbEngine({ dataDir });
    for (const prefix of Object.values(stored)) await multiply(engine, prefix);
    await engine.close();
    const isOpen = new Promise<void>((resolve) => {
      open = resolve;
    });
    server = await startTestServer({ store: 'lmdb', identity, dataDir, wrapEngine: (one) => gated(one, isOpen) });
  });
  afterAll(() => server.close());

  test('it is ready, and serves what is loaded', async () => {
    const { admin } = server;
    expect((await admin.get('/readyz')).text).toBe('ok');
    expect(names(await admin.ok('GET', '/api/v1/namespaces'))).toContain('a');
    expect(names(await admin.ok('GET', '/api/v1/namespaces/a/secrets'))).toEqual(['needed', 'other']);
    const metrics = (await admin.get('/metrics')).text;
    expect(metrics).toMatch(/^apiserver_storage_objects\{resource="secrets"\} /m);
    expect(metrics).not.toMatch(/^apiserver_storage_objects\{resource="pods"\}/m);
  });

  test('requests for the others wait for them, and are answered right', async () => {
    const { admin } = server;
    const asNode = { 'impersonate-user': 'system:node:node1', 'impersonate-group': 'system:nodes' };
    const secret = (name: string): Promise<Answer> => admin.get(`/api/v1/namespaces/a/secrets/${name}`, asNode);
    const all = Promise.all([
      admin.ok('GET', `${PODS}/copy5`),
      admin.ok('GET', `${PODS}?labelSelector=n%3Dcopy7`),
      admin.ok('GET', `${PODS}?fieldSelector=spec.nodeName%3Dnode1,metadata.name%3Dcopy8`),
      admin.ok('GET', `${PODS}?limit=3`),
      admin.ok('GET', '/api/v1/pods?resourceVersion=0'),
      admin.ok('GET', `${MAPS}?labelSelector=n+in+(one,copy2)`),
      admin.ok('GET', SEEDS),
    ]);
    const writes = Promise.all([
      admin.post(PODS, pod('copy1')),
      admin.patch(`${MAPS}/copy3`, { data: { k: 'v' } }),
      admin.delete(`${SEEDS}/copy4`),
      admin.delete(`${MAPS}?labelSelector=n%3Dcopy9`),
      // Refused because the pod has a node, which is not known before it is loaded.
      admin.post('/api/v1/namespaces/a/bindings', { metadata: { name: 'copy10' }, target: { name: 'node2' } }),
    ]);
    const watches: Promise<Watch[]> = Promise.all([
      admin.watch(`${PODS}?watch=1&resourceVersion=${old}`),
      admin.watch(`${PODS}?watch=1&labelSelector=n%3Dcopy7`),
      admin.watch(`${SEEDS}?watch=1&resourceVersion=0&labelSelector=n%3Dcopy2`),
    ]);
    const byPods = Promise.all([
      server.client({ token }).get('/api'),
      secret('needed'),
      secret('other'),
      admin.patch('/api/v1/namespaces/a', { metadata: { labels: { [`${labelPrefix(server.identity)}enforce`]: 'restricted' } } }),
    ]);
    open();
    const [got, byLabel, byField, page, whole, maps, seeds] = await all;
    expect(got.metadata).toMatchObject({ name: 'copy5', labels: { n: 'copy5' } });
    expect(names(byLabel)).toEqual(['copy7']);
    expect(names(byField)).toEqual(['copy8']);
    expect([names(page).length, page.metadata.remainingItemCount]).toEqual([3, MANY - 3]);
    expect(whole.items.length).toBe(MANY);
    expect(names(maps)).toEqual(['copy2', 'one']);
    expect(seeds.items.length).toBeGreaterThanOrEqual(MANY - 1);

    expect((await writes).map(({ status }) => status)).toEqual([409, 200, 200, 200, 409]);
    expect((await admin.ok('GET', `${MAPS}/copy3`)).data).toEqual({ k: 'v' });
    for (const path of [`${SEEDS}/copy4`, `${MAPS}/copy9`]) expect((await admin.get(path)).status).toBe(404);

    const [since, labelled, seed] = await watches;
    expect((await since?.take(MANY + 1))?.slice(0, 3).map(summary)).toEqual(['MODIFIED gone', 'DELETED gone', 'ADDED copy0']);
    expect((await labelled?.take(1))?.map(summary)).toEqual(['ADDED copy7']);
    expect((await seed?.take(1))?.map(summary)).toEqual(['ADDED copy2']);
    await admin.ok('DELETE', `${PODS}/copy7?gracePeriodSeconds=0`);
    expect((await labelled?.take(2))?.map(summary)).toEqual(['MODIFIED copy7', 'DELETED copy7']);
    for (const watch of await watches) watch.close();

    const [asPod, needed, other, stricter] = await byPods;
    expect(asPod.status, asPod.text).toBe(200);
    expect([needed.status, other.status]).toEqual([200, 403]);
    expect(stricter.headers.warning).toMatch(/existing pods in namespace \\"a\\" violate/);
  });

  test('everything is loaded in the background: metrics count it, and quotas do', async () => {
    const { admin } = server;
    await admin.ok('POST', '/api/v1/namespaces/a/resourcequotas', {
      metadata: { name: 'q' },
      spec: { hard: { 'count/configmaps': '9999' } },
    });
    const watch = await admin.watch('/api/v1/namespaces/a/resourcequotas?watch=1');
    await watch.until(({ object }) => Number(object.status?.used?.['count/configmaps'] ?? 0) >= MANY - 1);
    watch.close();
    const metrics = (await admin.get('/metrics')).text;
    expect(Number(/^apiserver_storage_objects\{resource="pods"\} (\d+)/m.exec(metrics)?.[1])).toBe(MANY - 1);
    expect(server.errors).toEqual([]);
  });
});
