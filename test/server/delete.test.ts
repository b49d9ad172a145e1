import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Loose, startTestServer, summary, type TestServer, unique } from '../support/server.ts';

let server: TestServer;
let ns: string;
let configmaps: string;
beforeAll(async () => {
  server = await startTestServer({ direct: true });
  ns = await server.namespace();
  configmaps = `/api/v1/namespaces/${ns}/configmaps`;
});
afterAll(() => server.close());

const make = async (metadata: Loose = {}): Promise<Loose> =>
  server.admin.ok('POST', configmaps, { metadata: { name: unique('c'), ...metadata } });
const path = (object: Loose): string => `${configmaps}/${object.metadata.name}`;

describe('finalizers', () => {
  test('hold an object until the last is removed', async () => {
    const object = await make({ finalizers: ['example.com/a', 'example.com/b'] });
    // A controller puts a ConfigMap of its own into every namespace.
    const { name, resourceVersion } = object.metadata;
    const watch = await server.admin.watch(
      `${configmaps}?watch=1&resourceVersion=${resourceVersion}&fieldSelector=metadata.name%3D${name}`,
    );
    const first = await server.admin.delete(path(object));
    expect(first.status).toBe(200);
    expect(first.json).toMatchObject({
      kind: 'ConfigMap',
      metadata: { deletionGracePeriodSeconds: 0, finalizers: ['example.com/a', 'example.com/b'] },
    });
    const { deletionTimestamp } = first.json.metadata;
    expect(deletionTimestamp).toMatch(/Z$/);
    const again = await server.admin.ok('DELETE', path(object));
    expect(again.metadata.deletionTimestamp).toBe(deletionTimestamp);

    const fewer = await server.admin.ok('PUT', path(object), { ...again, metadata: { ...again.metadata, finalizers: ['example.com/b'] } });
    expect(fewer.metadata).toMatchObject({ deletionTimestamp, finalizers: ['example.com/b'] });
    const added = await server.admin.put(path(object), {
      ...fewer,
      metadata: { ...fewer.metadata, finalizers: ['example.com/b', 'example.com/c'] },
    });
    expect(added.status).toBe(422);
    expect(added.json.message).toContain('no new finalizers can be added if the object is being deleted');
    const undone = await server.admin.ok('PUT', path(object), { ...fewer, metadata: { ...fewer.metadata, deletionTimestamp: undefined } });
    expect(undone.metadata.deletionTimestamp).toBe(deletionTimestamp);

    expect((await server.admin.patch(path(object), { metadata: { finalizers: null } })).status).toBe(200);
    expect((await server.admin.get(path(object))).status).toBe(404);
    const types = (await watch.until((event) => event.type === 'DELETED')).map((event) => event.type);
    expect(types).toEqual(['MODIFIED', 'MODIFIED', 'DELETED']);
    watch.close();
  });

  test('of propagation policies wait for the collector', async () => {
    const foreground = await make();
    const marked = await server.admin.ok('DELETE', path(foreground), { propagationPolicy: 'Foreground' });
    expect(marked.metadata).toMatchObject({ finalizers: ['foregroundDeletion'], deletionGracePeriodSeconds: 0 });
    const orphan = await make();
    const held = await server.admin.ok('DELETE', `${path(orphan)}?propagationPolicy=Orphan`);
    expect(held.metadata.finalizers).toEqual(['orphan']);
    const background = await make();
    expect((await server.admin.ok('DELETE', path(background), { propagationPolicy: 'Background' })).kind).toBe('Status');
  });

  test('a policy that is not one, or two at once, is refused', async () => {
    const object = await make();
    expect((await server.admin.delete(path(object), { propagationPolicy: 'Sideways' })).json).toMatchObject({
      code: 422,
      details: { causes: [{ field: 'propagationPolicy', reason: 'FieldValueNotSupported' }] },
    });
    expect((await server.admin.delete(path(object), { propagationPolicy: 'Orphan', orphanDependents: true })).status).toBe(422);
    expect((await server.admin.get(path(object))).status).toBe(200);
  });
});

