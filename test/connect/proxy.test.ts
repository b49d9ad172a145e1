import { networkInterfaces } from 'node:os';
import { WebSocket } from 'undici';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/free-ports.ts';
import { kubectlFor, kubectlMissing } from '../support/kubectl.ts';
import { startTestServer } from '../support/server.ts';
import { type Backend, eventually, rawConnection, servingFor, startBackend, startWorld, type World } from './support.ts';
import { acceptWebSocket } from './websocket.ts';

let world: World;
let web: Backend;
let secure: Backend;
beforeAll(async () => {
  world = await startWorld();
  web = await startBackend();
  secure = await startBackend(servingFor(world.authority, ['10.9.9.9']));
  const ports = [{ containerPort: web.port, name: 'http' }];
  await world.pod('p', { containers: [{ name: 'main', image: 'i', ports }] }, { podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }] });
  await world.pod('nowhere', {});
});
afterAll(async () => {
  await web.close();
  await secure.close();
  await world.close();
});
afterEach(() => {
  web.seen.length = 0;
  web.answer = (_req, res) => void res.end('hello');
  expect(world.server.errors).toEqual([]);
});

const base = (): string => `/api/v1/namespaces/${world.ns}`;
const admin = () => world.server.admin;

test('method, path, query, headers and body arrive; status, headers and body come back', async () => {
  web.answer = (req, res) => {
    res.writeHead(207, { 'X-Own': 'b', 'Access-Control-Allow-Origin': '*', 'Keep-Alive': 'timeout=1', 'Set-Cookie': ['a=1', 'b=2'] });
    req.pipe(res);
  };
  const answer = await admin().send('PUT', `${base()}/pods/p/proxy/a%2Fb/c//d/?x=1&timeout=never&dryRun=x`, {
    body: Buffer.from('the body'),
    headers: {
      'x-mine': 'a',
      'content-type': 'text/x-own',
      connection: 'x-hop, keep-alive',
      'x-hop': 'dropped',
      'x-forwarded-for': '9.9.9.9',
      'x-remote-user': 'admin',
    },
  });
  expect(answer).toMatchObject({ status: 207, text: 'the body' });
  expect(answer.headers).toMatchObject({ 'x-own': 'b', 'set-cookie': ['a=1', 'b=2'] });
  expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  expect(answer.headers['keep-alive']).not.toBe('timeout=1');
  const [seen] = web.seen;
  expect(seen).toMatchObject({
    method: 'PUT',
    url: '/a%2Fb/c//d/?x=1&timeout=never&dryRun=x',
    headers: {
      'x-mine': 'a',
      'content-type': 'text/x-own',
      'content-length': '8',
      host: `127.0.0.1:${world.server.port}`,
      'x-forwarded-for': '9.9.9.9, 127.0.0.1',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': `127.0.0.1:${world.server.port}`,
      'x-forwarded-uri': `${base()}/pods/p/proxy/a%2Fb/c//d/`,
    },
  });
  for (const name of ['authorization', 'x-hop', 'x-remote-user']) expect(seen?.headers[name], name).toBeUndefined();
});

test.each(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS'])('%s passes', async (method) => {
  expect((await admin().send(method, `${base()}/pods/p:${web.port}/proxy/x`)).status).toBe(200);
  expect(web.seen[0]).toMatchObject({ method, url: '/x' });
});

test('bodies of unknown length, both ways, over HTTP/1.1 and HTTP/2', async () => {
  web.answer = (req, res) => void req.pipe(res);
  for (const http2 of [false, true]) {
    const client = world.server.client({ token: 'admin-token', http2 });
    const answer = await client.send('POST', `${base()}/pods/p/proxy/`, { body: 'x'.repeat(1 << 20) });
    expect(answer.text.length).toBe(1 << 20);
    expect(answer.headers['transfer-encoding'] ?? 'none').toBe(http2 ? 'none' : 'chunked');
  }
  const chunked = `POST ${base()}/pods/p/proxy/ HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`;
  const connection = await rawConnection(world.server, chunked);
  // The target answers with what has come so far.
  await connection.until((c) => c.text.includes('abc'));
  connection.socket.write('0\r\n\r\n');
  await connection.until((c) => c.text.endsWith('\r\n0\r\n\r\n'));
  expect(web.seen.at(-1)?.headers['transfer-encoding']).toBe('chunked');
  connection.socket.destroy();
});

