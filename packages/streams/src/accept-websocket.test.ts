import { once } from 'node:events';
import { LocalSocket } from '@plat-dev/lib/files/local-socket';
import { describe, expect, test, vi } from 'vitest';
import { acceptedFrom, handshakeHeaders, masked, Opcode } from './accept-websocket.testing.ts';
import { acceptWebSocket } from './accept-websocket.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const nothing = Buffer.alloc(0);
/** A frame that is not the last of its message. */
const part = (payload: Buffer, opcode: number): Buffer => masked(payload, opcode, opcode);
const closeFrame = (code: number): Buffer => Buffer.from([0x88, 2, code >> 8, code & 255]);

test('the handshake of RFC 6455, with the chosen protocol and further headers', async () => {
  const { head, bytes, webSocket } = acceptedFrom('v4.channel.k8s.io');
  webSocket.send('hello');
  await turn();
  expect(head()).toBe(
    [
      'HTTP/1.1 101 Switching Protocols',
      'Upgrade: websocket',
      'Connection: Upgrade',
      'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
      'Sec-WebSocket-Protocol: v4.channel.k8s.io',
      'X-Extra: 1',
      '\r\n',
    ].join('\r\n'),
  );
  expect(bytes()).toEqual(Buffer.from('\x81\x05hello', 'latin1'));
});

test.each([
  ['no key', { 'sec-websocket-key': undefined }],
  ['a key that is none', { 'sec-websocket-key': 'short' }],
  ['another version', { 'sec-websocket-version': '12' }],
  ['a list of protocols that is none', { 'sec-websocket-protocol': 'a,,b' }],
])('a handshake with %s is answered with 400', async (_, headers) => {
  const [client, server] = LocalSocket.pair();
  expect(
    acceptWebSocket({ method: 'GET', headers: { ...handshakeHeaders, ...headers } }, server, nothing, { protocol: '' }),
  ).toBeUndefined();
  expect(String((await once(client, 'data'))[0])).toMatch(/^HTTP\/1\.1 400 /);
});

test('bytes that came with the request are the first of the connection', async () => {
  const [, server] = LocalSocket.pair();
  const early = masked(Buffer.from('early'));
  const webSocket = acceptWebSocket({ method: 'GET', headers: handshakeHeaders }, server, early, { protocol: '' });
  const [message] = await once(webSocket as NonNullable<typeof webSocket>, 'message');
  expect(String(message)).toBe('early');
});

test('of many messages that come at once each is handled in a turn of its own', async () => {
  const { client, webSocket } = acceptedFrom();
  let messages = 0;
  webSocket.on('message', () => {
    messages++;
  });
  client.write(Buffer.concat(Array.from({ length: 100 }, () => masked(Buffer.from('x')))));
  const messagesByTurn: number[] = [];
  for (let i = 0; i < 300 && messages < 100; i++) {
    const earlier = messages;
    await turn();
    messagesByTurn.push(messages - earlier);
  }
  expect(messages).toBe(100);
  expect(Math.max(...messagesByTurn)).toBeLessThanOrEqual(2);
});

