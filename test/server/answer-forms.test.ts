/**
 * Tables, metadata alone and indented answers: of lists, single objects, answers to writes, subresources, errors and bookmarks, as
 * a stock server gives them.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PartialObjectMetadata, PartialObjectMetadataList, Status } from '../../packages/kinds/src/meta-kinds.ts';
import { identities } from '../../packages/meta/src/identity.ts';
import { toJson } from '../../packages/schema/src/json/index.ts';
import { decodeEnvelope, decodeObject } from '../../packages/schema/src/protobuf/envelope.ts';
import type { MessageType } from '../../packages/schema/src/types.ts';
import { parseYaml } from '../../packages/schema/src/yaml/index.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';
import { soonBookmark } from '../support/short-waits.ts';

const fromBinary = (schema: MessageType, bytes: Buffer): Loose => toJson(schema, decodeObject(schema, decodeEnvelope(bytes)) as never);
const spec = { replicas: 2, selector: { matchLabels: { a: 'b' } } };
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };

describe.each(['plat', 'kubernetes'])('as %s', (name) => {
  const identity = identities[name] as NonNullable<(typeof identities)[string]>;
  const binaryType = identity.protobufMediaType;
  const metaGroup = `meta.${identity.groupSuffix}`;
  const as = (what: string, media = 'application/json', version = 'v1') => `${media};as=${what};g=${metaGroup};v=${version}`;
  const TABLE = as('Table');
  let server: TestServer;
  let space: string;
  let maps: string;
  let deployments: string;
  let things: string;
  beforeAll(async () => {
    server = await startTestServer({ identity: name, clock: soonBookmark.clock });
    const namespace = await server.namespace();
    space = `/api/v1/namespaces/${namespace}`;
    maps = `${space}/configmaps`;
    deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    things = `/apis/example.com/v1/namespaces/${namespace}/things`;
    const definition = await server.admin.ok(
      'POST',
      `/apis/apiextensions.${identity.groupSuffix}/v1/customresourcedefinitions`,
      thingDefinition(`apiextensions.${identity.groupSuffix}/v1`),
    );
    expect(definition.metadata.name).toBe('things.example.com');
    await server.admin.ok('POST', deployments, { metadata: { name: 'web' }, spec: { ...spec, template } });
  });
  afterAll(() => server.close());
  const send = (method: string, path: string, accept: string, body?: unknown) =>
    server.admin.send(method, path, { headers: { accept }, ...(body !== undefined && { body }) });

  test('lists and single objects: the form of the other is refused, whatever else is accepted', async () => {
    await server.admin.ok('POST', maps, { metadata: { name: 'shape' } });
    for (const [path, form] of [
      [maps, 'PartialObjectMetadata'],
      [`${maps}/shape`, 'PartialObjectMetadataList'],
    ] as const)
      for (const media of ['application/json', 'application/yaml', binaryType]) {
        const refused = await send('GET', path, `${as(form, media)},application/json`);
        expect([refused.status, refused.headers['content-type']], `${form} ${media}`).toEqual([406, 'application/json']);
        expect(refused.json).toMatchObject({ reason: 'NotAcceptable', message: expect.stringContaining(`you requested ${form}, but`) });
        expect(refused.json).not.toHaveProperty('details');
      }
  });

  test('a write whose answer cannot be had in the wanted form is refused before it is done', async () => {
    const half = `${maps}?includeObject=Half`;
    expect((await send('POST', half, TABLE, { metadata: { name: 'never' } })).status).toBe(400);
    expect((await send('POST', maps, as('PartialObjectMetadataList'), { metadata: { name: 'never' } })).status).toBe(406);
    expect((await server.admin.get(`${maps}/never`)).status).toBe(404);
    await server.admin.ok('POST', maps, { metadata: { name: 'stays', labels: { stays: '1' } } });
    expect((await send('DELETE', `${maps}/stays`, as('PartialObjectMetadataList'))).status).toBe(406);
    expect((await send('DELETE', `${maps}/stays?includeObject=Half`, TABLE)).status).toBe(400);
    expect((await send('DELETE', `${maps}?labelSelector=stays`, as('PartialObjectMetadata'))).status).toBe(406);
    expect((await send('DELETE', `${maps}?labelSelector=stays&includeObject=Half`, TABLE)).status).toBe(400);
    expect((await server.admin.get(`${maps}/stays`)).status).toBe(200);
    const scale = await server.admin.ok('GET', `${deployments}/web/scale`);
    expect((await send('PUT', `${deployments}/web/scale`, as('Drawing'), { ...scale, spec: { replicas: 9 } })).status).toBe(406);
    expect((await server.admin.ok('GET', `${deployments}/web`)).spec.replicas).toBe(2);
  });

  test('includeObject is read for Tables alone', async () => {
    for (const accept of ['application/json', as('PartialObjectMetadataList'), 'application/yaml'])
      expect((await send('GET', `${maps}?includeObject=Half`, accept)).status, accept).toBe(200);
    expect((await send('GET', `${maps}/shape?includeObject=Half`, as('PartialObjectMetadata'))).status).toBe(200);
    expect((await send('GET', `${maps}?includeObject=Half`, TABLE)).status).toBe(400);
    expect((await send('GET', `${maps}?watch=1&includeObject=Half`, TABLE)).status).toBe(400);
  });

  test('a collection that goes is a list in the wanted form, with as much of its objects', async () => {
    const gone = async (accept: string, query = '') => {
      await server.admin.ok('POST', maps, { metadata: { name: 'gone', labels: { gone: '1' } }, data: { a: '1' } });
      return send('DELETE', `${maps}?labelSelector=gone${query}`, accept);
    };
    const shown = (await gone(TABLE, '&includeObject=Object')).json;
    expect(shown).toMatchObject({ kind: 'Table', rows: [{ cells: ['gone', 1, expect.any(String)], object: { data: { a: '1' } } }] });
    expect((await gone(TABLE, '&includeObject=None')).json.rows[0].object).toBeNull();
    expect((await gone(as('PartialObjectMetadataList'))).json).toMatchObject({
      kind: 'PartialObjectMetadataList',
      items: [{ kind: 'PartialObjectMetadata', metadata: { name: 'gone' } }],
    });
  });

  test('errors are in no form that objects are transformed to; those that can be had in no other are indented JSON', async () => {
    const form = async (accept: string) => {
      const { status, headers, text } = await send('GET', `${maps}/missing`, accept);
      expect(status).toBe(404);
      return [
        headers['content-type'],
        text.startsWith('{\n  "kind": "Status"') ? 'indented' : text.startsWith('{"kind"') ? 'line' : 'other',
      ];
    };
    const JSON_TYPE = 'application/json';
    expect(await form('application/json')).toEqual([JSON_TYPE, 'line']);
    expect(await form(TABLE)).toEqual([JSON_TYPE, 'indented']);
    expect(await form(`${TABLE},application/json`)).toEqual([JSON_TYPE, 'line']);
    expect(await form(as('Table', 'application/yaml'))).toEqual([JSON_TYPE, 'indented']);
    expect(await form(as('PartialObjectMetadata', binaryType))).toEqual([JSON_TYPE, 'indented']);
    expect(await form(`${as('PartialObjectMetadata', binaryType)},${binaryType}`)).toEqual([binaryType, 'other']);
    expect(await form('application/json;pretty=1')).toEqual([JSON_TYPE, 'indented']);
    const refused = await send('GET', maps, 'text/csv');
    expect([refused.status, refused.text.startsWith('{\n  "kind": "Status"')]).toEqual([406, true]);
  });

  test('the Status of a deletion is in the media type of the form that was asked for', async () => {
    const deleted = async (accept: string) => {
      await server.admin.ok('POST', maps, { metadata: { name: 'brief' } });
      return send('DELETE', `${maps}/brief`, accept);
    };
    const success = { kind: 'Status', apiVersion: 'v1', status: 'Success', details: { name: 'brief', kind: 'configmaps' } };
    expect((await deleted(TABLE)).json).toMatchObject(success);
    expect(parseYaml((await deleted(as('Table', 'application/yaml'))).bytes)).toMatchObject(success);
    const binary = await deleted(as('PartialObjectMetadata', binaryType));
    expect(binary.headers['content-type']).toBe(binaryType);
    expect(fromBinary(Status, binary.bytes)).toMatchObject({ status: 'Success' });
  });

  test('a scale as Table and as metadata, in every media type and indented', async () => {
    const path = `${deployments}/web/scale`;
    const table = (await send('GET', path, TABLE)).json;
    expect(table).toMatchObject({ kind: 'Table', rows: [{ cells: ['web', 2, 0, expect.any(String)] }] });
    expect(parseYaml((await send('GET', path, as('Table', 'application/yaml'))).bytes)).toMatchObject({ kind: 'Table', rows: [{}] });
    expect((await send('GET', `${path}?pretty=1`, TABLE)).text).toMatch(/^\{\n {2}"kind": "Table"/);
    const metadata = (await send('GET', path, as('PartialObjectMetadata'))).json;
    const binary = await send('GET', path, as('PartialObjectMetadata', binaryType));
    expect(binary.headers['content-type']).toBe(binaryType);
    expect(fromBinary(PartialObjectMetadata, binary.bytes)).toEqual(metadata);
    expect(parseYaml((await send('GET', path, as('PartialObjectMetadata', 'application/yaml'))).bytes)).toEqual(metadata);
  });

  test('the answer to an action has no columns, but metadata', async () => {
    const path = `/apis/authorization.${identity.groupSuffix}/v1/selfsubjectaccessreviews`;
    const body = { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } };
    expect((await send('POST', path, TABLE, body)).status).toBe(406);
    expect((await send('POST', path, `${TABLE},application/json`, body)).json.kind).toBe('SelfSubjectAccessReview');
    const metadata = (await send('POST', path, as('PartialObjectMetadata'), body)).json;
    expect(metadata).toMatchObject({ kind: 'PartialObjectMetadata', apiVersion: `${metaGroup}/v1`, metadata: { creationTimestamp: null } });
    expect(metadata).not.toHaveProperty('spec');
  });

  test('lists of custom objects: whole ones name the next page even where there is none, other forms do not', async () => {
    expect((await server.admin.ok('GET', `${things}?labelSelector=none`)).metadata.continue).toBe('');
    expect(Object.keys((await send('GET', `${things}?labelSelector=none`, TABLE)).json.metadata)).toEqual(['resourceVersion']);
    const { metadata } = (await send('GET', `${things}?labelSelector=none`, as('PartialObjectMetadataList'))).json;
    expect(Object.keys(metadata)).toEqual(['resourceVersion']);
  });

  test('metadata of custom objects has a binary form, the objects have none', async () => {
    const made = await server.admin.ok('POST', things, { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'one' } });
    const one = await send('GET', `${things}/one`, as('PartialObjectMetadata', binaryType));
    expect(one.headers['content-type']).toBe(binaryType);
    expect(fromBinary(PartialObjectMetadata, one.bytes).metadata).toEqual(made.metadata);
    const many = await send('GET', things, as('PartialObjectMetadataList', binaryType));
    expect(fromBinary(PartialObjectMetadataList, many.bytes).items.map((item: Loose) => item.metadata.name)).toEqual(['one']);
    expect((await send('GET', `${things}/one`, binaryType)).status).toBe(406);
    expect((await send('GET', `${things}/one`, `${binaryType},application/json`)).json.kind).toBe('Thing');
  });

  test.each([
    ['configmaps', () => maps, ['', 0, '<unknown>'], { kind: 'ConfigMap', apiVersion: 'v1' }],
    ['deployments', () => deployments, ['', '0/0', 0, 0, '<unknown>', '', '', ''], { kind: 'Deployment', apiVersion: 'apps/v1' }],
    // Without columns of its own, and a time that never was.
    ['limitranges', () => `${space}/limitranges`, ['', '0001-01-01T00:00:00Z'], { kind: 'LimitRange', apiVersion: 'v1' }],
    ['things', () => things, ['', null, null, null], { kind: 'Thing', apiVersion: 'example.com/v1' }],
  ] as const)('a bookmark of %s as Table is the row of an object that has only a version', async (_what, path, cells, type) => {
    const { resourceVersion } = (await server.admin.ok('GET', path())).metadata;
    const query = `?watch=1&allowWatchBookmarks=true&${soonBookmark.query}&resourceVersion=${resourceVersion}`;
    const bookmark = async (more: string) => {
      const events = await server.admin.watch(`${path()}${query}${more}`, { accept: TABLE });
      const event = await events.next();
      events.close();
      expect(event.type).toBe('BOOKMARK');
      const { kind, columnDefinitions, rows, metadata } = event.object;
      expect([kind, Object.keys(metadata), rows.length]).toEqual(['Table', ['resourceVersion'], 1]);
      // The first event of a stream brings the columns.
      expect(columnDefinitions).toHaveLength(cells.length);
      expect(rows[0].cells).toEqual(cells);
      return { object: rows[0].object, version: metadata.resourceVersion };
    };
    const [plain, none, whole] = await Promise.all([bookmark(''), bookmark('&includeObject=None'), bookmark('&includeObject=Object')]);
    const metadata = { resourceVersion: plain.version, creationTimestamp: null };
    expect(plain.object).toEqual({ kind: 'PartialObjectMetadata', apiVersion: `${metaGroup}/v1`, metadata });
    expect(none.object).toBeNull();
    expect(whole.object).toMatchObject({ ...type, metadata: { resourceVersion: whole.version } });
  });

  test('pretty: answers to every request but a watch, for people and for those who ask', async () => {
    const curl = { 'user-agent': 'curl/8.0' };
    const indented = async (path: string, headers: Record<string, string> = {}) =>
      /^\{\n {2}"/.test((await server.admin.get(path, { accept: 'application/json', ...headers })).text);
    for (const path of [maps, `${maps}/shape`, `${maps}/missing`, `${maps}?limit=x`, '/api', '/apis', '/api/v1', '/apis/apps', things]) {
      expect(await indented(path, curl), path).toBe(true);
      expect(await indented(path), path).toBe(false);
      const and = path.includes('?') ? '&' : '?';
      expect(await indented(`${path}${and}pretty=false`, curl), path).toBe(false);
      expect(await indented(`${path}${and}pretty=`, curl), path).toBe(true);
      expect(await indented(`${path}${and}pretty=t`), path).toBe(true);
      expect(await indented(`${path}${and}pretty=yes`), path).toBe(false);
      if (!path.startsWith('/ap')) expect(await indented(path, { ...curl, accept: TABLE }), path).toBe(true);
    }
    const created = await server.admin.send('POST', maps, { body: { metadata: { name: 'made' } }, headers: curl });
    expect(created.text).toMatch(/^\{\n {2}"kind"/);
    expect((await server.admin.send('DELETE', `${maps}/made`, { headers: curl })).text).toMatch(/^\{\n {2}"kind": "Status"/);
    // The version of the server is always indented, and binary answers and YAML never are.
    expect(await indented('/version')).toBe(true);
    const yaml = await server.admin.get(`${maps}/shape?pretty=1`, { accept: 'application/yaml' });
    expect(yaml.text).toMatch(/^apiVersion: v1\n/);
    const events = await server.admin.open('GET', `${maps}?watch=1&pretty=1`, { headers: curl });
    let text = '';
    for await (const chunk of events.body) {
      text += chunk;
      if (text.includes('\n')) break;
    }
    for (const line of text.split('\n').slice(0, -1)) expect(JSON.parse(line).type).toBe('ADDED');
  });
});

const thingDefinition = (apiVersion: string) => ({
  apiVersion,
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          { name: 'Text', type: 'string', jsonPath: '.spec.text', priority: 1 },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
      },
    ],
  },
});
