import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BOOKMARK_BEFORE_END_MS } from '../../packages/server/src/verbs/watch.ts';
import { HeldWaits } from '../support/held-waits.ts';
import { type Loose, startTestServer, summary, type TestServer, unique } from '../support/server.ts';

/** Watches of so many seconds end when a test has seen what must come before. */
const [MARKED_SECONDS, PLAIN_SECONDS] = [3_603, 3_602];
const BOOKMARK_MS = MARKED_SECONDS * 1000 - BOOKMARK_BEFORE_END_MS;
const held = new HeldWaits(MARKED_SECONDS * 1000, BOOKMARK_MS, PLAIN_SECONDS * 1000);

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes', clock: held.clock });
});
afterAll(() => server.close());
const secrets = async (): Promise<string> => `/api/v1/namespaces/${await server.namespace()}/secrets`;
const text = (value: string): Loose => ({ stringData: { value } });

describe('selectors', () => {
  test('an object that begins to match is added, one that stops is deleted with its last matching state', async () => {
    const path = await secrets();
    const { admin } = server;
    const watch = await admin.watch(`${path}?watch=1&labelSelector=color%3Dred`);
    await admin.ok('POST', path, { metadata: { name: 'a', labels: { color: 'blue' } } });
    await admin.patch(`${path}/a`, { metadata: { labels: { color: 'red' } } });
    await admin.patch(`${path}/a`, { metadata: { annotations: { n: '1' } } });
    const left = (await admin.patch(`${path}/a`, { metadata: { labels: { color: 'green' } } })).json;
    await admin.patch(`${path}/a`, { metadata: { annotations: { n: '2' } } });
    await admin.patch(`${path}/a`, { metadata: { labels: { color: 'red' } } });
    await admin.ok('DELETE', `${path}/a`);
    const events = await watch.take(5);
    expect(events.map(summary)).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED a', 'DELETED a']);
    const gone = events[2]?.object.metadata;
    expect(gone.labels).toEqual({ color: 'red' });
    expect(gone.resourceVersion).toBe(left.metadata.resourceVersion);
    watch.close();
  });

  test('a field that changes counts the same', async () => {
    const ns = await server.namespace();
    const path = `/api/v1/namespaces/${ns}/pods`;
    const { admin } = server;
    const watch = await admin.watch(`${path}?watch=1&fieldSelector=status.phase%3DRunning,spec.nodeName%3Dn1`);
    await admin.ok('POST', path, { metadata: { name: 'p' }, spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] } });
    const status = (phase: string) => admin.patch(`${path}/p/status`, { status: { phase } });
    await status('Running');
    await status('Succeeded');
    expect((await watch.take(2)).map((event) => `${summary(event)} ${event.object.status.phase}`)).toEqual([
      'ADDED p Running',
      'DELETED p Running',
    ]);
    watch.close();
  });

  test('a watch of one name sees that object only', async () => {
    const path = await secrets();
    const watch = await server.admin.watch(`${path}?watch=1&fieldSelector=metadata.name%3Db`);
    for (const name of ['a', 'b', 'c']) await server.admin.ok('POST', path, { metadata: { name } });
    await server.admin.ok('DELETE', path);
    expect((await watch.take(2)).map(summary)).toEqual(['ADDED b', 'DELETED b']);
    watch.close();
  });
});

describe('the end of a watch', () => {
  test('timeoutSeconds ends it cleanly, after a bookmark where those were asked for', async () => {
    const path = await secrets();
    const [marked, plain] = await Promise.all([
      server.admin.watch(`${path}?watch=1&allowWatchBookmarks=true&timeoutSeconds=${MARKED_SECONDS}`),
      server.admin.watch(`${path}?watch=1&timeoutSeconds=${PLAIN_SECONDS}`),
    ]);
    const made = await server.admin.ok('POST', path, { metadata: { name: 'a' } });
    const other = await server.admin.ok('POST', await secrets(), { metadata: { name: 'elsewhere' } });
    expect(summary(await plain.next())).toBe('ADDED a');
    await held.end(PLAIN_SECONDS * 1000);
    expect(await plain.rest()).toEqual([]);
    expect(await plain.ended).toBe('end');
    const events = await marked.take(1);
    await held.end(BOOKMARK_MS);
    events.push(...(await marked.take(1)));
    await held.end(MARKED_SECONDS * 1000);
    expect(await marked.rest()).toEqual([]);
    expect(await marked.ended).toBe('end');
    expect(events.map((event) => event.type)).toEqual(['ADDED', 'BOOKMARK']);
    const bookmark = events[1]?.object;
    expect(bookmark).toEqual({
      kind: 'Secret',
      apiVersion: 'v1',
      metadata: { resourceVersion: expect.stringMatching(/^\d+$/), creationTimestamp: null },
    });
    // It stands for all that was written, in other collections too, so that resuming costs nothing.
    expect(Number(bookmark.metadata.resourceVersion)).toBeGreaterThanOrEqual(Number(other.metadata.resourceVersion));
    expect(Number(bookmark.metadata.resourceVersion)).toBeGreaterThan(Number(made.metadata.resourceVersion));
  });

  test.each(['0', '99999999999', ''])('timeoutSeconds=%s is no end that a client would meet', async (seconds) => {
    const path = await secrets();
    const watch = await server.admin.watch(`${path}?watch=1&timeoutSeconds=${seconds}`);
    // Were it taken for an end that has come, the stream would be over before the answer to this.
    await server.admin.ok('POST', path, { metadata: { name: 'a' } });
    expect(summary(await watch.next())).toBe('ADDED a');
    watch.close();
  });

  test('a watch resumes where it was, without loss or repetition', async () => {
    const path = await secrets();
    const { admin } = server;
    const start = (await admin.ok('GET', path)).metadata.resourceVersion;
    const seen: string[] = [];
    let version = start;
    for (let round = 0; round < 4; round++) {
      const watch = await admin.watch(`${path}?watch=1&resourceVersion=${version}`);
      await Promise.all([0, 1, 2].map((i) => admin.ok('POST', path, { metadata: { name: `r${round}-${i}` } })));
      for (const event of await watch.take(2)) {
        seen.push(event.object.metadata.name);
        version = event.object.metadata.resourceVersion;
      }
      watch.close();
    }
    const last = await admin.watch(`${path}?watch=1&resourceVersion=${version}`);
    seen.push(...(await last.take(4)).map((event) => event.object.metadata.name));
    last.close();
    expect(seen.length).toBe(12);
    expect(new Set(seen).size).toBe(12);
  });
});

