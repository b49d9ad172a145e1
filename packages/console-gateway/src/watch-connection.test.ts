/** Batches, pauses and pings of a connection for watches, without a network. */
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import type { WatchAnswer } from './backend.ts';
import { BATCH_BYTES, BATCH_MS, EVENT_BYTES, MESSAGE_BYTES } from './open-watch.ts';
import { END_MS, PAUSED_BYTES, PING_MS, WatchConnection } from './watch-connection.ts';

/** A WebSocket whose other end does not read unless a test says so. */
class TestSocket extends EventEmitter {
  readonly sent: string[] = [];
  bufferedAmount = 0;
  pings = 0;
  isTerminated = false;
  /** Why the connection is to end, which the page does not answer. */
  closeReason: string | undefined;
  /** Whether messages of the page are left unread. */
  isPaused = false;
  private readonly taken: (() => void)[] = [];
  reads = true;

  send(bytes: Buffer, _: object, done: () => void): void {
    this.sent.push(String(bytes));
    if (this.reads) return void setImmediate(done);
    this.bufferedAmount += bytes.length;
    this.taken.push(done);
  }
  read(): void {
    this.reads = true;
    this.bufferedAmount = 0;
    for (const done of this.taken.splice(0)) done();
  }
  ping(): void {
    this.pings++;
  }
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
  }
  terminate(): void {
    this.isTerminated = true;
    this.emit('close');
  }
  close(_: number, reason: string): void {
    this.closeReason = reason;
  }
}

async function openedWatch(answer: Partial<WatchAnswer> = {}) {
  const clock = new FakeClock();
  const socket = new TestSocket();
  const body = new PassThrough();
  const signals: AbortSignal[] = [];
  const connection = new WatchConnection(socket as unknown as WebSocket, clock, async ({ signal }) => {
    signals.push(signal);
    return { status: 200, contentType: 'application/json', body, ...answer };
  });
  socket.emit('message', Buffer.from('{"id":1,"open":"/api/v1/pods?watch=true"}'), false);
  await turn();
  const write = async (text: string): Promise<void> => {
    body.write(text);
    await turn();
  };
  return { clock, connection, socket, body, write, signal: signals[0] as AbortSignal };
}
const turn = async (): Promise<void> => {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
};
const line = (size: number): string => `"${'x'.repeat(size - 2)}"\n`;

test('events wait for others, but not long', async () => {
  const { clock, socket, write } = await openedWatch();
  await write('{"a":1}\n{"b"');
  await write(':2}\n{"c":');
  expect(socket.sent).toEqual(['{"id":1,"status":200}']);
  await clock.advance(BATCH_MS);
  expect(socket.sent.slice(1)).toEqual(['{"id":1,"events":[{"a":1},{"b":2}]}']);
  await write('3}\n');
  await clock.advance(BATCH_MS);
  expect(socket.sent.slice(2)).toEqual(['{"id":1,"events":[{"c":3}]}']);
});
test('a batch is sent when it is large, and no message is larger than its bound but that of one large event', async () => {
  const { socket, write } = await openedWatch();
  await write(line(BATCH_BYTES));
  expect(socket.sent).toHaveLength(2);
  await write(line(100) + line(MESSAGE_BYTES));
  expect(socket.sent.slice(2).map((message) => JSON.parse(message).events.length)).toEqual([1, 1]);
});
test('what waits is sent before the end', async () => {
  const { socket, body, write } = await openedWatch();
  await write('{"a":1}\n');
  body.end();
  await turn();
  expect(socket.sent.slice(1)).toEqual(['{"id":1,"events":[{"a":1}]}', '{"id":1,"end":null}']);
});
test('the API is not read while the page does not read, and nothing is lost', async () => {
  const { socket, body, write } = await openedWatch();
  socket.reads = false;
  let written = 0;
  while (body.writableLength === 0 && written < 100) {
    await write(line(BATCH_BYTES));
    written++;
  }
  expect(socket.bufferedAmount).toBeLessThan(PAUSED_BYTES + 2 * MESSAGE_BYTES);
  expect(written).toBeLessThan(100);
  socket.read();
  await turn();
  expect(socket.sent).toHaveLength(1 + written);
});
test('messages of a page that does not read its answers are not read', async () => {
  const { socket } = await openedWatch();
  socket.reads = false;
  let refusals = 0;
  while (!socket.isPaused && refusals < 100_000) {
    socket.emit('message', Buffer.from('{"id":2,"open":"/healthz"}'), false);
    refusals++;
  }
  expect(socket.bufferedAmount).toBeLessThan(PAUSED_BYTES + MESSAGE_BYTES);
  socket.read();
  expect(socket.isPaused).toBe(false);
});
test.each([
  ['that ends its message and begins one of another watch', Buffer.from('{}],"id":2,"more":[{}\n')],
  ['of half an object', Buffer.from('{"type":"ADDED"\n')],
  ['with bytes that are no text, at which browsers close the connection', Buffer.from([0x22, 0xff, 0x22, 0x0a])],
])('an event %s ends its own watch only', async (_, event) => {
  const { socket, body, signal } = await openedWatch();
  body.write(Buffer.concat([Buffer.from('{"a":1}\n'), event, Buffer.from('{"b":2}\n')]));
  await turn();
  expect(socket.sent.slice(1).map((message) => JSON.parse(message))).toEqual([
    { id: 1, events: [{ a: 1 }] },
    { id: 1, end: expect.objectContaining({ code: 503 }) },
  ]);
  expect(signal.aborted).toBe(true);
});
test('an event without an end ends its watch', async () => {
  const { socket, body, signal } = await openedWatch();
  const piece = Buffer.alloc(EVENT_BYTES / 8, 0x20);
  for (let i = 0; i < 9; i++) {
    body.write(piece);
    await turn();
  }
  expect(JSON.parse(socket.sent.at(-1) as string)).toMatchObject({ id: 1, end: { code: 413 } });
  expect(signal.aborted).toBe(true);
});
test('answers that are no JSON, and refusals that are none, break no message', async () => {
  const binary = await openedWatch({ contentType: 'application/octet-stream' });
  expect(binary.socket.sent.map((message) => JSON.parse(message))).toMatchObject([{ status: 406 }, { end: { code: 406 } }]);
  const body = new PassThrough();
  body.end('bad gateway"}');
  const refused = await openedWatch({ status: 502, body });
  expect(refused.socket.sent).toEqual(['{"id":1,"status":502}', '{"id":1,"end":null}']);
});
test('a page that answers no ping is gone, and its watches end', async () => {
  const { clock, socket, signal } = await openedWatch();
  await clock.advance(PING_MS);
  socket.emit('pong');
  await clock.advance(PING_MS);
  expect([socket.pings, socket.isTerminated]).toEqual([2, false]);
  await clock.advance(PING_MS);
  expect([socket.isTerminated, signal.aborted]).toEqual([true, true]);
});
test('the end of the session ends all watches at once, and the connection of a page that does not answer soon', async () => {
  const { clock, connection, socket, write, signal } = await openedWatch();
  await write('{"a":1}\n');
  connection.end();
  expect([signal.aborted, socket.closeReason]).toEqual([true, 'the session has ended']);
  await clock.advance(END_MS - 1);
  expect([socket.sent.length, socket.isTerminated]).toEqual([1, false]);
  await clock.advance(1);
  expect(socket.isTerminated).toBe(true);
});
