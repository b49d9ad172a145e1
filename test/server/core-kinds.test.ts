/** Life-cycle rules of core kinds that take a whole server to show. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FakeClock } from '../../packages/lib/src/clock.ts';
import { type Loose, startTestServer, type TestServer, unique } from '../support/server.ts';

describe('events', () => {
  test('expire after --event-ttl, and their watchers are notified', async () => {
    const storeClock = new FakeClock();
    const server = await startTestServer({ identity: 'kubernetes', storeClock, eventTtl: 60_000, controllers: [] });
    try {
      const namespace = await server.namespace();
      const path = `/api/v1/namespaces/${namespace}/events`;
      const involvedObject = { kind: 'Pod', namespace, name: 'p' };
      const made = await server.admin.ok('POST', path, { metadata: { name: 'old' }, involvedObject });
      const watch = await server.admin.watch(`${path}?watch=1&resourceVersion=${made.metadata.resourceVersion}`);
      await storeClock.advance(30_000);
      // One that was written later stays longer.
      await server.admin.ok('POST', path, { metadata: { name: 'kept' }, involvedObject });
      await storeClock.advance(31_000);
      const [added, deleted] = await watch.take(2);
      expect([added?.type, added?.object.metadata.name]).toEqual(['ADDED', 'kept']);
      expect([deleted?.type, deleted?.object.metadata.name]).toEqual(['DELETED', 'old']);
      const left = await server.admin.ok('GET', path);
      expect(left.items.map((event: Loose) => event.metadata.name)).toEqual(['kept']);
    } finally {
      await server.close();
    }
  });
});

describe('namespaces and the rest', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ identity: 'kubernetes', controllers: [] });
  });
  afterAll(() => server.close());

  test('a deleted namespace stays until nothing holds it', async () => {
    const name = unique('n');
    const path = `/api/v1/namespaces/${name}`;
    await server.admin.ok('POST', '/api/v1/namespaces', { metadata: { name }, spec: { finalizers: ['example.org/a'] } });
    const going = await server.admin.ok('DELETE', path);
    expect(going).toMatchObject({ status: { phase: 'Terminating' }, spec: { finalizers: ['example.org/a', 'kubernetes'] } });
    expect(going.metadata.deletionTimestamp).toBeDefined();
    expect(going.metadata).not.toHaveProperty('deletionGracePeriodSeconds');
    const again = await server.admin.ok('DELETE', path);
    expect(again.metadata.resourceVersion).toBe(going.metadata.resourceVersion);

    const finalize = (finalizers: string[]): Promise<Loose> =>
      server.admin.ok('PUT', `${path}/finalize`, { metadata: { name }, spec: { finalizers } });
    await finalize(['kubernetes']);
    expect((await server.admin.get(path)).status).toBe(200);
    await finalize([]);
    expect((await server.admin.get(path)).status).toBe(404);
  });

  test('finalizers of both sorts hold a namespace', async () => {
    const name = unique('n');
    const path = `/api/v1/namespaces/${name}`;
    await server.admin.ok('POST', '/api/v1/namespaces', { metadata: { name, finalizers: ['example.org/meta'] } });
    await server.admin.ok('DELETE', path);
    await server.admin.ok('PUT', `${path}/finalize`, { metadata: { name, finalizers: ['example.org/meta'] }, spec: { finalizers: [] } });
    expect((await server.admin.get(path)).status).toBe(200);
    await server.admin.patch(path, { metadata: { finalizers: null } });
    expect((await server.admin.get(path)).status).toBe(404);
  });

  test('a dry run of a deletion leaves the namespace as it is', async () => {
    const name = await server.namespace();
    const shown = await server.admin.ok('DELETE', `/api/v1/namespaces/${name}?dryRun=All`);
    expect(shown.status.phase).toBe('Terminating');
    expect((await server.admin.ok('GET', `/api/v1/namespaces/${name}`)).status.phase).toBe('Active');
  });

  test('the state of the store is reported under its usual name, in every form', async () => {
    const list = await server.admin.ok('GET', '/api/v1/componentstatuses');
    expect(list).toMatchObject({ kind: 'ComponentStatusList', metadata: {}, items: [{ metadata: { name: 'etcd-0' } }] });
    expect(list.items[0]).not.toHaveProperty('kind');
    const table = await server.admin.get('/api/v1/componentstatuses', { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
    expect(table.json.rows[0].cells.slice(0, 2)).toEqual(['etcd-0', 'Healthy']);
    expect((await server.admin.get('/api/v1/componentstatuses?watch=1')).json).toMatchObject({
      code: 405,
      message: 'watch is not supported on resources of kind "componentstatuses"',
    });
    expect((await server.admin.post('/api/v1/componentstatuses', {})).status).toBe(405);
    expect((await server.admin.ok('GET', '/api/v1/componentstatuses?fieldSelector=metadata.name%3Dx')).items).toEqual([]);
  });

  test('requests that there are not do not warn that they are deprecated', async () => {
    const statuses = '/api/v1/componentstatuses';
    const budgets = `/apis/policy/v1beta1/namespaces/${await server.namespace()}/poddisruptionbudgets`;
    for (const [method, path, status, warns] of [
      ['GET', statuses, 200, true],
      ['GET', `${statuses}/none`, 404, true],
      ['GET', `${statuses}?watch=1`, 405, true],
      ['POST', statuses, 405, false],
      ['DELETE', statuses, 405, false],
      ['PUT', `${statuses}/etcd-0`, 405, false],
      ['GET', `${statuses}/etcd-0/status`, 404, false],
      ['GET', `/api/v1/namespaces/default/componentstatuses`, 404, false],
      ['GET', budgets, 200, true],
      ['GET', `${budgets}/none`, 404, true],
      ['GET', `${budgets}/none/status`, 404, true],
      ['PUT', `${budgets}/none/scale`, 404, false],
      ['POST', `${budgets}/none`, 405, false],
      ['POST', `${budgets}/none/status`, 405, false],
    ] as const) {
      const answer = await server.admin.send(method, path, method === 'GET' ? {} : { body: {} });
      expect([method, path, answer.status, answer.headers.warning !== undefined]).toEqual([method, path, status, warns]);
    }
  });

  test('a limit range without a name is known by its uid', async () => {
    const made = await server.admin.ok('POST', `/api/v1/namespaces/${await server.namespace()}/limitranges`, { spec: { limits: [] } });
    expect(made.metadata.name).toBe(made.metadata.uid);
  });

  test('a problem quotes what was written, or after a patch the amount as it is kept', async () => {
    const path = `/api/v1/namespaces/${await server.namespace()}/limitranges`;
    const range = (cpu: string) => ({ metadata: { name: 'r' }, spec: { limits: [{ type: 'Container', maxLimitRequestRatio: { cpu } }] } });
    const quoted = ({ json }: { json: Loose }): string => /int64Amount\{(.*?)\}.*, s:(".*?"),/.exec(json.message)?.slice(1).join(' ') ?? '';
    expect(quoted(await server.admin.post(path, range('0.5')))).toBe('value:5, scale:-1 ""');
    expect(quoted(await server.admin.post(path, range('500m')))).toBe('value:500, scale:-3 "500m"');
    await server.admin.ok('POST', path, range('2'));
    expect(quoted(await server.admin.put(`${path}/r`, range('0.25')))).toBe('value:25, scale:-2 ""');
    expect(quoted(await server.admin.patch(`${path}/r`, range('0.25')))).toBe('value:250, scale:-3 "250m"');
  });
});