describe('the past', () => {
  test('more changes than are kept in memory come from the history of the store, in order', async () => {
    const path = await secrets();
    const { admin } = server;
    const objects = Array.from({ length: 16 }, (_, i) => `a${i}`);
    for (const name of objects) await admin.ok('POST', path, { metadata: { name, labels: { n: '0' } } });
    const start = (await admin.ok('GET', path)).metadata.resourceVersion;
    // Written to the store itself: as requests these would take longer than all other tests of this file.
    const total = 2300;
    const { entries } = await server.engine.range({ prefix: `core/secrets/${path.split('/').at(-2)}/` });
    for (let n = 1; n <= total; n++) {
      const { key, value } = entries[n % entries.length] as (typeof entries)[number];
      const changed = value.toString('latin1').replace('"labels":{"n":"0"}', `"labels":{"n":"${n}"}`);
      await server.engine.commit([{ type: 'put', key, value: Buffer.from(changed, 'latin1') }]);
    }
    const watch = await admin.watch(`${path}?watch=1&resourceVersion=${start}`);
    const events = await watch.take(total);
    const versions = events.map((event) => Number(event.object.metadata.resourceVersion));
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
    expect(new Set(versions).size).toBe(total);
    expect(events.every((event) => event.type === 'MODIFIED')).toBe(true);
    await admin.ok('DELETE', `${path}/a0`);
    expect(summary(await watch.next())).toBe('DELETED a0');
    watch.close();
    const selected = await admin.watch(`${path}?watch=1&resourceVersion=${start}&labelSelector=n%3D7`);
    expect((await selected.take(2)).map((event) => `${event.type} ${event.object.metadata.labels.n}`)).toEqual(['ADDED 7', 'DELETED 7']);
    selected.close();
  });

  test('a large state is sent as the client takes it, and changes meanwhile come after it', async () => {
    const path = await secrets();
    const { admin } = server;
    const big = 'x'.repeat(700_000);
    const names = Array.from({ length: 14 }, (_, i) => `big-${String(i).padStart(2, '0')}`);
    await Promise.all(names.map((name) => admin.ok('POST', path, { metadata: { name }, ...text(big) })));
    const watch = await admin.clone().watch(`${path}?watch=1`);
    watch.pause();
    await admin.patch(`${path}/big-00`, { metadata: { labels: { changed: '' } } });
    await admin.ok('DELETE', `${path}/big-13`);
    watch.resume();
    const events = await watch.until((event) => event.type === 'DELETED');
    expect(events.map(summary)).toEqual([...names.map((name) => `ADDED ${name}`), 'MODIFIED big-00', 'DELETED big-13']);
    watch.close();
  });
});

test('every watcher of a collection sees the same events in the same order', async () => {
  const path = await secrets();
  const watches = await Promise.all(Array.from({ length: 20 }, () => server.admin.watch(`${path}?watch=1`)));
  const names = Array.from({ length: 30 }, () => unique('s'));
  await Promise.all(names.map((name) => server.admin.ok('POST', path, { metadata: { name } })));
  const seen = await Promise.all(watches.map((watch) => watch.take(names.length)));
  const first = seen[0]?.map(summary) ?? [];
  expect([...first].sort()).toEqual(names.map((name) => `ADDED ${name}`).sort());
  for (const events of seen) expect(events.map(summary)).toEqual(first);
  for (const watch of watches) watch.close();
});
