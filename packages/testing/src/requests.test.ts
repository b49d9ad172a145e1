/** What a server has seen, for assertions. */

import { FakeClock } from '@plat-dev/lib/clock';
import { groupName } from '@plat-dev/meta/identity';
import { openMemoryEngine } from '@plat-dev/storage/engines/memory';
import { storedValue } from '@plat-dev/storage/item';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { MOST_BYTES, MOST_CHANGES, MOST_FIELD_CHARACTERS, MOST_REQUESTS, type ObjectChange, RequestLog } from './requests.ts';
import { startTestServer } from './server.ts';
import type { TestServer } from './test-server.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const map = (name: string, value = 'a') => ({ metadata: { name }, data: { value } });
let server: TestServer;
beforeEach(async () => {
  server = await startTestServer({ clock: '2026-01-01T00:00:00Z' });
});
afterEach(() => server.close());

test('a request is listed with who asked for what, its answer and what it changed', async () => {
  await server.request('POST', maps, { body: map('one') });
  await server.clock.advance('10s');
  await server.request('PUT', `${maps}/one?dryRun=All`, { body: map('one', 'dry') });
  await server.request('PUT', `${maps}/one`, { body: map('one', 'b') });
  await server.request('GET', `${maps}/one`, { user: 'alice', groups: ['gardeners'] });
  expect(server.requests.length).toBe(4);
  expect([...server.requests].map(({ verb, code }) => `${verb} ${code}`)).toEqual(['create 201', 'update 200', 'update 200', 'get 403']);
  const [dry, update] = server.requests.filter({ verb: 'update', resource: 'configmaps', namespace: 'default', name: 'one' });
  expect(dry).toMatchObject({ dryRun: true, changed: [] });
  expect(update).toMatchObject({ dryRun: false, user: 'admin', method: 'PUT', path: `${maps}/one`, changed: ['data.value'] });
  expect(update?.time).toEqual(new Date('2026-01-01T00:00:10Z'));
  expect(server.requests.find({ code: 403 })).toMatchObject({ user: 'alice', groups: expect.arrayContaining(['gardeners']) });
  expect(server.requests.find((request) => request.verb === 'delete')).toBeUndefined();
  expect(server.requests.find({ verb: 'create' })?.changed).toContain('data.value');
  server.requests.clear();
  expect([...server.requests]).toEqual([]);
});

test('a watch is listed as soon as it is there', async () => {
  const response = await server.fetch(`${maps}?watch=true`);
  expect(server.requests.find({ verb: 'watch', resource: 'configmaps' })).toMatchObject({ code: 200 });
  await response.body?.cancel();
});

test('the list is bounded: the oldest requests are forgotten', async () => {
  const log = server.requests as unknown as { requests: unknown[] };
  await server.request('GET', '/version');
  log.requests = Array.from({ length: MOST_REQUESTS }, () => [...server.requests][0]);
  await server.request('GET', '/api');
  expect(server.requests.length).toBeLessThanOrEqual(MOST_REQUESTS);
  expect([...server.requests].at(-1)?.path).toBe('/api');
});

