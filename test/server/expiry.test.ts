/** What is asked of a past that is no longer kept: 410, and how a client goes on. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FakeClock } from '../../packages/lib/src/clock.ts';
import { type Loose, startTestServer, summary, type TestServer } from '../support/server.ts';
import { onStores } from '../support/stores.ts';

const names = (list: Loose): string[] => list.items.map((item: Loose) => item.metadata.name);

onStores(['memory', 'lmdb', 'etcd'], {}, (server) => {
  /** A list begun and a version seen, both before the store forgot. */
  let path: string;
  let first: Loose;
  beforeAll(async () => {
    const { admin, engine } = server();
    path = `/api/v1/namespaces/${await server().namespace()}/secrets`;
    for (const name of ['a', 'b', 'c']) await admin.ok('POST', path, { metadata: { name } });
    first = await admin.ok('GET', `${path}?limit=1`);
    await admin.ok('DELETE', `${path}/c`);
    await admin.ok('POST', path, { metadata: { name: 'd' } });
    await engine.compact(await engine.currentRevision());
  });

  test('a continue token: 410 with another that goes on inconsistently', async () => {
    const { admin } = server();
    const gone = await admin.get(`${path}?limit=1&continue=${first.metadata.continue}`);
    expect(gone.status).toBe(410);
    expect(gone.json).toMatchObject({ reason: 'Expired', message: expect.stringContaining('The provided continue parameter is too old') });
    const token = gone.json.metadata.continue;
    const second = await admin.ok('GET', `${path}?limit=1&continue=${token}`);
    expect(names(second)).toEqual(['b']);
    expect(Number(second.metadata.resourceVersion)).toBeGreaterThan(Number(first.metadata.resourceVersion));
    const third = await admin.ok('GET', `${path}?limit=5&continue=${second.metadata.continue}`);
    expect(names(third)).toEqual(['d']);
  });

  test('an exact version: 410', async () => {
    const version = first.metadata.resourceVersion;
    const messages = {
      [`resourceVersion=${version}&resourceVersionMatch=Exact`]: 'Values of earlier versions of secrets are not kept: see --history-rules.',
      [`resourceVersion=${version}&limit=2`]: 'The resourceVersion for the provided list is too old.',
    };
    for (const [query, message] of Object.entries(messages)) {
      const gone = await server().admin.get(`${path}?${query}`);
      expect(gone.json).toMatchObject({ code: 410, reason: 'Expired', message });
    }
    expect((await server().admin.get(`${path}?resourceVersion=${version}&resourceVersionMatch=NotOlderThan`)).status).toBe(200);
  });

  test('a watch: an ERROR event, and the end', async () => {
    // A server that was there from the beginning remembers more than a shared store does; one that came later does not.
    const asked = server().engine.exclusive ? server() : await server().peer();
    const watch = await asked.admin.watch(`${path}?watch=1&resourceVersion=1`);
    const [event] = await watch.rest();
    expect(event).toMatchObject({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
    expect(event?.object.message).toMatch(/^too old resource version: 1 \(\d+\)$/);
    expect(await watch.ended).toBe('end');
    if (asked !== server()) await asked.close();
  });
});

describe('--history-retention', () => {
  let server: TestServer;
  const clock = new FakeClock(Date.now());
  beforeAll(async () => {
    server = await startTestServer({ store: 'lmdb', historyRetention: 60_000, storeClock: clock, clock, direct: true });
  });
  afterAll(() => server.close());

  test('versions are kept that long, and no longer', async () => {
    const { admin } = server;
    const path = `/api/v1/namespaces/${await server.namespace()}/secrets`;
    await admin.ok('POST', path, { metadata: { name: 'a' } });
    const { resourceVersion } = (await admin.ok('GET', path)).metadata;
    await admin.ok('DELETE', `${path}/a`);
    const exact = () => admin.get(`${path}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`);
    await clock.advance(50_000);
    expect(names((await exact()).json)).toEqual(['a']);
    await admin.ok('POST', path, { metadata: { name: 'b' } });
    await clock.advance(120_000);
    while (server.engine.compacted <= Number(resourceVersion)) await clock.advance(1_000);
    expect((await exact()).status).toBe(410);
    expect(names(await admin.ok('GET', path))).toEqual(['b']);
  });

  test('a watch that resumes after a restart gets what is kept, or Expired', async () => {
    const { admin } = server;
    const path = `/api/v1/namespaces/${await server.namespace()}/secrets`;
    await admin.ok('POST', path, { metadata: { name: 'old' } });
    const old = (await admin.ok('GET', path)).metadata.resourceVersion;
    await admin.ok('POST', path, { metadata: { name: 'older' } });
    const kept = (await admin.ok('GET', path)).metadata.resourceVersion;
    await server.engine.compact(Number(kept));
    await admin.ok('POST', path, { metadata: { name: 'new' } });
    server = await server.restart();
    const good = await server.admin.watch(`${path}?watch=1&resourceVersion=${kept}`);
    expect(summary(await good.next())).toBe('ADDED new');
    const bad = await server.admin.watch(`${path}?watch=1&resourceVersion=${old}`);
    expect(await bad.next()).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
    expect(await bad.ended).toBe('end');
    good.close();
  });
});
