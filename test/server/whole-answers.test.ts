/** No answer is cut short and no stream reset because the client named a short time, takes large answers slowly, or gives them up. */
import http2 from 'node:http2';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const authorization = 'Bearer admin-token';
/** A document of more than a megabyte. */
const large = '/openapi/v2';

/** A connection whose client takes nothing of any answer but its head until it opens its window. */
function stalled(): http2.ClientHttp2Session {
  return http2.connect(server.address, { rejectUnauthorized: false, settings: { initialWindowSize: 0 } });
}
const ping = (session: http2.ClientHttp2Session): Promise<void> =>
  new Promise((resolve, reject) => session.ping((error) => (error ? reject(error) : resolve())));
/** The status, when the head has come. */
const statusOf = (stream: http2.ClientHttp2Stream): Promise<number | undefined> =>
  new Promise((resolve, reject) => stream.once('error', reject).once('response', (head) => resolve(head[':status'])));
async function textOf(stream: http2.ClientHttp2Stream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe('a client that names a time', () => {
  test.each(['0', '0s', '-1s'])('timeout=%s is no limit of the client', async (time) => {
    for (const protocol of [{ http2: false }, { http2: true }]) {
      const client = server.client({ token: 'admin-token', ...protocol });
      expect(await client.get(`/api/v1/namespaces?timeout=${time}`)).toMatchObject({ status: 200, json: { kind: 'NamespaceList' } });
    }
  });

  test.each(['0', '-1s', '1ns', '1ms'])('timeout=%s: an answer that has begun is there to be taken whole', async (time) => {
    const session = stalled();
    const stream = session.request({ ':path': `/api/v1/namespaces?timeout=${time}`, authorization });
    const status = await statusOf(stream);
    const answer = textOf(stream);
    // The time is over by then; at worst this shows nothing.
    await new Promise((resolve) => setTimeout(resolve, 20));
    await ping(session);
    session.settings({ initialWindowSize: 1024 * 1024 });
    // A machine that is busy may take longer than a millisecond to begin.
    const kind = { 200: 'NamespaceList', 504: 'Status' }[status as 200 | 504];
    expect(JSON.parse(await answer)).toMatchObject({ kind });
    session.destroy();
  });
});

test('large answers that wait for their client do not have its other requests reset', async () => {
  const session = stalled();
  const waiting = Array.from({ length: 30 }, () => session.request({ ':path': large, authorization }));
  // All are awaited at once: several heads may come together.
  expect(await Promise.all(waiting.map(statusOf))).toEqual(waiting.map(() => 200));
  expect(await statusOf(session.request({ ':path': '/livez', authorization }))).toBe(200);
  session.settings({ initialWindowSize: 16 * 1024 * 1024 });
  session.setLocalWindowSize(64 * 1024 * 1024);
  const [first, ...others] = await Promise.all(waiting.map(textOf));
  expect(JSON.parse(first as string)).toMatchObject({ swagger: '2.0' });
  expect(others.every((text) => text === first)).toBe(true);
  session.destroy();
});

test('the same large answer comes whole over HTTP/1.1 and HTTP/2', async () => {
  const [one, two] = await Promise.all([false, true].map((http2) => server.client({ token: 'admin-token', http2 }).get(large)));
  expect(one?.text.length).toBeGreaterThan(1024 * 1024);
  expect(two?.text).toBe(one?.text);
});

test('a connection on which many answers were given up is closed in good order before its requests are reset', async () => {
  const session = stalled();
  session.on('error', () => {});
  const goaway = new Promise((resolve) => session.once('goaway', resolve));
  // More than 32 MiB in pieces of 256 KiB.
  for (let turn = 0; turn < 200 && !session.closed; turn++) {
    const stream = session.request({ ':path': large, authorization });
    const status = await statusOf(stream).catch(() => undefined);
    // Sent before the client read that the connection is closed: safe to send again.
    if (stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM) break;
    expect(status).toBe(200);
    const closed = new Promise((resolve) => stream.once('close', resolve));
    stream.close(http2.constants.NGHTTP2_CANCEL);
    await closed;
    // What the server says to that has come before the answer to a ping.
    await ping(session).catch(() => {});
  }
  expect(await goaway).toBe(http2.constants.NGHTTP2_NO_ERROR);
  session.destroy();
});
