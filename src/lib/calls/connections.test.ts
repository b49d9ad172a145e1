import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createSecureContext, createServer as createTlsServer } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { FakeClock, systemClock } from '../clock.ts';
import { issueServing, newAuthority, readAuthority } from '../pki.ts';
import { CallTimeout, Connections, type ConnectionsOptions } from './connections.ts';
import { requestHead } from './head.ts';

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
function connections(options: Partial<ConnectionsOptions> = {}): Connections {
  const made = new Connections({ clock: systemClock, maxConnections: 4, maxBytes: 1000, ...options });
  open.push(made);
  return made;
}
const answer = (body: string, more = ''): string => `HTTP/1.1 200 OK\r\n${more}content-length: ${body.length}\r\n\r\n${body}`;
const head = requestHead('POST', '/', { host: 'x' });
const post = (on: Connections, to: Peer, body = 'hello', timeout = 5000): Promise<string> =>
  on.call(to.address, head, body, timeout).then((reply) => reply.body.toString());
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
};

test('a call is one request with its length, and the connection is kept for the next', async () => {
  const echo = await peer((socket) => socket.write(answer('ok')));
  const one = connections();
  expect(await post(one, echo, 'grüße')).toBe('ok');
  expect(await one.call(echo.address, requestHead('GET', '/keys', { host: 'x' }), '', 5000)).toMatchObject({ status: 200 });
  expect(echo.received).toEqual(['POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 7\r\n\r\ngrüßeGET /keys HTTP/1.1\r\nhost: x\r\n\r\n']);
});

