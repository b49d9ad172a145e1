/** Requests that pass through to a server behind this one. */

import { X509Certificate } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { newAuthority } from '../../packages/pki/src/index.ts';
import { knative, knativeAuthority, type Namesakes, otherStrongKeys, pepr } from '../../packages/pki/src/namesakes.testing.ts';
import { DISCOVERY_MS } from '../../packages/server/src/aggregation.ts';
import { eventually, rawConnection } from '../connect/support.ts';
import { HeldWaits } from '../support/held-waits.ts';
import { APIS, type Extension, eventuallyTrue, startWorld, type World } from './support.ts';

let world: World;
let far: Extension;
beforeAll(async () => {
  world = await startWorld();
  far = await world.extend();
});
afterAll(() => world.close());
afterEach(() => {
  far.backend.seen.length = 0;
  far.answer = (_req, res) => void res.end('hello');
  expect(world.server.errors).toEqual([]);
});
const things = (): string => `${far.base}/namespaces/default/things`;

test('method, path, query, headers and body arrive; status, headers and body come back', async () => {
  far.answer = (req, res) => {
    res.writeHead(207, { 'X-Own': 'b', 'Audit-Id': 'theirs', 'Cache-Control': 'public' });
    req.pipe(res);
  };
  const answer = await world.server.admin.send('POST', `${things()}?dryRun=All&x=a%20b`, {
    body: { a: 1 },
    headers: { 'x-mine': 'a', 'audit-id': 'mine-1' },
  });
  expect(answer).toMatchObject({ status: 207, text: '{"a":1}' });
  expect(answer.headers).toMatchObject({ 'x-own': 'b', 'audit-id': 'mine-1', 'cache-control': 'no-cache, private' });
  expect(far.seen()).toMatchObject([
    {
      method: 'POST',
      url: `${things()}?dryRun=All&x=a%20b`,
      headers: { 'x-mine': 'a', 'audit-id': 'mine-1', host: `${far.service}.${world.ns}.svc:${far.backend.port}`, 'content-length': '7' },
    },
  ]);
});

test.each([
  ['Knative', knative],
  ['Pepr', pepr],
])('its certificate may have the name of its CA, as %s makes them', async (_, certificates) => {
  const extension = await world.extend({ certificates });
  const path = `${extension.base}/namespaces/default/things`;
  for (const method of ['GET', 'GET', 'POST']) expect((await world.server.admin.send(method, path)).text).toBe('hello');
});

test('the certificate of another CA of that name is refused, and no request is passed on', async () => {
  const certificates = (dns: string): Namesakes => ({ ...knative(dns), authority: knativeAuthority(dns, { keys: otherStrongKeys }) });
  const extension = await world.extend({ certificates });
  for (const method of ['GET', 'POST']) {
    const answer = await world.server.admin.send(method, `${extension.base}/namespaces/default/things`);
    expect(answer).toMatchObject({ status: 503, text: expect.stringContaining('signed by unknown authority') });
  }
  expect(extension.seen()).toEqual([]);
});

test('a client that speaks HTTP/2 is served as well', async () => {
  far.answer = (req, res) => void req.pipe(res);
  const client = world.server.client({ token: 'admin-token', http2: true });
  expect(await client.post(things(), { a: 1 })).toMatchObject({ status: 200, text: '{"a":1}' });
  expect((await client.get(far.base)).json.resources[0].name).toBe('things');
});

