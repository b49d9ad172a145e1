/**
 * Patches, owners and headers of the largest size cost work that grows with their size and not with its square. Where the old
 * work took minutes these tests would not end; what they look at is the result.
 */
import { expect, test } from 'vitest';
import { MAX_MANAGERS } from '../../packages/patch/src/index.ts';
import { define, definitionOf } from '../support/custom.ts';
import { type Loose, unique } from '../support/server.ts';
import { onStores } from '../support/stores.ts';

// The garbage collector would look for each of the thousands of owners.
onStores(['memory'], { identity: 'kubernetes', direct: true, controllers: ['*', '-garbagecollector'] }, (server) => {
  const things = async (properties: object = {}) => {
    const group = `${unique('g')}.example.com`;
    const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties };
    await define(server(), definitionOf(server(), group, 'Thing', [{ schema }]));
    const path = `/apis/${group}/v1/namespaces/${await server().namespace()}/things`;
    return { path, object: { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'a' } } as Loose };
  };

  test('items are put before, taken from and moved within long lists', async () => {
    const { admin } = server();
    const { path, object } = await things();
    await admin.ok('POST', path, { ...object, list: Array.from({ length: 9_000 }, (_, i) => i % 10) });
    const before = await admin.patch(`${path}/a`, Array(10_000).fill({ op: 'add', path: '/list/0', value: 7 }), 'json-patch');
    expect([before.status, before.json.list.length, before.json.list[9_999]]).toEqual([200, 19_000, 7]);
    const moves = Array.from({ length: 5_000 }, () => ({ op: 'move', from: '/list/18999', path: '/list/0' }));
    const moved = await admin.patch(`${path}/a`, [...moves, ...Array(5_000).fill({ op: 'remove', path: '/list/5000' })], 'json-patch');
    expect([moved.status, moved.json.list.length, moved.json.list[0]]).toEqual([200, 14_000, expect.any(Number)]);
    const tests = Array.from({ length: 5_000 }, (_, i) => ({ op: 'test', path: `/list/${i + 5_000}`, value: 1 }));
    const failed = await admin.patch(`${path}/a`, [{ op: 'add', path: '/list/0', value: 0 }, ...tests], 'json-patch');
    expect(failed.status).toBe(422);
  });

  test('copies of one patch are bounded', async () => {
    const { admin } = server();
    const { path, object } = await things();
    await admin.ok('POST', path, { ...object, a: { b: 'x'.repeat(1_000) } });
    const doubling = Array.from({ length: 30 }, (_, i) => ({ op: 'copy', from: '/a', path: `/a/c${i}` }));
    expect((await admin.patch(`${path}/a`, doubling, 'json-patch')).status).toBe(422);
  });

  test('many owners are compared with each other once', async () => {
    const { admin } = server();
    const path = `/api/v1/namespaces/${await server().namespace()}/configmaps`;
    const owner = (i: number) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: `n${i}`, uid: `u${i % 9_000}` });
    const body = { metadata: { name: 'a', ownerReferences: Array.from({ length: 9_000 }, (_, i) => owner(i)) } };
    const answer = await admin.post(path, body);
    expect([answer.status, answer.json.metadata.ownerReferences.length]).toEqual([201, 9_000]);
    const twice = { metadata: { name: 'b', ownerReferences: [owner(1), owner(2), owner(1)] } };
    const second = await admin.post(path, twice);
    expect(second.json.metadata.ownerReferences).toHaveLength(2);
    expect(second.headers.warning).toContain('duplicate UID(s) observed: u1');
    // Each controller but one is a fault that once quoted all the others.
    const controllers = Array.from({ length: 15_000 }, (_, i) => ({ ...owner(i), uid: `u${i}`, controller: true }));
    const refused = await admin.post(path, { metadata: { name: 'c', ownerReferences: controllers } });
    expect(refused.status).toBe(422);
    expect(refused.bytes.length).toBeLessThan(256 * 1024);
  });

  test('lists whose items are owned one by one have a bound', async () => {
    const { admin } = server();
    const { path, object } = await things({ set: { type: 'array', items: { type: 'integer' }, 'x-kubernetes-list-type': 'set' } });
    const set = (length: number) => Array.from({ length }, (_, i) => length - i);
    expect((await admin.post(path, { ...object, set: set(20_000) })).status).toBe(201);
    const more = await admin.post(path, { ...object, metadata: { name: 'b' }, set: set(20_001) });
    expect([more.status, more.json.message]).toEqual([422, expect.stringContaining('Too many: 20001: must have at most 20000 items')]);
    const applied = await admin.patch(`${path}/b?fieldManager=m`, { ...object, metadata: { name: 'b' }, set: set(20_001) }, 'apply-patch');
    expect([applied.status, applied.json.message]).toEqual([422, more.json.message]);
    // One that is added to those of others is found when they are merged.
    const merged = await admin.patch(`${path}/${object.metadata.name}?fieldManager=m`, { ...object, set: [20_001] }, 'apply-patch');
    expect([merged.status, merged.json.message]).toEqual([413, expect.stringContaining('has 20001 items, and the limit is 20000')]);
  });

  test('a list of managers has a bound, and folds in one go', async () => {
    const { admin } = server();
    const path = `/api/v1/namespaces/${await server().namespace()}/configmaps`;
    const wide = Object.fromEntries(Array.from({ length: 19_990 }, (_, i) => [`f:k${i}`, {}]));
    const managers = (count: number) =>
      Array.from({ length: count }, (_, i) => ({
        manager: `m${i}`,
        operation: 'Update',
        apiVersion: 'v1',
        time: '2024-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': i === 0 ? wide : { [`f:x${i}`]: {} } },
      }));
    const name = unique();
    const kept = await admin.post(path, { metadata: { name, managedFields: managers(MAX_MANAGERS) }, data: { a: 'b' } });
    expect([kept.status, kept.json.metadata.managedFields.length]).toEqual([201, 10]);
    const refused = await admin.post(path, { metadata: { name: 'b', managedFields: managers(MAX_MANAGERS + 1) } });
    expect([refused.status, refused.json.message]).toEqual([422, expect.stringContaining('must have at most 1000 items')]);
  });

  test.each(['merge-patch', 'strategic-merge-patch'])('a %s of very many keys ends', async (type) => {
    const { admin } = server();
    const path = `/api/v1/namespaces/${await server().namespace()}/configmaps`;
    const data = Object.fromEntries(Array.from({ length: 19_990 }, (_, i) => [`k${i}`, 'v']));
    await admin.ok('POST', path, { metadata: { name: 'a' }, data });
    const none = Object.fromEntries(Object.keys(data).map((key) => [key, null]));
    const answer = await admin.patch(`${path}/a`, { data: { ...none, left: 'x' } }, type);
    expect([answer.status, answer.json.data]).toEqual([200, { left: 'x' }]);
  });

  test.each([
    ['parameters without an end', `application/json;${' a=a'.repeat(15_000)}`],
    ['blanks', `application/json;${' '.repeat(60_000)}x`],
    ['a parameter again and again', `application/json${';a=b'.repeat(14_000)};;`],
  ])('a content type of 60 KB is refused: %s', async (_, type) => {
    const answer = await server().bob.send('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      body: '{}',
      headers: { 'content-type': type },
    });
    expect(answer.status).toBe(415);
  });

  test('an image name that almost fits ends as fast as any other', async () => {
    const path = `/api/v1/namespaces/${await server().namespace()}/pods`;
    const pod = (image: string) => ({ metadata: { name: unique() }, spec: { containers: [{ name: 'a', image }] } });
    const answer = await server().admin.post(`${path}?dryRun=All`, pod(`${'a'.repeat(200)}!`));
    expect(answer.json.spec.containers[0].imagePullPolicy).toBe('IfNotPresent');
    const latest = await server().admin.post(`${path}?dryRun=All`, pod('registry.example:5000/team--x/app_b.c'));
    expect(latest.json.spec.containers[0].imagePullPolicy).toBe('Always');
  });

  test('a reference to a field with very many brackets is refused', async () => {
    const path = `/api/v1/namespaces/${await server().namespace()}/pods`;
    const env = [{ name: 'A', valueFrom: { fieldRef: { fieldPath: `x${"['".repeat(500_000)}` } } }];
    const answer = await server().admin.post(path, { metadata: { name: 'a' }, spec: { containers: [{ name: 'a', image: 'b', env }] } });
    expect(answer.status).toBe(422);
    expect(answer.bytes.length).toBeLessThan(64 * 1024);
  });
});