test('an answer in pieces arrives in pieces; one that breaks off breaks off; a client that leaves is not waited for', async () => {
  let left = false;
  web.answer = (req, res) => {
    res.once('close', () => {
      left = true;
    });
    res.write('first');
    if (req.url === '/break') setImmediate(() => res.socket?.destroy());
  };
  const open = await admin().open('GET', `${base()}/pods/p/proxy/wait`);
  expect(String(await new Promise((resolve) => open.body.once('data', resolve)))).toBe('first');
  open.destroy();
  await eventually(() => left);
  const broken = await admin().open('GET', `${base()}/pods/p/proxy/break`);
  const failed = new Promise((resolve) => broken.body.once('error', resolve));
  broken.body.resume();
  await failed;
});

test('without a slash at the end the client is led to one', async () => {
  const answer = await admin().get(`${base()}/pods/p/proxy?a=b`);
  expect(answer).toMatchObject({ status: 301, headers: { location: `${base()}/pods/p/proxy/?a=b` } });
  expect((await admin().post(`${base()}/pods/p/proxy`, '')).status).toBe(200);
  expect(web.seen).toMatchObject([{ method: 'POST', url: '/' }]);
});

test('redirects of the target lead back through the proxy', async () => {
  const prefix = `${base()}/pods/p/proxy`;
  for (const [location, expected] of [
    ['/login?a=b', `${prefix}/login?a=b`],
    [`http://127.0.0.1:${web.port}/x`, `${prefix}/x`],
    [`https://127.0.0.1:${world.server.port}/y`, `${prefix}/y`],
    ['next', 'next'],
    ['https://example.com/a', 'https://example.com/a'],
    [`${prefix}/z`, `${prefix}/z`],
  ] as const) {
    web.answer = (_req, res) => void res.writeHead(302, { location }).end();
    expect((await admin().get(`${prefix}/a`)).headers.location, location).toBe(expected);
  }
});

test('steps upwards end at the root of the target', async () => {
  // A client that takes paths as they are.
  const connection = await rawConnection(
    world.server,
    `GET ${base()}/pods/p/proxy/a/../../%2e%2e/b HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\n\r\n`,
  );
  await connection.until((c) => c.text.includes('hello'));
  expect(web.seen[0]?.url).toBe('/b');
  connection.socket.destroy();
});

test('an encoded slash behind two dots is no step upwards, and reaches the target as it is', async () => {
  const connection = await rawConnection(
    world.server,
    `GET ${base()}/pods/p/proxy/a/..%2f..%2Fb HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\n\r\n`,
  );
  await connection.until((c) => c.text.includes('hello'));
  expect(web.seen[0]?.url).toBe('/a/..%2f..%2Fb');
  connection.socket.destroy();
});

test('a slash in disguise does not move the border between server and target', async () => {
  const answer = await admin().get(`${base()}/pods%2Fp/proxy/x`);
  expect(answer.json).toMatchObject({ code: 400, message: 'the path of the request is ambiguous' });
  expect(web.seen).toEqual([]);
});