test('the user is named in headers, over a connection that shows the certificate of the proxy', async () => {
  await world.server.admin.get(things());
  const [seen] = far.seen();
  expect(seen).toMatchObject({
    caller: 'front-proxy-client',
    headers: { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters, system:authenticated' },
  });
  expect(seen?.headers.authorization).toBeUndefined();
  const { data } = await world.server.admin.ok('GET', '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication');
  expect(data).toMatchObject({
    'requestheader-username-headers': '["X-Remote-User"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    'requestheader-allowed-names': '["front-proxy-client"]',
  });
  expect(data['client-ca-file']).not.toBe(data['requestheader-client-ca-file']);
  expect(new X509Certificate(data['requestheader-client-ca-file']).subject).toBe('CN=front-proxy-ca');
});

test('whom a client acts as is named, with extra facts', async () => {
  await world.server.admin.get(things(), {
    'impersonate-user': 'jürgen',
    'impersonate-group': 'system:masters',
    'impersonate-extra-example.com%2Fscope': 'a b',
  });
  const headers = far.seen()[0]?.headers ?? {};
  expect(Buffer.from(String(headers['x-remote-user']), 'latin1').toString()).toBe('jürgen');
  expect(headers['x-remote-extra-example.com%2fscope']).toBe('a b');
  expect(Object.keys(headers).filter((name) => name.startsWith('impersonate'))).toEqual([]);
});

test('names that a client forges do not pass', async () => {
  await world.server.admin.get(things(), {
    'x-remote-user': 'root',
    'x-remote-group': 'gods',
    'x-remote-extra-scope': 'all',
    x_remote_user: 'root',
    'X-Remote_Extra-x': 'all',
    connection: 'keep-alive, x-remote-user, x-forwarded-for',
  });
  const headers = far.seen()[0]?.headers ?? {};
  expect(headers['x-remote-user']).toBe('admin');
  expect(JSON.stringify(headers)).not.toMatch(/root|gods|all"/);
});

test('access is decided here: who may not is refused, and the other server is not asked', async () => {
  const answer = await world.server.bob.get(`${things()}/x`);
  expect(answer.status).toBe(403);
  expect(answer.json.message).toContain(`User "bob" cannot get resource "things" in API group "${far.group}" in the namespace "default"`);
  expect((await world.server.anonymous.get(far.base)).status).toBe(403);
  expect(far.seen()).toEqual([]);
});

test('the path that arrives is the one that was judged', async () => {
  await world.server.admin.get(`${far.base}/namespaces/a%2Fb/things/%C3%BC%3F:x`);
  expect(far.seen()[0]?.url).toBe(`${far.base}/namespaces/a/b/things/%C3%BC%3F:x`);
  for (const path of ['/namespaces/a/../b/things', '/namespaces/%2e%2e/things', '/things/.'])
    expect((await rawGet(`${far.base}${path}`)).startsWith('HTTP/1.1 400'), path).toBe(true);
  expect(far.seen().length).toBe(1);
});

async function rawGet(path: string, more = ''): Promise<string> {
  const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\nConnection: close\r\n${more}\r\n`;
  const connection = await rawConnection(world.server, request);
  await connection.until(({ closed, ended }) => closed || ended);
  connection.socket.destroy();
  return connection.text;
}

test('answers that lead elsewhere are refused', async () => {
  far.answer = (_req, res) => void res.writeHead(302, { Location: 'https://elsewhere.example.com/' }).end();
  const answer = await world.server.admin.get(things());
  expect(answer).toMatchObject({ status: 502, text: 'the backend attempted to redirect this request, which is not permitted\n' });
  expect(answer.headers.location).toBeUndefined();
});

test('a watch is passed on as it happens, and ends on both sides when the client goes', async () => {
  let stream: ServerResponse | undefined;
  far.answer = (_req, res) => {
    stream = res;
    res.writeHead(200, { 'Content-Type': 'application/json' });
    res.write('{"type":"ADDED","object":{"metadata":{"name":"a"}}}\n');
  };
  const watch = await world.server.admin.watch(`${things()}?watch=1`);
  expect((await watch.next())?.object.metadata.name).toBe('a');
  stream?.write('{"type":"DELETED","object":{"metadata":{"name":"a"}}}\n');
  expect((await watch.next())?.type).toBe('DELETED');
  watch.close();
  await eventually(() => stream?.destroyed === true);
});

test('an answer that breaks off is broken off for the client, too', async () => {
  far.answer = (req, res) => {
    res.writeHead(200, { 'Content-Length': '100' });
    res.write('half');
    setImmediate(() => req.socket.destroy());
  };
  await expect(world.server.admin.get(things())).rejects.toThrow();
});

test('upgraded connections pass, with the user in their head', async () => {
  far.backend.upgrade = (req, socket) => {
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${req.headers.upgrade}\r\n\r\n`);
    socket.on('data', (chunk: Buffer) => socket.write(chunk.toString().toUpperCase()));
    socket.on('end', () => socket.end());
  };
  const head = `GET ${things()}/a/console HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\nX-Remote-User: root\r\n`;
  const connection = await rawConnection(world.server, `${head}Connection: Upgrade\r\nUpgrade: own/1\r\n\r\n`);
  await connection.until(({ text }) => text.includes('\r\n\r\n'));
  expect(connection.text).toMatch(/^HTTP\/1\.1 101 [\s\S]*Upgrade: own\/1/);
  connection.socket.write('hello');
  await connection.until(({ text }) => text.endsWith('HELLO'));
  connection.socket.end();
  await eventually(() => connection.closed);
  expect(far.seen()).toMatchObject([
    { url: `${things()}/a/console`, caller: 'front-proxy-client', headers: { 'x-remote-user': 'admin', upgrade: 'own/1' } },
  ]);
  expect(far.seen()[0]?.headers.authorization).toBeUndefined();
});

