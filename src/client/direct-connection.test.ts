/** Connections that are verified without OpenSSL, and those that must not be. */
import { constants } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, createServer as createPlain } from 'node:net';
import { createSecureContext, type TLSSocket } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { type Clock, FakeClock, systemClock } from '../lib/clock.ts';
import { type Made, makeAuthority, makeServer } from '../lib/pki/made.testing.ts';
import type { Connection } from './connection.ts';
import { AnswerLost, readAll, Transport, type TransportOptions } from './transport.ts';

const open: { close(): unknown }[] = [];
afterEach(() => {
  for (const one of open.splice(0).reverse()) one.close();
});

const root = makeAuthority('root');
const middle = makeAuthority('middle', { issuer: root });
const direct = makeServer(root);
const indirect = makeServer(middle);

/** What reached the server: connections, and requests on them. */
async function serve(pair: Made, chain = ''): Promise<{ address: string; seen: { connections: number; requests: string[] } }> {
  const seen = { connections: 0, requests: [] as string[] };
  const server: Server = createServer({ key: pair.key, cert: pair.certificate + chain }, (request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      seen.requests.push(`${request.method} ${request.url} ${request.headers.authorization} ${body}`);
      response.end('{"ok":true}');
    });
  });
  server.on('connection', (socket) => {
    seen.connections++;
    socket.on('error', () => {});
  });
  server.on('upgrade', (request, socket) => {
    seen.requests.push(`${request.method} ${request.url}`);
    socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nhello');
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({
    close() {
      server.closeAllConnections();
      server.close();
    },
  });
  return { address: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

function transportTo(address: string, changes: Partial<Connection> = {}, options: TransportOptions = {}, clock: Clock = systemClock) {
  const connection: Connection = {
    server: address,
    ca: root.certificate,
    certificate: undefined,
    key: undefined,
    authorization: 'Bearer secret',
    insecure: false,
    serverName: undefined,
    namespace: 'default',
    ...changes,
  };
  const transport = new Transport(connection, 'test/1', clock, { verifyDirectly: true, ...options });
  open.push(transport);
  return transport;
}

test('a server of the CA is verified directly, and its connection is used again', async () => {
  const { address, seen } = await serve(direct);
  const transport = transportTo(address);
  expect(await transport.json({ path: '/a' })).toEqual({ ok: true });
  expect(await transport.json({ path: '/b', method: 'POST', body: 'x'.repeat(100_000) })).toEqual({ ok: true });
  expect(seen).toEqual({ connections: 1, requests: ['GET /a Bearer secret ', `POST /b Bearer secret ${'x'.repeat(100_000)}`] });
});

test('many connections at the same time are verified, each by itself', async () => {
  const { address, seen } = await serve(direct);
  const transport = transportTo(address);
  await Promise.all(Array.from({ length: 8 }, (_, i) => transport.json({ path: `/${i}` })));
  expect(seen.requests).toHaveLength(8);
});

test('a server behind an intermediate is left to OpenSSL, and nothing is sent twice', async () => {
  const { address, seen } = await serve(indirect, middle.certificate);
  const transport = transportTo(address);
  await Promise.all(['/a', '/b'].map((path) => transport.json({ path, method: 'POST', body: '1' })));
  expect(seen.requests.sort()).toEqual(['POST /a Bearer secret 1', 'POST /b Bearer secret 1']);
  const { connections } = seen;
  // From then on at once.
  await transport.json({ path: '/c' });
  expect(seen.connections).toBe(connections);
});

test.each<[string, Made, Partial<Connection>]>([
  ['another CA', direct, { ca: makeAuthority('root').certificate }],
  ['a missing intermediate', indirect, {}],
  ['another name', direct, { serverName: 'other.example' }],
  ['an expired certificate', makeServer(root, { to: Date.now() - 1000 }), {}],
])('%s: the server is not trusted, and hears nothing', async (_, pair, changes) => {
  const { address, seen } = await serve(pair);
  const transport = transportTo(address, changes);
  await expect(transport.text({ path: '/a', method: 'POST', body: 'x' })).rejects.toThrow(`the server at ${address} cannot be trusted: `);
  await expect(transport.upgrade({ path: '/a', headers: { connection: 'upgrade', upgrade: 'x' } })).rejects.toThrow('cannot be trusted');
  expect(seen.requests).toEqual([]);
});

test('the name of the certificate is that of --tls-server-name', async () => {
  const { address, seen } = await serve(direct);
  expect(await transportTo(address, { serverName: 'peer.example' }).json({ path: '/a' })).toEqual({ ok: true });
  expect(seen.connections).toBe(1);
});

test('the time of the check is that of the clock; what it finds invalid is left to OpenSSL', async () => {
  const { address, seen } = await serve(makeServer(root, { from: Date.now() - 3_600_000 }));
  expect(await transportTo(address).json({ path: '/a' })).toEqual({ ok: true });
  expect(seen.connections).toBe(1);
  expect(await transportTo(address, {}, {}, new FakeClock(Date.now() - 2 * 3_600_000)).json({ path: '/b' })).toEqual({ ok: true });
  expect(seen.connections).toBe(3);
});

test('a connection for another protocol is verified in the same way', async () => {
  for (const [pair, chain] of [
    [direct, ''],
    [indirect, middle.certificate],
  ] as const) {
    const { address, seen } = await serve(pair, chain);
    const { socket, head } = await transportTo(address).upgrade({ path: '/a', headers: { connection: 'upgrade', upgrade: 'x' } });
    let text = head.toString();
    // Whoever listens gets what comes next, without more.
    socket.on('data', (chunk: Buffer) => {
      text += chunk;
    });
    await new Promise((resolve) => socket.once('end', resolve));
    expect(text).toBe('hello');
    expect(seen.requests).toEqual(['GET /a']);
  }
});

test.each([
  ['the same certificate', () => direct, '{"ok":true}'],
  ['another one', () => makeServer(root, { name: 'changed' }), undefined],
] as const)('a second handshake on a connection in use, with %s', async (_, changed, answer) => {
  const requests: string[] = [];
  const first = { key: direct.key, cert: direct.certificate };
  const { key, certificate: cert } = changed();
  // Without resumption the server shows its certificate again.
  const fixed = { maxVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_TICKET } as const;
  const server = createServer({ ...first, ...fixed }, (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    const socket = request.socket as TLSSocket;
    socket.setKeyCert(createSecureContext({ key, cert }));
    socket.renegotiate({}, () => response.end('{"ok":true}'));
  });
  server.on('tlsClientError', () => {});
  server.on('secureConnection', (socket) => socket.on('error', () => {}));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({
    close() {
      server.closeAllConnections();
      server.close();
    },
  });
  const address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const asked = transportTo(address).text({ path: '/a', method: 'POST', body: 'x' });
  if (answer === undefined) await expect(asked).rejects.toThrow('cannot be trusted: it changed its certificate within a connection');
  else expect(await asked).toBe(answer);
  // It is not sent again.
  expect(requests).toEqual(['POST /a']);
});

/** A server that answers each path in its own way. */
async function scripted(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer({ key: direct.key, cert: direct.certificate }, answer);
  server.on('tlsClientError', () => {});
  server.on('secureConnection', (socket) => socket.on('error', () => {}));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({
    close() {
      server.closeAllConnections();
      server.close();
    },
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a long answer in pieces is read as fast as its reader takes it', async () => {
  const piece = Buffer.alloc(64 * 1024, 'x');
  const address = await scripted((_, response) => {
    for (let i = 0; i < 64; i++) response.write(piece);
    response.end('end');
  });
  const transport = transportTo(address);
  const { body, status } = await transport.open({ path: '/' });
  let size = 0;
  let last = '';
  for await (const chunk of body) {
    size += (chunk as Buffer).length;
    last = (chunk as Buffer).toString().slice(-3);
    // The reader holds back no more than it has room for.
    expect(body.readableLength).toBeLessThan(1 << 20);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect([status, size, last]).toEqual([200, 64 * piece.length + 3, 'end']);
  expect((await transport.text({ path: '/' })).length).toBe(size);
});

test('an answer that breaks off is lost, before its head and after', async () => {
  const address = await scripted((request, response) => {
    if (request.url === '/body') response.write('{"half":', () => response.socket?.destroy());
    else request.socket.destroy();
  });
  const transport = transportTo(address);
  await expect(transport.text({ path: '/body' })).rejects.toThrow(AnswerLost);
  await expect(transport.text({ path: '/head' })).rejects.toThrow('socket hang up');
});

test('a signal and a timeout end a request in any phase of it', async () => {
  const clock = new FakeClock(Date.now());
  let arrived: () => void = () => {};
  const address = await scripted((request, response) => {
    if (request.url === '/body') response.write('{');
    arrived();
  });
  const transport = transportTo(address, {}, {}, clock);
  const began = (): Promise<void> =>
    new Promise((resolve) => {
      arrived = resolve;
    });
  const stop = new AbortController();
  let came = began();
  const stopped = transport.text({ path: '/head', signal: stop.signal });
  const half = await transport.open({ path: '/body', signal: stop.signal });
  await came;
  stop.abort(new Error('enough'));
  await expect(stopped).rejects.toThrow('enough');
  await expect(readAll(half.body, 1000)).rejects.toThrow(AnswerLost);
  came = began();
  const late = transport.text({ path: '/head', timeout: 1000 });
  await came;
  const other = await transport.open({ path: '/body', timeout: 1000 });
  clock.advance(1000);
  await expect(late).rejects.toThrow(`the server at ${address} gave no answer in time`);
  await expect(readAll(other.body, 1000)).rejects.toThrow(`the server at ${address} gave no answer in time`);
  const gone = AbortSignal.abort(new Error('before'));
  await expect(transport.text({ path: '/head', signal: gone })).rejects.toThrow('before');
});

test('requests arrive as the HTTP client of Node sends them', async () => {
  const seen: unknown[] = [];
  const address = await scripted((request, response) => {
    const { method, headers } = request;
    seen.push([
      method,
      headers['content-length'],
      headers.host,
      request.rawHeaders.filter((one) => one === 'red' || one === 'blue' || one === 'é'),
    ]);
    response.setHeader('warning', ['299 - "one"', '299 - "two"']);
    response.end(method === 'HEAD' ? undefined : 'ok');
  });
  const warnings: string[] = [];
  const impersonation = { 'impersonate-group': ['red', 'blue'], 'impersonate-user': 'é' };
  const options = { onWarning: (header: string) => void warnings.push(header) };
  const host = address.slice('https://'.length);
  for (const verifyDirectly of [true, false]) {
    const transport = transportTo(address, { impersonation }, { ...options, verifyDirectly });
    for (const [method, body] of [['GET'], ['HEAD'], ['POST'], ['PUT', 'grüße'], ['PATCH', Buffer.from('bytes')]] as const)
      await transport.text({ path: '/', method, ...(body !== undefined && { body }) });
    expect(seen.splice(0)).toEqual(
      [
        ['GET', undefined],
        ['HEAD', undefined],
        ['POST', '0'],
        ['PUT', '7'],
        ['PATCH', '5'],
      ].map((one) => [...one, host, expect.arrayContaining(verifyDirectly ? ['red', 'blue', 'é'] : ['red', 'blue'])]),
    );
    expect(new Set(warnings.splice(0))).toEqual(new Set(['299 - "one", 299 - "two"']));
  }
  await expect(transportTo(address).text({ path: '/', headers: { accept: 'a\r\nb: c' } })).rejects.toThrow('cannot be sent');
});

test('requests beyond the connections wait, and a connection that was begun early is the first', async () => {
  let connections = 0;
  const server = await scripted((_, response) => void response.end('{"ok":true}'));
  const transport = transportTo(server, {}, { maxSockets: 2 });
  transport.begin();
  const sockets = new Set<unknown>();
  const direct = (transport as unknown as { direct: { open: Set<unknown> } }).direct;
  const answers = Array.from({ length: 7 }, async (_, i) => {
    const answer = await transport.json({ path: `/${i}` });
    for (const socket of direct.open) sockets.add(socket);
    connections = Math.max(connections, direct.open.size);
    return answer;
  });
  expect(await Promise.all(answers)).toEqual(Array(7).fill({ ok: true }));
  expect([connections, sockets.size]).toEqual([2, 2]);
});

test('a connection that the server will close soon is not used again', async () => {
  const clock = new FakeClock(Date.now());
  const ports: (number | undefined)[] = [];
  const address = await scripted((request, response) => {
    ports.push(request.socket.remotePort);
    response.setHeader('keep-alive', 'timeout=5');
    response.end('{"ok":true}');
  });
  const transport = transportTo(address, {}, {}, clock);
  await transport.json({ path: '/' });
  clock.advance(3900);
  await transport.json({ path: '/' });
  clock.advance(4000);
  await transport.json({ path: '/' });
  expect([ports[0] === ports[1], ports[1] === ports[2]]).toEqual([true, false]);
});

test('a host that accepts and never speaks is given up', async () => {
  const server = createPlain(() => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(server);
  const address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const verifyDirectly of [true, false]) {
    const transport = transportTo(address, {}, { verifyDirectly, limits: { connect: 60_000, handshake: 10 } });
    await expect(transport.text({ path: '/a' })).rejects.toThrow(`the server at ${address} gave no answer in time`);
  }
});