test('pods by port, port name and scheme', async () => {
  secure.answer = (_req, res) => void res.end('safe');
  expect((await admin().get(`${base()}/pods/p:http/proxy/`)).text).toBe('hello');
  // Its certificate is for someone else: pods are reached by address.
  expect((await admin().get(`${base()}/pods/https:p:${secure.port}/proxy/`)).text).toBe('safe');
  expect((await admin().get(`${base()}/pods/ftp:p:1/proxy/`)).json).toMatchObject({ code: 400, message: 'invalid pod request "ftp:p:1"' });
  expect((await admin().get(`${base()}/pods/p:odd/proxy/`)).json).toMatchObject({ code: 400, message: 'invalid pod request "p:odd"' });
  expect((await admin().get(`${base()}/pods/q/proxy/`)).json).toMatchObject({ code: 404, message: 'pods "q" not found' });
  expect((await admin().get(`${base()}/pods/nowhere/proxy/`)).json).toMatchObject({ code: 400, message: 'address not allowed' });
  const dead = await startBackend();
  await dead.close();
  expect((await admin().get(`${base()}/pods/p:${dead.port}/proxy/`)).json).toMatchObject({
    code: 503,
    reason: 'ServiceUnavailable',
    message: `error trying to reach service: dial tcp 127.0.0.1:${dead.port}: connect: connection refused`,
  });
});

test('services by name, port and port name; only ready endpoints that are pods of the namespace', async (context) => {
  // Endpoints cannot name loopback addresses.
  const ip = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find((one) => one.family === 'IPv4' && !one.internal)?.address;
  if (ip === undefined) return context.skip('this machine has no address but loopback');
  const open = await startBackend(undefined, ip);
  const safe = await startBackend(servingFor(world.authority), ip);
  await world.pod('q', {}, { podIP: ip, podIPs: [{ ip }] });
  const service = (name: string, ports: object[]) => admin().ok('POST', `${base()}/services`, { metadata: { name }, spec: { ports } });
  const endpoints = (name: string, subsets: object[]) =>
    admin().ok('POST', `${base()}/endpoints`, { apiVersion: 'v1', kind: 'Endpoints', metadata: { name }, subsets });
  const ref = (name: string, namespace = world.ns) => ({ kind: 'Pod', name, namespace });
  await service('s', [
    { port: 80, name: 'web' },
    { port: 443, name: 'tls' },
  ]);
  await endpoints('s', [
    {
      addresses: [
        { ip: '10.1.1.1' },
        { ip: '10.1.1.2', targetRef: ref('q') },
        { ip, targetRef: ref('q', 'other') },
        { ip, targetRef: ref('q') },
      ],
      notReadyAddresses: [{ ip: '10.1.1.3', targetRef: ref('q') }],
      ports: [
        { port: open.port, name: 'web' },
        { port: safe.port, name: 'tls' },
      ],
    },
  ]);
  const ask = (name: string) => admin().get(`${base()}/services/${name}/proxy/path`);
  for (const name of ['s:web', 's:80', 'http:s:web']) expect((await ask(name)).text, name).toBe('hello');
  safe.answer = (_req, res) => void res.end('safe');
  for (const name of ['https:s:tls', 'https:s:443']) expect((await ask(name)).text, name).toBe('safe');
  expect((await ask('s')).json).toMatchObject({ code: 503, message: 'no endpoints available for service "s"' });
  expect((await ask('s:81')).json).toMatchObject({ code: 503, message: 'no service port 81 found for service "s"' });
  expect((await ask('s:odd')).json).toMatchObject({ code: 503, message: 'no endpoints available for service "s:odd"' });
  expect((await ask('a:b:c:d')).json).toMatchObject({ code: 400, message: 'invalid service request "a:b:c:d"' });
  expect((await ask('t')).json).toMatchObject({ code: 404, message: 'endpoints "t" not found' });
  await endpoints('empty', []);
  expect((await ask('empty')).json).toMatchObject({ code: 503, message: 'no endpoints available for service "empty"' });
  await open.close();
  await safe.close();
});

test('nodes: the agent with the certificate of the server, other ports without it', async () => {
  world.agent.answer = (_req, res) => void res.end('agent');
  expect((await admin().get('/api/v1/nodes/n1/proxy/metrics?a')).text).toBe('agent');
  expect(world.agent.seen.at(-1)).toMatchObject({ url: '/metrics?a', caller: 'the-server' });
  expect((await admin().get(`/api/v1/nodes/n1:${world.agent.port}/proxy/`)).text).toBe('agent');
  expect((await admin().get(`/api/v1/nodes/n1:${web.port}/proxy/`)).text).toBe('hello');
  expect((await admin().get('/api/v1/nodes/n9/proxy/')).json).toMatchObject({ code: 404, message: 'nodes "n9" not found' });
  expect((await world.server.bob.get('/api/v1/nodes/n1/proxy/')).status).toBe(403);
});

