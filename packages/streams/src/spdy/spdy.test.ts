import { constants, inflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { DICTIONARY_ID, dictionary, withLength } from './dictionary.ts';
import { controlFrame, dataFrame, FIN, FRAME_LIMIT, FrameType, numbers, parseFrame } from './frames.ts';
import { HeaderReader, HeaderWriter } from './headers.ts';
import { Blocks, connected } from './spdy.testing.ts';

/** Adler-32, by its definition. */
function checksum(bytes: Buffer): number {
  let [a, b] = [1, 0];
  for (const byte of bytes) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return b * 65536 + a;
}

test('the dictionary is that of the protocol', () => {
  expect(dictionary.length).toBe(1423);
  expect(checksum(dictionary)).toBe(DICTIONARY_ID);
});

test('blocks of headers are read in their order, and written so that a reader of zlib understands them', async () => {
  const blocks = new Blocks();
  const reader = new HeaderReader();
  const all: Record<string, string>[] = [{ streamType: 'error', port: '80' }, { streamType: 'data', port: '80' }, {}];
  for (const headers of all) {
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    expect(Object.fromEntries(await reader.read(await blocks.of(headers)))).toEqual(lower);
  }
  const writer = new HeaderWriter();
  const written = Buffer.concat([writer.write(new Map([['a', 'b']])), writer.write(new Map())]);
  const plain = inflateSync(written, { dictionary, finishFlush: constants.Z_SYNC_FLUSH });
  expect(plain).toEqual(Buffer.concat([numbers(1), withLength('a'), withLength('b'), numbers(0)]));
});

test('blocks that are wrong or too large are refused', async () => {
  await expect(new HeaderReader().read(Buffer.from('no zlib'))).rejects.toThrow();
  await expect(new HeaderReader().read(await new Blocks().of({ a: 'x'.repeat(100_000) }))).rejects.toThrow();
});

test('frames', () => {
  const data = dataFrame(5, Buffer.from('abc'), FIN);
  expect(parseFrame(data.subarray(0, 10))).toBeUndefined();
  expect(parseFrame(Buffer.concat([data, data]))).toEqual({
    frame: { kind: 'data', stream: 5, flags: FIN, payload: Buffer.from('abc') },
    size: 11,
  });
  const ping = controlFrame(FrameType.ping, numbers(7));
  expect(ping.toString('hex')).toBe('800300060000000400000007');
  expect(parseFrame(ping)).toEqual({ frame: { kind: 'control', type: 6, flags: 0, payload: numbers(7) }, size: 12 });
  const large = Buffer.alloc(8);
  large.writeUIntBE(FRAME_LIMIT + 1, 5, 3);
  expect(() => parseFrame(large)).toThrow('too large');
});

test('a client opens streams, sends and receives data, and ends its half', async () => {
  const { client, streams, open, frames, until } = connected();
  await open(1, { streamtype: 'stdin' });
  await until(() => streams.length === 1);
  expect(streams[0]?.headers.get('streamtype')).toBe('stdin');
  expect(frames()).toEqual([expect.objectContaining({ kind: 'control', type: FrameType.synReply })]);
  client.write(Buffer.concat([dataFrame(1, Buffer.from('ab')), dataFrame(1, Buffer.from('c'), FIN)]));
  let text = '';
  streams[0]?.on('data', (chunk: Buffer) => {
    text += chunk;
  });
  await new Promise((resolve) => streams[0]?.once('end', resolve));
  expect(text).toBe('abc');
  const large = Buffer.alloc(100_000, 'x');
  streams[0]?.end(large);
  await until(() => frames().some((frame) => frame.kind === 'data' && frame.flags === FIN));
  const sent = frames().filter((frame) => frame.kind === 'data');
  expect(Buffer.concat(sent.map(({ payload }) => payload)).equals(large)).toBe(true);
  expect(sent.length).toBe(5);
});

test('an echo of a stream, as port-forward has it', async () => {
  const { client, streams, open, frames, until } = connected();
  await open(1, { streamtype: 'error' });
  client.write(dataFrame(1, Buffer.alloc(0), FIN));
  await open(3, { streamtype: 'data' });
  await until(() => streams.length === 2);
  streams[1]?.pipe(streams[1]);
  client.write(dataFrame(3, Buffer.from('hello')));
  await until(() => frames().some((frame) => frame.kind === 'data' && frame.payload.toString() === 'hello'));
  client.write(dataFrame(3, Buffer.alloc(0), FIN));
  await until(() => frames().some((frame) => frame.kind === 'data' && frame.stream === 3 && frame.flags === FIN));
});

test('pings are answered, resets end a stream, and the end is announced', async () => {
  const { client, connection, streams, open, frames, until, isClosed } = connected();
  await open(1, {});
  await until(() => streams.length === 1);
  client.write(Buffer.concat([controlFrame(FrameType.ping, numbers(3)), controlFrame(FrameType.reset, numbers(1, 5))]));
  await until(() => streams[0]?.destroyed === true);
  expect(frames().at(-1)).toMatchObject({ type: FrameType.ping, payload: numbers(3) });
  connection.close();
  await until(() => frames().some((frame) => frame.kind === 'control' && frame.type === FrameType.goAway));
  expect(isClosed()).toBe(1);
});

test('wrong numbers of streams and broken frames end the connection; too many streams are refused', async () => {
  for (const id of [2, 1]) {
    const { streams, open, until, isClosed } = connected();
    if (id === 1) {
      await open(3, {});
      await until(() => streams.length === 1);
    }
    await open(id, {});
    await until(() => isClosed() === 1);
  }
  const { open, frames, streams, until } = connected();
  for (let i = 0; i < 257; i++) await open(2 * i + 1, {});
  await until(() => frames().some((frame) => frame.kind === 'control' && frame.type === FrameType.reset));
  expect(streams.length).toBe(256);
});

test('a stream that nobody reads holds back the client', async () => {
  const { client, streams, open, until } = connected();
  await open(1, {});
  await until(() => streams.length === 1);
  const chunk = Buffer.alloc(32 * 1024);
  for (let i = 0; i < 64; i++) client.write(dataFrame(1, chunk));
  await new Promise((resolve) => setImmediate(resolve));
  expect(client.writableLength).toBeGreaterThan(1 << 20);
  let size = 0;
  streams[0]?.on('data', (part: Buffer) => {
    size += part.length;
  });
  await until(() => size === 64 * chunk.length);
});
