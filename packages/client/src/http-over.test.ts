import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { httpOver } from './http-over.ts';

test('a stream whose connection is lost before anybody listens has ended', async () => {
  const body = Readable.from([]);
  body.destroy();
  await new Promise((resolve) => body.once('close', resolve));
  let ends = 0;
  const http = httpOver({ open: async () => ({ status: 200, headers: {}, body }) });
  await http.stream({ path: '/', headers: {} }, { data: () => {}, end: () => void ends++ });
  expect(ends).toBe(1);
});
