/** Test servers leave nothing behind, whatever their clients still had open; and they bring large answers over whole. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { readdirSync } from 'node:fs';
import { afterAll, expect, test, vi } from 'vitest';
import { startTestServer } from '../../packages/testing/src/server.ts';
import { LeftOpen } from './left-open.ts';

const left = new LeftOpen();
afterAll(() => left.stop());

test('servers that are closed with watches, informers and waits open leave no timer, socket or file', async () => {
  const files = readdirSync(process.cwd());
  for (const listen of [false, true, false]) {
    const server = await startTestServer({ controllers: true, listen });
    const client = server.client();
    const watch = client.core.v1.namespaces().watch();
    const informer = client.core.v1.namespaces().informer();
    await Promise.all([watch.ready, informer.synced]);
    const { metadata } = await client.core.v1.namespaces().get('default');
    const goal = { apiVersion: 'v1', kind: 'Namespace', metadata };
    const never = client.waitFor(goal, 'Never', { timeout: '24h' }).catch((error: unknown) => error);
    const response = await server.fetch('/api/v1/namespaces?watch=true');
    await server.close();
    expect(String(await never)).toContain('the server was closed during the wait');
    await response.text().catch(() => '');
    const rest = [];
    for await (const event of watch) rest.push(event.type);
    expect(new Set(rest)).toEqual(new Set(['ADDED']));
  }
  expect(await left.list()).toEqual([]);
  expect(readdirSync(process.cwd())).toEqual(files);
});

test('copies of a server leave nothing behind, whether the first one still runs or not', async () => {
  const server = await startTestServer({ controllers: true, clock: 'fake' });
  const snapshot = await server.snapshot();
  const early = await Promise.all([snapshot.fork(), snapshot.fork({ listen: true })]);
  for (const fork of early) await fork.client().core.v1.namespaces().watch().ready;
  await server.reset(snapshot);
  await server.close();
  const late = await snapshot.fork();
  await late
    .client()
    .core.v1.namespaces()
    .create({ metadata: { name: 'late' } });
  await Promise.all([...early, late].map((fork) => fork.close()));
  expect(await left.list()).toEqual([]);
});

test('servers that were open before do not slow down what comes after: all share one storage of asynchronous work, which ends with the last of them', async () => {
  const used = vi.spyOn(AsyncLocalStorage.prototype, 'run');
  const disabled = vi.spyOn(AsyncLocalStorage.prototype, 'disable');
  const serve = async (): Promise<void> => {
    const server = await startTestServer();
    await server.request('GET', '/api/v1/namespaces');
    await server.close();
  };
  const longest = await startTestServer();
  for (let i = 0; i < 5; i++) await serve();
  expect(disabled).not.toHaveBeenCalled();
  await longest.close();
  const storages = new Set(used.mock.contexts);
  expect(storages.size).toBe(1);
  expect(disabled.mock.contexts).toEqual([...storages]);
  // A start that fails leaves nothing switched on, either.
  await expect(startTestServer({ server: { authorizationMode: ['Nonsense' as never] } })).rejects.toThrow();
  await serve();
  expect(disabled.mock.contexts.at(-1)).toBe(used.mock.contexts.at(-1));
  expect(disabled).toHaveBeenCalledTimes(3);
});

test('a start whose objects cannot be made ends the server', async () => {
  await expect(startTestServer({ objects: { apiVersion: 'v1', kind: 'NoSuchKind' } })).rejects.toThrow('NoSuchKind');
  expect(await left.list()).toEqual([]);
});

test('a list that is sent in slices comes whole, however it is read', async () => {
  await using server = await startTestServer();
  const maps = server.client().core.v1.configmaps('default');
  const names = Array.from({ length: 400 }, (_, i) => `m${1000 + i}`);
  // Each with bytes of its own: a slice that were filled again too early would show another's.
  for (const name of names) await maps.create({ metadata: { name }, data: { text: name.repeat(2000) } });
  const check = (items: { metadata: { name: string }; data: { text: string } }[]): void => {
    expect(items.map(({ metadata }) => metadata.name)).toEqual(names);
    for (const { metadata, data } of items) if (data.text !== metadata.name.repeat(2000)) expect.fail(`${metadata.name} has other bytes`);
  };
  const path = '/api/v1/namespaces/default/configmaps';
  check(((await server.request('GET', path)).body as { items: never[] }).items);
  check((await maps.list()).items as never[]);
  const response = await server.fetch(path);
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    await new Promise((resolve) => setImmediate(resolve));
  }
  check(JSON.parse(Buffer.concat(chunks).toString()).items);
});
