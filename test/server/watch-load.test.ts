/** Watchers that are many, or slow. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer, type TestServer, type Watch } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

describe.each([{ http2: false }, { http2: true }])('over HTTP/2: $http2', (protocol) => {
  test('a watcher that does not read is let go; others notice nothing, and it may come back', async () => {
    const path = `/api/v1/namespaces/${await server.namespace()}/secrets`;
    const { admin } = server;
    const made = await admin.ok('POST', path, { metadata: { name: 'big' }, stringData: { value: 'x'.repeat(700_000) } });
    const from = `${path}?watch=1&resourceVersion=${made.metadata.resourceVersion}`;
    const slow = await server.client({ token: 'admin-token', ...protocol }).watch(from);
    const quick = await admin.clone().watch(from);
    slow.pause();
    const rounds = 45;
    for (let n = 1; n <= rounds; n++) await admin.patch(`${path}/big`, { metadata: { labels: { n: String(n) } } });
    expect((await quick.take(rounds)).at(-1)?.object.metadata.labels.n).toBe(String(rounds));
    quick.close();
    slow.resume();
    expect(await slow.ended).toBe('broken');
    expect(slow.events.length).toBeLessThan(rounds);
    const last = slow.events.at(-1)?.object.metadata.resourceVersion ?? made.metadata.resourceVersion;
    const again = await server.client({ token: 'admin-token', ...protocol }).watch(`${path}?watch=1&resourceVersion=${last}`);
    expect((await again.take(rounds - slow.events.length)).at(-1)?.object.metadata.labels.n).toBe(String(rounds));
    again.close();
  });
});

test('one that does not even take the past is told to begin again when too much has happened', async () => {
  const path = `/api/v1/namespaces/${await server.namespace()}/secrets`;
  const { admin } = server;
  const stringData = { value: 'x'.repeat(700_000) };
  await Promise.all(Array.from({ length: 20 }, (_, i) => admin.ok('POST', path, { metadata: { name: `s${i}` }, stringData })));
  const watch = await admin.clone().watch(`${path}?watch=1`);
  watch.pause();
  for (let n = 0; n < 20; n++) await admin.patch(`${path}/s0`, { metadata: { labels: { n: String(n) } } });
  watch.resume();
  const events = await watch.rest();
  expect(events.at(-1)).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
  expect(events.slice(0, -1).every((event) => event.type === 'ADDED')).toBe(true);
  expect(await watch.ended).toBe('end');
});

test('two thousand idle watches cost little, and each gets its event', async () => {
  const path = `/api/v1/namespaces/${await server.namespace()}/configmaps`;
  const before = process.memoryUsage();
  const clients = Array.from({ length: 4 }, () => server.client({ token: 'admin-token', http2: true }));
  const watches: Watch[] = [];
  for (const client of clients)
    watches.push(
      ...(await Promise.all(
        Array.from({ length: 500 }, () => client.watch(`${path}?watch=1&resourceVersion=0&fieldSelector=metadata.name%3Done`)),
      )),
    );
  const after = process.memoryUsage();
  const { resourceVersion } = (await server.admin.ok('POST', path, { metadata: { name: 'one' } })).metadata;
  const versions = await Promise.all(watches.map(async (watch) => (await watch.next()).object.metadata.resourceVersion));
  expect(new Set(versions)).toEqual(new Set([resourceVersion]));
  expect(versions.length).toBe(2000);
  console.info(`2000 watches, both ends in this process: ${((after.rss - before.rss) / 2000 / 1024).toFixed(1)} KiB resident each`);
  for (const client of clients) client.close();
});
