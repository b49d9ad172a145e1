/** What a client can make this server keep or do. */
import { expect, test } from 'vitest';
import { controlFrame, dataFrame, FRAME_LIMIT, type Frame, FrameReader, FrameType, numbers } from './frames.ts';
import { HeaderReader } from './headers.ts';
import { Blocks, connected } from './spdy.testing.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const ping = controlFrame(FrameType.ping, numbers(1));

test('pings of a client that does not read are not answered until it reads; then each is', async () => {
  const { client, server, read, frames, until } = connected({ reads: false });
  // The buffers on the way take less than half of it, however large they are by default.
  const perTurn = Math.ceil((8 * server.writableHighWaterMark) / ping.length / 100);
  const PINGS = 100 * perTurn;
  let mostWaiting = 0;
  for (let i = 0; i < 100; i++) {
    client.write(Buffer.concat(Array<Buffer>(perTurn).fill(ping)));
    await turn();
    mostWaiting = Math.max(mostWaiting, server.writableLength);
  }
  expect(mostWaiting).toBeLessThan(server.writableHighWaterMark + ping.length);
  expect(client.writableLength).toBeGreaterThan((PINGS * ping.length) / 2);
  read();
  await until(() => server.bytesWritten === PINGS * ping.length);
  await turn();
  expect(frames()).toHaveLength(PINGS);
});

test('256 streams are open at a time, and those of a client that does not read are not answered without end', async () => {
  const { client, server, streams, open, read, frames, until } = connected({ reads: false });
  for (let i = 0; i < 3000; i++) await open(2 * i + 1, {});
  for (let i = 0; i < 50; i++) await turn();
  expect(server.writableLength).toBeLessThan(server.writableHighWaterMark + 64);
  read();
  const refused = (): number => frames().filter((frame) => frame.kind === 'control' && frame.type === FrameType.reset).length;
  await until(() => client.writableLength === 0 && refused() === 3000 - 256);
  expect(streams).toHaveLength(256);
  streams[0]?.destroy();
  await open(6001, {});
  await until(() => streams.length === 257);
});

test.each([
  ['long frames', 32 * 1024, 9],
  ['frames of one byte', 1, 1021],
])('at most 256 KiB of %s wait for the readers of all streams, and none is lost', async (_, length, most) => {
  const { client, server, streams, open, until } = connected();
  for (let i = 0; i < 256; i++) await open(2 * i + 1, {});
  await until(() => streams.length === 256);
  const before = client.bytesWritten - server.readableLength;
  const FRAMES = 4096;
  for (let i = 0; i < FRAMES; i++) client.write(dataFrame(2 * (i % 256) + 1, Buffer.alloc(length)));
  for (let i = 0; i < 50; i++) await turn();
  const taken = client.bytesWritten - server.readableLength - before;
  expect(Math.ceil(taken / (8 + length))).toBeLessThanOrEqual(most);
  let size = 0;
  for (const stream of streams)
    stream.on('data', (part: Buffer) => {
      size += part.length;
    });
  await until(() => size === FRAMES * length);
});

test('streams that are given up make room for what the others receive', async () => {
  const { client, streams, open, until } = connected();
  await open(1, {});
  await open(3, {});
  await until(() => streams.length === 2);
  for (let i = 0; i < 64; i++) client.write(dataFrame(1, Buffer.alloc(32 * 1024)));
  client.write(dataFrame(3, Buffer.from('other')));
  let text = '';
  streams[1]?.on('data', (part: Buffer) => {
    text += part;
  });
  for (let i = 0; i < 50; i++) await turn();
  expect(text).toBe('');
  streams[0]?.destroy();
  await until(() => text === 'other');
});

test('a block of headers has 64 KiB and 256 pairs at most, decompressed', async () => {
  const LENGTHS = 4 + 4 + 1 + 4;
  const reader = new HeaderReader();
  const blocks = new Blocks();
  const value = 'x'.repeat(64 * 1024 - LENGTHS);
  expect((await reader.read(await blocks.of({ a: value }))).get('a')).toBe(value);
  await expect(reader.read(await blocks.of({ a: `${value}x` }))).rejects.toThrow('too large');

  const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}`, '']));
  expect((await new HeaderReader().read(await new Blocks().of(pairs(256)))).size).toBe(256);
  await expect(new HeaderReader().read(await new Blocks().of(pairs(257)))).rejects.toThrow('too many headers');
});

test('a short block that would become 64 MiB is refused at 64 KiB', async () => {
  const block = await new Blocks().of({ a: 'x'.repeat(1 << 26) });
  expect(block.length).toBeLessThan(FRAME_LIMIT);
  await expect(new HeaderReader().read(block)).rejects.toThrow('too large');
});

test('256 frames are handled in one turn of the loop', async () => {
  const { client, frames } = connected();
  const FRAMES = 256 * 40;
  const settings = controlFrame(FrameType.settings, Buffer.alloc(4));
  client.write(Buffer.concat([...Array<Buffer>(FRAMES).fill(settings), ping]));
  let turns = 0;
  for (; frames().length === 0; turns++) await turn();
  expect(turns).toBeGreaterThanOrEqual(40);
});

test('frames are the same in whatever pieces they arrive', () => {
  const all = [dataFrame(1, Buffer.alloc(5000, 'a')), ping, dataFrame(3, Buffer.alloc(0), 1), ping, dataFrame(5, Buffer.alloc(3, 'b'))];
  const bytes = Buffer.concat(all);
  const read = (size: number): Frame[] => {
    const reader = new FrameReader();
    const frames: Frame[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      reader.add(bytes.subarray(at, at + size));
      for (let frame = reader.next(); frame !== undefined; frame = reader.next()) frames.push(frame);
    }
    return frames;
  };
  const whole = read(bytes.length);
  expect(whole.map(({ payload }) => payload.length)).toEqual([5000, 4, 0, 4, 3]);
  for (const size of [1, 2, 7, 8, 9, 12, 13, 100, 1024, 5007, 5008, 5009]) expect(read(size), `pieces of ${size}`).toEqual(whole);
});

test('a frame of 1 MiB is read, a larger one ends the connection', async () => {
  const { client, streams, open, until, isClosed } = connected();
  await open(1, {});
  await until(() => streams.length === 1);
  let size = 0;
  streams[0]?.on('data', (part: Buffer) => {
    size += part.length;
  });
  client.write(dataFrame(1, Buffer.alloc(FRAME_LIMIT)));
  await until(() => size === FRAME_LIMIT);
  client.write(dataFrame(1, Buffer.alloc(FRAME_LIMIT + 1)));
  await until(() => isClosed() === 1);
});
