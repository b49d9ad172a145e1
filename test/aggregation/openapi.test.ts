/** What servers behind this one say of themselves is part of this server's documents. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Loose } from '../support/server.ts';
import { APIS, discoveryOf, type Extension, startWorld, type World } from './support.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
const admin = () => world.server.admin;

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

function describe(far: Extension, documents: Readonly<Record<string, object>>): void {
  far.backend.answer = (req, res) => {
    const document = req.url === far.base ? discoveryOf(far.group) : documents[req.url ?? ''];
    res.writeHead(document === undefined ? 404 : 200, { 'Content-Type': 'application/json' });
    res.end(JSON.stringify(document ?? {}));
  };
}

async function until(path: string, wanted: (document: Loose) => boolean): Promise<Loose> {
  for (;;) {
    const document = await admin().ok('GET', path);
    if (wanted(document)) return document;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function swagger(far: Extension): object {
  const ref = (name: string) => ({ $ref: `#/definitions/${name}` });
  const answers = (name: string) => ({ responses: { 200: { description: 'OK', schema: ref(name) } } });
  return {
    swagger: '2.0',
    info: { title: 'far', version: '1' },
    paths: { [`${far.base}/things`]: { get: answers('far.Thing') }, '/apis/apps/v1/deployments': { get: answers('far.Lie') } },
    definitions: {
      'far.Thing': { type: 'object', properties: { metadata: ref(META), own: ref('far.Own') } },
      'far.Own': { type: 'object', properties: { thing: ref('far.Thing') } },
      'far.Lie': { type: 'object' },
      [META]: { type: 'object', properties: { name: { type: 'integer' } } },
    },
  };
}

test('paths and definitions of its group are added, those of the same name beside ours, and go with it', async () => {
  const far = await world.extend({ unavailable: true });
  describe(far, { '/openapi/v2': swagger(far) });
  await far.until('True');
  const before = await admin().ok('GET', '/openapi/v2');
  const path = `${far.base}/things`;
  const document = await until('/openapi/v2', ({ paths }) => path in paths);
  expect(document.definitions['far.Thing'].properties).toEqual({
    metadata: { $ref: `#/definitions/${META}_v2` },
    own: { $ref: '#/definitions/far.Own' },
  });
  expect(document.definitions[`${META}_v2`].properties).toEqual({ name: { type: 'integer' } });
  expect(document.definitions[META]).toEqual(before.definitions[META]);
  expect(document.definitions['far.Lie']).toBeUndefined();
  expect(document.paths['/apis/apps/v1/deployments']).toEqual(before.paths['/apis/apps/v1/deployments']);
  const binary = await admin().get('/openapi/v2', { accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf' });
  expect(binary.status).toBe(200);
  expect(binary.bytes.includes('far.Thing')).toBe(true);
  await admin().ok('DELETE', `${APIS}/${far.name}`);
  const after = await admin().ok('GET', '/openapi/v2');
  expect(after.paths[path]).toBeUndefined();
  expect(after.definitions['far.Thing']).toBeUndefined();
});

test('a document of the third release is served under this server, too', async () => {
  const far = await world.extend({ unavailable: true });
  const name = `apis/${far.group}/v1`;
  const document = {
    openapi: '3.0.0',
    info: { title: 'far', version: '1' },
    paths: { [`${far.base}/things`]: {} },
    components: { schemas: {} },
  };
  const address = `/openapi/v3/${name}?hash=ABC`;
  describe(far, { '/openapi/v3': { paths: { [name]: { serverRelativeURL: address } } }, [address]: document });
  await far.until('True');
  const { paths } = await until('/openapi/v3', (index) => name in index.paths);
  expect(await admin().ok('GET', paths[name].serverRelativeURL)).toEqual(document);
  await admin().ok('DELETE', `${APIS}/${far.name}`);
  expect((await admin().get(`/openapi/v3/${name}`)).status).toBe(404);
});

test('a document that makes no sense is left out, and the others stay', async () => {
  const good = await world.extend({ unavailable: true });
  const bad = await world.extend({ unavailable: true });
  const odd = await world.extend({ unavailable: true });
  describe(good, { '/openapi/v2': swagger(good) });
  describe(bad, { '/openapi/v2': { ...swagger(bad), definitions: {} } });
  describe(odd, {
    '/openapi/v2': { swagger: '2.0', paths: { [`${odd.base}/things`]: { get: { responses: 7, tags: [{}], parameters: 'x' } } } },
  });
  for (const far of [bad, odd, good]) await far.until('True');
  await until('/openapi/v2', ({ paths }) => `${good.base}/things` in paths);
  const asked = (far: Extension) => far.backend.seen.some(({ url }) => url === '/openapi/v2');
  await until('/openapi/v2', () => asked(bad) && asked(odd));
  const binary = await admin().get('/openapi/v2', { accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf' });
  expect(binary.status).toBe(200);
  expect((await admin().ok('GET', '/openapi/v2')).paths[`${bad.base}/things`]).toBeUndefined();
});
