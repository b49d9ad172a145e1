/** Finding 7: booleans in queries, as Python clients write them, and values that are none. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BOOKMARK_BEFORE_END_MS } from '../../packages/server/src/verbs/watch.ts';
import { HeldWaits } from '../support/held-waits.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';

const WATCH_SECONDS = 3_601;
const END_MS = WATCH_SECONDS * 1000;
const BOOKMARK_MS = END_MS - BOOKMARK_BEFORE_END_MS;
const held = new HeldWaits(END_MS, BOOKMARK_MS);

let server: TestServer;
let base: string;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes', clock: held.clock });
  base = `/api/v1/namespaces/${await server.namespace()}`;
  await server.admin.ok('POST', `${base}/configmaps`, { metadata: { name: 'one' }, data: { a: '1' } });
});
afterAll(() => server.close());

const apply = { 'content-type': 'application/apply-patch+yaml' };
const applied = (value: string): Loose => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' }, data: { a: value } });

test.each(['False', 'FALSE', 'f', '0', 'false'])('watch=%s is a list', async (value) => {
  const { status, json } = await server.admin.get(`${base}/configmaps?watch=${value}`);
  expect(status).toBe(200);
  expect(json.kind).toBe('ConfigMapList');
});

test.each(['False', 'FALSE', 'f'])('force=%s does not force', async (value) => {
  const answer = await server.admin.send('PATCH', `${base}/configmaps/one?fieldManager=m&force=${value}`, {
    headers: apply,
    body: applied('2'),
  });
  expect(answer.status).toBe(409);
});

test('orphanDependents=False does not orphan', async () => {
  await server.admin.ok('POST', `${base}/configmaps`, { metadata: { name: 'held', finalizers: ['example.com/hold'] } });
  const held = await server.admin.ok('DELETE', `${base}/configmaps/held?orphanDependents=False`);
  expect(held.metadata.finalizers).toEqual(['example.com/hold']);
});

test.each([
  ['False', 0],
  ['True', 1],
])('allowWatchBookmarks=%s sends %i bookmarks before the end', async (value, count) => {
  const watched = server.admin.get(`${base}/secrets?watch=1&timeoutSeconds=${WATCH_SECONDS}&allowWatchBookmarks=${value}`);
  await held.begun(END_MS);
  expect(held.underWay(BOOKMARK_MS)).toBe(count);
  if (count > 0) await held.end(BOOKMARK_MS);
  await held.end(END_MS);
  expect((await watched).text.split('BOOKMARK').length - 1).toBe(count);
});

/** Every parameter that the OpenAPI document calls a boolean, with one request that reads it. */
test('every boolean parameter refuses what is neither, and names itself', async () => {
  const { paths } = await server.admin.ok('GET', '/openapi/v2');
  const found = new Map<string, string>();
  for (const [path, methods] of Object.entries(paths as Record<string, Loose>)) {
    // Proxied paths pass their query on.
    if (path.includes('/proxy') || !path.startsWith('/api/v1/')) continue;
    for (const [method, operation] of Object.entries(methods as Record<string, Loose>)) {
      const parameters: Loose[] = [...(methods.parameters ?? []), ...(operation.parameters ?? [])];
      if (method === 'parameters') continue;
      for (const { name, type } of parameters) {
        if (type !== 'boolean') continue;
        const reads =
          name === 'watch' || name === 'allowWatchBookmarks'
            ? method === 'get' && path.includes('{namespace}') && !path.includes('{name}') && !path.startsWith('/api/v1/watch/')
            : true;
        if (reads && !found.has(name)) found.set(name, `${method} ${path}`);
      }
    }
  }
  expect([...found.keys()].sort()).toEqual([
    'allowWatchBookmarks',
    'follow',
    'force',
    'insecureSkipTLSVerifyBackend',
    'orphanDependents',
    'previous',
    'stderr',
    'stdin',
    'stdout',
    'timestamps',
    'tty',
    'watch',
  ]);
  await server.admin.ok('POST', '/api/v1/nodes', { metadata: { name: 'node' } });
  await server.admin.ok('POST', `${base}/pods`, {
    metadata: { name: 'one' },
    spec: { nodeName: 'node', containers: [{ name: 'c', image: 'reg.example/c' }] },
  });
  for (const [name, where] of found) {
    const [method = '', path = ''] = where.split(' ');
    const at = path.replace('/api/v1/namespaces/{namespace}', base).replace('{name}', 'one');
    const isApply = method === 'patch';
    const answer = await server.admin.send(method.toUpperCase(), `${at}?${name}=maybe${isApply ? '&fieldManager=m' : ''}`, {
      ...(isApply && { headers: apply, body: applied('1') }),
    });
    expect({ where, status: answer.status, message: answer.json.message }).toEqual({
      where,
      status: 400,
      message: `query parameter "${name}" must be true or false, not "maybe"`,
    });
  }
});

test('who may not watch learns that, and not how the query is written', async () => {
  const { status, json } = await server.bob.get(`${base}/configmaps?watch=yes`);
  expect(status).toBe(403);
  expect(json.message).toContain('cannot watch resource "configmaps"');
});
