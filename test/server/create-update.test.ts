/** create and update over HTTPS: codes, parameters, bodies and what admission says. What the verbs do is in packages/server/src/registry/verbs.test.ts. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer, type TestServer, unique } from '../support/server.ts';

let server: TestServer;
let configmaps: string;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes' });
  configmaps = `/api/v1/namespaces/${await server.namespace()}/configmaps`;
});
afterAll(() => server.close());

describe('create', () => {
  test('a version is refused, a taken name is a conflict', async () => {
    const name = unique();
    expect((await server.admin.post(configmaps, { metadata: { name, resourceVersion: '5' } })).json).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message: 'resourceVersion should not be set on objects to be created',
    });
    await server.admin.ok('POST', configmaps, { metadata: { name } });
    expect((await server.admin.post(configmaps, { metadata: { name } })).json).toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
      message: `configmaps "${name}" already exists`,
      details: { name, kind: 'configmaps' },
    });
  });

  describe('a version in what is to be created (finding 38)', () => {
    const at = (resourceVersion: string, more: object = {}) => ({ metadata: { name: unique(), resourceVersion }, ...more });
    test('an invalid object and a missing namespace come first', async () => {
      expect((await server.admin.post(configmaps, at('5', { data: { 'a/b': '' } }))).status).toBe(422);
      expect((await server.admin.post('/api/v1/namespaces/missing/configmaps', at('5'))).status).toBe(404);
    });
    test('a dry run does not ask for it', async () => {
      const answer = await server.admin.post(`${configmaps}?dryRun=All`, at('5'));
      expect(answer.status).toBe(201);
      expect(answer.json.metadata.resourceVersion).toBe('5');
    });
  });

  test('a namespace that is not there is 404', async () => {
    const answer = await server.admin.post('/api/v1/namespaces/absent/configmaps', { metadata: { name: 'a' } });
    expect(answer.json).toMatchObject({
      code: 404,
      message: 'namespaces "absent" not found',
      details: { name: 'absent', kind: 'namespaces' },
    });
  });

  test('a body of another kind, or none that can be read', async () => {
    const other = await server.admin.post(configmaps, { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'a' } });
    expect(other.status).toBe(400);
    const broken = await server.admin.post(configmaps, '{"metadata":');
    expect(broken.json).toMatchObject({ code: 400, reason: 'BadRequest' });
    const mismatch = await server.admin.post(configmaps, { metadata: { name: 'a' }, data: { a: 1 } });
    expect(mismatch.json).toMatchObject({ code: 400, reason: 'BadRequest' });
    expect(mismatch.json.message).toContain('data');
  });

  test('a dry run leaves nothing behind', async () => {
    const name = unique();
    const before = (await server.admin.ok('GET', configmaps)).metadata.resourceVersion;
    const answer = await server.admin.post(`${configmaps}?dryRun=All`, { metadata: { name } });
    expect(answer.status).toBe(201);
    expect(answer.json.metadata).toMatchObject({ name, uid: expect.any(String) });
    expect((await server.admin.get(`${configmaps}/${name}`)).status).toBe(404);
    // Others may write meanwhile: the first change under this name is that of a create which is stored.
    const watch = await server.admin.watch(`${configmaps}?watch=1&resourceVersion=${before}&fieldSelector=metadata.name%3D${name}`);
    const stored = await server.admin.ok('POST', configmaps, { metadata: { name } });
    expect(await watch.take(1)).toMatchObject([{ type: 'ADDED', object: { metadata: { uid: stored.metadata.uid } } }]);
    watch.close();
  });
});

describe('update', () => {
  test('an old version is a conflict; no version means whichever there is', async () => {
    const name = unique();
    const path = `${configmaps}/${name}`;
    const first = await server.admin.ok('POST', configmaps, { metadata: { name }, data: { a: '1' } });
    const second = await server.admin.ok('PUT', path, { ...first, data: { a: '2' } });
    const late = await server.admin.put(path, { ...first, data: { a: '3' } });
    expect(late.json).toMatchObject({ code: 409, reason: 'Conflict', details: { name, kind: 'configmaps' } });
    expect(late.json.message).toContain('the object has been modified; please apply your changes to the latest version and try again');
    const blind = await server.admin.ok('PUT', path, { metadata: { name }, data: { a: '4' } });
    expect(blind.data).toEqual({ a: '4' });
    expect(blind.metadata.uid).toBe(second.metadata.uid);
    expect(blind.metadata.creationTimestamp).toBe(first.metadata.creationTimestamp);
  });

  test('an object that is not there: some kinds are created, others are not found', async () => {
    expect((await server.admin.put(`${configmaps}/absent`, { metadata: { name: 'absent' } })).status).toBe(404);
    const ns = configmaps.split('/')[4];
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`;
    const lease = { metadata: { name: 'l' }, spec: { holderIdentity: 'me' } };
    const created = await server.admin.put(`${leases}/l`, lease);
    expect(created.status).toBe(201);
    expect(created.json.metadata.uid).toBeDefined();
    expect((await server.admin.put(`${leases}/l`, { ...lease, spec: { holderIdentity: 'you' } })).json).toMatchObject({ code: 422 });
    expect((await server.admin.put(`${leases}/l`, { ...created.json, spec: { holderIdentity: 'you' } })).status).toBe(200);
  });
});
