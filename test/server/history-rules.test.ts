/** Which versions of objects are kept: rules, bounds, and servers with stock names. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readRuntimeConfig } from '../../packages/compose/src/config/runtime-config.ts';
import type { KeptVersion } from '../../packages/storage/src/history.ts';
import { type Client, type Loose, startTestServer, type TestServer } from '../support/server.ts';

const merge = async (client: Client, path: string, body: Loose): Promise<Loose> => {
  const answer = await client.patch(path, body);
  expect(answer.status).toBe(200);
  return answer.json;
};

describe('what is kept', () => {
  const rules = ['configmaps=never', 'configmaps@audit=1h', 'secrets@audit=values'];
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ direct: true, historyRules: rules, historyBytes: 20_000 });
    for (const name of ['audit', 'other']) await server.admin.ok('POST', '/api/v1/namespaces', { metadata: { name } });
  });
  afterAll(() => server.close());

  /** Versions of an object that was written twice, after the store has forgotten the first. */
  async function versionsAfterCompaction(path: string, object: Loose, change: Loose): Promise<Loose[]> {
    const { admin, engine } = server;
    await admin.ok('POST', path, object);
    await merge(admin, `${path}/${object.metadata.name}`, change);
    await engine.compact(await engine.currentRevision());
    return (await admin.ok('GET', `${path}/${object.metadata.name}?history=full`)).items;
  }

  test('--history-rules: a kind is kept in one namespace and not in another', async () => {
    const object = { metadata: { name: 'a' }, data: { x: '1' } };
    const change = { data: { x: '2' } };
    expect(await versionsAfterCompaction('/api/v1/namespaces/audit/configmaps', object, change)).toHaveLength(2);
    expect(await versionsAfterCompaction('/api/v1/namespaces/other/configmaps', object, change)).toHaveLength(1);
  });

  test('values of Secrets: only where a rule says so', async () => {
    const object = { metadata: { name: 'a', annotations: { copy: 'first-value' } }, stringData: { word: 'first-value' } };
    const change = { stringData: { word: 'second-value', more: 'third-value' } };
    const [newest, oldest] = await versionsAfterCompaction('/api/v1/namespaces/other/secrets', object, change);
    expect(newest).toMatchObject({ patch: [{ op: 'add', path: '/data/more', value: '' }], object: { data: { word: '', more: '' } } });
    expect(oldest).toMatchObject({
      object: { kind: 'Secret', type: 'Opaque', data: { word: '' }, metadata: { annotations: { copy: '' } } },
    });
    const whole = await server.admin.get('/api/v1/namespaces/other/secrets?history=full');
    expect(whole.text).not.toMatch(/(first|second|third)-value|Zmlyc3Q|c2Vjb25k|dGhpcmQ/);
    const exact = `resourceVersion=${oldest.resourceVersion}&resourceVersionMatch=Exact`;
    for (const place of ['secrets/a', 'secrets'])
      expect((await server.admin.get(`/api/v1/namespaces/other/${place}?${exact}`)).json).toMatchObject({ code: 410, reason: 'Expired' });
    const [kept] = await versionsAfterCompaction('/api/v1/namespaces/audit/secrets', object, change);
    expect(kept.object.data.word).toBe(Buffer.from('second-value').toString('base64'));
  });

  test('--history-bytes: the oldest versions go first', async () => {
    const { admin, engine } = server;
    const path = '/api/v1/namespaces/audit/configmaps';
    await admin.ok('POST', path, { metadata: { name: 'large' } });
    for (let i = 1; i <= 10; i++) await merge(admin, `${path}/large`, { data: { x: `${i}`.repeat(4000) } });
    await engine.compact(await engine.currentRevision());
    const { items } = await admin.ok('GET', `${path}/large?history=true`);
    expect(items.length).toBeGreaterThan(1);
    expect(items.length).toBeLessThan(7);
    expect(items.at(-1)).toMatchObject({ type: 'updated', reason: 'the version before is not kept' });
  });
});

