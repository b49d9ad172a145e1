import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { Http2Connection, MOST_UNSENT_BYTES } from './connection.ts';
import { frame, PING, SETTINGS } from './frames.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a server that pings and does not read the answers is cut off', async () => {
  // Nothing that is written ever arrives.
  const socket = new Duplex({ read() {}, write() {} });
  const ends: (Error | undefined)[] = [];
  new Http2Connection(socket as Socket, 65_535, { open() {}, draining() {}, closed: (error) => ends.push(error) });
  socket.push(frame(SETTINGS, 0, 0));
  const ping = frame(PING, 0, 0, Buffer.alloc(8));
  const pings = Buffer.concat(Array.from({ length: 1 + Math.floor(MOST_UNSENT_BYTES / ping.length) }, () => ping));
  socket.push(pings);
  await turn();
  await turn();
  expect([ends, socket.writableLength > MOST_UNSENT_BYTES]).toEqual([[], true]);
  socket.push(ping);
  await turn();
  expect(ends).toEqual([expect.objectContaining({ message: 'the server does not read what it asks for' })]);
});