describe('bounds of what a peer sends', () => {
  /** What the server made of some bytes: the sizes of its messages, and the code with which it closed. */
  const received = async (...pieces: readonly Buffer[]): Promise<{ messages: number[]; code: number | undefined }> => {
    const { client, webSocket, bytes } = acceptedFrom();
    const messages: number[] = [];
    webSocket.on('message', (message: Buffer) => void messages.push(message.length));
    for (const piece of pieces) {
      client.write(piece);
      if (pieces.length > 1) await turn();
    }
    for (let i = 0; i < 50; i++) await turn();
    const last = bytes();
    client.destroy();
    return { messages, code: last[0] === 0x88 ? last.readUInt16BE(2) : undefined };
  };
  const message = (parts: number, payload: Buffer): Buffer =>
    Buffer.concat([
      part(payload, Opcode.binary),
      ...Array.from({ length: parts - 2 }, () => part(payload, Opcode.continuation)),
      masked(payload, Opcode.continuation),
    ]);

  test.each([
    ['empty parts', nothing],
    ['parts of one byte', Buffer.from('x')],
  ])('a message has 1,024 %s at most', async (_, payload) => {
    expect(await received(message(1024, payload))).toEqual({ messages: [1024 * payload.length], code: undefined });
    expect(await received(message(1025, payload))).toEqual({ messages: [], code: 1008 });
  });

  test('empty parts without end are refused long before they fill memory', async () => {
    const flood = Buffer.concat([part(nothing, Opcode.binary), ...Array<Buffer>(100_000).fill(part(nothing, Opcode.continuation))]);
    expect(await received(flood)).toEqual({ messages: [], code: 1008 });
  });

  test('a message has 1 MiB at most, in one part or in several', async () => {
    const half = Buffer.alloc(1 << 19);
    expect(await received(masked(Buffer.alloc(1 << 20)))).toEqual({ messages: [1 << 20], code: undefined });
    expect(await received(masked(Buffer.alloc((1 << 20) + 1)))).toEqual({ messages: [], code: 1009 });
    expect(await received(message(2, half))).toEqual({ messages: [1 << 20], code: undefined });
    expect(await received(message(3, half))).toEqual({ messages: [], code: 1009 });
  });

  test('a frame arrives in 4,096 pieces at most, beside those of its head', async () => {
    const HEAD_BYTES = 8;
    const frame = masked(Buffer.alloc(10_000));
    const pieces = (count: number): Buffer[] => [
      ...Array.from({ length: count - 1 }, (_, i) => frame.subarray(i, i + 1)),
      frame.subarray(count - 1),
    ];
    expect(await received(...pieces(HEAD_BYTES + 4096))).toEqual({ messages: [10_000], code: undefined });
    expect(await received(...pieces(HEAD_BYTES + 4097))).toEqual({ messages: [], code: 1008 });
  });

  test.each([0x40, 0x20, 0x10])('the reserved bit %i closes the connection', async (bit) => {
    for (const opcode of [Opcode.binary, Opcode.ping])
      expect(await received(masked(nothing, opcode, 0x80 | bit | opcode))).toEqual({ messages: [], code: 1002 });
  });

  test.each([
    ['a frame without a mask', Buffer.from([0x82, 2, 0, 65])],
    ['a part of no message', masked(nothing, Opcode.continuation)],
    ['a message within a message', Buffer.concat([part(nothing, Opcode.binary), masked(nothing)])],
    ['a ping in parts', part(nothing, Opcode.ping)],
    ['a ping of 126 bytes', masked(Buffer.alloc(126), Opcode.ping)],
    ['an unknown kind of frame', masked(nothing, 3)],
  ])('%s closes the connection', async (_, bytes) => {
    expect(await received(bytes)).toEqual({ messages: [], code: 1002 });
  });
});

describe('pings', () => {
  test('are answered to a peer that reads, however many', async () => {
    const { client, webSocket, bytes } = acceptedFrom();
    for (let i = 0; i < 2000; i++) {
      client.write(masked(Buffer.from('ping'), Opcode.ping));
      await turn();
    }
    await turn();
    expect(bytes()).toEqual(Buffer.concat(Array<Buffer>(2000).fill(Buffer.from('\x8a\x04ping', 'latin1'))));
    expect(webSocket.readyState).toBe(webSocket.OPEN);
  });

  test('of a peer that does not read are answered until 64 answers wait, then the connection ends', async () => {
    const { client, server, webSocket } = acceptedFrom('', false);
    const ping = masked(Buffer.alloc(125), Opcode.ping);
    let mostWaiting = 0;
    for (let i = 0; i < 10_000 && !server.destroyed; i++) {
      client.write(ping);
      await turn();
      mostWaiting = Math.max(mostWaiting, webSocket.bufferedAmount);
    }
    expect(server.destroyed).toBe(true);
    expect(mostWaiting).toBeGreaterThan(63 * 127);
    expect(mostWaiting).toBeLessThanOrEqual(64 * 127);
  });

  test('answers that nobody asked for are dropped', async () => {
    const { client, webSocket, bytes } = acceptedFrom();
    for (let i = 0; i < 100; i++) {
      client.write(Buffer.concat(Array<Buffer>(100).fill(masked(Buffer.alloc(125), Opcode.pong))));
      await turn();
    }
    expect([bytes().length, webSocket.bufferedAmount, webSocket.readyState]).toEqual([0, 0, webSocket.OPEN]);
  });
});

test('a peer that does not answer the end is cut off after ten seconds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const { server, webSocket, bytes } = acceptedFrom();
    webSocket.close(1000);
    await turn();
    expect(bytes()).toEqual(closeFrame(1000));
    vi.advanceTimersByTime(9999);
    expect(server.destroyed).toBe(false);
    vi.advanceTimersByTime(1);
    expect(server.destroyed).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});