describe('preconditions', () => {
  test.each([
    ['uid', '00000000-0000-0000-0000-000000000000'],
    ['resourceVersion', '1'],
  ])('another %s is a conflict', async (what, value) => {
    const object = await make();
    const refused = await server.admin.delete(path(object), { preconditions: { [what]: value } });
    expect(refused.json).toMatchObject({ code: 409, reason: 'Conflict' });
    expect(refused.json.message).toContain(value);
    const right = { preconditions: { uid: object.metadata.uid, resourceVersion: object.metadata.resourceVersion } };
    expect((await server.admin.delete(path(object), right)).status).toBe(200);
  });
});

describe('grace', () => {
  const pods = () => `/api/v1/namespaces/${ns}/pods`;
  const pod = async (spec: Loose = {}): Promise<Loose> =>
    server.admin.ok('POST', pods(), {
      metadata: { name: unique('p') },
      spec: { containers: [{ name: 'c', image: 'i' }], nodeName: 'n', ...spec },
    });

  test('a pod on a node is marked, shortened, and goes', async () => {
    const object = await pod();
    const at = `${pods()}/${object.metadata.name}`;
    const marked = await server.admin.ok('DELETE', at);
    expect(marked.metadata.deletionGracePeriodSeconds).toBe(30);
    const due = Date.parse(marked.metadata.deletionTimestamp);
    expect(due).toBeGreaterThan(Date.parse(marked.metadata.creationTimestamp) + 25_000);
    const longer = await server.admin.ok('DELETE', `${at}?gracePeriodSeconds=60`);
    expect(longer.metadata.deletionGracePeriodSeconds).toBe(30);
    const shorter = await server.admin.ok('DELETE', `${at}?gracePeriodSeconds=5`);
    expect(shorter.metadata.deletionGracePeriodSeconds).toBe(5);
    expect(Date.parse(shorter.metadata.deletionTimestamp)).toBe(due - 25_000);
    expect((await server.admin.delete(at, { gracePeriodSeconds: 0 })).status).toBe(200);
    expect((await server.admin.get(at)).status).toBe(404);
  });

  test('a pod that was never placed goes at once', async () => {
    const object = await pod({ nodeName: undefined });
    expect((await server.admin.delete(`${pods()}/${object.metadata.name}`)).status).toBe(200);
    expect((await server.admin.get(`${pods()}/${object.metadata.name}`)).status).toBe(404);
  });

  test('a grace period of zero does not outrun finalizers', async () => {
    const object = await pod();
    const at = `${pods()}/${object.metadata.name}`;
    await server.admin.patch(at, { metadata: { finalizers: ['example.com/hold'] } });
    const marked = await server.admin.ok('DELETE', `${at}?gracePeriodSeconds=0`);
    expect(marked.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, finalizers: ['example.com/hold'] });
    await server.admin.patch(at, { metadata: { finalizers: null } });
    expect((await server.admin.get(at)).status).toBe(404);
  });
});

test('a dry run deletes nothing', async () => {
  const object = await make();
  expect((await server.admin.send('DELETE', `${path(object)}?dryRun=All`)).status).toBe(200);
  expect((await server.admin.delete(path(object), { dryRun: ['All'] })).status).toBe(200);
  expect(await server.admin.ok('GET', path(object))).toEqual(object);
});

test('a deleted object is seen once by a watcher, under the version of the deletion', async () => {
  const object = await make();
  const { name, resourceVersion } = object.metadata;
  const watch = await server.admin.watch(`${configmaps}?watch=1&resourceVersion=${resourceVersion}&fieldSelector=metadata.name%3D${name}`);
  await server.admin.ok('DELETE', path(object));
  const event = await watch.next();
  expect(summary(event)).toBe(`DELETED ${object.metadata.name}`);
  expect(Number(event.object.metadata.resourceVersion)).toBeGreaterThan(Number(object.metadata.resourceVersion));
  watch.close();
});

test('a name can be used again, by another object', async () => {
  const object = await make();
  await server.admin.ok('DELETE', path(object));
  const next = await make({ name: object.metadata.name });
  expect(next.metadata.uid).not.toBe(object.metadata.uid);
});
