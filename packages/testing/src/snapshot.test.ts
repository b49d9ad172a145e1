/** Servers that begin with what another one held, and servers that go back to it. */
import { get } from 'node:https';
import { groupName, plat } from '@plat-dev/meta/identity';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { testKeys } from './keys.ts';
import { startTestServer } from './server.ts';
import type { TestServer } from './test-server.ts';

interface Found {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  readonly [field: string]: unknown;
}

const open: TestServer[] = [];
const opened = async (server: Promise<TestServer>): Promise<TestServer> => {
  open.push(await server);
  return server;
};
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

const maps = '/api/v1/namespaces/default/configmaps';
const lamps = '/apis/garden.example/v1/namespaces/default/lamps';
const map = (name: string, value = 'a') => ({ metadata: { name }, data: { value } });
const definition = (plural: string, kind: string) => ({
  metadata: { name: `${plural}.garden.example` },
  spec: {
    group: 'garden.example',
    scope: 'Namespaced',
    names: { plural, kind },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { watts: { type: 'integer', default: 40 } } } },
          },
        },
      },
    ],
  },
});
const definitionsOf = (server: TestServer): string => `/apis/${groupName(server.identity, 'apiextensions')}/v1/customresourcedefinitions`;

async function good(server: TestServer, method: string, path: string, body?: unknown): Promise<Found> {
  const answer = await server.request(method, path, { ...(body !== undefined && { body }) });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body as Found;
}
const names = async (server: TestServer, path: string): Promise<string[]> =>
  ((await good(server, 'GET', path)).items as Found[]).map(({ metadata }) => metadata.name);
const statusOf = async (server: TestServer, path: string): Promise<number> => (await server.request('GET', path)).status;

/** Whoever reads that a definition is established finds its kind served. */
async function define(server: TestServer, plural: string, kind: string): Promise<void> {
  await good(server, 'POST', definitionsOf(server), definition(plural, kind));
  await server.snapshot();
}

/** Reads the events of a watch, one by one. */
async function watch(server: TestServer, path: string): Promise<() => Promise<{ type: string; object: Found }>> {
  const response = await server.fetch(path);
  expect(response.status).toBe(200);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let text = '';
  return async () => {
    while (!text.includes('\n')) text += Buffer.from((await reader.read()).value as Uint8Array).toString();
    const end = text.indexOf('\n');
    const line = text.slice(0, end);
    text = text.slice(end + 1);
    return JSON.parse(line);
  };
}