test('the history of an object says who changed what, and tells it apart from one of the same name', async () => {
  const made = await server.request('POST', maps, { body: map('one') });
  await server.request('PATCH', `${maps}/one`, {
    user: 'alice',
    groups: ['system:masters'],
    headers: { 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify({ data: { value: 'b' }, metadata: { labels: { 'a.b/c': 'd' } } }),
  });
  await server.request('DELETE', `${maps}/one`);
  await server.request('POST', maps, { body: map('one') });
  const object = made.body as { kind: string; metadata: { name: string; namespace: string; uid: string } };
  const history = server.history(object);
  expect(history.map(({ type, user, verb }) => [type, user, verb])).toEqual([
    ['created', 'admin', 'create'],
    ['changed', 'alice', 'patch'],
    ['deleted', 'admin', 'delete'],
  ]);
  expect([...(history[1]?.fields ?? [])].sort()).toEqual(['data.value', 'metadata.labels["a.b/c"]']);
  expect(history[1]?.before).toMatchObject({ data: { value: 'a' } });
  expect(history[1]?.after).toMatchObject({ data: { value: 'b' } });
  expect(server.history({ kind: 'ConfigMap', metadata: { name: 'one' } })).toHaveLength(4);
  expect(server.history({ kind: 'Secret', metadata: { name: 'one' } })).toEqual([]);
});

test('what the server does itself because of a request is not laid to the request', async () => {
  const path = `/apis/${groupName(server.identity, 'apiextensions')}/v1/customresourcedefinitions`;
  const name = 'lamps.garden.example';
  await server.request('POST', path, {
    body: {
      metadata: { name },
      spec: {
        group: 'garden.example',
        scope: 'Cluster',
        names: { plural: 'lamps', kind: 'Lamp' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    },
  });
  await server.settled();
  const [made, ...rest] = server.history({ kind: 'CustomResourceDefinition', metadata: { name } });
  expect(made).toMatchObject({ type: 'created', user: 'admin' });
  expect(rest.length).toBeGreaterThan(0);
  for (const change of rest) expect(change).toMatchObject({ type: 'changed', user: undefined });
});

test('a fork begins with a list of its own', async () => {
  await server.request('POST', maps, { body: map('one') });
  await using fork = await (await server.snapshot()).fork();
  expect(fork.requests.length).toBe(0);
  await fork.request('PUT', `${maps}/one`, { body: map('one', 'b') });
  expect(fork.history({ kind: 'ConfigMap', metadata: { name: 'one' } }).map(({ type, fields }) => [type, fields])).toEqual([
    ['changed', ['data.value']],
  ]);
  expect(server.requests.find({ verb: 'update' })).toBeUndefined();
});

test.each([
  ['in number', MOST_CHANGES + 1, 10, MOST_CHANGES],
  ['in bytes', 70, 1024 * 1024, 64],
])('remembered writes are bounded %s: the oldest are forgotten', async (_, writes, size, most) => {
  const clock = new FakeClock();
  const engine = openMemoryEngine({ clock });
  const log = new RequestLog();
  const end = log.follow(engine, clock);
  for (let i = 0; i < writes; i++) {
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'one', uid: 'u' },
      data: { at: String(i), more: 'x'.repeat(size) },
    };
    await engine.commit([{ type: 'put', key: 'core/configmaps/default/one', value: storedValue(JSON.stringify(object), 'u') }]);
  }
  const history = log.history({ kind: 'ConfigMap', metadata: { name: 'one' } });
  expect(history.length).toBeLessThanOrEqual(most);
  expect(history.at(-1)?.resourceVersion).toBe(String(writes));
  expect(MOST_BYTES).toBe(64 * 1024 * 1024);
  end();
  await engine.close();
});

test('requests hold no objects beyond that bound, and still say what they changed', async () => {
  const big = (value: string) => map('one', value.repeat(1_000_000));
  await server.request('POST', maps, { body: big('z') });
  const long = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`${i}-${'k'.repeat(200)}`, 'a']));
  await server.request('PUT', `${maps}/one`, { body: { ...map('one'), data: { ...long, value: 'z'.repeat(900_000) } } });
  // Each write is of an object of a megabyte, and remembers one of a megabyte.
  for (let i = 0; i < 36; i++) await server.request('PUT', `${maps}/one`, { body: big(i % 2 === 0 ? 'a' : 'b') });
  const seen = server.requests.filter({ verb: ['create', 'update'] });
  expect(seen).toHaveLength(38);
  const held = new Set(
    seen
      .flatMap((request) => (request as unknown as { writes: { before?: Buffer; after?: Buffer }[] }).writes)
      .flatMap((one) => [one.before, one.after]),
  );
  let bytes = 0;
  for (const buffer of held) bytes += buffer?.length ?? 0;
  expect(bytes).toBeLessThanOrEqual(MOST_BYTES / 2 + 2_000_000);
  const [, shortened, , forgotten] = seen;
  expect(forgotten?.changed).toEqual(['data.value']);
  expect(seen.at(-1)?.changed).toEqual(['data.value']);
  expect(shortened?.changed.at(-1)).toMatch(/^\(\d+ more\)$/);
  expect(shortened?.changed.join('').length).toBeLessThanOrEqual(MOST_FIELD_CHARACTERS + 20);
});

test('whoever changes what the history hands out changes nothing of it', async () => {
  await server.request('POST', maps, { body: map('one') });
  const object = { kind: 'ConfigMap', metadata: { name: 'one' } };
  const change = server.history(object)[0] as ObjectChange;
  (change.after as { data: Record<string, string> }).data.value = 'other';
  (change.fields as string[]).length = 0;
  change.time.setTime(0);
  expect(server.history(object)[0]).toMatchObject({ after: { data: { value: 'a' } }, time: new Date('2026-01-01T00:00:00Z') });
  expect(server.history(object)[0]?.fields).toContain('data.value');
});
