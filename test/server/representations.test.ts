/** One object, its list and its watch in every form a client may ask for. */
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigMap } from '../../packages/kinds/src/core/schema/config.ts';
import { listSchema } from '../../packages/kinds/src/lists.ts';
import { PartialObjectMetadata, PartialObjectMetadataList, Status } from '../../packages/kinds/src/meta-kinds.ts';
import { identities } from '../../packages/meta/src/identity.ts';
import { toJson } from '../../packages/schema/src/json/index.ts';
import { decodeEnvelope, decodeObject, encodeEnvelope } from '../../packages/schema/src/protobuf/envelope.ts';
import { encodeProtobuf } from '../../packages/schema/src/protobuf/index.ts';
import type { MessageType } from '../../packages/schema/src/types.ts';
import { parseYaml } from '../../packages/schema/src/yaml/index.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';

/** The JSON of an object that came in the binary form. */
const fromBinary = (schema: MessageType, bytes: Buffer): Loose => toJson(schema, decodeObject(schema, decodeEnvelope(bytes)) as never);

describe.each(['plat', 'kubernetes'])('as %s', (name) => {
  const identity = identities[name] as NonNullable<(typeof identities)[string]>;
  const binaryType = identity.protobufMediaType;
  const metaVersion = `meta.${identity.groupSuffix}/v1`;
  const as = (what: string, version = 'v1') => `application/json;as=${what};g=meta.${identity.groupSuffix};v=${version}`;
  let server: TestServer;
  let path: string;
  let object: Loose;
  let list: Loose;
  beforeAll(async () => {
    server = await startTestServer({ identity: name, controllers: [] });
    path = `/api/v1/namespaces/${await server.namespace()}/configmaps`;
    object = await server.admin.ok('POST', path, {
      metadata: { name: 'a', labels: { l: '1' } },
      data: { b: 'yes', a: '0777' },
      binaryData: { z: 'AAEC' },
    });
    await server.admin.ok('POST', path, { metadata: { name: 'b', labels: { l: '1' } } });
    list = await server.admin.ok('GET', `${path}?labelSelector=l`);
  });
  afterAll(() => server.close());
  const get = (accept: string, query = '') => server.admin.get(`${path}/a${query}`, { accept });
  const lists = (accept: string, query = '') => server.admin.get(`${path}?labelSelector=l${query}`, { accept });
  const watch = (accept: string) => server.admin.watch(`${path}?watch=1&labelSelector=l`, { accept });

  test('JSON is the default, also where everything or nothing is asked for', async () => {
    for (const accept of ['', '*/*', 'application/json', 'text/html, application/json;q=0.8']) {
      const answer = await server.admin.get(`${path}/a`, accept === '' ? {} : { accept });
      expect(answer.headers['content-type']).toBe('application/json');
      expect(answer.json).toEqual(object);
    }
  });

  test('pretty by parameter, by media type, and for people', async () => {
    const indented = JSON.stringify(object, undefined, 2);
    expect((await get('application/json', '?pretty=true')).text.trim()).toBe(indented);
    expect((await get('application/json;pretty=1')).text.trim()).toBe(indented);
    expect((await server.admin.get(`${path}/a`, { 'user-agent': 'curl/8.0' })).text.trim()).toBe(indented);
    expect((await server.admin.get(`${path}/a?pretty=false`, { 'user-agent': 'curl/8.0' })).text).not.toContain('\n  ');
    expect(JSON.parse((await lists('application/json', '&pretty=true')).text)).toEqual(list);
  });

  test('YAML', async () => {
    const one = await get('application/yaml');
    expect(one.headers['content-type']).toBe('application/yaml');
    expect(one.text).toContain('b: "yes"');
    expect(parseYaml(one.bytes)).toEqual(object);
    expect(parseYaml((await lists('application/yaml')).bytes)).toEqual(list);
  });

  test('binary', async () => {
    const one = await get(binaryType);
    expect(one.headers['content-type']).toBe(binaryType);
    expect(one.bytes.subarray(0, 4)).toEqual(Buffer.from([0x6b, 0x38, 0x73, 0x00]));
    expect(fromBinary(ConfigMap, one.bytes)).toEqual(object);
    const many = fromBinary(listSchema(ConfigMap), (await lists(binaryType)).bytes);
    expect(many.items.map((item: Loose) => item.metadata)).toEqual(list.items.map((item: Loose) => item.metadata));
    expect(many.metadata).toEqual(list.metadata);
    const stream = await server.admin.open('GET', `${path}?watch=1&labelSelector=l`, { headers: { accept: binaryType } });
    expect(stream.headers['content-type']).toBe(`${binaryType};stream=watch`);
    const events = await binaryEvents(stream.body, 2);
    expect(events.map((event) => event.type)).toEqual(['ADDED', 'ADDED']);
    expect(fromBinary(ConfigMap, events[0]?.bytes as Buffer)).toEqual(object);
    const missing = await server.admin.get(`${path}/missing`, { accept: binaryType });
    expect(missing.status).toBe(404);
    expect(fromBinary(Status, missing.bytes)).toMatchObject({ reason: 'NotFound', code: 404 });
  });

  test('Table', async () => {
    const one = (await get(as('Table'))).json;
    expect(one).toMatchObject({ kind: 'Table', apiVersion: metaVersion, metadata: { resourceVersion: object.metadata.resourceVersion } });
    expect(one.columnDefinitions.map((column: Loose) => column.name)).toEqual(['Name', 'Data', 'Age']);
    expect(one.rows).toEqual([
      {
        cells: ['a', 3, expect.stringMatching(/^\d+s$/)],
        object: { kind: 'PartialObjectMetadata', apiVersion: metaVersion, metadata: object.metadata },
      },
    ]);
    const many = (await lists(as('Table'), '&limit=1')).json;
    expect(many.rows.map((row: Loose) => row.cells[0])).toEqual(['a']);
    expect(many.metadata.continue).toBeDefined();
    expect((await lists(as('Table'), '&includeObject=None')).json.rows[0].object).toBeNull();
    expect((await lists(as('Table'), '&includeObject=Object')).json.rows[0].object).toEqual(object);
    expect((await lists(as('Table'), '&includeObject=All')).status).toBe(400);
    const events = await watch(as('Table'));
    const [first, second] = await events.take(2);
    expect(first?.object).toMatchObject({
      kind: 'Table',
      columnDefinitions: [{ name: 'Name' }, {}, {}],
      rows: [{ cells: ['a', 3, expect.any(String)] }],
    });
    expect(second?.object.columnDefinitions).toBeNull();
    expect(second?.object.rows[0].cells[0]).toBe('b');
    events.close();
    expect((await lists(`${as('Table', 'v1beta1')}`)).json.apiVersion).toBe(`meta.${identity.groupSuffix}/v1beta1`);
    expect((await get(`${as('Table', 'v9')},application/json`)).json.kind).toBe('ConfigMap');
  });

  test('metadata only', async () => {
    const partial = { kind: 'PartialObjectMetadata', apiVersion: metaVersion, metadata: object.metadata };
    expect((await get(as('PartialObjectMetadata'))).json).toEqual(partial);
    const many = (await lists(as('PartialObjectMetadataList'))).json;
    expect(many).toMatchObject({ kind: 'PartialObjectMetadataList', apiVersion: metaVersion, metadata: list.metadata });
    expect(many.items.map((item: Loose) => item.metadata)).toEqual(list.items.map((item: Loose) => item.metadata));
    expect(many.items[0]).not.toHaveProperty('data');
    const events = await watch(as('PartialObjectMetadata'));
    expect((await events.next()).object).toEqual(partial);
    events.close();
    const binary = await get(`${binaryType};as=PartialObjectMetadata;g=meta.${identity.groupSuffix};v=v1`);
    expect(fromBinary(PartialObjectMetadata, binary.bytes)).toEqual(partial);
    const binaryList = await lists(`${binaryType};as=PartialObjectMetadataList;g=meta.${identity.groupSuffix};v=v1`);
    expect(fromBinary(PartialObjectMetadataList, binaryList.bytes).items).toEqual(many.items.map(({ metadata }: Loose) => ({ metadata })));
  });

  test('metadata only, binary, as a stream: the same bytes as a get', async () => {
    const accept = `${binaryType};as=PartialObjectMetadata;g=meta.${identity.groupSuffix};v=v1`;
    const namespace = path.split('/')[4];
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    await server.admin.ok('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'default' } });
    await server.admin.ok('POST', pods, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    const stream = await server.admin.open('GET', `${pods}?watch=1`, { headers: { accept } });
    const [event] = await binaryEvents(stream.body, 1);
    expect(event?.bytes.toString('hex')).toBe((await server.admin.get(`${pods}/p`, { accept })).bytes.toString('hex'));
  });

  test('both meta groups and both binary types are understood, whatever the server calls itself', async () => {
    for (const suffix of ['plat.dev', 'k8s.io'])
      expect((await lists(`application/json;as=Table;g=meta.${suffix};v=v1`)).json.apiVersion).toBe(`meta.${suffix}/v1`);
    for (const type of ['application/vnd.plat.protobuf', 'application/vnd.kubernetes.protobuf'])
      expect((await get(type)).headers['content-type']).toBe(type);
  });

  test('any type of application is JSON', async () => {
    for (const accept of ['application/*', 'application/*;q=0.9, text/html', 'text/html, application/*;q=0.1']) {
      const answer = await get(accept);
      expect([answer.status, answer.headers['content-type']], accept).toEqual([200, 'application/json']);
    }
    const stream = await server.admin.watch(`${path}?watch=1`, { accept: 'application/*' });
    expect([stream.headers['content-type'], (await stream.next()).type]).toEqual(['application/json', 'ADDED']);
    stream.close();
  });

  test('406 for what no answer can be', async () => {
    for (const accept of ['text/html', 'application/xml;q=1', as('Chair')]) {
      const answer = await get(accept);
      expect(answer.status, accept).toBe(406);
      expect(answer.json).toMatchObject({ kind: 'Status', reason: 'NotAcceptable', code: 406 });
    }
    const stream = await server.admin.get(`${path}?watch=1`, { accept: 'application/yaml' });
    expect(stream.status).toBe(406);
  });

  test('bodies in JSON, YAML and the binary form; 415 for others', async () => {
    const post = (type: string, body: string | Buffer) => server.admin.send('POST', path, { body, headers: { 'content-type': type } });
    expect((await post('application/yaml', 'metadata: {name: from-yaml}\ndata: {hex: "0x10", text: on-line}\n')).json.data).toEqual({
      hex: '0x10',
      text: 'on-line',
    });
    expect((await post('application/json; charset=utf-8', '{"metadata":{"name":"from-json"}}')).status).toBe(201);
    const message = { metadata: { name: 'from-binary' }, data: { k: 'v' } };
    const binary = encodeEnvelope({ apiVersion: 'v1', kind: 'ConfigMap', raw: encodeProtobuf(ConfigMap, message as never) });
    expect((await post(binaryType, binary)).json).toMatchObject({ metadata: { name: 'from-binary' }, data: { k: 'v' } });
    expect((await post(binaryType, Buffer.concat([Buffer.from('k8t\0'), binary.subarray(4)]))).status).toBe(400);
    expect((await post(binaryType, binary.subarray(0, binary.length - 3))).status).toBe(400);
    for (const type of ['text/plain', 'application/xml', 'application/json;;']) {
      const refused = await post(type, '{"metadata":{"name":"x"}}');
      expect(refused.status, type).toBe(415);
      expect(refused.json.reason).toBe('UnsupportedMediaType');
    }
    expect((await server.admin.send('PATCH', `${path}/a`, { body: '{}', headers: { 'content-type': 'application/json' } })).status).toBe(
      415,
    );
  });

  test('large answers are packed for those who can unpack them', async () => {
    const big = { metadata: { name: 'big', labels: { big: '' } }, data: { text: 'x'.repeat(300_000) } };
    await server.admin.ok('POST', path, big);
    const headers = { 'accept-encoding': 'gzip' };
    const packed = await server.admin.get(`${path}/big`, headers);
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect(packed.headers.vary).toContain('Accept-Encoding');
    expect(JSON.parse(gunzipSync(packed.bytes).toString()).data).toEqual(big.data);
    const packedList = await server.admin.get(`${path}?labelSelector=big`, headers);
    expect(JSON.parse(gunzipSync(packedList.bytes).toString()).items[0].data).toEqual(big.data);
    expect((await server.admin.get(`${path}/a`, headers)).headers['content-encoding']).toBeUndefined();
    expect((await server.admin.get(`${path}/big`)).headers['content-encoding']).toBeUndefined();
    const refused = await server.admin.get(`${path}/big`, { 'accept-encoding': 'gzip;q=0, identity' });
    expect(refused.headers['content-encoding']).toBeUndefined();
  });
});

interface BinaryEvent {
  readonly type: string;
  readonly bytes: Buffer;
}
/** The first events of a binary stream, which is then left: each comes after its length in four bytes. */
async function binaryEvents(body: AsyncIterable<Buffer>, count: number): Promise<BinaryEvent[]> {
  let all = Buffer.alloc(0);
  for await (const chunk of body) {
    all = Buffer.concat([all, chunk]);
    const events = wholeEvents(all);
    if (events.length >= count) return events;
  }
  throw new Error(`the watch ended before ${count} events came`);
}
function wholeEvents(all: Buffer): BinaryEvent[] {
  const events: BinaryEvent[] = [];
  for (let at = 0; at + 4 <= all.length; ) {
    const length = all.readUInt32BE(at);
    const event = all.subarray(at + 4, at + 4 + length);
    if (event.length < length) break;
    // Field 1 is the type; the object stands last, in an envelope.
    events.push({ type: event.toString('utf8', 2, 2 + (event[1] as number)), bytes: event.subarray(event.indexOf('k8s\0')) });
    at += 4 + length;
  }
  return events;
}
