/** Watchers that are many, or slow. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer, type Watch } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  // Watches come over connections; what they watch is written without.
  server = await startTestServer({ direct: true });
});
afterAll(() => server.close());
const connect = (http2: boolean) => server.client({ token: 'admin-token', direct: undefined, http2 });

test('watchers that do not read are let go, over HTTP/1.1 and HTTP/2; others notice nothing, and they may come back', async () => {
  const path = `/api/v1/namespaces/${await server.namespace()}/secrets`;
  const { admin } = server;
  const made = await admin.ok('POST', path, { metadata: { name: 'big' }, stringData: { value: 'x'.repeat(700_000) } });
  const from = (version: string): string => `${path}?watch=1&resourceVersion=${version}`;
  const open = (http2: boolean, version: string) => connect(http2).watch(from(version));
  const protocols = [false, true];
  const slow = await Promise.all(protocols.map((http2) => open(http2, made.metadata.resourceVersion)));
  const quick = await connect(false).watch(from(made.metadata.resourceVersion));
  for (const watch of slow) watch.pause();
  const rounds = 45;
  for (let n = 1; n <= rounds; n++) await admin.patch(`${path}/big`, { metadata: { labels: { n: String(n) } } });
  expect((await quick.take(rounds)).at(-1)?.object.metadata.labels.n).toBe(String(rounds));
  quick.close();
  for (const [i, watch] of slow.entries()) {
    watch.resume();
    expect([protocols[i], await watch.ended]).toEqual([protocols[i], 'broken']);
    expect(watch.events.length).toBeLessThan(rounds);
    const last = watch.events.at(-1)?.object.metadata.resourceVersion ?? made.metadata.resourceVersion;
    const again = await open(protocols[i] as boolean, last);
    expect((await again.next()).object.metadata.labels.n).toBe(String(watch.events.length + 1));
    again.close();
  }
});

test('one that does not even take the past has to begin again when too much has happened', async () => {
  const path = `/api/v1/namespaces/${await server.namespace()}/secrets`;
  const { admin } = server;
  const stringData = { value: 'x'.repeat(700_000) };
  await Promise.all(Array.from({ length: 20 }, (_, i) => admin.ok('POST', path, { metadata: { name: `s${i}` }, stringData })));
  const watch = await connect(false).watch(`${path}?watch=1`);
  watch.pause();
  for (let n = 0; n < 20; n++) await admin.patch(`${path}/s0`, { metadata: { labels: { n: String(n) } } });
  watch.resume();
  const events = await watch.rest();
  expect(events.at(-1)).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
  expect(events.slice(0, -1).every((event) => event.type === 'ADDED')).toBe(true);
  expect(await watch.ended).toBe('end');
});

test('hundreds of idle watches on a few connections each get their event', async () => {
  const path = `/api/v1/namespaces/${await server.namespace()}/configmaps`;
  const EACH = 150;
  const clients = Array.from({ length: 4 }, () => connect(true));
  const watches: Watch[] = [];
  for (const client of clients)
    watches.push(
      ...(await Promise.all(
        Array.from({ length: EACH }, () => client.watch(`${path}?watch=1&resourceVersion=0&fieldSelector=metadata.name%3Done`)),
      )),
    );
  const { resourceVersion } = (await server.admin.ok('POST', path, { metadata: { name: 'one' } })).metadata;
  const versions = await Promise.all(watches.map(async (watch) => (await watch.next()).object.metadata.resourceVersion));
  expect(new Set(versions)).toEqual(new Set([resourceVersion]));
  expect(versions.length).toBe(4 * EACH);
  for (const client of clients) client.close();
});