test('calls beyond the connections wait for their turn, in order', async () => {
  const waiting: (() => void)[] = [];
  const slow = await peer((socket, request) => waiting.push(() => socket.write(answer(request.slice(-1)))));
  const one = connections({ maxConnections: 2 });
  const order: string[] = [];
  const calls = ['a', 'b', 'c', 'd', 'e'].map((body) => post(one, slow, body).then((text) => order.push(text)));
  await until(() => waiting.length === 2);
  while (order.length < 5) {
    waiting.shift()?.();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await Promise.all(calls);
  expect(order.slice(2)).toEqual(['c', 'd', 'e']);
  expect(slow.sockets).toHaveLength(2);
});

test('a call that waits has its time, too', async () => {
  const silent = await peer(() => {});
  const clock = new FakeClock();
  const one = connections({ maxConnections: 1, clock });
  const first = post(one, silent, 'a', 300).catch((error: Error) => error);
  const second = post(one, silent, 'b', 30).catch((error: Error) => error);
  await clock.advance(29);
  expect(clock.pending).toBe(2);
  await clock.advance(1);
  expect(await second).toBeInstanceOf(CallTimeout);
  await clock.advance(269);
  expect(clock.pending).toBe(1);
  await clock.advance(1);
  expect(await first).toBeInstanceOf(CallTimeout);
  expect(silent.received.join('')).not.toContain('b');
});

test('a kept connection that the other end has closed is no failure; the call goes out once more on a fresh one', async () => {
  const closes = await peer((socket, _, count) => {
    if (count === 0) socket.write(answer('ok'));
    else socket.destroy();
  });
  const one = connections();
  // Two kept ones, both of which will be gone.
  await Promise.all([post(one, closes), post(one, closes)]);
  expect(await post(one, closes, 'again')).toBe('ok');
  expect(closes.sockets).toHaveLength(3);
  expect(closes.received.join('').match(/again/g)).toHaveLength(2);
});

test('a fresh connection that is closed without an answer is not tried again', async () => {
  const rude = await peer((socket) => socket.destroy());
  await expect(post(connections(), rude)).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(rude.sockets).toHaveLength(1);
});

test('a kept connection that breaks in the middle of an answer is a failure', async () => {
  const breaks = await peer((socket, _, count) => {
    if (count === 0) socket.write(answer('ok'));
    else socket.write('HTTP/1.1 200 OK\r\n', () => socket.end());
  });
  const one = connections();
  await post(one, breaks);
  await expect(post(one, breaks)).rejects.toThrow('the answer was cut off');
  expect(breaks.sockets).toHaveLength(1);
});

test('a connection on which more comes than was asked for is not used again', async () => {
  const chatty = await peer((socket) => {
    socket.write(answer('ok'));
    setTimeout(() => socket.write(answer('forged')), 20);
  });
  const one = connections();
  expect(await post(one, chatty)).toBe('ok');
  await until(() => chatty.sockets[0]?.destroyed === true);
  expect(await post(one, chatty)).toBe('ok');
  expect(chatty.sockets).toHaveLength(2);
});

test('an answer that says so ends the connection, and so does its time', async () => {
  const closing = await peer((socket) => socket.write(answer('ok', 'connection: close\r\n')));
  const one = connections();
  await post(one, closing);
  await post(one, closing);
  expect(closing.sockets).toHaveLength(2);
  const hasty = await peer((socket) => socket.write(answer('ok', 'keep-alive: timeout=1\r\n')));
  await post(one, hasty);
  await post(one, hasty);
  expect(hasty.sockets).toHaveLength(2);
  const brief = await peer((socket) => socket.write(answer('ok')));
  const clock = new FakeClock();
  const forgetful = connections({ idleMillis: 20, clock });
  await post(forgetful, brief);
  await clock.advance(19);
  await post(forgetful, brief);
  expect(brief.sockets).toHaveLength(1);
  await clock.advance(40);
  await until(() => brief.sockets[0]?.destroyed === true);
});

test('an idle connection to another address makes room', async () => {
  const [here, there] = [await peer((socket) => socket.write(answer('here'))), await peer((socket) => socket.write(answer('there')))];
  const one = connections({ maxConnections: 1 });
  expect([await post(one, here), await post(one, there), await post(one, here)]).toEqual(['here', 'there', 'here']);
  // Calls to both at once: each waits until the one connection is free for its address.
  expect(await Promise.all([post(one, here), post(one, there), post(one, here)])).toEqual(['here', 'there', 'here']);
});

test('what is retired lets its calls end and keeps nothing; what is closed does not', async () => {
  const waiting: (() => void)[] = [];
  const slow = await peer((socket) => waiting.push(() => socket.write(answer('ok'))));
  const retired = connections({ maxConnections: 1 });
  const calls = [post(retired, slow), post(retired, slow)];
  await until(() => waiting.length === 1);
  retired.retire();
  waiting.shift()?.();
  await until(() => waiting.length === 1);
  waiting.shift()?.();
  expect(await Promise.all(calls)).toEqual(['ok', 'ok']);
  await until(() => slow.sockets.every((socket) => socket.destroyed));
  const closed = connections({ maxConnections: 1 });
  const failing = [post(closed, slow), post(closed, slow)].map((call) => call.catch((error: Error) => error.message));
  await until(() => waiting.length === 1);
  closed.close();
  expect(await Promise.all(failing)).toEqual(['the connections were closed', 'the connections were closed']);
});

test('nothing is said to a peer that has not shown who it is', async () => {
  const now = Date.now();
  const [trusted, other] = [newAuthority('calls', now), newAuthority('others', now)];
  let heard = '';
  const serve = async (authority: typeof trusted, addresses: string[]) => {
    const { certificate, key } = issueServing(readAuthority(authority), { commonName: 'peer', dns: ['peer.example'], addresses }, now);
    const server = createTlsServer({ cert: certificate, key }, (socket) => {
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        heard += chunk.toString();
        socket.write(answer(socket.servername || 'no name'));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    open.push({ close: () => server.close() });
    return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  };
  const secureContext = createSecureContext({ ca: trusted.certificate });
  const byAddress = connections({ tls: { secureContext } });
  const stranger = await serve(other, ['127.0.0.1']);
  await expect(byAddress.call(stranger, head, 'secret', 5000)).rejects.toThrow(/self.signed|unable to/);
  const misnamed = await serve(trusted, ['127.0.0.9']);
  await expect(byAddress.call(misnamed, head, 'secret', 5000)).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  expect(heard).toBe('');
  const byName = connections({ tls: { secureContext, serverName: 'peer.example' } });
  expect((await byName.call(misnamed, head, 'secret', 5000)).body.toString()).toBe('peer.example');
  const right = await serve(trusted, ['127.0.0.1']);
  expect((await byAddress.call(right, head, 'secret', 5000)).body.toString()).toBe('no name');
  expect((await connections({ tls: { secureContext, insecure: true } }).call(stranger, head, 'x', 5000)).status).toBe(200);
});

test('a short handshake stands for a certificate that was seen for the same name, and not for long', async () => {
  const now = Date.now();
  const authority = newAuthority('calls', now);
  const subject = { commonName: 'peer', dns: ['localhost'], addresses: ['127.0.0.1'] };
  const { certificate, key } = issueServing(readAuthority(authority), subject, now);
  const short: boolean[] = [];
  const server = createTlsServer({ cert: certificate, key }, (socket) => {
    short.push(socket.isSessionReused());
    socket.on('error', () => {});
    socket.on('data', () => socket.end(answer('ok', 'connection: close\r\n')));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({ close: () => server.close() });
  const { port } = server.address() as AddressInfo;
  let elapsed = 0;
  const clock = { ...systemClock, monotonic: () => elapsed };
  const one = connections({ tls: { secureContext: createSecureContext({ ca: authority.certificate }) }, clock });
  const after = async (minutes: number, host = '127.0.0.1'): Promise<boolean | undefined> => {
    elapsed = minutes * 60_000;
    await one.call({ host, port }, head, 'x', 5000);
    return short.at(-1);
  };
  expect(await after(0)).toBe(false);
  expect(await after(6)).toBe(true);
  // The short handshake in between does not count as having seen the certificate.
  expect(await after(12)).toBe(false);
  expect(await after(13)).toBe(true);
  expect(await after(14, 'localhost')).toBe(false);
});
