import { once } from 'node:events';
import http2 from 'node:http2';
import { afterAll, beforeAll, test } from 'vitest';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

/** Watches of config maps that are open, as the server counts them. */
async function openWatches(): Promise<number> {
  const { text } = await server.admin.get('/metrics');
  const line = text
    .split('\n')
    .find((one) => one.startsWith('apiserver_longrunning_requests{') && one.includes('resource="configmaps",scope="namespace"'));
  return Number(line?.split(' ').at(-1) ?? 0);
}
async function until(wanted: number): Promise<void> {
  while ((await openWatches()) !== wanted) await new Promise((resolve) => setImmediate(resolve));
}

test.each([
  ['without an error', http2.constants.NGHTTP2_NO_ERROR],
  ['as cancelled', http2.constants.NGHTTP2_CANCEL],
])('a watch over HTTP/2 that its client resets %s ends, though data waits for it', async (_, code) => {
  // The client takes a few bytes and then nothing: what the server sends waits.
  const session = http2.connect(server.address, { rejectUnauthorized: false, settings: { initialWindowSize: 100 } });
  const headers = { authorization: 'Bearer admin-token', ':path': '/api/v1/namespaces/default/configmaps?watch=1' };
  const streams = Array.from({ length: 5 }, () => session.request(headers));
  for (const stream of streams) stream.on('error', () => {});
  await Promise.all(streams.map((stream) => once(stream, 'response')));
  await until(5);
  for (let i = 0; i < 3; i++)
    await server.admin.ok('POST', '/api/v1/namespaces/default/configmaps', {
      metadata: { generateName: 'x' },
      data: { a: 'y'.repeat(10_000) },
    });
  for (const stream of streams) stream.close(code);
  await until(0);
  session.destroy();
});