describe.each(['plat', 'kubernetes'])('a server of %s', (identity) => {
  let server: TestServer;
  beforeEach(async () => {
    server = await opened(startTestServer({ identity }));
    await define(server, 'lamps', 'Lamp');
    await good(server, 'POST', lamps, { apiVersion: 'garden.example/v1', kind: 'Lamp', metadata: { name: 'desk' }, spec: {} });
    await good(server, 'POST', maps, map('one'));
  });

  test('is forked with its objects, uids, resource versions and custom kinds', async () => {
    const fork = await opened((await server.snapshot()).fork());
    for (const path of [`${maps}/one`, `${lamps}/desk`, `${definitionsOf(server)}/lamps.garden.example`, '/api/v1/namespaces/default'])
      expect(await good(fork, 'GET', path)).toEqual(await good(server, 'GET', path));
    expect(await good(fork, 'GET', lamps)).toEqual(await good(server, 'GET', lamps));
    expect(await good(fork, 'GET', '/apis')).toEqual(await good(server, 'GET', '/apis'));
    expect(await good(fork, 'GET', '/apis/garden.example/v1')).toEqual(await good(server, 'GET', '/apis/garden.example/v1'));
    const made = await good(fork, 'POST', lamps, { apiVersion: 'garden.example/v1', kind: 'Lamp', metadata: { name: 'hall' }, spec: {} });
    expect(made.spec).toEqual({ watts: 40 });
    expect((await fork.request('GET', '/readyz')).status).toBe(200);
  });

  test('and its forks see nothing of each other, custom kinds included', async () => {
    const snapshot = await server.snapshot();
    const [one, two] = [await opened(snapshot.fork()), await opened(snapshot.fork())];
    await good(one, 'POST', maps, map('mine'));
    await good(one, 'DELETE', `${maps}/one`);
    await good(two, 'PUT', `${maps}/one`, map('one', 'b'));
    await good(two, 'DELETE', `${lamps}/desk`);
    await define(two, 'vases', 'Vase');
    await good(server, 'POST', maps, map('parents'));
    expect(await names(one, maps)).toEqual(['mine']);
    expect(await names(two, maps)).toEqual(['one']);
    expect(await names(server, maps)).toEqual(['one', 'parents']);
    expect(await names(one, lamps)).toEqual(['desk']);
    expect(await names(two, lamps)).toEqual([]);
    const vases = '/apis/garden.example/v1/namespaces/default/vases';
    expect([await statusOf(one, vases), await statusOf(two, vases), await statusOf(server, vases)]).toEqual([404, 200, 404]);
    // The snapshot is as it was.
    const third = await opened(snapshot.fork());
    expect([await names(third, maps), await names(third, lamps)]).toEqual([['one'], ['desk']]);
    expect((await good(third, 'GET', `${maps}/one`)).data).toEqual({ value: 'a' });
  });

  test('goes back to a snapshot, and watches of it go on', async () => {
    const before = await good(server, 'GET', maps);
    const snapshot = await server.snapshot();
    const fork = await opened(snapshot.fork());
    const next = await watch(fork, `${maps}?watch=true&resourceVersion=${before.metadata.resourceVersion}`);
    await good(fork, 'POST', maps, map('two'));
    await good(fork, 'PUT', `${maps}/one`, map('one', 'b'));
    await define(fork, 'vases', 'Vase');
    await good(fork, 'DELETE', `${definitionsOf(fork)}/lamps.garden.example`);
    await fork.reset(snapshot);
    const after = await good(fork, 'GET', maps);
    expect((after.items as Found[]).map(({ metadata, data }) => [metadata.name, data])).toEqual([['one', { value: 'a' }]]);
    expect(Number(after.metadata.resourceVersion)).toBeGreaterThan(snapshot.revision);
    expect(await names(fork, lamps)).toEqual(['desk']);
    expect(await statusOf(fork, '/apis/garden.example/v1/namespaces/default/vases')).toBe(404);
    const seen: string[] = [];
    for (let i = 0; i < 4; i++) {
      const { type, object } = await next();
      seen.push(`${type} ${object.metadata.name} ${(object.data as { value: string }).value}`);
    }
    expect(seen).toEqual(['ADDED two a', 'MODIFIED one b', 'DELETED two a', 'MODIFIED one a']);
  });
});

test('a watch of a fork begins with what happened before the snapshot', async () => {
  const server = await opened(startTestServer());
  const { metadata } = await good(server, 'GET', maps);
  await good(server, 'POST', maps, map('one'));
  const fork = await opened((await server.snapshot()).fork());
  await good(fork, 'POST', maps, map('two'));
  const next = await watch(fork, `${maps}?watch=true&resourceVersion=${metadata.resourceVersion}`);
  expect([(await next()).object.metadata.name, (await next()).object.metadata.name]).toEqual(['one', 'two']);
});

test('tokens that one server has issued are good in its forks, and end where their account ends', async () => {
  const server = await opened(startTestServer());
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  await good(server, 'POST', accounts, { metadata: { name: 'robot' } });
  const { status } = await good(server, 'POST', `${accounts}/robot/token`, {});
  const bearer = { headers: { authorization: `Bearer ${(status as { token: string }).token}` } };
  const fork = await opened((await server.snapshot()).fork());
  expect((await fork.request('GET', '/api', bearer)).status).toBe(200);
  await good(server, 'DELETE', `${accounts}/robot`);
  expect((await server.request('GET', '/api', bearer)).status).toBe(401);
  expect((await fork.request('GET', '/api', bearer)).status).toBe(200);
});

