/** History over restarts, and in backups of a running server. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EtcdFixture, etcdMissing, startEtcd } from '../support/etcd.ts';
import { platFor } from '../support/plat.ts';
import { type Client, type Loose, startTestServer, type TestServer } from '../support/server.ts';
import type { StoreName } from '../support/stores.ts';

const namespace = '/api/v1/namespaces/default';
const places = ['configmaps/gone', 'configmaps/live', 'secrets/word', 'configmaps'];

/** An object that was deleted, one that was changed, and a secret; the store has compacted what it may. */
async function makeHistory({ admin, engine }: TestServer): Promise<void> {
  const patch = async (path: string, body: Loose) => expect((await admin.patch(`${namespace}/${path}`, body)).status).toBe(200);
  for (const name of ['gone', 'live']) await admin.ok('POST', `${namespace}/configmaps`, { metadata: { name }, data: { a: '1' } });
  await admin.ok('POST', `${namespace}/secrets`, { metadata: { name: 'word' }, stringData: { word: 'first' } });
  await patch('configmaps/gone', { data: { a: '2' } });
  await patch('configmaps/live?fieldManager=hand', { data: { a: '2', b: '1' } });
  await patch('secrets/word', { stringData: { word: 'second' } });
  await admin.ok('DELETE', `${namespace}/configmaps/gone`);
  await engine.compact(await engine.currentRevision());
}
const historyAt = (admin: Client): Promise<Loose[][]> =>
  Promise.all(places.map(async (place) => (await admin.ok('GET', `${namespace}/${place}?history=full`)).items));

describe.each(['memory', 'lmdb', 'etcd'] as const)('on %s', (store: StoreName) => {
  const missing = store === 'etcd' ? etcdMissing : undefined;
  let etcd: EtcdFixture | undefined;
  let server: TestServer;
  let history: Loose[][];
  beforeAll(async () => {
    if (missing !== undefined) return;
    if (store === 'etcd') etcd = await startEtcd();
    const servers = etcd && { etcdServers: [etcd.endpoint] };
    server = await startTestServer({ store, controllers: [], historyRules: ['secrets=values'], ...servers });
    await makeHistory(server);
    history = await historyAt(server.admin);
  });
  afterAll(async () => {
    await server?.close();
    await etcd?.stop();
  });

  test.skipIf(missing !== undefined)('a backup of the running server has it', async () => {
    expect(history.map((items) => items.length)).toEqual([3, 2, 2, 5]);
    const plat = platFor(server);
    await plat.ok(['store', 'backup', '--to', 'a.backup']);
    const restored = await startTestServer({
      store: 'lmdb',
      controllers: [],
      historyRules: ['secrets=values'],
      restoreFrom: join(plat.cwd, 'a.backup'),
    });
    const restoredHistory = await historyAt(restored.admin);
    const isRestored = ({ change }: Loose): boolean => change === 'restored from a backup';
    expect(restoredHistory.map((items) => items.filter((item) => !isRestored(item)))).toEqual(history);
    // The restore wrote what was there again.
    const rewritten = restoredHistory.map((items) => items.filter(isRestored));
    expect(rewritten.map((items) => items.map(({ name }) => name))).toEqual([[], ['live'], ['word'], ['live']]);
    expect(rewritten[1]?.[0]).toMatchObject({ type: 'updated', patch: [], object: { data: { a: '2', b: '1' } } });
    const own = platFor(restored);
    expect(await own.ok(['undo', 'cm/live', '--yes'])).toContain('configmap/live restored\n');
    expect((await restored.admin.ok('GET', `${namespace}/configmaps/live`)).data).toEqual({ a: '1' });
    await own.ok(['undo', 'cm/gone', '--yes']);
    expect((await restored.admin.ok('GET', `${namespace}/configmaps/gone`)).data).toEqual({ a: '2' });
    await own.ok(['undo', 'secret/word', '--yes']);
    expect((await restored.admin.ok('GET', `${namespace}/secrets/word`)).data.word).toBe(Buffer.from('first').toString('base64'));
    await restored.close();
  });

  test.skipIf(missing !== undefined)(
    store === 'memory' ? 'a restart leaves nothing, and says so' : 'a restart leaves it as it is',
    async () => {
      server = await server.restart();
      if (store === 'memory')
        for (const place of places.slice(0, 3))
          expect((await server.admin.get(`${namespace}/${place}?history=true`)).json).toMatchObject({ code: 404, reason: 'NotFound' });
      else expect(await historyAt(server.admin)).toEqual(history);
    },
  );
});
