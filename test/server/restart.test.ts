/** A server that starts on a store with many objects: it is ready before they are loaded, and its first answers are right. */
import { cpSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { labelPrefix } from '../../packages/server/src/admission/pod-security/policy.ts';
import { inChunks } from '../../packages/storage/src/backup/backup.testing.ts';
import { readBackup } from '../../packages/storage/src/backup/read.ts';
import { openLmdbEngine } from '../../packages/storage/src/engines/lmdb.ts';
import { LOADED_AT_ONCE } from '../../packages/storage/src/loader.ts';
import { define, definitionOf } from '../support/custom.ts';
import { type HeldLoads, holdLoads, multiply } from '../support/held-loads.ts';
import { type Answer, type Loose, startTestServer, summary, type TestServer, type Watch } from '../support/server.ts';

const MANY = LOADED_AT_ONCE + 1;
const GROUP = 'garden.example.com';
const PODS = '/api/v1/namespaces/a/pods';
const MAPS = '/api/v1/namespaces/a/configmaps';
const SEEDS = `/apis/${GROUP}/v1/namespaces/a/seeds`;
/** Kinds that tokens and new pods need. */
const needed = { secrets: 'core/secrets/b/', accounts: 'core/serviceaccounts/b/' };
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

const names = ({ items }: Loose): string[] => items.map((item: Loose) => item.metadata.name);

describe.each(['plat', 'kubernetes'] as const)('%s: before its large collections are loaded', (identity) => {
  let server: TestServer;
  let loads: HeldLoads;
  /** A version before the last changes, and the token of a pod. */
  let [old, token] = ['', ''];

  beforeAll(async () => {
    const dataDir = temporaryDirectory('plat-restart');
    const first = await startTestServer({ store: 'lmdb', identity, dataDir, controllers: [] });
    const { admin } = first;
    await admin.ok('POST', '/api/v1/namespaces', { metadata: { name: 'a' } });
    await admin.ok('POST', '/api/v1/namespaces/a/serviceaccounts', { metadata: { name: 'default' } });
    await admin.ok('POST', '/api/v1/namespaces', { metadata: { name: 'b' } });
    for (const plural of ['secrets', 'serviceaccounts'])
      await admin.ok('POST', `/api/v1/namespaces/b/${plural}`, { metadata: { name: 'one' } });
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
    for (const prefix of Object.values({ ...stored, ...needed })) await multiply(engine, prefix, MANY - 1);
    await engine.close();
    loads = holdLoads();
    server = await startTestServer({ store: 'lmdb', identity, dataDir, wrapEngine: loads.wrap });
  });
  afterAll(() => server.close());

  test('it is ready, and serves what is loaded', async () => {
    const { admin } = server;
    expect((await admin.get('/readyz')).text).toBe('ok');
    expect(names(await admin.ok('GET', '/api/v1/namespaces'))).toContain('a');
    expect(names(await admin.ok('GET', '/api/v1/namespaces/a/secrets?limit=9'))).toEqual(['needed', 'other']);
    const metrics = (await admin.get('/metrics')).text;
    expect(metrics).toMatch(/^apiserver_storage_objects\{resource="namespaces"\} /m);
    expect(metrics).not.toMatch(/^apiserver_storage_objects\{resource="(pods|secrets|serviceaccounts)"\}/m);
  });

  test('it serves single objects and pages of the others', async () => {
    const { admin } = server;
    expect((await admin.ok('GET', `${PODS}/copy11`)).metadata).toMatchObject({ name: 'copy11', labels: { n: 'copy11' } });
    const binary = await admin.get(`${PODS}/copy11`, { accept: server.identity.protobufMediaType });
    expect([binary.status, binary.bytes.includes('copy11')]).toEqual([200, true]);
    expect((await admin.get(`${PODS}/absent`)).status).toBe(404);

    expect((await admin.post(PODS, pod('fresh'))).status).toBe(201);
    expect((await admin.post(PODS, pod('fresh'))).json.reason).toBe('AlreadyExists');
    expect((await admin.post(`${PODS}?dryRun=All`, pod('copy11'))).json.reason).toBe('AlreadyExists');
    const { status } = await admin.patch(`${PODS}/fresh/status`, { status: { phase: 'Running' } });
    expect(status).toBe(200);
    expect((await admin.ok('GET', `${PODS}/fresh`)).status.phase).toBe('Running');
    const evicted = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'fresh' } };
    expect((await admin.post(`${PODS}/fresh/eviction`, evicted)).status).toBe(201);
    await admin.delete(`${PODS}/fresh?gracePeriodSeconds=0`);
    expect((await admin.get(`${PODS}/fresh`)).status).toBe(404);

    const patched = await admin.patch(`${MAPS}/copy12`, { data: { k: 'merged' } });
    const { resourceVersion } = patched.json.metadata;
    expect((await admin.put(`${MAPS}/copy12`, { metadata: { name: 'copy12', resourceVersion: '1' } })).status).toBe(409);
    expect(
      (await admin.put(`${MAPS}/copy12`, { metadata: { name: 'copy12', resourceVersion, labels: { n: 'copy12' } }, data: { k: 'put' } }))
        .status,
    ).toBe(200);
    const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'copy13' }, data: { k: 'applied' } };
    expect((await admin.patch(`${MAPS}/copy13?fieldManager=m`, applied, 'apply-patch')).json.data).toEqual({ k: 'applied' });
    expect((await admin.delete(`${SEEDS}/copy14`)).status).toBe(200);
    expect((await admin.get(`${SEEDS}/copy14`)).status).toBe(404);

    const first = await admin.ok('GET', `${PODS}?limit=2`);
    expect([names(first), first.metadata.remainingItemCount]).toEqual([['copy0', 'copy1'], MANY - 2]);
    expect(names(await admin.ok('GET', `${PODS}?limit=2&continue=${first.metadata.continue}`))).toEqual(['copy10', 'copy100']);
    const table = await admin.get(`${MAPS}?limit=2`, { accept: `application/json;as=Table;v=v1;g=meta.${server.identity.groupSuffix}` });
    expect(table.json.rows.map((row: Loose) => row.cells[0])).toEqual(['copy0', 'copy1']);
    // A whole list is not kept while changes do not count.
    expect(names(await admin.ok('GET', '/api/v1/namespaces/default/configmaps?limit=5'))).not.toContain('x');
    await admin.ok('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'x' } });
    expect(names(await admin.ok('GET', '/api/v1/namespaces/default/configmaps?limit=5'))).toContain('x');

    expect((await server.client({ token }).get('/api')).status).toBe(200);
    expect((await admin.get('/metrics')).text).not.toMatch(/^apiserver_storage_objects\{resource="pods"\}/m);
  });

  test('a backup that is made then has everything, and so has a server after a crash', async () => {
    const { admin } = server;
    expect((await admin.patch(`${MAPS}/copy15`, { data: { k: 'acknowledged' } })).status).toBe(200);
    const { bytes } = await admin.get('/store/backup');
    const found = new Map<string, number>();
    for await (const part of readBackup(inChunks(bytes))) {
      if (part.type !== 'entries') continue;
      for (const { key } of part.entries) {
        const prefix = key.slice(0, key.lastIndexOf('/') + 1);
        found.set(prefix, (found.get(prefix) ?? 0) + 1);
      }
    }
    expect([found.get(stored.pods), found.get(stored.maps), found.get(stored.seeds)]).toEqual([MANY, MANY, MANY - 1]);

    // A copy of the files of a server that runs is what a crash leaves.
    const dataDir = temporaryDirectory('plat-restart-crashed');
    cpSync(server.dataDir, dataDir, { recursive: true, filter: (path) => !/store\.lock/.test(path) });
    const crashed = await startTestServer({ store: 'lmdb', identity, dataDir });
    expect((await crashed.admin.ok('GET', `${MAPS}/copy15`)).data).toEqual({ k: 'acknowledged' });
    expect((await crashed.admin.ok('GET', `${MAPS}?labelSelector=n`)).items).toHaveLength(MANY);
    await crashed.close();
  });

  test('requests for all of them wait, and are answered right', async () => {
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
    loads.release();
    const [got, byLabel, byField, page, whole, maps, seeds] = await all;
    expect(got.metadata).toMatchObject({ name: 'copy5', labels: { n: 'copy5' } });
    expect(names(byLabel)).toEqual(['copy7']);
    expect(names(byField)).toEqual(['copy8']);
    expect([names(page).length, page.metadata.remainingItemCount]).toEqual([3, MANY - 3]);
    expect(whole.items.length).toBe(MANY);
    expect(names(maps)).toEqual(['copy2', 'one']);
    expect(seeds.items.length).toBeGreaterThanOrEqual(MANY - 2);
    expect((await admin.ok('GET', `${MAPS}/copy12`)).data).toEqual({ k: 'put' });

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
