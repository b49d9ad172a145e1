import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { systemClock } from '@plat-dev/lib/clock';
import { afterEach, expect, test } from 'vitest';
import { HttpClient } from './client.ts';
import type { CallRequest } from './connection.ts';
import { callFault } from './errors.ts';
import { Answer, type Exchange } from './exchange.ts';

const running: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.close();
});

interface Peer {
  readonly address: { readonly host: string; readonly port: number };
  readonly server: Server;
  readonly sockets: Socket[];
}

async function peer(listener: RequestListener): Promise<Peer> {
  const sockets: Socket[] = [];
  const server = createServer(listener);
  server.on('connection', (socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  running.push({
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
        for (const socket of sockets) socket.destroy();
      }),
  });
  return { address: { host: '127.0.0.1', port: (server.address() as AddressInfo).port }, server, sockets };
}
function httpClient(maxConnections = 2): HttpClient {
  const client = new HttpClient({ clock: systemClock, maxConnections, maxCalls: 0 });
  running.push(client);
  return client;
}
const get: CallRequest = { method: 'GET', path: '/', headers: ['host', 'x'] };
const answerOf = async ({ head }: Exchange): Promise<Answer> => {
  const answer = await head;
  if (!(answer instanceof Answer)) throw new Error('switched');
  return answer;
};
const textOf = async (answer: Answer): Promise<string> => (await answer.setEncoding('utf8').toArray()).join('');
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
};

test('a body goes out as it comes, and the response comes back with its headers and trailers', async () => {
  const echo = await peer((req, res) => {
    res.writeHead(201, ['X-One', 'a', 'X-One', 'b', 'Trailer', 'x-sum']);
    req.pipe(res, { end: false });
    req.on('end', () => {
      res.addTrailers({ 'x-sum': '6' });
      res.end();
    });
  });
  const body = new PassThrough();
  const exchange = await httpClient().open(echo.address, { ...get, method: 'POST', body });
  body.write('abc');
  const answer = await answerOf(exchange);
  expect([answer.status, answer.rawHeaders.slice(0, 4)]).toEqual([201, ['X-One', 'a', 'X-One', 'b']]);
  body.end('def');
  expect(await textOf(answer)).toBe('abcdef');
  expect([answer.isComplete, answer.trailers]).toEqual([true, { 'x-sum': '6' }]);
});

