/** With every change of an object the store gets a note of who made it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ChangeNote, decodeNote } from '../../packages/server/src/history/note.ts';
import type { Engine, Operation } from '../../packages/storage/src/engine.ts';
import { type Client, startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let client: Client;
const written: Operation[] = [];
const recording = (engine: Engine): Engine => {
  const commit = engine.commit.bind(engine);
  engine.commit = (operations, assigned) => {
    written.push(...operations);
    return commit(operations, assigned);
  };
  return engine;
};

beforeAll(async () => {
  server = await startTestServer({ direct: true, wrapEngine: recording });
  client = server.admin.clone({ headers: { 'user-agent': 'shop/1.2 (linux)' } });
});
afterAll(() => server.close());

/** The notes of the changes of one object, oldest first, with the type of change before each. */
function notesOf(key: string): string[] {
  return written.flatMap((operation) => {
    if (operation.key !== key || operation.type === 'check') return [];
    const { user, manager, origin } = decodeNote(operation.note) as ChangeNote;
    return [[operation.type, user, origin.verb, origin.subresource, manager, origin.userAgent].join(' | ')];
  });
}
const by = (type: string, verb: string, subresource = '', manager = 'shop'): string =>
  `${type} | admin | ${verb} | ${subresource} | ${manager} | shop/1.2 (linux)`;

const replica = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'app:1' }] } };

test('create, update, patch, apply, scale, status and delete', async () => {
  const namespace = await server.namespace();
  const path = `/apis/apps/v1/namespaces/${namespace}/statefulsets`;
  const spec = { selector: { matchLabels: { app: 'a' } }, serviceName: 's', replicas: 0, template: replica };
  const set = await client.ok('POST', path, { metadata: { name: 'a', finalizers: ['example.com/held'] }, spec });
  await client.ok('PUT', `${path}/a`, { ...set, metadata: { ...set.metadata, labels: { a: '1' } } });
  expect((await client.patch(`${path}/a?fieldManager=hand`, { metadata: { labels: { a: '2' } } })).status).toBe(200);
  const applied = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'a', labels: { b: '1' } } };
  expect((await client.patch(`${path}/a?fieldManager=hand`, applied, 'apply-patch')).status).toBe(200);
  expect((await client.patch(`${path}/a/scale`, { spec: { replicas: 2 } })).status).toBe(200);
  expect((await client.patch(`${path}/a/status`, { status: { replicas: 1 } })).status).toBe(200);
  await client.ok('DELETE', `${path}/a`);
  expect((await client.patch(`${path}/a`, { metadata: { finalizers: null } })).status).toBe(200);
  const own = notesOf(`apps/statefulsets/${namespace}/a`).filter((line) => line.includes('| admin |'));
  expect(own).toEqual([
    by('put', 'create'),
    by('put', 'update'),
    by('put', 'patch', '', 'hand'),
    by('put', 'apply', '', 'hand'),
    by('put', 'patch', 'scale'),
    by('put', 'patch', 'status'),
    by('put', 'delete'),
    by('delete', 'patch'),
  ]);
});

test('deletecollection, binding, eviction and the end of a namespace', async () => {
  const namespace = await server.namespace();
  const core = `/api/v1/namespaces/${namespace}`;
  await client.ok('POST', `${core}/configmaps`, { metadata: { name: 'a' } });
  await client.ok('DELETE', `${core}/configmaps`);
  expect(notesOf(`core/configmaps/${namespace}/a`)).toEqual([by('put', 'create'), by('delete', 'deletecollection')]);

  const spec = { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'app:1' }], schedulerName: 'none' };
  await client.ok('POST', `${core}/pods`, { metadata: { name: 'p' }, spec });
  await client.ok('POST', `${core}/pods/p/binding`, { metadata: { name: 'p' }, target: { name: 'n' } });
  await client.ok('POST', `${core}/pods/p/eviction`, { metadata: { name: 'p' }, deleteOptions: { gracePeriodSeconds: 0 } });
  const pod = notesOf(`core/pods/${namespace}/p`).filter((line) => line.includes('| admin |'));
  expect(pod).toEqual([
    by('put', 'create'),
    by('put', 'create', 'binding'),
    by('put', 'create', 'eviction'),
    by('delete', 'create', 'eviction'),
  ]);

  await client.ok('DELETE', `/api/v1/namespaces/${namespace}`);
  await expect.poll(() => notesOf(`core/namespaces/${namespace}`).at(-1)).toMatch(/^delete \| system:/);
});

test('the audit id, who acts as another, and what the server writes besides', async () => {
  const namespace = await server.namespace();
  const core = `/api/v1/namespaces/${namespace}`;
  await client.ok('POST', `${core}/resourcequotas`, { metadata: { name: 'q' }, spec: { hard: { configmaps: '5' } } });
  await expect.poll(async () => (await client.ok('GET', `${core}/resourcequotas/q`)).status?.used?.configmaps).toBeDefined();
  const headers = { 'audit-id': 'e1c0', 'impersonate-user': 'carol', 'impersonate-group': 'system:masters' };
  expect((await client.post(`${core}/configmaps`, { metadata: { name: 'a' } }, headers)).status).toBe(201);
  const noteAt = (key: string): ChangeNote => {
    const operation = written.findLast((one) => one.key === key);
    return decodeNote(operation?.type === 'check' ? undefined : operation?.note) as ChangeNote;
  };
  expect(noteAt(`core/configmaps/${namespace}/a`)).toMatchObject({ user: 'carol', origin: { auditId: 'e1c0', impersonator: 'admin' } });
  const quota = written.filter((one) => one.key === `core/resourcequotas/${namespace}/q`).map((one) => one.type !== 'check' && one.note);
  const ofServer = quota.map((note) => decodeNote(note || undefined)).find((note) => note?.origin.auditId === 'e1c0');
  expect(ofServer).toMatchObject({ user: 'system:apiserver', origin: { verb: 'update', subresource: 'status' } });
});

test('every put and delete of an API object has a note', () => {
  const without = written.filter((one) => one.type !== 'check' && one.note === undefined && !one.key.startsWith('alloc/'));
  expect(without.map(({ key }) => key)).toEqual([]);
});
