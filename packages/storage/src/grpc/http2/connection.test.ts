import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import { Http2Connection, MOST_PINGS, MOST_UNSENT_BYTES, PING_ANSWER_MS } from './connection.ts';
import {
  ACK,
  CANCEL,
  END_HEADERS,
  FrameReader,
  frame,
  HEADERS,
  numberFrame,
  PING,
  PREFACE,
  REFUSED_STREAM,
  RST_STREAM,
  SETTINGS,
} from './frames.ts';
import { Stream } from './stream.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A connection whose server sends what `send` gets. Without `reads` nothing that is written ever arrives. */
function open({ reads }: { readonly reads: boolean }) {
  const clock = new FakeClock();
  const pongs: string[] = [];
  const frames = new FrameReader((type, flags, _, payload) => {
    if (type === PING && (flags & ACK) !== 0) pongs.push(payload.toString());
  });
  let preface = PREFACE.length;
  const socket = new Duplex({
    read() {},
    write(chunk: Buffer, _, done) {
      if (!reads) return;
      const skipped = Math.min(preface, chunk.length);
      preface -= skipped;
      frames.push(chunk.subarray(skipped));
      done();
    },
  });
  const ends: (Error | undefined)[] = [];
  const connection = new Http2Connection(socket as Socket, 65_535, clock, {
    open() {},
    draining() {},
    closed: (error) => void ends.push(error),
  });
  const send = async (...all: readonly Buffer[]): Promise<void> => {
    socket.push(Buffer.concat(all));
    await turn();
    await turn();
  };
  return { clock, connection, socket, ends, pongs, send };
}
const ping = (payload: string): Buffer => frame(PING, 0, 0, Buffer.from(payload));

test('a server that pings and does not read the answers is cut off', async () => {
  const { socket, ends, send } = open({ reads: false });
  await send(frame(SETTINGS, 0, 0));
  const some = Array.from({ length: MOST_PINGS + 1 }, () => ping('12345678'));
  const groups = Math.ceil((MOST_UNSENT_BYTES + 1) / (some.length * ping('12345678').length));
  await send(...Array.from({ length: groups }, () => some).flat());
  expect([ends, socket.writableLength > MOST_UNSENT_BYTES]).toEqual([[], true]);
  await send(...some);
  expect(ends).toEqual([expect.objectContaining({ message: 'the server does not read what it asks for' })]);
});

test.each([
  ['refused before the answer', REFUSED_STREAM, false, 'refused', 'UNAVAILABLE'],
  ['refused within the answer', REFUSED_STREAM, true, 'lost', 'INTERNAL'],
  ['cancelled before the answer', CANCEL, false, 'lost', 'CANCELLED'],
  ['cancelled within the answer', CANCEL, true, 'lost', 'CANCELLED'],
])('a reset stream: %s', async (_, reset, responds, kind, code) => {
  const { connection, send } = open({ reads: true });
  await send(frame(SETTINGS, 0, 0));
  const faults: Error[] = [];
  const stream = new Stream({ headers() {}, data() {}, broken: (error) => void faults.push(error) }, []);
  connection.begin(stream, Buffer.alloc(5), Buffer.alloc(0));
  // The header `:status: 200`.
  if (responds) await send(frame(HEADERS, END_HEADERS, stream.id, Buffer.from([0x88])));
  await send(numberFrame(RST_STREAM, stream.id, reset));
  expect(faults).toMatchObject([{ kind, code }]);
});

test('a ping is answered after a while, with others that came meanwhile', async () => {
  const { clock, pongs, send } = open({ reads: true });
  await send(frame(SETTINGS, 0, 0), ping('number 1'));
  await clock.advance(PING_ANSWER_MS - 1);
  await send(ping('number 2'));
  expect(pongs).toEqual([]);
  await clock.advance(1);
  await turn();
  expect(pongs).toEqual(['number 1', 'number 2']);
  await send(ping('number 3'));
  await clock.advance(PING_ANSWER_MS);
  await turn();
  expect(pongs).toEqual(['number 1', 'number 2', 'number 3']);
  expect(clock.pending).toBe(0);
});

test('many pings are answered at once, and none after the end', async () => {
  const { clock, connection, pongs, send } = open({ reads: true });
  const some = Array.from({ length: MOST_PINGS + 1 }, (_, index) => `number ${index}`);
  await send(frame(SETTINGS, 0, 0), ...some.map(ping));
  expect(pongs).toEqual(some);
  expect(clock.pending).toBe(0);
  await send(ping('the last'));
  expect(clock.pending).toBe(1);
  connection.close();
  expect(clock.pending).toBe(0);
});

test('a server that does not read is cut off by the answer to a ping too', async () => {
  const { clock, socket, ends, send } = open({ reads: false });
  await send(frame(SETTINGS, 0, 0), ping('12345678'));
  socket.write(Buffer.alloc(MOST_UNSENT_BYTES + 1));
  await clock.advance(PING_ANSWER_MS);
  expect(ends).toEqual([expect.objectContaining({ message: 'the server does not read what it asks for' })]);
});