test('a kept connection that is closed just when it is used is no failure for what can be asked again', async () => {
  const used = new WeakSet<object>();
  let broken = 0;
  far.answer = (req, res) => {
    if (!used.has(req.socket)) {
      used.add(req.socket);
      res.end('hello');
      return;
    }
    broken++;
    req.socket.destroy();
  };
  for (let i = 0; i < 4; i++) expect((await world.server.admin.get(things())).text).toBe('hello');
  expect(broken).toBeGreaterThan(0);
  // What cannot be asked twice has a connection of its own.
  for (let i = 0; i < 3; i++) expect((await world.server.admin.post(things(), {})).text).toBe('hello');
});

test('connections are kept for further requests', async () => {
  const used = new Set<object>();
  far.answer = (req, res) => {
    used.add(req.socket);
    res.end('hello');
  };
  for (let i = 0; i < 5; i++) await world.server.admin.get(things());
  expect(used.size).toBe(1);
});

test('large bodies pass in both directions, no faster than they are read', async () => {
  const size = 20 * 1024 * 1024;
  far.answer = (req, res) => void req.pipe(res);
  const { status, bytes } = await world.server.admin.send('PUT', `${things()}/a`, { body: Buffer.alloc(size, 'x') });
  expect([status, bytes.length]).toEqual([200, size]);
});

test('a client that goes away while it sends ends the request at the other server', async () => {
  let ended = false;
  far.answer = (req) => {
    req.resume();
    req.once('close', () => {
      ended = !req.complete;
    });
  };
  const head = `POST ${things()} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\nContent-Length: 100\r\n\r\nhalf`;
  const connection = await rawConnection(world.server, head);
  await eventually(() => far.seen().length > 0);
  connection.socket.destroy();
  await eventually(() => ended);
});

test('a certificate of another authority, or for another name, is not believed', async () => {
  const caBundle = Buffer.from(newAuthority('others', Date.now()).certificate).toString('base64');
  const stranger = await world.extend({ spec: { caBundle } });
  const answer = await world.server.admin.get(`${stranger.base}/things`);
  expect(answer).toMatchObject({ status: 503, text: expect.stringMatching(/^x509: .*unknown authority\n$/) });
  expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
  const misnamed = await world.extend({ names: ['other.example.com', 'localhost'] });
  expect(await world.server.admin.get(misnamed.base)).toMatchObject({
    status: 503,
    text: expect.stringContaining(`not ${misnamed.service}.${world.ns}.svc`),
  });
  expect([...stranger.seen(), ...misnamed.seen()]).toEqual([]);
  await world.server.admin.patch(`${APIS}/${misnamed.name}`, { spec: { caBundle: null, insecureSkipTLSVerify: true } });
  await eventuallyTrue(async () => (await world.server.admin.get(misnamed.base)).status === 200);
});

test('a slow document of discovery is not waited for longer than its time', async () => {
  const held = new HeldWaits(DISCOVERY_MS);
  const own = await startWorld({ clock: held.clock });
  try {
    const slow = await own.extend();
    const { answer } = slow.backend;
    const asked = new Promise<void>((resolve) => {
      slow.backend.answer = (req, res) => void (req.headers['x-remote-user'] === 'admin' ? resolve() : answer(req, res));
    });
    const reply = own.server.admin.get(slow.base);
    await asked;
    await held.end(DISCOVERY_MS);
    expect(await reply).toMatchObject({ status: 503, text: expect.stringContaining('context deadline exceeded') });
  } finally {
    await own.close();
  }
});
