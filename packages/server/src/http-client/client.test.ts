import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createSecureContext, createServer as createTlsServer } from 'node:tls';
import { FakeClock, systemClock } from '@plat-dev/lib/clock';
import { issueServing, newAuthority, readAuthority } from '@plat-dev/pki';
import { afterEach, expect, test } from 'vitest';
import { OwnServer } from '../connections/own-certificates.ts';
import { HttpClient, type HttpClientOptions } from './client.ts';
import { CONNECT_MILLIS } from './connect.ts';
import { WholeReply } from './connection.ts';
import { CallTimeout, callFault } from './errors.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

interface Peer {
  readonly address: { readonly host: string; readonly port: number };
  /** What came on each connection. */
  readonly received: string[];
  readonly sockets: Socket[];
  close(): Promise<void>;
}
type Serve = (socket: Socket, request: string, count: number) => void;

/** A server that hands every chunk it gets to `serve`, with the number of those before it on the same connection. */
async function peer(serve: Serve): Promise<Peer> {
  const received: string[] = [];
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    const at = sockets.push(socket) - 1;
    received[at] = '';
    let count = 0;
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      received[at] += chunk.toString();
      serve(socket, chunk.toString(), count++);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const started: Peer = {
    address: { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    received,
    sockets,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  open.push(started);
  return started;
}

function httpClient(options: Partial<HttpClientOptions> = {}): HttpClient {
  const client = new HttpClient({ clock: systemClock, maxConnections: 4, maxCalls: 100, maxBytes: 1000, ...options });
  open.push(client);
  return client;
}
const answer = (body: string, more = ''): string => `HTTP/1.1 200 OK\r\n${more}content-length: ${body.length}\r\n\r\n${body}`;
const posted = (body: string) => ({ method: 'POST', path: '/', headers: ['host', 'x'], body });
const post = (client: HttpClient, to: Peer, body = 'hello', timeout = 5000): Promise<string> =>
  client.call(to.address, posted(body), timeout).then((reply) => reply.body.toString());
/** The reason why a call failed. */
const faultOf = (client: HttpClient, to: Peer): Promise<string> => post(client, to).catch((error: Error) => callFault(error, to.address));
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
};

test('a call is one request with its length, and the connection is kept for the next', async () => {
  const echo = await peer((socket) => socket.write(answer('ok')));
  const client = httpClient();
  expect(await post(client, echo, 'grüße')).toBe('ok');
  const keys = { method: 'GET', path: '/keys', headers: ['host', 'x', 'x-name', 'a', 'x-name', 'b'] };
  expect(await client.call(echo.address, keys, 5000)).toMatchObject({ status: 200 });
  expect(echo.received).toEqual([
    'POST / HTTP/1.1\r\nhost: x\r\nconnection: keep-alive\r\ncontent-length: 7\r\n\r\ngrüße' +
      'GET /keys HTTP/1.1\r\nhost: x\r\nconnection: keep-alive\r\nx-name: a\r\nx-name: b\r\n\r\n',
  ]);
});

test('a header or a path with a line break is not sent', async () => {
  const echo = await peer((socket) => socket.write(answer('ok')));
  const client = httpClient();
  for (const request of [
    { method: 'GET', path: '/', headers: ['host', 'x', 'x-name', 'a\r\nx-other: b'] },
    { method: 'GET', path: '/ HTTP/1.1\r\nx-other: b\r\n\r\n', headers: ['host', 'x'] },
  ])
    await expect(client.call(echo.address, request, 5000)).rejects.toThrow(/invalid/);
  expect(echo.received).toEqual([]);
});

test('redirects are not followed, and interim responses are not the answer', async () => {
  const leading = await peer((socket) =>
    socket.write('HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 307 Moved\r\nlocation: /there\r\ncontent-length: 2\r\n\r\nok'),
  );
  const reply = await httpClient().call(leading.address, posted('x'), 5000);
  expect(reply).toEqual({ status: 307, body: Buffer.from('ok'), location: '/there' });
  expect(leading.received).toHaveLength(1);
});

// ---- bounds ------------------------------------------------------------------------------------------------------

test('calls beyond the connections wait for their turn, in order; calls beyond the bound fail', async () => {
  const waiting: (() => void)[] = [];
  const slow = await peer((socket, request) => waiting.push(() => socket.write(answer(request.slice(-1)))));
  const client = httpClient({ maxConnections: 2, maxCalls: 5 });
  const order: string[] = [];
  const calls = ['a', 'b', 'c', 'd', 'e'].map((body) => post(client, slow, body).then((text) => order.push(text)));
  await expect(post(client, slow, 'f')).rejects.toThrow('too many calls are in progress');
  await until(() => waiting.length === 2);
  while (order.length < 5) {
    waiting.shift()?.();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await Promise.all(calls);
  expect(order.slice(2)).toEqual(['c', 'd', 'e']);
  expect(slow.sockets).toHaveLength(2);
  // There is room again.
  const last = post(client, slow, 'g');
  await until(() => waiting.length === 1);
  waiting.shift()?.();
  expect(await last).toBe('g');
});

test('a call that waits has its time, too', async () => {
  const silent = await peer(() => {});
  const clock = new FakeClock();
  const client = httpClient({ maxConnections: 1, clock });
  const first = post(client, silent, 'a', 300).catch((error: Error) => error);
  const second = post(client, silent, 'b', 30).catch((error: Error) => error);
  await until(() => silent.received.length === 1);
  await clock.advance(29);
  expect(clock.pending).toBe(2);
  await clock.advance(1);
  expect(await second).toBeInstanceOf(CallTimeout);
  await clock.advance(269);
  expect(clock.pending).toBe(1);
  await clock.advance(1);
  expect(await first).toBeInstanceOf(CallTimeout);
  expect(silent.received.join('')).not.toContain('b');
  await until(() => silent.sockets[0]?.destroyed === true);
});

test('a server that trickles its answer has the time of the call, and no more', async () => {
  const trickling = await peer((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\na'));
  const clock = new FakeClock();
  const late = post(httpClient({ clock }), trickling, 'x', 1000).catch((error: Error) => error);
  await until(() => trickling.received.length === 1);
  for (let i = 0; i < 9; i++) {
    await clock.advance(100);
    trickling.sockets[0]?.write('b');
  }
  await clock.advance(100);
  expect(await late).toBeInstanceOf(CallTimeout);
});

test('a connection without a handshake is given up', async () => {
  const mute = await peer(() => {});
  const clock = new FakeClock();
  const client = httpClient({ clock, tls: { secureContext: createSecureContext() } });
  const refused = faultOf(client, mute);
  const lasting = client.call(mute.address, posted('x'), 2 * CONNECT_MILLIS).catch((error: Error) => callFault(error, mute.address));
  await until(() => mute.received.join('').length > 0);
  await clock.advance(5000);
  expect(await refused).toBe('context deadline exceeded');
  await clock.advance(CONNECT_MILLIS - 5001);
  expect(clock.pending).toBe(2);
  await clock.advance(1);
  expect(await lasting).toBe(`dial tcp 127.0.0.1:${mute.address.port}: i/o timeout`);
});

test('a body has a most, whether its length is known or not', async () => {
  for (const framing of ['content-length: 1001\r\n\r\n', 'connection: close\r\n\r\n', 'transfer-encoding: chunked\r\n\r\n3e9\r\n']) {
    const large = await peer((socket) => socket.write(`HTTP/1.1 200 OK\r\n${framing}${'x'.repeat(1001)}`));
    expect(await faultOf(httpClient(), large)).toBe('the answer is too large');
  }
  const exact = await peer((socket) => socket.write(answer('x'.repeat(1000))));
  expect(await post(httpClient(), exact)).toHaveLength(1000);
});

test('a head has a most', async () => {
  const padded = (bytes: number): Promise<Peer> => peer((socket) => socket.write(answer('ok', `x: ${'y'.repeat(bytes)}\r\n`)));
  expect(await faultOf(httpClient(), await padded(64 * 1024))).toBe('the head of the answer is too large');
  expect(await post(httpClient(), await padded(60 * 1024))).toBe('ok');
  const endless = await peer((socket) => {
    const more = (): void => {
      while (!socket.destroyed && socket.write(`x: ${'y'.repeat(1000)}\r\n`));
      socket.once('drain', more);
    };
    socket.write('HTTP/1.1 200 OK\r\n');
    more();
  });
  expect(await faultOf(httpClient(), endless)).toBe('the head of the answer is too large');
});

test('a body in very many pieces is put together as it comes', () => {
  let body = '';
  const whole = new WholeReply(
    (reply) => {
      body = reply.body.toString();
    },
    () => {},
  );
  const text = '0123456789'.repeat(5000);
  let mostPieces = 0;
  for (const digit of text) {
    whole.onResponseData(undefined, Buffer.from(digit));
    mostPieces = Math.max(mostPieces, (Reflect.get(whole, 'chunks') as Buffer[]).length);
  }
  whole.onResponseEnd();
  expect(mostPieces).toBeLessThan(3000);
  expect(body).toBe(text);
});

// ---- kept connections --------------------------------------------------------------------------------------------

test('a kept connection that the other end has closed is no failure; the call goes out once more on a fresh one', async () => {
  const closes = await peer((socket, _, count) => {
    if (count === 0) socket.write(answer('ok'));
    else socket.destroy();
  });
  const client = httpClient();
  // Two kept ones, both of which will be gone.
  await Promise.all([post(client, closes), post(client, closes)]);
  expect(await post(client, closes, 'again')).toBe('ok');
  expect(closes.sockets).toHaveLength(3);
  expect(closes.received.join('').match(/again/g)).toHaveLength(2);
});

test('a fresh connection that is closed without an answer is not tried again', async () => {
  const rude = await peer((socket) => socket.destroy());
  expect(await faultOf(httpClient(), rude)).toBe(`read tcp 127.0.0.1:${rude.address.port}: connection reset by peer`);
  expect(rude.sockets).toHaveLength(1);
});

test.each([
  'HTTP/1.1 200 OK\r\n',
  'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf',
  'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n',
])('a kept connection that breaks in the middle of an answer is a failure: %j', async (half) => {
  const breaks = await peer((socket, _, count) => {
    if (count === 0) socket.write(answer('ok'));
    else socket.write(half, () => socket.end());
  });
  const client = httpClient();
  await post(client, breaks);
  expect(await faultOf(client, breaks)).toMatch(/connection reset by peer/);
  expect(breaks.sockets).toHaveLength(1);
});

test('a connection on which more comes than was asked for is not used again', async () => {
  const chatty = await peer((socket) => {
    socket.write(answer('ok'));
    setTimeout(() => socket.write(answer('forged')), 20);
  });
  const client = httpClient();
  expect(await post(client, chatty)).toBe('ok');
  await until(() => chatty.sockets[0]?.destroyed === true);
  expect(await post(client, chatty)).toBe('ok');
  expect(chatty.sockets).toHaveLength(2);
});

test('an answer that says so ends the connection, and so does its time', async () => {
  const client = httpClient();
  for (const last of ['connection: close\r\n', 'keep-alive: timeout=1\r\n']) {
    const closing = await peer((socket) => socket.write(answer('ok', last)));
    await post(client, closing);
    await post(client, closing);
    expect(closing.sockets).toHaveLength(2);
  }
  const brief = await peer((socket) => socket.write(answer('ok')));
  await post(httpClient({ idleMillis: 20 }), brief);
  await until(() => brief.sockets[0]?.destroyed === true);
});

test('an idle connection to another address makes room', async () => {
  const [here, there] = [await peer((socket) => socket.write(answer('here'))), await peer((socket) => socket.write(answer('there')))];
  const client = httpClient({ maxConnections: 1 });
  expect([await post(client, here), await post(client, there), await post(client, here)]).toEqual(['here', 'there', 'here']);
  // Calls to both at once: each waits until the one connection is free for its address.
  expect(await Promise.all([post(client, here), post(client, there), post(client, here)])).toEqual(['here', 'there', 'here']);
});

test('a client that is retired lets its calls end and keeps nothing; one that is closed does not', async () => {
  const waiting: (() => void)[] = [];
  const slow = await peer((socket) => waiting.push(() => socket.write(answer('ok'))));
  const retired = httpClient({ maxConnections: 1 });
  const calls = [post(retired, slow), post(retired, slow)];
  await until(() => waiting.length === 1);
  retired.retire();
  waiting.shift()?.();
  await until(() => waiting.length === 1);
  waiting.shift()?.();
  expect(await Promise.all(calls)).toEqual(['ok', 'ok']);
  await until(() => slow.sockets.every((socket) => socket.destroyed));
  const closed = httpClient({ maxConnections: 1 });
  const failing = [post(closed, slow), post(closed, slow)].map((call) => call.catch((error: Error) => error.message));
  await until(() => waiting.length === 1);
  closed.close();
  expect(await Promise.all(failing)).toEqual(['the connections were closed', 'the connections were closed']);
  await until(() => slow.sockets.every((socket) => socket.destroyed));
});

// ---- answers that are none ---------------------------------------------------------------------------------------

test.each([
  ['no HTTP', 'SSH-2.0-x\r\n\r\n'],
  ['no code', 'HTTP/1.1 OK\r\n\r\n'],
  ['another protocol', 'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
  ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx'],
  ['a length that is no number', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n'],
  ['a length and pieces', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['a space before the colon', 'HTTP/1.1 200 OK\r\ncontent-length : 1\r\n\r\nx'],
  ['a header without a colon', 'HTTP/1.1 200 OK\r\nnothing\r\n\r\n'],
  ['a piece without a size', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n'],
  ['a piece that is longer than it says', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n'],
])('%s is a failure', async (_, text) => {
  const strange = await peer((socket) => socket.write(text));
  await expect(post(httpClient(), strange)).rejects.not.toBeInstanceOf(CallTimeout);
});

// ---- TLS ---------------------------------------------------------------------------------------------------------

test('nothing is said to a peer that has not shown who it is', async () => {
  const now = Date.now();
  const [trusted, other] = [newAuthority('calls', now), newAuthority('others', now)];
  let heard = '';
  let handshakes = 0;
  const serve = async (authority: typeof trusted, addresses: string[]) => {
    const { certificate, key } = issueServing(readAuthority(authority), { commonName: 'peer', dns: ['peer.example'], addresses }, now);
    const server = createTlsServer({ cert: certificate, key }, (socket) => {
      if (!socket.isSessionReused()) handshakes++;
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        heard += chunk.toString();
        socket.end(answer(socket.servername || 'no name', 'connection: close\r\n'));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    open.push({ close: () => server.close() });
    return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  };
  const secureContext = createSecureContext({ ca: trusted.certificate });
  const byAddress = httpClient({ tls: { secureContext } });
  const secret = posted('secret');
  const stranger = await serve(other, ['127.0.0.1']);
  await expect(byAddress.call(stranger, secret, 5000)).rejects.toThrow(/self.signed|unable to/);
  const misnamed = await serve(trusted, ['127.0.0.9']);
  await expect(byAddress.call(misnamed, secret, 5000)).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  const right = await serve(trusted, ['127.0.0.1']);
  await expect(httpClient({ tls: { secureContext, isOwn: () => true } }).call(right, secret, 5000)).rejects.toBeInstanceOf(OwnServer);
  expect(heard).toBe('');
  const byName = httpClient({ tls: { secureContext, serverName: 'peer.example' } });
  expect((await byName.call(misnamed, secret, 5000)).body.toString()).toBe('peer.example');
  handshakes = 0;
  for (let i = 0; i < 3; i++) expect((await byAddress.call(right, secret, 5000)).body.toString()).toBe('no name');
  expect(handshakes).toBe(3);
  expect((await httpClient({ tls: { secureContext, insecure: true } }).call(stranger, posted('x'), 5000)).status).toBe(200);
});
