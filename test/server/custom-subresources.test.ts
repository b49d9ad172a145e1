/** Subresources, Tables, discovery and OpenAPI of kinds that are defined while the server runs. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { define, definitionOf, definitionsPath } from '../support/custom.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';

const group = 'farm.example.com';
const schema = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { n: { type: 'integer' }, m: { type: 'integer' }, crop: { type: 'string' } } },
    status: { type: 'object', properties: { n: { type: 'integer' }, selector: { type: 'string' } } },
  },
};
const scaled = (specReplicasPath: string) => ({
  status: {},
  scale: { specReplicasPath, statusReplicasPath: '.status.n', labelSelectorPath: '.status.selector' },
});
const column = (name: string, jsonPath: string) => ({ name, type: 'string', jsonPath });

let server: TestServer;
let fields: string;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes', direct: true });
  await define(
    server,
    definitionOf(server, group, 'Field', [
      { name: 'v1', schema, subresources: scaled('.spec.n'), additionalPrinterColumns: [column('Crop', '.spec.crop')] },
      { name: 'v2', schema, subresources: { scale: scaled('.spec.m').scale } },
      { name: 'v1beta1', schema },
    ]),
  );
  fields = `/apis/${group}/v1/namespaces/${await server.namespace()}/fields`;
});
afterAll(async () => {
  await server.close();
  expect(server.errors).toEqual([]);
});

const make = (name: string, spec: object) =>
  server.admin.ok('POST', fields, { apiVersion: `${group}/v1`, kind: 'Field', metadata: { name }, spec });
const scale = (name: string, replicas: number, metadata: object = {}) => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name, ...metadata },
  spec: { replicas },
});
const inVersion = (version: string) => fields.replace('/v1/', `/${version}/`);
const asTable = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };

test('a scale may be written with a version, without one, or not at all with an old one', async () => {
  await make('west', { n: 3 });
  const before = await server.admin.ok('GET', `${fields}/west/scale`);
  expect(before).toMatchObject({ kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 3 }, status: { replicas: 0 } });
  const { resourceVersion } = before.metadata;
  expect((await server.admin.put(`${fields}/west/scale`, scale('west', 5, { resourceVersion }))).json.spec).toEqual({ replicas: 5 });
  expect((await server.admin.put(`${fields}/west/scale`, scale('west', 6, { resourceVersion }))).status).toBe(409);
  expect((await server.admin.put(`${fields}/west/scale`, scale('west', 7))).json.spec).toEqual({ replicas: 7 });
  expect((await server.admin.ok('GET', `${fields}/west`)).spec).toEqual({ n: 7 });
});

test('an object without a number has no scale until it is given one', async () => {
  await make('bare', {});
  const absent = await server.admin.get(`${fields}/bare/scale`);
  expect([absent.status, absent.json.reason, absent.json.message]).toEqual([
    422,
    'Invalid',
    'the spec replicas field ".spec.n" does not exist',
  ]);
  const empty = await server.admin.patch(`${fields}/bare/scale`, { metadata: {} });
  expect([empty.status, empty.json.message]).toEqual([400, 'the spec replicas field ".spec.n" cannot be empty']);
  expect((await server.admin.patch(`${fields}/bare/scale`, { spec: { replicas: 2 } })).json.spec).toEqual({ replicas: 2 });
});

test('a wrong number is an error of the object, whichever way it came', async () => {
  await make('wrong', { n: 1 });
  const problem = '.spec.n: Invalid value: -1: should be a non-negative integer';
  const through = await server.admin.put(`${fields}/wrong/scale`, scale('wrong', -1));
  expect([through.status, through.json.message]).toEqual([422, `Field.${group} "wrong" is invalid: ${problem}`]);
  const direct = await server.admin.patch(`${fields}/wrong`, { spec: { n: -1 } });
  expect([direct.status, direct.json.message]).toEqual([422, expect.stringContaining(problem)]);
});

test('nobody owns the number of an object that was scaled', async () => {
  const path = `${fields}/owned?fieldManager=ann`;
  const applied = (spec: object) => ({ apiVersion: `${group}/v1`, kind: 'Field', metadata: { name: 'owned' }, spec });
  expect((await server.admin.patch(path, applied({ n: 1, crop: 'rye' }), 'apply-patch')).status).toBe(201);
  await server.admin.patch(`${fields}/owned/scale?fieldManager=hpa`, { spec: { replicas: 4 } });
  const { metadata } = await server.admin.ok('GET', `${fields}/owned`);
  expect(metadata.managedFields.map((entry: Loose) => [entry.manager, entry.fieldsV1])).toEqual([['ann', { 'f:spec': { 'f:crop': {} } }]]);
});

test('a number that is applied through the scale is owned, and fought for', async () => {
  await make('applied', { n: 1 });
  const apply = (manager: string, replicas: number) =>
    server.admin.patch(`${fields}/applied/scale?fieldManager=${manager}`, scale('applied', replicas), 'apply-patch');
  expect((await apply('hpa', 4)).status).toBe(409);
  const forced = await server.admin.patch(`${fields}/applied/scale?fieldManager=hpa&force=true`, scale('applied', 4), 'apply-patch');
  expect(forced.json.spec).toEqual({ replicas: 4 });
  const { metadata, spec } = await server.admin.ok('GET', `${fields}/applied`);
  expect(spec).toEqual({ n: 4 });
  const [entry] = metadata.managedFields;
  expect(entry).toMatchObject({ manager: 'hpa', operation: 'Apply', subresource: 'scale', apiVersion: `${group}/v1` });
  expect(entry.fieldsV1).toEqual({ 'f:spec': { 'f:n': {} } });
});

test('each version scales by its own path, and one without a scale has none', async () => {
  await make('two', { n: 1, m: 2 });
  expect((await server.admin.ok('GET', `${inVersion('v2')}/two/scale`)).spec).toEqual({ replicas: 2 });
  await server.admin.patch(`${inVersion('v2')}/two/scale`, { spec: { replicas: 9 } });
  expect((await server.admin.ok('GET', `${fields}/two`)).spec).toEqual({ n: 1, m: 9 });
  expect((await server.admin.get(`${inVersion('v1beta1')}/two/scale`)).status).toBe(404);
});

test('methods that a subresource does not have are refused with the name of the resource', async () => {
  await make('methods', { n: 1 });
  for (const [method, verb] of [
    ['POST', 'create'],
    ['DELETE', 'delete'],
  ] as const) {
    const answer = await server.admin.send(method, `${fields}/methods/scale`);
    expect([answer.status, answer.json.message]).toEqual([405, `${verb} is not supported on resources of kind "fields.${group}"`]);
    expect(answer.json.details).toEqual({ group, kind: 'fields' });
  }
});

test('who writes status owns what was sent with it, though only status is written', async () => {
  const { metadata } = await make('status', { n: 1 });
  const sent = { apiVersion: `${group}/v1`, kind: 'Field', status: { n: 2 }, metadata: { ...metadata, labels: { a: 'b' } } };
  const { json } = await server.admin.put(`${fields}/status/status?fieldManager=eye`, sent);
  expect([json.status, json.metadata.labels, json.spec]).toEqual([{ n: 2 }, undefined, { n: 1 }]);
  const entry = json.metadata.managedFields.find((one: Loose) => one.manager === 'eye');
  expect(entry.fieldsV1).toEqual({ 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } }, 'f:status': { '.': {}, 'f:n': {} } });
});

test('each version has a Table of its own, which changes with the definition', async () => {
  await make('shown', { n: 1, crop: 'oats' });
  const table = async (path: string) => {
    const { columnDefinitions, rows } = (await server.admin.get(`${path}/shown`, asTable)).json;
    return [columnDefinitions.map((one: Loose) => one.name), rows[0].cells[1]];
  };
  expect(await table(fields)).toEqual([['Name', 'Crop'], 'oats']);
  expect(await table(inVersion('v2'))).toEqual([['Name', 'Age'], expect.stringMatching(/^\d+s$/)]);
  const columns = [{ op: 'add', path: '/spec/versions/1/additionalPrinterColumns', value: [column('N', '.spec.n')] }];
  expect((await server.admin.patch(`${definitionsPath(server)}/fields.${group}`, columns, 'json-patch')).status).toBe(200);
  await expect.poll(() => table(inVersion('v2'))).toEqual([['Name', 'N'], '1']);
  expect(await table(fields)).toEqual([['Name', 'Crop'], 'oats']);
});

test('discovery tells the subresources of each version, and its most preferred version first', async () => {
  const { versions, preferredVersion } = await server.admin.ok('GET', `/apis/${group}`);
  expect(versions.map((one: Loose) => one.version)).toEqual(['v2', 'v1', 'v1beta1']);
  expect(preferredVersion).toEqual({ groupVersion: `${group}/v2`, version: 'v2' });
  const names = async (version: string) =>
    (await server.admin.ok('GET', `/apis/${group}/${version}`)).resources.map((one: Loose) => one.name);
  expect(await names('v1')).toEqual(['fields', 'fields/status', 'fields/scale']);
  expect(await names('v2')).toEqual(['fields', 'fields/scale']);
  expect(await names('v1beta1')).toEqual(['fields']);
});

test('OpenAPI tells the paths and the schema of each version', async () => {
  const { paths, components } = await server.admin.ok('GET', `/openapi/v3/apis/${group}/v1`);
  const root = `/apis/${group}/v1/namespaces/{namespace}/fields`;
  expect(Object.keys(paths).sort()).toEqual(
    [root, `${root}/{name}`, `${root}/{name}/scale`, `${root}/{name}/status`, `/apis/${group}/v1/fields`].sort(),
  );
  const { spec } = components.schemas['com.example.farm.v1.Field'].properties;
  expect(spec.properties.crop).toEqual({ type: 'string' });
  const v2 = await server.admin.ok('GET', '/openapi/v2');
  expect(v2.definitions['com.example.farm.v1beta1.FieldList'].properties.items.items.$ref).toBe(
    '#/definitions/com.example.farm.v1beta1.Field',
  );
});
