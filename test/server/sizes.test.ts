/** Bodies and objects are bounded in size, whatever they are written as and whichever way they come. */

import { describe, expect, test } from 'vitest';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { maxContainers, maxKeys } from '../../packages/schema/src/errors.ts';
import { define, definitionOf } from '../support/custom.ts';
import { startTestServer, type TestServer, unique } from '../support/server.ts';
import { onStores } from '../support/stores.ts';

/** The default. */
const LIMIT = 1_572_864;
/** What is stored is measured alike whatever the bound: large texts take time. */
const SMALL_LIMIT = 200_000;
const yaml = { 'content-type': 'application/yaml' };
const tooLarge = (message: RegExp) => ({
  status: 413,
  json: expect.objectContaining({ kind: 'Status', code: 413, reason: 'RequestEntityTooLarge', message: expect.stringMatching(message) }),
});
const tooLargeToStore = tooLarge(/the object would take (more than )?\d+ bytes in the store, and the limit is \d+/);
const role = (name: string, size: number) => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  metadata: { name },
  rules: [{ verbs: ['get'], apiGroups: [''], resources: ['x'.repeat(size)] }],
});
const options = { identity: 'kubernetes' } as const;

function boundStored(store: 'memory' | 'lmdb', limit: number): void {
  onStores([store], { ...options, direct: store === 'lmdb', ...(limit !== LIMIT && { maxObjectBytes: limit }) }, (server) => {
    const rolesIn = (namespace: string) => `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles`;

    test('an object at the bound is stored, one above it is refused, and nothing of it is kept', async () => {
      const { admin } = server();
      const roles = rolesIn(await server().namespace());
      const first = await admin.post(roles, role('fits', 100_000));
      expect(first.status).toBe(201);
      const text = jsonText(first.json).length - 100_000;
      // Everything but the text has the same size; the version is not part of what is stored.
      const rest = text - `,"resourceVersion":"${first.json.metadata.resourceVersion}"`.length;
      expect((await admin.post(roles, role('just', limit - rest))).status).toBe(201);
      expect(await admin.post(roles, role('more', limit - rest + 1))).toMatchObject(tooLargeToStore);
      expect(await admin.post(`${roles}?dryRun=All`, role('dry', limit))).toMatchObject(tooLargeToStore);
      expect((await admin.get(roles)).json.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual([
        'fits',
        'just',
      ]);
    });

    test('no number of patches makes an object larger than that', async () => {
      const { admin } = server();
      const path = `${rolesIn(await server().namespace())}/grows`;
      await admin.post(path.slice(0, -'/grows'.length), role('grows', limit / 16));
      let refused = 0;
      for (let i = 0; i < 12; i++) {
        const copy = [{ op: 'copy', from: '/rules/0', path: '/rules/-' }];
        for (let n = 0; n < 2; n++) copy.push({ op: 'copy', from: '/rules/0', path: '/rules/-' });
        const answer = await admin.patch(path, copy, 'json-patch');
        if (answer.status !== 200) {
          expect(answer).toMatchObject(tooLargeToStore);
          refused++;
        }
      }
      expect(refused).toBeGreaterThan(0);
      expect((await admin.get(path)).bytes.length).toBeLessThanOrEqual(limit + 100);
      const big = 'y'.repeat(limit);
      const merge = { metadata: { annotations: null }, rules: [{ verbs: ['get'], apiGroups: [''], resources: [big] }] };
      expect(await admin.patch(path, merge)).toMatchObject(tooLargeToStore);
      expect(await admin.patch(path, merge, 'strategic-merge-patch')).toMatchObject(tooLargeToStore);
      expect(await admin.put(path, role('grows', limit))).toMatchObject(tooLargeToStore);
      const applied = { ...role('grows', limit), metadata: { name: 'grows' } };
      expect(await admin.patch(`${path}?fieldManager=me&force=true`, applied, 'apply-patch')).toMatchObject(tooLargeToStore);
    });

    test('custom objects and status are bounded alike', async () => {
      const { admin } = server();
      const group = `${unique('g')}.example.com`;
      const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
      await define(server(), definitionOf(server(), group, 'Thing', [{ schema, subresources: { status: {} } }]));
      const path = `/apis/${group}/v1/namespaces/${await server().namespace()}/things`;
      const object = { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'a' }, spec: {} };
      expect(await admin.post(path, { ...object, spec: { text: 'x'.repeat(limit) } })).toMatchObject(tooLargeToStore);
      expect((await admin.post(path, object)).status).toBe(201);
      expect(await admin.patch(`${path}/a/status`, { status: { text: 'x'.repeat(limit) } })).toMatchObject(tooLargeToStore);
    });
  });
}
boundStored('memory', LIMIT);
boundStored('lmdb', SMALL_LIMIT);

