import { jsonText } from '@plat-dev/lib/json-text';
import { isTurnUsed, SLICE_MILLIS, SLICED_FROM } from '@plat-dev/lib/slices';
import { heldWorkTime, turnsOf } from '@plat-dev/lib/slices.testing';
import { expect, test, vi } from 'vitest';
import { Client, pathOf } from './dynamic.ts';
import type { Http, HttpRequest } from './http.ts';

const accounts = { group: '', version: 'v1', name: 'serviceaccounts', namespaced: true };
const nodes = { group: '', version: 'v1', name: 'nodes', namespaced: false };

function recorder(): { client: Client; asked: HttpRequest[] } {
  const asked: HttpRequest[] = [];
  const http: Http = {
    request: async (request) => {
      asked.push(request);
      return { status: 200, body: Buffer.from('{"metadata":{"name":"x"}}') };
    },
    stream: async () => ({ close() {} }),
  };
  return { client: new Client(http, { userAgent: 'test', metadataGroup: 'meta' }), asked };
}

const workTime = heldWorkTime();

// Names that users write into references of their own objects, such as owners and accounts of tokens.
const led = ['', '.', '..', 'n1/proxy/run', '../b/x', 'x/token', 'x%2Ftoken', '/'];

test.each(led)('the name %j leads nowhere: nothing is asked, found or deleted', async (name) => {
  const { client, asked } = recorder();
  expect(await client.find(accounts, 'a', name)).toBeUndefined();
  expect(await client.find(nodes, '', name)).toBeUndefined();
  await expect(client.delete(accounts, 'a', name)).rejects.toMatchObject({ code: 404, reason: 'NotFound' });
  await expect(client.patch(accounts, 'a', name, {})).rejects.toMatchObject({ code: 404 });
  await expect(client.update(accounts, { metadata: { namespace: 'a', name } } as never)).rejects.toMatchObject({ code: 404 });
  expect(asked).toEqual([]);
});

test('nor does a namespace of that kind', async () => {
  const { client, asked } = recorder();
  for (const namespace of ['b/secrets/s', '..', 'b%2Fsecrets']) expect(await client.find(accounts, namespace, 'x')).toBeUndefined();
  expect(asked).toEqual([]);
});

test('other names stand in the path, encoded', () => {
  expect(pathOf(accounts, 'a', 'system:x y?z')).toBe('/api/v1/namespaces/a/serviceaccounts/system%3Ax%20y%3Fz');
  expect(pathOf(accounts, undefined)).toBe('/api/v1/serviceaccounts');
});

test('a brief write returns the metadata, of text or as the server gives it', async () => {
  const { client, asked } = recorder();
  const object = { metadata: { name: 'x' } };
  expect((await client.createBriefly(accounts, 'a', object)).metadata).toEqual({ name: 'x' });
  await client.createBriefly(accounts, 'a', object);
  await client.patchBriefly(accounts, 'a', 'x', { metadata: { labels: {} } }, 'status');
  expect(asked.map(({ method, path, brief, value }) => ({ method, path, brief, value }))).toEqual([
    { method: 'POST', path: '/api/v1/namespaces/a/serviceaccounts', brief: true, value: object },
    { method: 'POST', path: '/api/v1/namespaces/a/serviceaccounts', brief: true, value: object },
    { method: 'PATCH', path: '/api/v1/namespaces/a/serviceaccounts/x/status', brief: true, value: { metadata: { labels: {} } } },
  ]);
  expect(String(asked[0]?.body)).toBe(JSON.stringify(object));
  expect(asked[1]?.body).toBe(asked[0]?.body);
  const http: Http = {
    request: async () => ({ status: 201, body: Buffer.alloc(0), metadata: () => ({ uid: 'u' }) }),
    stream: async () => ({ close() {} }),
  };
  const inside = new Client(http, { userAgent: 'test', metadataGroup: 'meta' });
  expect((await inside.createBriefly(accounts, 'a', object)).metadata).toEqual({ uid: 'u' });
});

test('the items of a list of 300 KiB are parsed in several turns', async () => {
  const items = Array.from({ length: 30 }, (_, i) => ({ metadata: { name: `x${i}`, annotations: { a: 'x'.repeat(10_000) } } }));
  const body = Buffer.from(jsonText({ metadata: {}, items }));
  const http: Http = { request: async () => ({ status: 200, body }), stream: async () => ({ close() {} }) };
  const client = new Client(http, { userAgent: 'test', metadataGroup: 'meta' });
  let list: Awaited<ReturnType<Client['list']>> | undefined;
  const turns = await turnsOf(async () => {
    list = await client.list(accounts, 'a');
  });
  expect(list?.items).toEqual(items);
  expect(turns).toBeGreaterThan(3);
});

test('of large answers that come together one is parsed in each turn, once the turn is used', async () => {
  const body = Buffer.from(JSON.stringify({ metadata: { name: 'x'.repeat(SLICED_FROM) } }));
  const http: Http = { request: async () => ({ status: 200, body }), stream: async () => ({ close() {} }) };
  const client = new Client(http, { userAgent: 'test', metadataGroup: 'meta' });
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  await turn();
  expect(isTurnUsed()).toBe(false);
  workTime.pass(SLICE_MILLIS);
  let parsed = 0;
  const asked = ['a', 'b', 'c'].map((name) => client.get(accounts, 'a', name).then(() => parsed++));
  const turns: number[] = [];
  for (let i = 0; i < 4; i++) {
    await turn();
    turns.push(parsed);
  }
  expect(turns.filter((count, i) => count - (turns[i - 1] ?? 0) > 1)).toEqual([]);
  await Promise.all(asked);
  expect(parsed).toBe(3);
});

test('what a brief write gives is looked at once, however often it is asked for', async () => {
  const metadata = vi.fn(() => ({ uid: 'u' }));
  const http: Http = {
    request: async () => ({ status: 201, body: Buffer.alloc(0), metadata }),
    stream: async () => ({ close() {} }),
  };
  const written = await new Client(http, { userAgent: 'test', metadataGroup: 'meta' }).createBriefly(accounts, 'a', {});
  expect([written.metadata.uid, written.metadata.uid]).toEqual(['u', 'u']);
  expect(metadata).toHaveBeenCalledTimes(1);
});
