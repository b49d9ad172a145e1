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
  test('a generated name begins with the prefix and is unique', async () => {
    const made = await Promise.all(
      Array.from({ length: 20 }, () => server.admin.ok('POST', configmaps, { metadata: { generateName: 'gen-' } })),
    );
    const names = made.map((object) => object.metadata.name);
    for (const name of names) expect(name).toMatch(/^gen-[a-z0-9]{5}$/);
    expect(new Set(names).size).toBe(20);
    expect(made[0].metadata.generateName).toBe('gen-');
  });

  test('neither a name nor a prefix is refused', async () => {
    const answer = await server.admin.post(configmaps, { metadata: {} });
    expect(answer.status).toBe(422);
    expect(answer.json.details.causes).toEqual([
      { reason: 'FieldValueRequired', message: 'Required value: name or generateName is required', field: 'metadata.name' },
    ]);
  });

  test('what only the server sets is ignored', async () => {
    const name = unique();
    const made = await server.admin.ok('POST', configmaps, {
      metadata: {
        name,
        uid: '00000000-0000-0000-0000-000000000000',
        creationTimestamp: '2001-01-01T00:00:00Z',
        deletionTimestamp: '2001-01-01T00:00:00Z',
        generation: 7,
        selfLink: '/x',
      },
    });
    expect(made.metadata.uid).not.toMatch(/^0{8}/);
    expect(made.metadata.creationTimestamp > '2020').toBe(true);
    expect(made.metadata).not.toHaveProperty('deletionTimestamp');
    expect(made.metadata).not.toHaveProperty('selfLink');
  });

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
    test.each(['5', '007', '18446744073709551615'])('%s is refused last, with 400, and nothing is stored', async (version) => {
      const body = at(version);
      expect((await server.admin.post(configmaps, body)).json).toMatchObject({ code: 400, reason: 'BadRequest' });
      expect((await server.admin.get(`${configmaps}/${body.metadata.name}`)).status).toBe(404);
    });
    test.each(['0', '00', 'abc', '+5', '-5', '5.0', '18446744073709551616', ''])('"%s" is no version and is ignored', async (version) => {
      const made = await server.admin.ok('POST', configmaps, at(version));
      expect(made.metadata.resourceVersion).toMatch(/^[1-9]\d*$/);
      expect(made.metadata.resourceVersion).not.toBe(version);
    });
    test('an invalid object and a missing namespace come first', async () => {
      expect((await server.admin.post(configmaps, at('5', { data: { 'a/b': '' } }))).status).toBe(422);
      expect((await server.admin.post('/api/v1/namespaces/missing/configmaps', at('5'))).status).toBe(404);
    });
    test('a dry run does not ask for it', async () => {
      const answer = await server.admin.post(`${configmaps}?dryRun=All`, at('5'));
      expect(answer.status).toBe(201);
      expect(answer.json.metadata.resourceVersion).toBe('5');
    });
    test('it comes before a taken name', async () => {
      const body = at('5');
      await server.admin.ok('POST', configmaps, { metadata: { name: body.metadata.name } });
      expect((await server.admin.post(configmaps, body)).status).toBe(400);
    });
  });

  test('the namespace of the object must be that of the path', async () => {
    const answer = await server.admin.post(configmaps, { metadata: { name: unique(), namespace: 'default' } });
    expect(answer.status).toBe(400);
    expect(answer.json.message).toBe('the namespace of the provided object does not match the namespace sent on the request');
  });

  test('a namespace that is not there is 404', async () => {
    const answer = await server.admin.post('/api/v1/namespaces/absent/configmaps', { metadata: { name: 'a' } });
    expect(answer.json).toMatchObject({
      code: 404,
      message: 'namespaces "absent" not found',
      details: { name: 'absent', kind: 'namespaces' },
    });
  });

  test.each([
    ['Upper', 'a lowercase RFC 1123 subdomain'],
    [`${'a'.repeat(254)}`, 'must be no more than 253 characters'],
    ['-a', 'a lowercase RFC 1123 subdomain'],
  ])('the name %s is refused', async (name, complaint) => {
    const answer = await server.admin.post(configmaps, { metadata: { name } });
    expect(answer.json).toMatchObject({ code: 422, reason: 'Invalid' });
    expect(answer.json.details.causes[0]).toMatchObject({ field: 'metadata.name', reason: 'FieldValueInvalid' });
    expect(answer.json.message).toContain(complaint);
  });

  test('labels and annotations have rules', async () => {
    const labels = await server.admin.post(configmaps, { metadata: { name: unique(), labels: { 'bad key': 'x', good: 'b@d' } } });
    expect(labels.status).toBe(422);
    expect(labels.json.details.causes.map((cause: { field: string }) => cause.field)).toEqual(['metadata.labels', 'metadata.labels']);
    const annotations = { a: 'x'.repeat(256 * 1024) };
    const tooLong = await server.admin.post(configmaps, { metadata: { name: unique(), annotations } });
    expect(tooLong.json.details.causes).toMatchObject([{ field: 'metadata.annotations', reason: 'FieldValueTooLong' }]);
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
    expect((await server.admin.ok('GET', configmaps)).metadata.resourceVersion).toBe(before);
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

  test('nothing changed: nothing is written', async () => {
    const name = unique();
    const made = await server.admin.ok('POST', configmaps, { metadata: { name }, data: { a: '1' } });
    const again = await server.admin.ok('PUT', `${configmaps}/${name}`, made);
    expect(again.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
  });

  test('another uid, another name, no name', async () => {
    const name = unique();
    const path = `${configmaps}/${name}`;
    const made = await server.admin.ok('POST', configmaps, { metadata: { name } });
    const uid = '00000000-0000-0000-0000-000000000000';
    const otherUid = await server.admin.put(path, { ...made, metadata: { ...made.metadata, uid, resourceVersion: undefined } });
    expect(otherUid.json).toMatchObject({ code: 409, reason: 'Conflict' });
    expect(otherUid.json.message).toBe(
      `Operation cannot be fulfilled on configmaps "${name}": StorageError: invalid object, Code: 4, Key: /registry/configmaps/${made.metadata.namespace}/${name}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${made.metadata.uid}`,
    );
    expect((await server.admin.put(path, { metadata: { name: 'other' } })).json).toMatchObject({
      code: 400,
      message: `the name of the object (other) does not match the name on the URL (${name})`,
    });
    expect((await server.admin.put(path, { metadata: {} })).status).toBe(400);
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

  test('the generation follows the specification, not the status or the metadata', async () => {
    const ns = configmaps.split('/')[4];
    const deployments = `/apis/apps/v1/namespaces/${ns}/deployments`;
    const path = `${deployments}/d`;
    const made = await server.admin.ok('POST', deployments, {
      metadata: { name: 'd' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    });
    expect(made.metadata.generation).toBe(1);
    const labelled = await server.admin.ok('PUT', path, { ...made, metadata: { ...made.metadata, labels: { x: 'y' } } });
    expect(labelled.metadata.generation).toBe(1);
    const status = await server.admin.ok('PUT', `${path}/status`, {
      ...labelled,
      spec: { ...made.spec, replicas: 9 },
      status: { replicas: 2 },
    });
    expect(status.metadata.generation).toBe(1);
    expect(status.spec.replicas).toBe(1);
    expect(status.status.replicas).toBe(2);
    const scaled = await server.admin.ok('PUT', path, { ...status, spec: { ...made.spec, replicas: 5 }, status: { replicas: 7 } });
    expect(scaled.metadata.generation).toBe(2);
    expect(scaled.status.replicas).toBe(2);
  });

  test('of many writers that read, change and write, none is lost', async () => {
    const name = unique();
    const path = `${configmaps}/${name}`;
    await server.admin.ok('POST', configmaps, { metadata: { name }, data: { count: '0' } });
    const increment = async (): Promise<void> => {
      for (;;) {
        const object = await server.admin.ok('GET', path);
        object.data.count = String(Number(object.data.count) + 1);
        const { status } = await server.admin.put(path, object);
        if (status === 200) return;
        expect(status).toBe(409);
      }
    };
    await Promise.all(Array.from({ length: 8 }, increment));
    expect((await server.admin.ok('GET', path)).data).toEqual({ count: '8' });
  });
});
