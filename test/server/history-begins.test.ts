/** Objects that were there before the server kept history: what is said of them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EtcdFixture, etcdMissing, startEtcd } from '../support/etcd.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';

const path = '/api/v1/namespaces/default/configmaps';
const NOT_NOTED = 'who wrote it is not known: no history of it was kept then';

describe.skipIf(etcdMissing !== undefined)(`on etcd${etcdMissing === undefined ? '' : ` (skipped: ${etcdMissing})`}`, () => {
  let etcd: EtcdFixture;
  let server: TestServer;
  let plat: Plat;
  const historyOf = async (name: string): Promise<Loose[]> => (await server.admin.ok('GET', `${path}/${name}?history=full`)).items;
  const change = (name: string, a: string) => server.admin.patch(`${path}/${name}`, { data: { a } });
  beforeAll(async () => {
    etcd = await startEtcd();
    server = await startTestServer({ store: 'etcd', etcdServers: [etcd.endpoint], controllers: [], historyRules: ['*=never'] });
    for (const name of ['untouched', 'updated', 'changed', 'deleted', 'annotated'])
      await server.admin.ok('POST', path, { metadata: { name }, data: { a: '1' } });
    await change('updated', '2');
    server = await server.restart({ historyRules: [] });
    await change('changed', '2');
    await server.admin.ok('DELETE', `${path}/deleted`);
    await server.engine.compact(await server.engine.currentRevision());
    plat = platFor(server);
  });
  afterAll(async () => {
    await server.close();
    await etcd.stop();
  });

  test('one that has not changed since: its present version, and that its writer is not known', async () => {
    for (const [name, type, a] of [
      ['untouched', 'created', '1'],
      ['updated', 'updated', '2'],
    ]) {
      const [version, ...others] = await historyOf(name as string);
      expect(others).toEqual([]);
      expect(version).toMatchObject({ type, reason: NOT_NOTED, object: { data: { a } } });
      expect(Object.keys(version as Loose)).not.toContain('user');
      expect(await plat.run(['undo', `cm/${name}`, '--yes'])).toMatchObject({ code: 1, stderr: expect.stringContaining('is not kept') });
      expect(await plat.ok(['history', `cm/${name}`])).toMatch(new RegExp(`<unknown> .* ${type} \\(${NOT_NOTED}\\)\n`));
    }
  });

  test('one that was changed or deleted since: who did it, and that the version before is not kept', async () => {
    expect(await historyOf('changed')).toEqual([
      expect.objectContaining({ type: 'updated', user: 'admin', reason: 'the version before is not kept' }),
    ]);
    expect(await historyOf('deleted')).toEqual([expect.objectContaining({ type: 'deleted', user: 'admin' })]);
    for (const name of ['changed', 'deleted'])
      expect(await plat.run(['undo', `cm/${name}`, '--yes'])).toMatchObject({
        code: 1,
        stdout: '',
        stderr: `plat: configmap/${name}: the version before its last change is not kept\n`,
      });
    expect(await plat.run(['get', 'cm', '--at', '1h'])).toMatchObject({ code: 1, stderr: expect.stringContaining('no longer kept') });
  });

  test('the history of the type has changes since then only', async () => {
    const { items } = await server.admin.ok('GET', `${path}?history=true`);
    expect(items.map(({ name, type }: Loose) => `${type} ${name}`)).toEqual(['deleted deleted', 'updated changed']);
  });

  test('any change brings an object into the history, as it is', async () => {
    await plat.ok(['annotate', 'cm', 'annotated', 'history=on']);
    await change('annotated', '2');
    await server.engine.compact(await server.engine.currentRevision());
    expect((await historyOf('annotated'))[0]).toMatchObject({ patch: [{ op: 'replace', path: '/data/a', value: '2' }] });
    await plat.ok(['undo', 'cm/annotated', '--yes']);
    expect((await server.admin.ok('GET', `${path}/annotated`)).data).toEqual({ a: '1' });
  });
});

test('with a store of its own, the version that an object had is part of its history', async () => {
  let server = await startTestServer({ store: 'lmdb', direct: true, controllers: [], historyRules: ['*=never'] });
  await server.admin.ok('POST', path, { metadata: { name: 'a' }, data: { a: '1' } });
  await server.engine.compact(await server.engine.currentRevision());
  server = await server.restart({ historyRules: [] });
  await server.admin.patch(`${path}/a`, { data: { a: '2' } });
  await server.engine.compact(await server.engine.currentRevision());
  const { items } = await server.admin.ok('GET', `${path}/a?history=full`);
  expect(items.map(({ type, user, object }: Loose) => [type, user, object.data.a])).toEqual([
    ['updated', 'admin', '2'],
    ['created', 'admin', '1'],
  ]);
  await server.close();
});