describe('a server with stock names', () => {
  const path = '/api/v1/namespaces/default/configmaps';
  const served = readRuntimeConfig(['explain.k8s.io/v1alpha1=true']);

  /** Versions in the store of an object that was written twice, a secret and the use of a quota. */
  async function storedVersions(server: TestServer): Promise<readonly KeptVersion[]> {
    const { admin, engine } = server;
    await admin.ok('POST', path, { metadata: { name: 'a' }, data: { x: '1' } });
    await merge(admin, `${path}/a`, { data: { x: '2' } });
    await admin.ok('POST', '/api/v1/namespaces/default/resourcequotas', { metadata: { name: 'q' }, spec: { hard: { secrets: '9' } } });
    await merge(admin, '/api/v1/namespaces/default/resourcequotas/q/status', {
      status: { hard: { secrets: '9' }, used: { secrets: '0' } },
    });
    await admin.ok('POST', '/api/v1/namespaces/default/secrets', { metadata: { name: 's' } });
    return (await engine.history.versions({ prefix: '', limit: 10_000 })).versions;
  }

  test.each([
    { that: 'writes no notes, and forgets what watches do not need', runtimeConfig: undefined, noted: [], kept: 1 },
    {
      that: 'keeps history where its API group is named',
      runtimeConfig: served,
      noted: ['core/configmaps/default/a', 'core/configmaps/default/a', 'core/resourcequotas/default/q', 'core/secrets/default/s'],
      kept: 2,
    },
  ])('$that', async ({ runtimeConfig, noted, kept }) => {
    const server = await startTestServer({ direct: true, identity: 'kubernetes', controllers: ['-*'], runtimeConfig });
    const versions = await storedVersions(server);
    expect(versions.length).toBeGreaterThan(100);
    const notedKeys = versions.filter(({ note }) => note !== undefined).map(({ key }) => key);
    expect(notedKeys).toEqual(noted.length === 0 ? [] : expect.arrayContaining(noted));
    await server.engine.compact(await server.engine.currentRevision());
    expect((await server.engine.history.versions({ prefix: 'core/configmaps/default/a', limit: 10 })).versions).toHaveLength(kept);
    await server.close();
  });

  test('what was kept goes when the API group is no longer served', async () => {
    let server = await startTestServer({ direct: true, store: 'lmdb', identity: 'kubernetes', controllers: ['-*'], runtimeConfig: served });
    await storedVersions(server);
    await server.engine.compact(await server.engine.currentRevision());
    const versionsOfA = async (): Promise<number> =>
      (await server.engine.history.versions({ prefix: 'core/configmaps/default/a', limit: 10 })).versions.length;
    expect(await versionsOfA()).toBe(2);
    server = await server.restart({ runtimeConfig: readRuntimeConfig([]) });
    await server.engine.compact(await server.engine.currentRevision());
    await expect.poll(versionsOfA).toBe(1);
    await server.close();
  });

  test.each([
    [{ historyRules: ['configmaps=7d'] }, '--history-rules'],
    [{ historyBytes: 1_000_000 }, '--history-bytes'],
    [{ historyRetention: 5 * 60_000 + 1 }, '--history-retention of more than 5m, the window of watches'],
  ])('refuses %o, and names the setting that it lacks', async (options, flag) => {
    const message = `${flag}: a server that does not serve explain.k8s.io/v1alpha1 keeps no history; add --runtime-config explain.k8s.io/v1alpha1=true`;
    await expect(startTestServer({ identity: 'kubernetes', ...options })).rejects.toThrow(message);
    for (const accepted of [
      { identity: 'kubernetes', historyRetention: 5 * 60_000 },
      { identity: 'kubernetes', runtimeConfig: served, ...options },
    ])
      await (await startTestServer({ direct: true, ...accepted })).close();
  });
});

test('a server with stock names ignores the parameters, unless its own API group is named', async () => {
  const path = '/api/v1/namespaces/default';
  const query = `${path}?resourceVersion=1&resourceVersionMatch=Exact`;
  const stock = await startTestServer({ direct: true, identity: 'kubernetes' });
  expect((await stock.admin.ok('GET', `${path}?history=true`)).kind).toBe('Namespace');
  expect((await stock.admin.get(query)).status).toBe(200);
  expect((await stock.admin.get('/api/v1')).text).not.toContain('history');
  await stock.close();
  const named = await startTestServer({
    direct: true,
    identity: 'kubernetes',
    runtimeConfig: readRuntimeConfig(['explain.k8s.io/v1alpha1=true']),
  });
  expect(await named.admin.ok('GET', `${path}?history=true`)).toMatchObject({
    kind: 'ObjectHistory',
    apiVersion: 'explain.k8s.io/v1alpha1',
  });
  const rbac = 'rbac.authorization.k8s.io';
  const mayAlice = async (role: string): Promise<number> => {
    await named.admin.ok('POST', `/apis/${rbac}/v1/namespaces/default/rolebindings`, {
      metadata: { name: role },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: rbac, kind: 'User', name: 'alice' }],
    });
    await expect.poll(async () => (await named.alice.get(`${path}/configmaps`)).status).toBe(200);
    return (await named.alice.get(`${path}/configmaps?history=true`)).status;
  };
  expect([await mayAlice('view'), await mayAlice('edit')]).toEqual([403, 200]);
  await named.close();
});
