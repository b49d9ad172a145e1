import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Clock, FakeClock, systemClock } from '@plat-dev/lib/clock';
import { notFound } from '@plat-dev/meta/errors';
import { masked, Opcode } from '@plat-dev/streams/accept-websocket.testing';
import { afterEach, expect, test } from 'vitest';
import type { Credential } from './credentials.ts';
import { Transport } from './transport.ts';
import { openWebSocket } from './websocket.ts';

const PROTOCOL = 'v4.channel.k8s.io';
const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

/** A server that answers handshakes with bytes, and a transport to it. */
async function serverThat(upgrade: (request: IncomingMessage, socket: Duplex) => void, clock: Clock = systemClock, credentials?: object) {
  const server = createServer();
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket.on('error', () => {})));
  server.on('upgrade', (request, socket) => upgrade(request, socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const connection = { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, insecure: false, impersonation: {} };
  const transport = new Transport({ ...connection, ...credentials } as never, 'test', clock);
  cleanups.push(() => {
    transport.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return transport;
}
const acceptance = ({ headers }: IncomingMessage, protocol = PROTOCOL): string => {
  const accept = createHash('sha1').update(`${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: ${protocol}\r\n\r\n`;
};
/** A frame of a server, which is not masked. */
const frame = (payload: Buffer, opcode: number = Opcode.binary, first = 0x80 | opcode): Buffer => {
  const { length } = payload;
  const head = Buffer.alloc(length < 126 ? 2 : 10);
  head[0] = first;
  head[1] = length < 126 ? length : 127;
  if (length >= 126) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
};
/** Opens a WebSocket and waits for its end. */
async function conversation(transport: Transport, signal?: AbortSignal) {
  const messages: Buffer[] = [];
  let ended: (error: Error | undefined) => void = () => {};
  const end = new Promise<Error | undefined>((resolve) => {
    ended = resolve;
  });
  const request = { path: '/exec?command=x', protocols: ['v5.channel.k8s.io', PROTOCOL], ...(signal && { signal }) };
  const socket = await openWebSocket(transport, request, { message: (payload) => void messages.push(payload), close: ended });
  return { socket, messages, end };
}

test('a WebSocket with the headers of the transport; messages right behind the answer arrive', async () => {
  let request: IncomingMessage | undefined;
  const transport = await serverThat(
    (req, socket) => {
      request = req;
      socket.write(Buffer.concat([Buffer.from(acceptance(req)), frame(Buffer.from('early')), frame(Buffer.from([3, 232]), Opcode.close)]));
    },
    systemClock,
    { authorization: 'Bearer abc', impersonation: { 'impersonate-user': 'bob', 'impersonate-group': ['a', 'b'] } },
  );
  const { socket, messages, end } = await conversation(transport);
  expect(await end).toBeUndefined();
  expect([socket.protocol, String(messages)]).toEqual([PROTOCOL, 'early']);
  expect(request?.url).toBe('/exec?command=x');
  expect(request?.headers).toMatchObject({
    'user-agent': 'test',
    authorization: 'Bearer abc',
    'impersonate-user': 'bob',
    'impersonate-group': 'a, b',
    'sec-websocket-protocol': `v5.channel.k8s.io,${PROTOCOL}`,
  });
  expect(request?.headers['sec-websocket-extensions']).toBeUndefined();
});

test('the Status of a server that refuses is the error', async () => {
  const { code, message, reason } = notFound({ group: '', resource: 'pods' } as never, 'web');
  const text = JSON.stringify({ kind: 'Status', code, message, reason });
  const transport = await serverThat((_, socket) =>
    socket.end(`HTTP/1.1 404 Not Found\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`),
  );
  await expect(conversation(transport)).rejects.toMatchObject({ name: 'ApiError', code: 404, reason: 'NotFound', message });
});

test('a credential that is refused is renewed once', async () => {
  const tokens: (string | undefined)[] = [];
  const transport = await serverThat(
    (req, socket) => {
      tokens.push(req.headers.authorization);
      if (req.headers.authorization === 'Bearer new') socket.write(acceptance(req));
      else socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n');
    },
    systemClock,
    {
      credentials: {
        current: async (): Promise<Credential> => ({ authorization: tokens.length === 0 ? 'Bearer old' : 'Bearer new' }),
        refused: async () => true,
      },
    },
  );
  (await conversation(transport)).socket.terminate();
  expect(tokens).toEqual(['Bearer old', 'Bearer new']);
});

test.each([
  ['another key', (req: IncomingMessage) => acceptance({ headers: { ...req.headers, 'sec-websocket-key': 'x' } } as never)],
  ['a protocol that was not offered', (req: IncomingMessage) => acceptance(req, 'v1')],
  [
    'an extension that was not offered',
    (req: IncomingMessage) => acceptance(req, `${PROTOCOL}\r\nSec-WebSocket-Extensions: permessage-deflate`),
  ],
  ['no HTTP', () => 'SSH-2.0\r\n'],
])('an answer with %s is an error of the connection', async (_, answer) => {
  const transport = await serverThat((req, socket) => void socket.write(answer(req)));
  await expect(conversation(transport)).rejects.toMatchObject({ name: 'TransportError', message: expect.stringContaining('failed') });
});

test('a handshake ends with its time, and with its signal', async () => {
  const clock = new FakeClock();
  let asked: () => void = () => {};
  const arrived = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const late = conversation(await serverThat(() => asked(), clock));
  late.catch(() => {});
  await arrived;
  await clock.advance(60_000);
  await expect(late).rejects.toThrow('gave no answer in time');

  const stop = new AbortController();
  const transport = await serverThat(() => stop.abort(new Error('stopped')));
  await expect(conversation(transport, stop.signal)).rejects.toThrow('stopped');
});

const nothing = Buffer.alloc(0);
const parts = (count: number): Buffer =>
  Buffer.concat([
    frame(nothing, Opcode.binary, Opcode.binary),
    ...Array<Buffer>(count - 2).fill(frame(nothing, Opcode.continuation, Opcode.continuation)),
    frame(nothing, Opcode.continuation),
  ]);
const LAST = frame(Buffer.from([3, 232]), Opcode.close);

test.each([
  ['a message of 16 MiB', frame(Buffer.alloc(16 << 20)), undefined],
  ['a larger message', frame(Buffer.alloc((16 << 20) + 1)), 'Max payload size exceeded'],
  ['4,096 empty parts', parts(4096), undefined],
  ['4,097 empty parts', parts(4097), 'Too many message fragments'],
  ['a reserved bit', frame(nothing, Opcode.binary, 0xc2), 'RSV1 must be clear'],
  ['a mask', masked(Buffer.from('x')), 'MASK must be clear'],
])('of a server: %s', async (_, bytes, failure) => {
  const transport = await serverThat((req, socket) => void socket.write(Buffer.concat([Buffer.from(acceptance(req)), bytes, LAST])));
  const { messages, end } = await conversation(transport);
  const error = await end;
  if (failure === undefined) expect([error, messages.length]).toEqual([undefined, 1]);
  else expect([error?.message, messages.length]).toEqual([expect.stringContaining(failure), 0]);
});

test('pings of a server that does not read end the connection', async () => {
  const ping = frame(Buffer.alloc(125), Opcode.ping);
  const transport = await serverThat((req, socket) => {
    socket.pause();
    socket.write(acceptance(req));
    const more = (): void => {
      if (!socket.destroyed) socket.write(ping, more);
    };
    more();
  });
  const { socket, end } = await conversation(transport);
  await end;
  expect(socket.readyState).toBe(socket.CLOSED);
  expect(socket.bufferedAmount).toBeLessThan(1 << 20);
});
