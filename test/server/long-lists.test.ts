/** Long lists are made and sent in pieces in every form, and say the same as short ones. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ConfigMap } from '../../packages/kinds/src/core/schema/config.ts';
import { listSchema } from '../../packages/kinds/src/lists.ts';
import { PartialObjectMetadataList } from '../../packages/kinds/src/meta-kinds.ts';
import { collectGarbage } from '../../packages/lib/src/testing/garbage.testing.ts';
import { identities } from '../../packages/meta/src/identity.ts';
import { toJson } from '../../packages/schema/src/json/index.ts';
import { decodeEnvelope, decodeObject } from '../../packages/schema/src/protobuf/envelope.ts';
import type { MessageType } from '../../packages/schema/src/types.ts';
import { KEPT_AT_ONCE } from '../../packages/server/src/response/list-cache.ts';
import { type Answer, type Client, type Loose, startTestServer, type TestServer } from '../support/server.ts';

/** So many that their stored bytes are more than a Table is made of at once. */
const ITEMS = 250;
const identity = identities.kubernetes as NonNullable<(typeof identities)[string]>;
const binaryType = identity.protobufMediaType;
const as = (what: string, media = 'application/json') => `${media};as=${what};g=meta.${identity.groupSuffix};v=v1`;
const fromBinary = (schema: MessageType, bytes: Buffer): Loose => toJson(schema, decodeObject(schema, decodeEnvelope(bytes)) as never);

let server: TestServer;
/** Lists are read over connections; what is in them is made without. */
let reader: Client;
let path: string;
let list: Loose;
beforeAll(async () => {
  // Controllers would write config maps of their own.
  server = await startTestServer({ identity: 'kubernetes', controllers: ['-*'], direct: true });
  reader = server.client({ token: 'admin-token', direct: undefined });
  path = `/api/v1/namespaces/${await server.namespace()}/configmaps`;
  const make = (i: number) => ({
    metadata: { name: `c${String(i).padStart(4, '0')}`, labels: { n: `${i}`, l: 'x' }, annotations: { text: 'two words: and "more"' } },
    // Lines take readers of YAML longer than what is in them.
    data: { text: `${'line\n'.repeat(8)}`, other: 'x'.repeat(6260), yes: 'yes' },
  });
  for (let i = 0; i < ITEMS; i += 50) await Promise.all(Array.from({ length: 50 }, (_, j) => server.admin.ok('POST', path, make(i + j))));
  list = await reader.ok('GET', `${path}?labelSelector=l`);
});
afterAll(() => server.close());
const get = (accept: string, query = '') => reader.get(`${path}?labelSelector=l${query}`, { accept });

/** All items of pages so short that each is made at once. */
async function paged(accept: string, read: (answer: { bytes: Buffer; text: string }) => Loose, items: string): Promise<Loose[]> {
  const found: Loose[] = [];
  for (let token = ''; ; ) {
    const page = read(await get(accept, `&limit=50&continue=${token}`));
    found.push(...page[items]);
    token = page.metadata.continue ?? '';
    if (token === '') return found;
  }
}

/** A list that is sent in slices the first time, joined the second and kept the third. */
async function sameThreeTimes(at: string, accept: string): Promise<Answer> {
  const first = await reader.get(at, { accept });
  expect(first.bytes.length).toBeGreaterThan(KEPT_AT_ONCE);
  // The head has the revision of the store, which other writes change.
  const items = (bytes: Buffer): Buffer => bytes.subarray(MAX_HEAD - first.bytes.length);
  for (let time = 0; time < 3; time++) {
    const { headers, bytes } = time === 0 ? first : await reader.get(at, { accept });
    expect(headers['content-length']).toBe(`${bytes.length}`);
    expect(items(bytes).equals(items(first.bytes))).toBe(true);
  }
  return first;
}
/** Bytes before the first item at most. */
const MAX_HEAD = 200;

