/** Custom resource definitions from end to end: their life, and that of their objects, also across restarts and servers. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { groupName } from '../../packages/meta/src/identity.ts';
import { type CustomVersion, define, definitionOf, definitionsPath } from '../support/custom.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';
import { onPeers, onStores } from '../support/stores.ts';

const group = 'garden.example.com';
const integer = { type: 'integer' };
const schemaOf = (fields: object): object => ({ type: 'object', properties: { spec: { type: 'object', properties: fields } } });
const until = async (holds: () => Promise<boolean>): Promise<void> => {
  for (let i = 0; i < 1000; i++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('it never came about');
};
/** Puts other versions into a definition. */
async function change(server: TestServer, kind: string, versions: CustomVersion[]): Promise<void> {
  const { spec, metadata } = definitionOf(server, group, kind, versions);
  const answer = await server.admin.patch(`${definitionsPath(server)}/${metadata.name}`, { spec: { versions: spec.versions } });
  expect(answer.status, answer.text).toBe(200);
}

/** A definition whose objects are deleted: once it has no finalizer, it is gone. */
async function deletedButForFinalizer(server: TestServer, kind: string): Promise<{ path: string; revision: number }> {
  const { admin } = server;
  const definition = definitionOf(server, group, kind, [{}]);
  await define(server, definition);
  const path = `${definitionsPath(server)}/${definition.metadata.name}`;
  await admin.patch(path, { metadata: { finalizers: ['example.com/mine'] } });
  await admin.ok('DELETE', path);
  await until(async () => (await admin.ok('GET', path)).metadata.finalizers.length === 1);
  return { path, revision: Number((await admin.ok('GET', path)).metadata.resourceVersion) };
}

