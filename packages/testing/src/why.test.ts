/** What a test can ask the server: why it decided as it did. */
import { inspect } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer } from './server.ts';
import type { TestServer } from './test-server.ts';

let server: TestServer;
const map = (name: string, x: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'shop' }, data: { x } });
beforeAll(async () => {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
  server = await startTestServer({ objects: [namespace], server: { slowRequestThreshold: 1 } });
});
afterAll(() => server.close());

test('denied: which rule is missing, and the role that would allow it, which does', async () => {
  const action = { verb: 'delete', resource: 'pods', namespace: 'shop', name: 'web' };
  const answer = await server.why().denied({ ...action, user: 'alice' });
  expect(answer).toMatchObject({ allowed: false, proposal: { role: { kind: 'Role' }, binding: { kind: 'RoleBinding' } } });
  expect(String(answer)).toMatch(/^alice may not delete pods\/web\.\nAuthorizers asked: .*\n[\s\S]*\nkind: RoleBinding\n/);
  expect(inspect(answer)).toBe(String(answer));
  const { role, binding } = answer.proposal as { role: never; binding: never };
  for (const object of [role, binding]) await server.client().create(object);
  await expect.poll(async () => (await server.why('alice').allowed(action)).allowed).toBe(true);
  expect(String(await server.why('alice').allowed(action))).toContain('You may delete pods/web.');
  expect(await server.why().whoCan(action)).toMatchObject({
    subjects: expect.arrayContaining([expect.objectContaining({ subject: expect.objectContaining({ name: 'alice' }) })]),
  });
  expect(String(await server.why().whoCan(action))).toMatch(/^User +alice /m);
});

test('denied without an action: the last refused request of the user', async () => {
  await expect(server.why('bob').denied()).rejects.toThrow('remembers no refused request of this user');
  await server.request('GET', '/api/v1/namespaces/shop/secrets/token', { user: 'bob' });
  expect(String(await server.why('bob').denied())).toMatch(/^You may not get secrets\/token\.\n/);
  await server.request('GET', '/metrics', { user: 'bob' });
  expect(String(await server.why('bob').denied())).toMatch(/^You may not get \/metrics\.\n/);
});

test('not deleted, pending and not ready: the first cause, by an object or its kind alone', async () => {
  const held = map('held', '1');
  await server.client().create({ ...held, metadata: { ...held.metadata, finalizers: ['example.com/hold'] } });
  expect(await server.why().notDeleted(held)).toMatchObject({ deleting: false, causes: [{ reason: 'NotDeleting' }] });
  await server.client().delete(held);
  const answer = await server.why().notDeleted({ kind: 'configmaps', metadata: held.metadata });
  expect(answer).toMatchObject({ deleting: true, causes: [{ reason: 'Finalizer' }] });
  expect(String(answer)).toMatch(/^configmaps\/held is being deleted\.\n\n1\. .*example\.com\/hold.*\n {3}plat patch /);

  const pod = { metadata: { name: 'web' }, spec: { containers: [{ name: 'main', image: 'x' }] } };
  await server.client().core.v1.pods('shop').create(pod);
  const reference = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' } };
  expect(await server.why().pending(reference)).toMatchObject({ pending: true, causes: [{ reason: 'NoScheduler' }] });
  expect(String(await server.why().notReady(reference))).toMatch(/^pods\/web is not ready\.\n\n1\. /);
  await expect(server.why().pending({ kind: 'Pod', metadata: {} })).rejects.toThrow('the object has no metadata.name');
  await expect(server.why('carol').pending(reference)).rejects.toMatchObject({ code: 403 });
});

test('rejected: what admission did, and who refused; nothing is stored', async () => {
  const pod = (priorityClassName?: string) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'new', namespace: 'shop' },
    spec: { containers: [{ name: 'main', image: 'x' }], ...(priorityClassName !== undefined && { priorityClassName }) },
  });
  const answer = await server.why().rejected(pod('none'), { create: true });
  expect(answer).toMatchObject({ object: 'pod/new', refusal: { code: 403, reason: 'Forbidden' } });
  expect(String(answer)).toMatch(/^pod\/new: refused by Priority\n/);
  expect(String(await server.why().rejected(pod()))).toMatch(/^pod\/new: accepted\n/);
  expect(await server.client().core.v1.pods('shop').find('new')).toBeUndefined();
  await expect(server.why('carol').rejected(pod())).rejects.toMatchObject({ code: 403 });
});

test('conflict: who owns the fields of an apply', async () => {
  await server.client().apply(map('settings', '1'), { fieldManager: 'ci' });
  const answer = await server.why().conflict(map('settings', '2'));
  expect(answer).toEqual({
    object: 'configmap/settings',
    namespace: 'shop',
    conflicts: [expect.objectContaining({ field: '.data.x', manager: 'ci', operation: 'Apply', current: '1', wanted: '2' })],
  });
  expect(String(answer)).toContain('configmap/settings: 1 field has another owner than test\n');
  expect(await server.why().conflict(map('settings', '2'), { fieldManager: 'ci' })).toMatchObject({ conflicts: [] });
  await expect(server.why('carol').conflict(map('settings', '2'))).rejects.toMatchObject({ code: 403 });
});

test('slow: where the time of requests went', async () => {
  server.faults.delay({ resource: 'leases', verb: 'list' }, '5ms');
  await server.request('GET', '/apis/coordination.plat.dev/v1/leases');
  const answer = await server.why().slow({ allUsers: true });
  expect(answer.requests).toContainEqual(expect.objectContaining({ path: '/apis/coordination.plat.dev/v1/leases', code: 200 }));
  expect(String(answer)).toMatch(/GET \/apis\/coordination\.plat\.dev\/v1\/leases {2}200 /);
});

test('a server without the group says what it needs', async () => {
  const pod = { kind: 'Pod', metadata: { name: 'web' } };
  const stock = await startTestServer({ identity: 'kubernetes' });
  await expect(stock.why().notReady(pod)).rejects.toThrow(
    "the test server has no group explain: start it with { server: { runtimeConfig: ['explain.k8s.io/v1alpha1=true'] } }",
  );
  await stock.close();
  const runtimeConfig = ['explain.k8s.io/v1alpha1=true'];
  const explaining = await startTestServer({ identity: 'kubernetes', server: { runtimeConfig } });
  await expect(explaining.why().notReady(pod)).rejects.toMatchObject({ code: 404 });
  await explaining.close();
});