test('a response flows no faster than it is read', async () => {
  let written = 0;
  const fast = await peer((_, res) => {
    const more = (): void => {
      do written += 64 * 1024;
      while (res.write(Buffer.alloc(64 * 1024)));
      res.once('drain', more);
    };
    more();
  });
  const answer = await answerOf(await httpClient().open(fast.address, get));
  let before = -1;
  // What the two ends buffer is all that is written.
  while (before !== written) {
    before = written;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(written).toBeLessThan(32 * 1024 * 1024);
  answer.resume();
  await until(() => written > before + 8 * 1024 * 1024);
  answer.destroy();
  await until(() => fast.sockets[0]?.destroyed === true);
});

test('a request flows no faster than it is read', async () => {
  const slow = await peer(() => {});
  const body = new PassThrough();
  await httpClient().open(slow.address, { ...get, method: 'POST', body });
  let written = 0;
  const fill = (): void => {
    do written += 64 * 1024;
    while (body.write(Buffer.alloc(64 * 1024)));
  };
  body.on('drain', fill);
  fill();
  let before = -1;
  while (before !== written) {
    before = written;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(written).toBeLessThan(32 * 1024 * 1024);
});

test('connections are kept up to a bound, and none of a retired client', async () => {
  const waiting: (() => void)[] = [];
  const server = await peer((_, res) => void waiting.push(() => res.end('ok')));
  const client = httpClient(2);
  const several = async (): Promise<string[]> => {
    const exchanges = await Promise.all([1, 2, 3].map(() => client.open(server.address, get)));
    await until(() => waiting.length === 3);
    for (const answer of waiting.splice(0)) answer();
    return Promise.all(exchanges.map(async (exchange) => textOf(await answerOf(exchange))));
  };
  // There is no turn to wait for.
  expect(await several()).toEqual(['ok', 'ok', 'ok']);
  await until(() => server.sockets.filter((socket) => socket.destroyed).length === 1);
  expect(await several()).toEqual(['ok', 'ok', 'ok']);
  expect(server.sockets).toHaveLength(4);
  client.retire();
  expect(await several()).toEqual(['ok', 'ok', 'ok']);
  await until(() => server.sockets.every((socket) => socket.destroyed));
});

test('a kept connection that the server closes before it answers is told apart', async () => {
  const closes = await peer((req, res) => {
    if (req.url === '/') res.end('ok');
    else if (req.url === '/half') req.socket.end('HTTP/1.1 200 OK\r\n');
    else req.socket.destroy();
  });
  const client = httpClient();
  const isStale = async (path: string): Promise<boolean> => {
    const exchange = await client.open(closes.address, { ...get, path });
    const error = await exchange.head.then(
      () => new Error('answered'),
      (reason: Error) => reason,
    );
    expect(callFault(error, closes.address)).toMatch(/connection reset by peer/);
    return exchange.isStale;
  };
  const keepOne = async (): Promise<string> => textOf(await answerOf(await client.open(closes.address, get)));
  await keepOne();
  expect(await isStale('/closed')).toBe(true);
  // A new connection is not stale, nor is one on which an answer has begun.
  expect(await isStale('/closed')).toBe(false);
  await keepOne();
  expect(await isStale('/half')).toBe(false);
  expect(closes.sockets).toHaveLength(3);
});

test('a response that breaks off is broken off for its reader, and does not end', async () => {
  const breaks = await peer((req, res) => {
    res.writeHead(200, { 'content-length': '1000' });
    res.write('half', () => req.socket.destroy());
  });
  const answer = await answerOf(await httpClient().open(breaks.address, get));
  await expect(textOf(answer)).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
  expect(answer.isComplete).toBe(false);
});

test('a response may come before the request is complete, whose source is left alone', async () => {
  const hasty = await peer((_, res) => void res.writeHead(413).end('too large'));
  const source = new PassThrough();
  const body = source.pipe(new PassThrough());
  const exchange = await httpClient().open(hasty.address, { ...get, method: 'POST', body });
  source.write('abc');
  expect(await textOf(await answerOf(exchange))).toBe('too large');
  expect(source.destroyed).toBe(false);
});

test('an upgrade gives the connection to the caller, with what came early; another answer is an answer', async () => {
  const server = await peer((_, res) => void res.writeHead(403).end('no'));
  server.server.on('upgrade', (req, socket) => {
    if (req.url === '/refused') socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno');
    else {
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${req.headers.upgrade}\r\n\r\nearly|`);
      socket.pipe(socket);
    }
  });
  const client = httpClient();
  const head = await (await client.open(server.address, { ...get, upgrade: 'own/1' })).head;
  if (head instanceof Answer) throw new Error('not switched');
  expect(head.rawHeaders).toEqual(['Connection', 'Upgrade', 'Upgrade', 'own/1']);
  let heard = '';
  head.socket.on('data', (chunk: Buffer) => {
    heard += chunk.toString();
  });
  // The client has nothing to do with it any more.
  client.close();
  head.socket.write('later');
  await until(() => heard === 'early|later');
  head.socket.destroy();
  const refused = await answerOf(await httpClient().open(server.address, { ...get, path: '/refused', upgrade: 'own/1' }));
  expect([refused.status, await textOf(refused)]).toEqual([403, 'no']);
});

test('an exchange that is destroyed closes its connection, also before it has one', async () => {
  const silent = await peer(() => {});
  const exchange = await httpClient().open(silent.address, get);
  const sent = new Promise<void>((resolve) => exchange.whenSent(resolve));
  await sent;
  exchange.destroy(new Error('enough'));
  await expect(exchange.head).rejects.toThrow('enough');
  await until(() => silent.sockets[0]?.destroyed === true);
  const unsent = await httpClient().open(silent.address, get);
  unsent.destroy();
  await expect(unsent.head).rejects.toThrow('the request was given up');
});