test('addresses of services that are given out in one server are free in another', async () => {
  const server = await opened(startTestServer());
  const services = '/api/v1/namespaces/default/services';
  const service = (name: string, clusterIP: string) => ({ metadata: { name }, spec: { clusterIP, ports: [{ port: 80 }] } });
  await good(server, 'POST', services, service('one', '10.0.0.101'));
  const snapshot = await server.snapshot();
  const [one, two] = [await opened(snapshot.fork()), await opened(snapshot.fork())];
  await good(one, 'POST', services, service('two', '10.0.0.102'));
  await good(two, 'POST', services, service('three', '10.0.0.102'));
  for (const fork of [one, two]) {
    const taken = await fork.request('POST', services, { body: service('again', '10.0.0.101') });
    expect(taken).toMatchObject({ status: 422, body: { message: expect.stringContaining('already allocated') } });
  }
  await good(one, 'DELETE', `${services}/one`);
  await good(one, 'POST', services, service('again', '10.0.0.101'));
});

test('roles that one server grants are not granted in another', async () => {
  const server = await opened(startTestServer());
  const rbac = groupName(server.identity, 'rbac.authorization');
  const snapshot = await server.snapshot();
  const fork = await opened(snapshot.fork());
  await good(fork, 'POST', `/apis/${rbac}/v1/clusterrolebindings`, {
    metadata: { name: 'alice' },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'view' },
    subjects: [{ kind: 'User', apiGroup: rbac, name: 'alice' }],
  });
  const asked = async (one: TestServer) => (await one.request('GET', maps, { user: 'alice' })).status;
  expect([await asked(server), await asked(fork)]).toEqual([403, 200]);
  await fork.reset(snapshot);
  expect(await asked(fork)).toBe(403);
});

test('a fork may have a port where its parent has none', async () => {
  const server = await opened(startTestServer());
  const fork = await opened((await server.snapshot()).fork({ listen: true }));
  expect(fork.url).toMatch(/^https:/);
  expect(() => server.url).toThrow('has no port');
});

test('a server takes no snapshot of another identity', async () => {
  const [one, other] = [await opened(startTestServer()), await opened(startTestServer({ identity: 'kubernetes' }))];
  await expect(one.reset(await other.snapshot())).rejects.toThrow('of the identity kubernetes');
});

test('an option of a fork that is undefined is as good as not given', async () => {
  await using server = await startTestServer({ listen: true });
  await using fork = await (await server.snapshot()).fork({ listen: undefined, clock: undefined, log: undefined });
  expect(fork.url).toMatch(/^https:/);
});

test('a fork with another address has a certificate for it, of the same authority', async () => {
  await using server = await startTestServer({ listen: true });
  await using fork = await (await server.snapshot()).fork({ listen: true, server: { bindAddress: '127.0.0.3' } });
  expect(fork.url).toContain('127.0.0.3');
  const [{ cluster }] = server.kubeconfig().clusters as unknown as [{ cluster: Record<string, string> }];
  const ca = Buffer.from(cluster['certificate-authority-data'] as string, 'base64');
  const status = (url: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      get(`${url}/version`, { ca, agent: false }, (res) => resolve(res.resume().statusCode)).on('error', reject);
    });
  expect([await status(server.url), await status(fork.url)]).toEqual([200, 200]);
});

test('what a server writes to its keys is not seen by others', async () => {
  const at = { bindAddress: '127.0.0.1', serviceAddress: '10.0.0.1' };
  const [one, two] = [await testKeys(plat, at), await testKeys(plat, at)];
  const before = two.read('server.crt');
  await one.write('server.crt', 'other');
  expect(one.read('server.crt')).toBe('other');
  expect(two.read('server.crt')).toBe(before);
});