describe('an object that is larger than the bound already', () => {
  test('is read, made smaller and deleted, but not made larger', async () => {
    const server = await startTestServer({ ...options, store: 'lmdb', maxObjectBytes: 4 * SMALL_LIMIT });
    let again: TestServer | undefined;
    try {
      const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${await server.namespace()}/roles`;
      const held = { ...role('old', 250_000), metadata: { name: 'old', finalizers: ['example.com/held'] } };
      await server.admin.ok('POST', roles, held);
      again = await server.restart({ maxObjectBytes: SMALL_LIMIT });
      const { admin } = again;
      const path = `${roles}/old`;
      expect((await admin.get(path)).bytes.length).toBeGreaterThan(250_000);
      expect((await admin.get(roles)).json.items).toHaveLength(1);
      expect(await admin.patch(path, { metadata: { labels: { a: 'b' } } })).toMatchObject(tooLargeToStore);
      const smaller = [{ op: 'replace', path: '/rules/0/resources', value: ['x'.repeat(220_000)] }];
      expect((await admin.patch(path, smaller, 'json-patch')).status).toBe(200);
      // Marked for deletion, it grows by the mark.
      expect((await admin.delete(path)).json.metadata.deletionTimestamp).toBeDefined();
      expect((await admin.patch(path, { metadata: { finalizers: null } })).status).toBe(200);
      expect((await admin.get(path)).status).toBe(404);
    } finally {
      await (again ?? server).close();
    }
  });
});

onStores(['memory'], options, (server) => {
  const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const bomb = (count: number, size: number) =>
    `kind: SelfSubjectAccessReview\napiVersion: authorization.k8s.io/v1\nspec:\n  nonResourceAttributes:\n    path: &a ${'x'.repeat(size)}\nmore:\n${Array.from({ length: count }, (_, i) => `- k${i}: *a\n`).join('')}`;

  test('aliases count with the size of what they stand for', async () => {
    const expands = tooLarge(/aliases of the body expand to more than 3145728 bytes/);
    expect(await server().bob.post(reviews, bomb(600, 1_000_000), yaml)).toMatchObject(expands);
    expect(await server().bob.post(reviews, bomb(2_000, 2_000), yaml)).toMatchObject(expands);
    expect((await server().bob.post(reviews, bomb(20, 2_000), yaml)).status).toBe(201);
  });

  test.each([
    ['anchors within anchors', `a0: &a0 [x]\n${Array.from({ length: 40 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]\n`).join('')}`],
    [
      'merge keys',
      `a: &a {${Array.from({ length: 1_000 }, (_, i) => `k${i}: v`).join(', ')}}\n${Array.from({ length: 2_000 }, (_, i) => `m${i}: {<<: *a}\n`).join('')}`,
    ],
    ['aliases as keys', `a: &a ${'x'.repeat(4_000)}\nmore:\n${'- {? *a : 1}\n'.repeat(2_000)}`],
  ])('%s are counted as well', async (_, text) => {
    const answer = await server().bob.post(reviews, `kind: SelfSubjectAccessReview\n${text}`, yaml);
    expect(answer).toMatchObject(tooLarge(/expand to more than|more than 100000/));
  });

  test('an apply is read by the same bounds', async () => {
    const path = `/api/v1/namespaces/${await server().namespace()}/configmaps/a?fieldManager=me`;
    const text = `kind: ConfigMap\napiVersion: v1\ndata:\n  a: &a ${'x'.repeat(100_000)}\n${Array.from({ length: 40 }, (_, i) => `  b${i}: *a\n`).join('')}`;
    expect(await server().admin.patch(path, text, 'apply-patch')).toMatchObject(tooLarge(/aliases of the body/));
  });

  test.each([
    ['JSON', 'application/json', `{"a":[${'{},'.repeat(maxContainers)}{}]}`, /more than 100000 objects and lists/],
    ['YAML', 'application/yaml', `a: [${'{},'.repeat(maxContainers)}{}]`, /more than 100000 objects and lists/],
    ['JSON', 'application/json', `{"a":{${Array.from({ length: maxKeys }, (_, i) => `"${i}":0`).join(',')}}}`, /more than 100000 keys/],
    ['YAML', 'application/yaml', Array.from({ length: maxKeys + 1 }, (_, i) => `k${i}: 0\n`).join(''), /more than 100000 keys/],
  ])('%s with too many parts is refused before it becomes an object', async (_, type, body, message) => {
    expect(await server().bob.post(reviews, body, { 'content-type': type })).toMatchObject(tooLarge(message));
  });

  test.each([
    ['JSON', 'application/json', '{"a":'.repeat(500_000)],
    ['JSON', 'application/json', '['.repeat(3_000_000)],
    ['YAML', 'application/yaml', `a: ${'['.repeat(3_000_000)}`],
    ['YAML', 'application/yaml', `- `.repeat(1_000_000)],
  ])('%s that is nested too deeply is refused', async (_, type, body) => {
    const answer = await server().bob.post(reviews, body, { 'content-type': type });
    expect([answer.status, answer.json.message]).toEqual([400, expect.stringContaining('exceeded max depth')]);
  });

  test('a patch is bounded as a body is', async () => {
    const { admin } = server();
    const path = `/api/v1/namespaces/${await server().namespace()}/configmaps`;
    await admin.ok('POST', path, { metadata: { name: 'a' }, data: { [unique()]: 'x' } });
    const keys = `{"data":{${Array.from({ length: maxKeys + 1 }, (_, i) => `"${i}":null`).join(',')}}}`;
    for (const type of ['merge-patch', 'strategic-merge-patch'])
      expect(await admin.patch(`${path}/a`, keys, type)).toMatchObject(tooLarge(/more than 100000 keys/));
    const many = `[${'{"op":"test","path":"/kind","value":"ConfigMap"},'.repeat(10_000)}{}]`;
    expect(await admin.patch(`${path}/a`, many, 'json-patch')).toMatchObject(
      tooLarge(/maximum operations in a JSON patch is 10000, got 10001/),
    );
  });
});
