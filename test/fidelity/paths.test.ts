/** Patches on paths that do not exist, and field selectors of custom kinds. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { define, definitionOf } from '../support/custom.ts';
import { type Loose, startTestServer, type TestServer, unique } from '../support/server.ts';
import { answers } from './table.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes' });
});
afterAll(() => server.close());

/** An operation on `{ data: { a: '1' } }`, and the data that comes of it; undefined where it does not apply. */
const operations: readonly (readonly [Loose, Loose])[] = [
  [
    { op: 'copy', from: '/data/none', path: '/data/b' },
    { a: '1', b: '' },
  ],
  [{ op: 'copy', from: '/none/a', path: '/data/b' }, undefined],
  [{ op: 'copy', from: '/data/a', path: '/none/b' }, undefined],
  [{ op: 'move', from: '/data/none', path: '/data/b' }, undefined],
  [
    { op: 'replace', path: '/data/none', value: '2' },
    { a: '1', none: '2' },
  ],
  [{ op: 'replace', path: '/none/a', value: '2' }, undefined],
  [{ op: 'add', path: '/none/a', value: '2' }, undefined],
  [{ op: 'add', path: '/metadata/annotations/a', value: '2' }, undefined],
  [{ op: 'remove', path: '/data/none' }, undefined],
  [{ op: 'remove', path: '/none' }, undefined],
  [{ op: 'test', path: '/data/none', value: null }, { a: '1' }],
  [{ op: 'test', path: '/data/none', value: '1' }, undefined],
  [{ op: 'test', path: '/none/a', value: null }, undefined],
  [
    { op: 'add', path: '/data/b' },
    { a: '1', b: '' },
  ],
];
test.each(operations)('%j', async (operation, data) => {
  const path = `/api/v1/namespaces/${await server.namespace()}/configmaps`;
  await server.admin.ok('POST', path, { metadata: { name: 'c' }, data: { a: '1' } });
  await answers(server.admin, [
    ['JSONPATCH', `${path}/c`, [operation], ...((data === undefined ? [422, 'Invalid'] : [200, { data }]) as [number, object])],
  ]);
});

test('custom kinds without namespaces are not selected by one', async () => {
  const group = `${unique('g')}.example.com`;
  const definition = definitionOf(server, group, 'Thing', [{ schema: { type: 'object' } }]) as Loose;
  definition.spec.scope = 'Cluster';
  await define(server, definition);
  const path = `/apis/${group}/v1/things`;
  await server.admin.ok('POST', path, { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'a' } });
  const list = (selector: string) => server.admin.get(`${path}?fieldSelector=${encodeURIComponent(selector)}`);
  expect((await list('metadata.name=a')).json.items).toHaveLength(1);
  expect((await list('metadata.name!=a')).json.items).toHaveLength(0);
  for (const selector of ['metadata.namespace=', 'metadata.namespace!=x', 'spec.a=b']) {
    const { status, json } = await list(selector);
    expect([selector, status, json.reason]).toEqual([selector, 400, 'BadRequest']);
    expect((await server.admin.get(`${path}?watch=1&fieldSelector=${encodeURIComponent(selector)}`)).status).toBe(400);
  }
  // Built-in kinds have one that is empty.
  const roles = await server.admin.get('/apis/rbac.authorization.k8s.io/v1/clusterroles?limit=1&fieldSelector=metadata.namespace%3D');
  expect(roles.json.items).toHaveLength(1);
});
