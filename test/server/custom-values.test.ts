/** What the schema of a custom kind does with values on their way through the server. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { define, definitionOf, definitionsPath } from '../support/custom.ts';
import { type Answer, type Loose, startTestServer, type TestServer } from '../support/server.ts';

const group = 'kitchen.example.com';
let server: TestServer;
let namespace: string;
beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.namespace();
});
afterAll(async () => {
  await server.close();
  expect(server.errors).toEqual([]);
});

const x = (extension: string): string => server.identity.schemaExtensionPrefix + extension;
const schemaOf = (fields: Loose): Loose => ({ type: 'object', properties: { spec: { type: 'object', properties: fields } } });
const kept = (): Loose => ({ type: 'object', [x('preserve-unknown-fields')]: true });
const pathOf = (kind: string): string => `/apis/${group}/v1/namespaces/${namespace}/${kind.toLowerCase()}s`;
const body = (kind: string, name: string, spec: unknown): Loose => ({ apiVersion: `${group}/v1`, kind, metadata: { name }, spec });
const defined = (kind: string, fields: Loose): Promise<void> =>
  define(server, definitionOf(server, group, kind, [{ schema: schemaOf(fields) }]));
const causes = ({ json }: Answer): string[] => json.details.causes.map(({ field, message }: Loose) => `${field}: ${message}`);

/** Gives the kind another schema and waits until an object shows that it counts. */
async function redefine(kind: string, fields: Loose, name: string, counts: (object: Loose) => boolean): Promise<Loose> {
  const path = `${definitionsPath(server)}/${kind.toLowerCase()}s.${group}`;
  const change = [{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema', value: schemaOf(fields) }];
  expect((await server.admin.patch(path, change, 'json-patch')).status).toBe(200);
  for (;;) {
    const object = await server.admin.ok('GET', `${pathOf(kind)}/${name}`);
    if (counts(object)) return object;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('a null that may not stand is dropped from a body, and refused in what is applied', async () => {
  await defined('Pan', { size: { type: 'integer' }, lid: { type: 'string', default: 'none' } });
  const made = await server.admin.ok('POST', pathOf('Pan'), body('Pan', 'a', { size: null, lid: null }));
  expect(made.spec).toEqual({ lid: 'none' });
  const applied = await server.admin.patch(
    `${pathOf('Pan')}/b?fieldManager=ann`,
    body('Pan', 'b', { size: null, lid: null }),
    'apply-patch',
  );
  expect(applied.status).toBe(422);
  expect(causes(applied)).toEqual(['spec.size: Invalid value: "null": spec.size in body must be of type integer: "null"']);
});

test('metadata that cannot be read is reported by itself, also that of objects inside', async () => {
  await defined('Box', { inside: { ...kept(), [x('embedded-resource')]: true } });
  const refusal = async (object: Loose): Promise<string> => {
    const answer = await server.admin.post(pathOf('Box'), object);
    expect(answer.status).toBe(400);
    return answer.json.message.replace('Box in version "v1" cannot be handled as a Box: ', '');
  };
  const labels = 'json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string';
  const box = body('Box', 'a', {});
  expect(await refusal({ ...box, metadata: { name: 'a', labels: { a: 1 } } })).toBe(labels);
  expect(await refusal({ ...box, metadata: 'a' })).toBe('json: cannot unmarshal string into Go value of type v1.ObjectMeta');
  const inside = { apiVersion: 'v1', kind: 'Pod', metadata: { labels: { x: 5 } } };
  expect(await refusal({ ...box, spec: { inside } })).toBe(
    `spec.inside.metadata: Invalid value: map[string]interface {}{"labels":map[string]interface {}{"x":5}}: ${labels}`,
  );
});

test('what was stored before its schema changed loses the metadata that cannot be read', async () => {
  await defined('Jar', { inside: kept() });
  const inside = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', labels: { x: 5 }, odd: 1 }, more: 1 };
  await server.admin.ok('POST', pathOf('Jar'), body('Jar', 'a', { inside }));
  const fields = { inside: { ...kept(), [x('embedded-resource')]: true } };
  const read = await redefine('Jar', fields, 'a', ({ spec }) => spec.inside.metadata.odd === undefined);
  expect(read.spec.inside).toEqual({ ...inside, metadata: { name: 'p' } });
});

test('members that were there twice before the schema forbade it may stay so', async () => {
  const list = { type: 'array', items: { type: 'string' } };
  await defined('Rack', { list, mark: { type: 'string' } });
  const racks = pathOf('Rack');
  await server.admin.ok('POST', racks, body('Rack', 'twice', { list: ['a', 'a'], old: 1 }));
  await server.admin.ok('POST', racks, body('Rack', 'once', { list: ['a'], mark: 'x' }));
  await redefine('Rack', { list: { ...list, [x('list-type')]: 'set' } }, 'once', ({ spec }) => spec.mark === undefined);
  expect((await server.admin.patch(`${racks}/twice`, { spec: { list: ['b', 'b'] } })).json.spec).toEqual({ list: ['b', 'b'] });
  const refused = await server.admin.patch(`${racks}/once`, { spec: { list: ['b', 'b'] } });
  expect(causes(refused)).toEqual(['spec.list[1]: Duplicate value: "b"']);
});

test('requests for a deprecated version of a custom kind are counted as those of built-in ones', async () => {
  await define(server, definitionOf(server, group, 'Ladle', [{ schema: schemaOf({}), deprecated: true }]));
  const answer = await server.admin.get(pathOf('Ladle'));
  expect(answer.headers.warning).toContain('deprecated');
  expect((await server.admin.get('/metrics')).text).toMatch(
    /^apiserver_requested_deprecated_apis\{group="kitchen\.example\.com",removed_release="",resource="ladles",subresource="",version="v1"\} 1$/m,
  );
});