test('a node without an address is not there yet, which is no fault of this server', async () => {
  await admin().ok('POST', '/api/v1/nodes', { metadata: { name: 'addressless' } });
  const answer = await admin().get('/api/v1/nodes/addressless/proxy/x');
  const message = 'no preferred addresses found; known addresses: []';
  expect([answer.status, answer.json]).toEqual([503, expect.objectContaining({ code: 503, reason: 'ServiceUnavailable', message })]);
});

test('a WebSocket through the proxy', async () => {
  web.upgrade = (req, socket, head) => {
    const peer = acceptWebSocket(req, socket, head, 'echo');
    peer.onFrame = (payload) => peer.send(`echo ${payload}`);
  };
  const plainPort = await freePort();
  const plain = await startTestServer({ ...serverLike(), insecurePort: plainPort });
  try {
    await plain.admin.ok('POST', '/api/v1/namespaces', { metadata: { name: 'w' } });
    await plain.admin.send('POST', '/api/v1/namespaces/w/serviceaccounts', { body: { metadata: { name: 'default' } } });
    await plain.admin.ok('POST', '/api/v1/namespaces/w/pods', {
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    await plain.admin.patch('/api/v1/namespaces/w/pods/p/status', { status: { podIP: '127.0.0.1' } });
    const socket = new WebSocket(`ws://127.0.0.1:${plainPort}/api/v1/namespaces/w/pods/p:${web.port}/proxy/chat?x=1`, {
      protocols: ['echo'],
      headers: { authorization: 'Bearer admin-token' },
    });
    const heard = new Promise((resolve) => socket.addEventListener('message', (event) => resolve(event.data)));
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', reject);
    });
    socket.send('hi');
    expect(await heard).toBe('echo hi');
    expect(web.seen[0]).toMatchObject({ url: '/chat?x=1', headers: { upgrade: 'websocket', 'x-forwarded-proto': 'http' } });
    expect(web.seen[0]?.headers.authorization).toBeUndefined();
    socket.close();
    await eventually(() => web.sockets.size === 0);
  } finally {
    await plain.close();
  }
});

test('by default nobody is led to the loopback of the server', async () => {
  const strict = await startTestServer({ identity: 'kubernetes', controllers: [] });
  try {
    await strict.admin.ok('POST', '/api/v1/namespaces', { metadata: { name: 'w' } });
    await strict.admin.send('POST', '/api/v1/namespaces/w/serviceaccounts', { body: { metadata: { name: 'default' } } });
    await strict.admin.ok('POST', '/api/v1/namespaces/w/pods', {
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    await strict.admin.patch('/api/v1/namespaces/w/pods/p/status', { status: { podIP: '127.0.0.1' } });
    const answer = await strict.admin.get(`/api/v1/namespaces/w/pods/p:${web.port}/proxy/`);
    expect(answer.json).toMatchObject({ code: 400, message: 'address not allowed' });
    await strict.admin.ok('POST', '/api/v1/nodes', { metadata: { name: 'n' } });
    await strict.admin.patch('/api/v1/nodes/n/status', { status: { addresses: [{ type: 'Hostname', address: 'localhost' }] } });
    expect((await strict.admin.get(`/api/v1/nodes/n:${web.port}/proxy/`)).json).toMatchObject({
      code: 400,
      message: 'address not allowed',
    });
  } finally {
    await strict.close();
  }
});

test.skipIf(kubectlMissing !== undefined)('kubectl get --raw', async () => {
  expect(await kubectlFor(world.server).ok(['get', '--raw', `${base()}/pods/p:${web.port}/proxy/x`])).toBe('hello');
});

const serverLike = () => ({ identity: 'kubernetes', controllers: [], proxyToLocalAddresses: true });
