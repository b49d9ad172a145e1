import type { TextBytes } from '@plat-dev/lib/text-bytes';
import { expect, test } from 'vitest';
import { EventStream, MAX_UNREAD_EVENTS } from './event-stream.ts';

test('a watch whose events nobody takes ends at its bound', async () => {
  let send: (chunk: TextBytes) => void = () => {};
  let closed = 0;
  const watch = new EventStream({
    http: {
      request: () => Promise.reject(new Error('not asked')),
      stream: async (_, sink) => {
        send = sink.data;
        return { close: () => void closed++ };
      },
    },
    path: async () => '/',
    keepAlive: { hold: () => () => {} },
    headers: {},
    ended: () => {},
  });
  await watch.ready;
  const event = Buffer.from('{"type":"ADDED","object":{}}\n');
  for (let i = 0; i < MAX_UNREAD_EVENTS; i++) send(event);
  expect(closed).toBe(0);
  send(event);
  expect(closed).toBe(1);
  for (let i = 0; i < MAX_UNREAD_EVENTS; i++) await watch.next();
  await expect(watch.next()).rejects.toThrow('events were not read');
});