describe('a long list in pieces', () => {
  test('is the same as YAML for a reader that is not ours', async () => {
    const answer = await get('application/yaml');
    expect(answer.headers['transfer-encoding']).toBe('chunked');
    expect(parse(answer.text, { maxAliasCount: 0 })).toEqual(list);
  });

  test('is indented as a whole would be', async () => {
    expect((await get('application/json', '&pretty=true')).text).toBe(JSON.stringify(list, undefined, 2));
  });

  test.each(['application/json', 'application/yaml'])('is a Table with the rows of its pages, %s', async (media) => {
    // Whole objects as YAML are read above, which takes long.
    const isJson = media === 'application/json';
    const answer = await get(as('Table', media), isJson ? '&includeObject=Object' : '');
    const read = (text: string): Loose => (isJson ? JSON.parse(text) : parse(text));
    const table = read(answer.text);
    const rows = await paged(as('Table'), ({ text }) => JSON.parse(text), 'rows');
    expect(table.kind).toBe('Table');
    expect(table.columnDefinitions.length).toBeGreaterThan(0);
    expect(table.rows.map((row: Loose) => row.cells[0])).toEqual(rows.map((row) => row.cells[0]));
    const shown = (item: Loose): Loose => (isJson ? item.data : item.metadata);
    expect(table.rows.map((row: Loose) => shown(row.object))).toEqual(list.items.map(shown));
  });

  test('is metadata alone', async () => {
    const accept = as('PartialObjectMetadataList');
    const partial = (await get(accept)).json;
    expect(partial.kind).toBe('PartialObjectMetadataList');
    expect(partial.metadata.resourceVersion).toBe(list.metadata.resourceVersion);
    expect(partial.items.map((item: Loose) => item.metadata)).toEqual(list.items.map((item: Loose) => item.metadata));
  });

  test('is one message in the binary form, with its length at its beginning', async () => {
    for (let time = 0; time < 2; time++) {
      const answer = await get(binaryType);
      expect(Number(answer.headers['content-length'])).toBe(answer.bytes.length);
      const read = fromBinary(listSchema(ConfigMap) as MessageType, answer.bytes);
      expect(read.items).toEqual(list.items);
      expect(read.metadata).toEqual(list.metadata);
    }
    const partial = fromBinary(PartialObjectMetadataList as MessageType, (await get(as('PartialObjectMetadataList', binaryType))).bytes);
    expect(partial.items.map((item: Loose) => item.metadata.name)).toEqual(list.items.map((item: Loose) => item.metadata.name));
  });

  test('has the same bytes and their number whether it is sent in slices or kept', async () => {
    await sameThreeTimes(path, 'application/json');
    const binary = await sameThreeTimes(path, binaryType);
    expect(fromBinary(listSchema(ConfigMap) as MessageType, binary.bytes).items).toHaveLength(ITEMS);
  });

  test('is the same in the pages of a custom kind and in its other version', async () => {
    const group = `long.example.com`;
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    await server.admin.ok('POST', `/apis/apiextensions.${identity.groupSuffix}/v1/customresourcedefinitions`, {
      metadata: { name: `things.${group}` },
      spec: {
        group,
        scope: 'Cluster',
        names: { plural: 'things', kind: 'Thing' },
        versions: ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === 'v1', schema })),
      },
    });
    const things = `/apis/${group}/v1/things`;
    await expect.poll(async () => (await reader.get(things)).status).toBe(200);
    const thing = (i: number) => ({ apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: `t${i}` }, text: 'x'.repeat(3000) });
    for (let i = 0; i < 100; i += 50)
      await Promise.all(Array.from({ length: 50 }, (_, j) => server.admin.ok('POST', things, thing(i + j))));
    const { json: first } = await sameThreeTimes(things, 'application/json');
    const second = await reader.get(things.replace('v1', 'v2'));
    expect(second.headers['transfer-encoding']).toBe('chunked');
    expect(second.json.apiVersion).toBe(`${group}/v2`);
    expect(second.json.items).toEqual(first.items.map((item: Loose) => ({ ...item, apiVersion: `${group}/v2` })));
  });
});

test('lists for many clients that do not read hold a slice each, not a list each', async () => {
  collectGarbage();
  const before = process.memoryUsage();
  const forms = ['application/yaml', as('Table'), 'application/json;pretty=1', as('Table', 'application/yaml')];
  const clients = Array.from({ length: 100 }, () => reader.clone());
  const answers = await Promise.all(
    clients.map((client, i) =>
      client.open('GET', `${path}?includeObject=Object`, { headers: { accept: forms[i % forms.length] as string } }),
    ),
  );
  // The server is idle when it answers others, and every client has been sent what it takes without being read.
  for (let i = 0; i < 20; i++) await reader.get('/livez');
  collectGarbage();
  const after = process.memoryUsage();
  for (const answer of answers) answer.destroy();
  for (const client of clients) client.close();
  // All lists whole would be 100 times 1.7 MB, as text and as bytes.
  expect(after.external + after.heapUsed - before.external - before.heapUsed).toBeLessThan(200 * 2 ** 20);
});
