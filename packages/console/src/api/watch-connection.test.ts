import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import type { ApiError } from './api-error.ts';
import { MAX_WATCHES, type Socket, WatchConnection, type WatchEvent } from './watch-connection.ts';

class FakeSocket implements Socket {
  readonly sent: { id: number; open?: string; close?: true }[] = [];
  isClosed = false;
  onopen: (() => void) | null = null;
  onmessage: ((event: { readonly data: unknown }) => void) | null = null;
  onclose: (() => void) | null = null;
  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }
  close(): void {
    this.isClosed = true;
  }
  receive(message: object): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
}

function started() {
  const clock = new FakeClock();
  const sockets: FakeSocket[] = [];
  let lost = 0;
  const connection = new WatchConnection({
    clock,
    random: () => 1,
    connect: () => {
      const socket = new FakeSocket();
      sockets.push(socket);
      return socket;
    },
    onLost: () => lost++,
  });
  const events: WatchEvent[] = [];
  const ends: ApiError[] = [];
  const open = (path = '/api/v1/pods', resourceVersion = '5') =>
    connection.open({ path, resourceVersion, onEvents: (some) => events.push(...some), onEnd: (error) => ends.push(error) });
  return { clock, sockets, connection, events, ends, open, lostCount: () => lost };
}
const added = (name: string, resourceVersion: string) => ({ type: 'ADDED', object: { metadata: { name, resourceVersion } } });
const opened = (path: string, resourceVersion: string) => `${path}?watch=true&resourceVersion=${resourceVersion}&allowWatchBookmarks=true`;

test('all watches share one connection, which is made when the first is opened', () => {
  const { sockets, connection, open } = started();
  expect([sockets.length, connection.phase.value]).toEqual([0, 'disconnected']);
  open();
  open('/api/v1/nodes', '7');
  expect([sockets.length, connection.phase.value]).toEqual([1, 'connecting']);
  sockets[0]?.onopen?.();
  expect(connection.phase.value).toBe('connected');
  expect(sockets[0]?.sent).toEqual([
    { id: 1, open: opened('/api/v1/pods', '5') },
    { id: 2, open: opened('/api/v1/nodes', '7') },
  ]);
});

test('after a lost connection watches go on from their newest version', async () => {
  const { clock, sockets, connection, events, open, lostCount } = started();
  open();
  sockets[0]?.onopen?.();
  sockets[0]?.receive({ id: 1, status: 200 });
  sockets[0]?.receive({ id: 1, events: [added('a', '6'), { type: 'BOOKMARK', object: { metadata: { resourceVersion: '9' } } }] });
  sockets[0]?.onclose?.();
  expect([connection.phase.value, lostCount()]).toEqual(['disconnected', 1]);
  await clock.advance(499);
  expect(sockets.length).toBe(1);
  await clock.advance(1);
  sockets[1]?.onopen?.();
  expect(sockets[1]?.sent).toEqual([{ id: 1, open: opened('/api/v1/pods', '9') }]);
  expect(events.map(({ type }) => type)).toEqual(['ADDED', 'BOOKMARK']);
});

test('attempts to connect become rarer, up to every 30 seconds', async () => {
  const { clock, sockets, open } = started();
  open();
  const delays: number[] = [];
  while (delays.length < 9) {
    const attempts = sockets.length;
    const lostAt = clock.now();
    sockets.at(-1)?.onclose?.();
    while (sockets.length === attempts && clock.now() < lostAt + 60_000) await clock.advance(500);
    delays.push(clock.now() - lostAt);
  }
  expect(delays).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
});

test('the version of a table is that of the table or of its last row', async () => {
  const { clock, sockets, open } = started();
  open();
  sockets[0]?.onopen?.();
  const row = (resourceVersion: string) => ({ cells: [], object: { metadata: { resourceVersion } } });
  sockets[0]?.receive({ id: 1, events: [{ type: 'MODIFIED', object: { metadata: { resourceVersion: '' }, rows: [row('7'), row('8')] } }] });
  sockets[0]?.onclose?.();
  await clock.advance(500);
  sockets[1]?.onopen?.();
  expect(sockets[1]?.sent[0]?.open).toContain('resourceVersion=8&');
});

test('a watch that ended by its age is opened again; one whose history is gone ends', async () => {
  const { clock, sockets, ends, open } = started();
  open();
  sockets[0]?.onopen?.();
  sockets[0]?.receive({ id: 1, end: null });
  await clock.advance(500);
  expect(sockets[0]?.sent.map(({ open: path }) => path)).toEqual([opened('/api/v1/pods', '5'), opened('/api/v1/pods', '5')]);
  sockets[0]?.receive({ id: 1, end: { code: 410, reason: 'Expired', message: 'too old' } });
  expect(ends.map(({ code, message }) => [code, message])).toEqual([[410, 'too old']]);
  await clock.advance(60_000);
  expect(sockets[0]?.sent.length).toBe(2);
});

test('an ERROR event ends the watch, after the events before it', () => {
  const { sockets, events, ends, open } = started();
  open();
  sockets[0]?.onopen?.();
  sockets[0]?.receive({ id: 1, events: [added('a', '6'), { type: 'ERROR', object: { code: 410, message: 'too old' } }, added('b', '7')] });
  expect([events.length, ends.map(({ code }) => code)]).toEqual([1, [410]]);
  expect(sockets[0]?.sent.at(-1)).toEqual({ id: 1, close: true });
});

test('more watches than the gateway takes wait until one is closed', () => {
  const { sockets, open } = started();
  const closes = Array.from({ length: MAX_WATCHES + 1 }, () => open());
  sockets[0]?.onopen?.();
  expect(sockets[0]?.sent.length).toBe(MAX_WATCHES);
  closes[3]?.();
  expect(sockets[0]?.sent.slice(MAX_WATCHES).map(({ id, close }) => [id, close])).toEqual([
    [4, true],
    [MAX_WATCHES + 1, undefined],
  ]);
});

test('nothing is sent or received for a watch that was closed', async () => {
  const { clock, sockets, events, open } = started();
  const close = open();
  sockets[0]?.onopen?.();
  close();
  sockets[0]?.receive({ id: 1, events: [added('a', '6')] });
  sockets[0]?.onclose?.();
  await clock.advance(60_000);
  expect([events.length, sockets.length]).toEqual([0, 1]);
});
