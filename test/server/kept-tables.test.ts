/** The rows of a Table are kept for other requests: never longer than they are right. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kubernetes } from '../../packages/meta/src/identity.ts';
import { startTestServer } from '../../packages/testing/src/server.ts';
import type { TestServer } from '../../packages/testing/src/test-server.ts';

const path = '/api/v1/namespaces/default/configmaps';
const headers = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' };
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ identity: kubernetes.name, clock: '2031-02-03T04:05:06Z' });
});
afterAll(() => server.close());

interface Table {
  readonly metadata: { readonly resourceVersion: string };
  readonly rows: readonly {
    readonly cells: readonly unknown[];
    readonly object: { readonly metadata: { readonly name: string } } | null;
  }[];
}
const textOf = async (query = ''): Promise<string> => (await server.request('GET', path + query, { headers })).text;
const table = async (query = ''): Promise<Table> => JSON.parse(await textOf(query)) as Table;
/** Names, numbers of keys and ages. */
const cells = async (query = ''): Promise<unknown[]> => (await table(query)).rows.map((row) => row.cells.join(' '));
/** Lists until the Table is kept: a large one is on the second request, and the third is answered with it. */
const cellsTwice = async (query = ''): Promise<unknown[]> => {
  const [first] = [await cells(query), await cells(query)];
  expect(await cells(query)).toEqual(first);
  return first;
};
const put = (name: string, data: object) => server.request('PUT', `${path}/${name}`, { body: { metadata: { name }, data } });

/** More bytes of rows than are kept at once. */
const large = { annotations: { text: 'x'.repeat(60_000) } };

test.each([
  ['small', {}, 1],
  ['large', large, 6],
])('a %s Table changes with its objects and with the time', async (prefix, metadata, count) => {
  const names = Array.from({ length: count }, (_, i) => `${prefix}-${i}`);
  for (const name of names) await server.request('POST', path, { body: { metadata: { name, ...metadata }, data: { a: '1' } } });
  const rows = (age: string, keys = 1): string[] => names.map((name) => `${name} ${keys} ${age}`);
  const own = async (): Promise<unknown[]> => (await cellsTwice()).filter((text) => String(text).startsWith(prefix));
  expect(await own()).toEqual(rows('0s'));
  await server.clock.advance('1s');
  expect(await own()).toEqual(rows('1s'));
  for (const name of names) await put(name, { a: '1', b: '2' });
  expect(await own()).toEqual(rows('1s', 2));
  await server.request('DELETE', `${path}/${names[0]}`);
  expect(await own()).toEqual(rows('1s', 2).slice(1));
});

test('its version is that of the request, also where only other kinds have changed', async () => {
  const before = await table();
  await server.request('POST', '/api/v1/namespaces', { body: { metadata: { name: 'another' } } });
  const after = await table();
  expect(Number(after.metadata.resourceVersion)).toBeGreaterThan(Number(before.metadata.resourceVersion));
  expect(after.rows).toEqual(before.rows);
});

test('a kept Table does not answer requests for other rows, or for other parts of the objects', async () => {
  await server.request('POST', path, { body: { metadata: { name: 'own' } } });
  const whole = await textOf();
  const all = await table();
  expect((await table('?includeObject=None')).rows.map(({ object }) => object)).toEqual(all.rows.map(() => null));
  expect((await table('?limit=1')).rows).toEqual(all.rows.slice(0, 1));
  expect((await table('?labelSelector=none')).rows).toEqual([]);
  expect((await table('?fieldSelector=metadata.name%3Down')).rows.map((row) => row.object?.metadata.name)).toEqual(['own']);
  expect(await textOf()).toBe(whole);
});

test('a kind whose columns change shows the new ones within the same second', async () => {
  const definition = (jsonPath: string) => ({
    metadata: { name: 'lamps.example.com' },
    spec: {
      group: 'example.com',
      names: { kind: 'Lamp', plural: 'lamps' },
      scope: 'Cluster',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          additionalPrinterColumns: [{ name: 'Value', type: 'string', jsonPath }],
        },
      ],
    },
  });
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const lamps = '/apis/example.com/v1/lamps';
  const shown = async (): Promise<unknown> => {
    await server.settled();
    const { text } = await server.request('GET', lamps, { headers });
    return (JSON.parse(text) as Table).rows.map((row) => row.cells[1]);
  };
  await server.request('POST', definitions, { body: definition('.a') });
  await server.settled();
  const body = { apiVersion: 'example.com/v1', kind: 'Lamp', metadata: { name: 'one' }, a: 'first', b: 'second' };
  expect((await server.request('POST', lamps, { body })).status).toBe(201);
  expect([await shown(), await shown()]).toEqual([['first'], ['first']]);
  await server.request('PATCH', `${definitions}/lamps.example.com`, {
    headers: { 'content-type': 'application/merge-patch+json' },
    body: definition('.b'),
  });
  expect(await shown()).toEqual(['second']);
});