onStores(['memory', 'lmdb', 'etcd'], {}, (server) => {
  test('a kind is served as soon as its definition is established, and objects of it behave like any other', async () => {
    const namespace = await server().namespace();
    await define(server(), definitionOf(server(), group, 'Seed', [{ schema: schemaOf({ n: integer }) }]));
    const seeds = `/apis/${group}/v1/namespaces/${namespace}/seeds`;
    const watch = await server().admin.watch(`${seeds}?watch=1`);
    const made = await server().admin.ok('POST', seeds, {
      apiVersion: `${group}/v1`,
      kind: 'Seed',
      metadata: { name: 'one' },
      spec: { n: 1, other: 2 },
    });
    expect([made.spec, made.metadata.generation]).toEqual([{ n: 1 }, 1]);
    expect((await watch.next()).object).toEqual(made);
    watch.close();
    expect(await server().admin.ok('GET', `${seeds}/one`)).toEqual(made);
    expect((await server().admin.ok('GET', `/apis/${group}/v1/seeds`)).items).toEqual([made]);
    const wrong = await server().admin.post(seeds, {
      apiVersion: `${group}/v1`,
      kind: 'Seed',
      metadata: { name: 'two' },
      spec: { n: 'x' },
    });
    expect([wrong.status, wrong.json.details.causes[0].field]).toEqual([422, 'spec.n']);
    expect((await server().admin.ok('GET', `/apis/${group}/v1`)).resources.map(({ name }: Loose) => name)).toEqual(['seeds']);
  });

  test('stored objects are read by the schema of now, in the version that is stored now', async () => {
    const namespace = await server().namespace();
    await define(server(), definitionOf(server(), group, 'Bulb', [{ schema: schemaOf({ a: integer, b: integer }) }]));
    const at = (version: string) => `/apis/${group}/${version}/namespaces/${namespace}/bulbs/old`;
    const bulb = { apiVersion: `${group}/v1`, kind: 'Bulb', metadata: { name: 'old' }, spec: { a: 1, b: 2 } };
    const made = await server().admin.ok('POST', at('v1').slice(0, -4), bulb);
    await change(server(), 'Bulb', [{ schema: schemaOf({ a: integer, c: { type: 'string', default: 'new' } }) }]);
    await until(async () => (await server().admin.ok('GET', at('v1'))).spec.c === 'new');
    const read = await server().admin.ok('GET', at('v1'));
    expect(read.spec).toEqual({ a: 1, c: 'new' });
    expect(read.metadata).toEqual(made.metadata);
    // What is back in the schema was never lost.
    await change(server(), 'Bulb', [
      { name: 'v2', schema: schemaOf({ a: integer, b: integer }) },
      { name: 'v1', schema: schemaOf({ a: integer, b: integer }), storage: false },
    ]);
    await until(async () => (await server().admin.get(at('v2'))).status === 200);
    expect((await server().admin.ok('GET', at('v2'))).spec).toEqual({ a: 1, b: 2 });
    expect((await server().admin.ok('GET', at('v1'))).apiVersion).toBe(`${group}/v1`);
    const listed = await server().admin.ok('GET', `/apis/${group}/v2/bulbs`);
    expect(listed.items.map(({ apiVersion, spec }: Loose) => [apiVersion, spec])).toEqual([[`${group}/v2`, { a: 1, b: 2 }]]);
  });

  test('objects of the past are read by the schema of now, too', async () => {
    const { admin } = server();
    const namespace = await server().namespace();
    await define(server(), definitionOf(server(), group, 'Fern', [{ schema: schemaOf({ a: integer }) }]));
    const at = (version: string) => `/apis/${group}/${version}/namespaces/${namespace}/ferns`;
    const post = (version: string, name: string) =>
      admin.ok('POST', at(version), { apiVersion: `${group}/${version}`, kind: 'Fern', metadata: { name }, spec: { a: 1 } });
    for (const name of ['a', 'b', 'c']) await post('v1', name);
    const before = await admin.ok('GET', at('v1'));
    const grown = schemaOf({ a: integer, b: { ...integer, default: 2 } });
    await change(server(), 'Fern', [
      { name: 'v2', schema: grown },
      { name: 'v1', schema: grown, storage: false },
    ]);
    await until(async () => (await admin.get(at('v2'))).status === 200);
    const first = await admin.ok('GET', `${at('v2')}?limit=1`);
    await post('v2', 'd');
    const rest = await admin.ok('GET', `${at('v2')}?limit=9&continue=${first.metadata.continue}`);
    const said = ({ apiVersion, spec: { a, b } }: Loose) => [apiVersion, a, b];
    expect([...first.items, ...rest.items].map(said)).toEqual(Array(3).fill([`${group}/v2`, 1, 2]));
    const watch = await admin.watch(`${at('v2')}?watch=1&resourceVersion=${before.items[0].metadata.resourceVersion}`);
    const events = [await watch.next(), await watch.next(), await watch.next()];
    watch.close();
    expect(events.map(({ object }) => [object.metadata.name, ...said(object)])).toEqual(
      ['b', 'c', 'd'].map((name) => [name, `${group}/v2`, 1, 2]),
    );
  });

  test('what is written in another version shows at once what it will show for ever', async () => {
    const { admin } = server();
    const namespace = await server().namespace();
    const filled = schemaOf({ a: integer, d: { type: 'string', default: 'dee' } });
    const versions = [{ schema: filled }, { name: 'v1beta1', schema: schemaOf({ a: integer }) }];
    await define(server(), definitionOf(server(), group, 'Vase', versions));
    const at = (version: string) => `/apis/${group}/${version}/namespaces/${namespace}/vases`;
    const vase = { apiVersion: `${group}/v1beta1`, kind: 'Vase', metadata: { name: 'a' }, spec: { a: 1 } };
    const made = await admin.ok('POST', at('v1beta1'), vase);
    expect((await admin.ok('GET', `${at('v1')}/a`)).spec).toEqual({ a: 1, d: 'dee' });
    const same = await admin.patch(`${at('v1beta1')}/a`, { spec: { a: 1 } });
    expect(same.json.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
    const other = await admin.patch(`${at('v1beta1')}/a`, { spec: { a: 2 } });
    expect(other.json.spec).toEqual({ a: 2 });
    expect((await admin.ok('GET', `${at('v1')}/a`)).spec).toEqual({ a: 2, d: 'dee' });
    const labelled = await admin.patch(`${at('v1')}/a`, { metadata: { labels: { x: 'y' } } });
    expect(labelled.json.spec).toEqual({ a: 2, d: 'dee' });
  });

  test('an applier that goes on in another version and drops its finalizer drops nothing else of the metadata', async () => {
    const { admin } = server();
    const namespace = await server().namespace();
    const versions = [{ schema: schemaOf({ a: integer }) }, { name: 'v1beta1', schema: schemaOf({ a: integer }) }];
    await define(server(), definitionOf(server(), group, 'Lichen', versions));
    const apply = (version: string, metadata: object) =>
      admin.patch(
        `/apis/${group}/${version}/namespaces/${namespace}/lichens/a?fieldManager=one`,
        { apiVersion: `${group}/${version}`, kind: 'Lichen', metadata: { name: 'a', ...metadata }, spec: { a: 1 } },
        'apply-patch',
      );
    const made = await apply('v1beta1', { finalizers: ['example.com/keep'] });
    expect(made.status, made.text).toBe(201);
    const dropped = await apply('v1', {});
    expect(dropped.status, dropped.text).toBe(200);
    expect(dropped.json.metadata).toMatchObject({ name: 'a', uid: made.json.metadata.uid });
    expect(dropped.json.metadata.finalizers).toBeUndefined();
  });

  test('a definition goes with its objects and ends the watches of them; its names are free then', async () => {
    const namespace = await server().namespace();
    const definition = definitionOf(server(), group, 'Root', [{}]);
    const { admin } = server();
    await define(server(), definition);
    const roots = `/apis/${group}/v1/namespaces/${namespace}/roots`;
    for (let i = 0; i < 40; i++) await admin.ok('POST', roots, { apiVersion: `${group}/v1`, kind: 'Root', metadata: { name: `r${i}` } });
    const watch = await admin.watch(`${roots}?watch=1&resourceVersion=0`);
    await admin.ok('DELETE', `${definitionsPath(server())}/roots.${group}`);
    await until(async () => (await admin.get(`${definitionsPath(server())}/roots.${group}`)).status === 404);
    expect((await admin.get(roots)).status).toBe(404);
    await watch.ended;
    await define(server(), definition);
    expect((await admin.ok('GET', roots)).items).toEqual([]);
  });

  test('whoever finds a definition gone finds no path of its kind, while others are still being compiled', async () => {
    const { admin } = server();
    const { path } = await deletedButForFinalizer(server(), 'Stem');
    const fields = Object.fromEntries(
      Array.from({ length: 2000 }, (_, i) => [`field${i}`, { type: 'string', description: 'one of many' }]),
    );
    const leaves = ['Leafa', 'Leafb', 'Leafc'].map((kind) => definitionOf(server(), group, kind, [{ schema: schemaOf(fields) }]));
    await Promise.all(leaves.map((definition) => admin.ok('POST', definitionsPath(server()), definition)));
    expect((await admin.patch(path, { metadata: { finalizers: null } })).status).toBe(200);
    for (const kind of ['namespaces/default/stems/one', 'namespaces/default/stems', 'stems'])
      expect(await admin.get(`/apis/${group}/v1/${kind}`)).toMatchObject({ status: 404, text: '404 page not found\n' });
    await until(async () => (await admin.ok('GET', `/apis/${group}/v1`)).resources.some(({ kind }: Loose) => kind === 'Leafc'));
  });

  test('a read that waits while its definition is deleted finds no path', async () => {
    const { admin } = server();
    const { path, revision } = await deletedButForFinalizer(server(), 'Twig');
    const twigs = `/apis/${group}/v1/namespaces/default/twigs`;
    const reads = [`${twigs}/one`, twigs].map((url) => admin.get(`${url}?resourceVersion=${revision + 1}`));
    expect((await admin.patch(path, { metadata: { finalizers: null } })).status).toBe(200);
    for (const answer of await Promise.all(reads)) expect(answer).toMatchObject({ status: 404, text: '404 page not found\n' });
  });

  test('many definitions at once are all served', async () => {
    const kinds = Array.from({ length: 12 }, (_, i) => `Many${String.fromCharCode(97 + i)}`);
    await Promise.all(kinds.map((kind) => define(server(), definitionOf(server(), 'many.example.com', kind, [{}]))));
    const { resources } = await server().admin.ok('GET', '/apis/many.example.com/v1');
    expect(resources.map(({ kind }: Loose) => kind).sort()).toEqual(kinds);
  });

  test('a definition cannot take the place of a built-in kind, nor the store of one', async () => {
    const { admin, identity } = server();
    const networking = groupName(identity, 'networking');
    const ingress = definitionOf(server(), networking, 'Ingress', [{}], { names: { plural: 'ingresses', kind: 'Ingress' } });
    ingress.metadata = { name: `ingresses.${networking}`, annotations: { [`api-approved.${identity.domain}`]: 'unapproved, a test' } };
    await define(server(), ingress);
    const { status } = await admin.ok('GET', `${definitionsPath(server())}/${ingress.metadata.name}`);
    expect(status.conditions.map(({ type, status: is, reason }: Loose) => [type, is, reason])).toContainEqual([
      'PlatAPIApprovalPolicyConformant',
      'False',
      'UnapprovedAnnotation',
    ]);
    const namespace = await server().namespace();
    const refused = await admin.post(`/apis/${networking}/v1/namespaces/${namespace}/ingresses`, {
      apiVersion: `${networking}/v1`,
      kind: 'Ingress',
      metadata: { name: 'a' },
      spec: {},
    });
    expect([refused.status, refused.json.reason]).toEqual([422, 'Invalid']);
    // Built-in groups are stored under their base names.
    const base = 'flowcontrol.apiserver';
    const before = (await admin.ok('GET', `/apis/${groupName(identity, base)}/v1beta2/flowschemas`)).items.length;
    await define(server(), definitionOf(server(), base, 'FlowSchema', [{}]));
    const path = `/apis/${base}/v1/namespaces/${namespace}/flowschemas`;
    await admin.ok('POST', path, { apiVersion: `${base}/v1`, kind: 'FlowSchema', metadata: { name: 'a' } });
    expect((await admin.ok('GET', path)).items.length).toBe(1);
    expect((await admin.ok('GET', `/apis/${groupName(identity, base)}/v1beta2/flowschemas`)).items.length).toBe(before);
  });
});

describe('a restart', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ direct: true, store: 'lmdb' });
  });
  afterAll(() => server.close());

  test('finds kinds and objects as they were', async () => {
    const namespace = await server.namespace();
    await define(server, definitionOf(server, group, 'Leaf', [{ schema: schemaOf({ n: integer }) }]));
    const leafs = `/apis/${group}/v1/namespaces/${namespace}/leafs`;
    const made: Loose[] = [];
    for (let n = 0; n < 30; n++)
      made.push(
        await server.admin.ok('POST', leafs, { apiVersion: `${group}/v1`, kind: 'Leaf', metadata: { name: `l${n}` }, spec: { n } }),
      );
    server = await server.restart();
    // At once, without waiting for the definition to be looked at.
    const { items } = await server.admin.ok('GET', leafs);
    expect(items.sort((a: Loose, b: Loose) => a.spec.n - b.spec.n)).toEqual(made);
  });
});

onPeers({}, (one, two) => {
  test('a definition of one server is served by the other, and writes of both meet', async () => {
    const namespace = await one().namespace();
    await define(one(), definitionOf(one(), group, 'Twig', [{ schema: schemaOf({ n: integer }) }]));
    const twigs = `/apis/${group}/v1/namespaces/${namespace}/twigs`;
    await until(async () => (await two().admin.get(twigs)).status === 200);
    const made = await two().admin.ok('POST', twigs, { apiVersion: `${group}/v1`, kind: 'Twig', metadata: { name: 'a' }, spec: { n: 1 } });
    expect(await one().admin.ok('GET', `${twigs}/a`)).toEqual(made);
    await one().admin.ok('DELETE', `${definitionsPath(one())}/twigs.${group}`);
    await until(async () => (await two().admin.get(twigs)).status === 404);
    await until(async () => (await one().admin.get(twigs)).status === 404);
  });
});
