/** Defaults of the status of custom objects: a write of the object drops the status that was sent, then the defaults fill it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { define, definitionOf, definitionsPath } from '../support/custom.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';

const group = 'traffic.example.com';
const waiting = [{ type: 'Accepted', status: 'Unknown', reason: 'Pending' }];
const conditions = { type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, default: waiting };
const gateSchema = (status: object): Loose => ({
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { port: { type: 'integer' } } },
    status: { type: 'object', properties: { conditions, ready: { type: 'boolean' } }, ...status },
  },
});
const filled = { default: { ready: false } };
const defaultStatus = { ready: false, conditions: waiting };

let server: TestServer;
let gates: string;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes', store: 'lmdb' });
  await define(
    server,
    definitionOf(server, group, 'Gate', [
      { name: 'v1', schema: gateSchema(filled), subresources: { status: {} } },
      { name: 'v1beta1', schema: gateSchema({}), subresources: { status: {} } },
    ]),
  );
  gates = `/apis/${group}/v1/namespaces/${await server.namespace()}/gates`;
});
afterAll(async () => {
  await server.close();
  expect(server.errors).toEqual([]);
});

const inVersion = (version: string): string => gates.replace('/v1/', `/${version}/`);
const gate = (name: string, more: object = {}, version = 'v1'): Loose => ({
  apiVersion: `${group}/${version}`,
  kind: 'Gate',
  metadata: { name },
  spec: { port: 1 },
  ...more,
});
const statusOf = async (path: string): Promise<unknown> => (await server.admin.ok('GET', path)).status;
const patched = async (path: string, body: object, type?: string): Promise<Loose> => {
  const answer = await server.admin.patch(path, body, type);
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.json;
};

test('a created object has the defaults of its status, whatever was sent, in the answer and wherever it is read', async () => {
  const watch = await server.admin.watch(`${gates}?watch=1`);
  expect((await server.admin.ok('POST', gates, gate('a', { status: { ready: true } }))).status).toEqual(defaultStatus);
  expect((await server.admin.ok('POST', `${gates}?dryRun=All`, gate('b'))).status).toEqual(defaultStatus);
  expect((await server.admin.ok('POST', inVersion('v1beta1'), gate('c', {}, 'v1beta1'))).status).toEqual(defaultStatus);
  expect(await statusOf(`${gates}/a`)).toEqual(defaultStatus);
  expect(await statusOf(`${gates}/a/status`)).toEqual(defaultStatus);
  expect(await statusOf(`${inVersion('v1beta1')}/a`)).toEqual(defaultStatus);
  const { items } = await server.admin.ok('GET', gates);
  expect(items.map(({ status }: Loose) => status)).toEqual([defaultStatus, defaultStatus]);
  const events = [await watch.next(), await watch.next()];
  watch.close();
  expect(events.map(({ object }) => object?.status)).toEqual([defaultStatus, defaultStatus]);
});

test('an object that apply creates has them, and the applier does not own them', async () => {
  const applied = await patched(`${gates}/applied?fieldManager=ann`, gate('applied', { status: { ready: true } }), 'apply-patch');
  expect(applied.status).toEqual(defaultStatus);
  expect(applied.metadata.managedFields.map(({ fieldsV1 }: Loose) => fieldsV1)).toEqual([{ 'f:spec': { 'f:port': {} } }]);
});

test('writes of the object keep its status, and writes of the status fill what they leave out', async () => {
  const created = await server.admin.ok('POST', gates, gate('writes'));
  const { status: _, ...withoutStatus } = created;
  expect((await server.admin.ok('PUT', `${gates}/writes`, withoutStatus)).status).toEqual(defaultStatus);
  expect((await patched(`${gates}/writes`, { status: null, spec: { port: 2 } })).status).toEqual(defaultStatus);
  expect((await patched(`${gates}/writes/status`, { status: { ready: true, conditions: [] } })).status).toEqual({
    ready: true,
    conditions: [],
  });
  expect((await patched(`${gates}/writes`, { spec: { port: 3 } })).status).toEqual({ ready: true, conditions: [] });
  expect((await patched(`${gates}/writes/status`, { status: { conditions: null } })).status).toEqual({ ready: true, conditions: waiting });
  expect((await patched(`${gates}/writes/status`, { status: null })).status).toEqual(defaultStatus);
  expect((await server.admin.ok('GET', `${gates}/writes`)).metadata.generation).toBe(3);
});

test('an object that was stored before its status had defaults is read with them, also after a restart', async () => {
  const plain = {
    type: 'object',
    properties: { status: { type: 'object', properties: { conditions: { type: 'array', items: conditions.items } } } },
  };
  await define(server, definitionOf(server, group, 'Lock', [{ name: 'v1', schema: plain, subresources: { status: {} } }]));
  const locks = gates.replace('/gates', '/locks');
  const { metadata } = await server.admin.ok('POST', locks, { ...gate('old'), kind: 'Lock' });
  const withDefaults = [{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema', value: gateSchema(filled) }];
  await patched(`${definitionsPath(server)}/locks.${group}`, withDefaults, 'json-patch');
  await expect.poll(() => statusOf(`${locks}/old`)).toEqual(defaultStatus);
  server = await server.restart();
  const reread = await server.admin.ok('GET', `${locks}/old`);
  expect([reread.status, reread.metadata.resourceVersion]).toEqual([defaultStatus, metadata.resourceVersion]);
});

test('a status that the schema requires is missing when an object is created, defaults or not', async () => {
  const required = { ...gateSchema(filled), required: ['status'] };
  await define(server, definitionOf(server, group, 'Door', [{ name: 'v1', schema: required, subresources: { status: {} } }]));
  const answer = await server.admin.post(gates.replace('/gates', '/doors'), { ...gate('d', { status: {} }), kind: 'Door' });
  expect([answer.status, answer.json.message]).toEqual([422, `Door.${group} "d" is invalid: status: Required value`]);
});
