import { expect, test } from 'vitest';
import type { Http2Connection } from './http2/connection.ts';
import { Stream } from './http2/stream.ts';
import { MessageStream } from './message-stream.ts';
import { withHeader } from './messages.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const LIMIT = 1_000;
const framed = (text: string): Buffer => withHeader(Buffer.from(text), LIMIT);
const END = { status: undefined, type: undefined, grpcStatus: '0', grpcMessage: undefined };

/** A stream on a connection that does nothing, and its pauses. */
function open<Message>(decode: (message: Buffer) => Message | undefined) {
  const pauses: boolean[] = [];
  const connection = { begin() {}, reset() {}, pause: () => pauses.push(true), resume: () => pauses.push(false) };
  const limits = { mostRequestBytes: LIMIT, mostAnswerBytes: LIMIT };
  const stream = new MessageStream(connection as unknown as Http2Connection, limits, decode, () => {});
  stream.begin(new Stream(stream, []), undefined);
  stream.headers({ ...END, status: '200', type: 'application/grpc', grpcStatus: undefined }, false);
  return { stream, pauses };
}

test('a message is decoded after the calls that were answered with it, and is skipped if they made it superfluous', async () => {
  const known = new Set(['b']);
  const { stream } = open((message) => (known.has(message.toString()) ? undefined : message.toString()));
  const first = stream.next();
  stream.data(framed('a'), false);
  stream.data(Buffer.concat([framed('b'), framed('c')]), false);
  await Promise.resolve().then(() => known.add('a'));
  expect(await first).toEqual({ done: false, value: 'c' });
  const second = stream.next();
  stream.data(framed('a'), false);
  await turn();
  stream.data(framed('d'), false);
  expect(await second).toEqual({ done: false, value: 'd' });
});

test('what came before the end is read before it', async () => {
  const { stream } = open(String);
  stream.data(framed('a'), false);
  stream.headers(END, true);
  expect(await stream.next()).toEqual({ done: false, value: 'a' });
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});

test('a message that cannot be decoded fails the stream after those before it, at its end too', async () => {
  const decode = (message: Buffer): string => {
    if (message.toString() === 'x') throw new RangeError('no such message');
    return message.toString();
  };
  for (const ended of [false, true]) {
    const { stream } = open(decode);
    stream.data(Buffer.concat([framed('a'), framed('x'), framed('b')]), false);
    if (ended) stream.headers(END, true);
    await turn();
    expect(await stream.next()).toEqual({ done: false, value: 'a' });
    await expect(stream.next()).rejects.toMatchObject({ kind: 'invalid', message: expect.stringContaining('no such message') });
  }
});

test('a cancelled stream decodes nothing more', async () => {
  const { stream } = open(() => expect.fail('a message is decoded'));
  stream.data(framed('a'), false);
  stream.cancel();
  await turn();
  await expect(stream.next()).rejects.toMatchObject({ kind: 'cancelled' });
});

test('many messages in one turn pause the stream until they are read, or skipped', async () => {
  const { stream, pauses } = open((message) => (message.toString() === 'skipped' ? undefined : 1));
  for (let count = 0; count < 16; count++) stream.data(framed('skipped'), false);
  expect(pauses).toEqual([true]);
  await turn();
  expect(pauses).toEqual([true, false]);
  for (let count = 0; count < 16; count++) stream.data(framed('read'), false);
  await turn();
  expect(pauses).toEqual([true, false, true]);
  for (let count = 0; count < 16; count++) await stream.next();
  expect(pauses).toEqual([true, false, true, false]);
});
