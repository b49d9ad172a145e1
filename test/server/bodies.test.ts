/** What bodies of requests are read as: text that is UTF-8, one document, what an envelope says it holds. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { type Answer, startTestServer, type TestServer, unique } from '../support/server.ts';
import { block, envelope } from '../support/wire.ts';

describe.each(['plat', 'kubernetes'] as const)('bodies sent to a %s server', (identity) => {
  let server: TestServer;
  let configmaps: string;
  let binary: string;
  let lamps: string;
  beforeAll(async () => {
    server = await startTestServer({ identity, controllers: [] });
    configmaps = `/api/v1/namespaces/${await server.namespace()}/configmaps`;
    binary = server.identity.protobufMediaType;
    const definition = `apiextensions.${server.identity.groupSuffix}/v1`;
    const open = { type: 'object', [`${server.identity.schemaExtensionPrefix}preserve-unknown-fields`]: true };
    await server.admin.ok('POST', `/apis/${definition}/customresourcedefinitions`, {
      metadata: { name: 'lamps.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Cluster',
        names: { plural: 'lamps', kind: 'Lamp' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: open } }],
      },
    });
    lamps = '/apis/example.com/v1/lamps';
    // The path is served once the definition is established.
    const watch = await server.admin.watch(`/apis/${definition}/customresourcedefinitions?watch=1`);
    await watch.until(({ object }) => object.status?.conditions?.some((c: { type: string }) => c.type === 'Established'));
    watch.close();
  });
  afterAll(() => server.close());

  const send = (method: string, path: string, type: string, body: Buffer | string): Promise<Answer> =>
    server.admin.send(method, path, { body, headers: { 'content-type': type } });
  const bytes = (...parts: (string | number[])[]): Buffer =>
    Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));
  /** Not UTF-8: a byte that continues nothing, the beginning of a character, an overlong slash, half of a character. */
  const foreign: [string, number[]][] = [
    ['a lone byte', [0x80]],
    ['a character cut short', [0xe2, 0x82]],
    ['an overlong form', [0xc0, 0xaf]],
    ['half a pair', [0xed, 0xa0, 0x80]],
  ];
  const state = async (): Promise<string> => jsonText((await server.admin.ok('GET', configmaps)).items);

  describe.each(foreign)('text that is not UTF-8 (%s) is refused, the field is named, nothing is stored', (_name, bad) => {
    test('in JSON and YAML, created, replaced, patched and applied', async () => {
      const { metadata } = await server.admin.ok('POST', configmaps, { metadata: { name: unique('c') } });
      const before = await state();
      const path = `${configmaps}/${metadata.name}`;
      // A replacement character that was meant is no fault.
      const json = (name: string): Buffer =>
        bytes(`{"metadata":{"name":"${name}"},"data":{"ok":"\ufffd","also":"\\ufffd","k":"x`, bad, '"}}');
      const yaml = (name: string): Buffer => bytes(`metadata:\n  name: ${name}\ndata:\n  ok: "\ufffd"\n  k: x`, bad, '\n');
      const fresh = unique('c');
      for (const [method, at, type, body] of [
        ['POST', configmaps, 'application/json', json(fresh)],
        ['POST', configmaps, 'application/yaml', yaml(fresh)],
        ['PUT', path, 'application/json', json(metadata.name)],
        ['PUT', path, 'application/yaml', yaml(metadata.name)],
        ['PATCH', path, 'application/merge-patch+json', json(metadata.name)],
        ['PATCH', path, 'application/strategic-merge-patch+json', json(metadata.name)],
        [
          'PATCH',
          `${path}?fieldManager=m`,
          'application/apply-patch+yaml',
          bytes('kind: ConfigMap\napiVersion: v1\n', [...yaml(metadata.name)]),
        ],
      ] as const) {
        const answer = await send(method, at, type, body);
        expect([method, type, answer.status, answer.json.reason]).toEqual([method, type, 400, 'BadRequest']);
        expect(answer.json.message, `${method} ${type}`).toContain('data.k: the text is not valid UTF-8');
      }
      const patch = await send(
        'PATCH',
        path,
        'application/json-patch+json',
        bytes('[{"op":"add","path":"/data","value":{"k":"', bad, '"}}]'),
      );
      expect([patch.status, patch.json.message]).toEqual([400, expect.stringContaining('[0].value.k: the text is not valid UTF-8')]);
      expect(await state()).toBe(before);
    });

    test('in keys, in options of a deletion, and in custom objects', async () => {
      const { metadata } = await server.admin.ok('POST', configmaps, { metadata: { name: unique('c') } });
      const key = await send(
        'POST',
        configmaps,
        'application/json',
        bytes(`{"metadata":{"name":"${unique('c')}"},"data":{"a`, bad, '":"x"}}'),
      );
      expect([key.status, key.json.message]).toEqual([400, expect.stringContaining('a key of data: the text is not valid UTF-8')]);
      const options = bytes('{"kind":"DeleteOptions","propagationPolicy":"', bad, '"}');
      const refused = await send('DELETE', `${configmaps}/${metadata.name}`, 'application/json', options);
      expect([refused.status, refused.json.message]).toEqual([400, expect.stringContaining('propagationPolicy: the text is not')]);
      expect((await server.admin.get(`${configmaps}/${metadata.name}`)).status).toBe(200);
      const lamp = bytes('{"kind":"Lamp","apiVersion":"example.com/v1","metadata":{"name":"l"},"spec":{"rooms":[{"name":"', bad, '"}]}}');
      const custom = await send('POST', lamps, 'application/json', lamp);
      expect([custom.status, custom.json.message]).toEqual([400, expect.stringContaining('spec.rooms[0].name: the text is not')]);
      expect((await server.admin.ok('GET', lamps)).items).toEqual([]);
    });

    test('in the binary form', async () => {
      const before = await state();
      const post = (...fields: Buffer[]): Promise<Answer> =>
        send('POST', configmaps, binary, envelope({ kind: 'ConfigMap', apiVersion: 'v1', raw: Buffer.concat(fields) }));
      const name = block(1, block(1, unique('c')));
      const value = await post(name, block(2, block(1, 'ok'), block(2, '\ufffd')), block(2, block(1, 'k'), block(2, bytes('x', bad))));
      expect([value.status, value.json.message]).toEqual([400, expect.stringContaining('data.k: the text is not valid UTF-8')]);
      const key = await post(name, block(2, block(1, bytes(bad)), block(2, 'x')));
      expect([key.status, key.json.message]).toEqual([400, expect.stringContaining('a key of data: the text is not valid UTF-8')]);
      // What JSON says of who owns which fields stands as bytes within the message.
      const managed = block(1, block(1, unique('c')), block(17, block(1, 'm'), block(7, block(1, bytes('{"f:', bad, '":{}}')))));
      const owners = await post(managed);
      expect([owners.status, owners.json.message]).toEqual([400, expect.stringContaining('metadata.managedFields[0].fieldsV1: the text')]);
      // Bytes are bytes.
      const good = await post(name, block(3, block(1, 'k'), block(2, bytes(bad))));
      expect([good.status, good.json.binaryData]).toEqual([201, { k: bytes(bad).toString('base64') }]);
      await server.admin.ok('DELETE', `${configmaps}/${good.json.metadata.name}`);
      expect(await state()).toBe(before);
    });
  });

  test('a large body that is not UTF-8 is refused like a small one', async () => {
    const text = `{"metadata":{"name":"${unique('c')}"},"data":{"long":"${'x'.repeat(300_000)}","k":"`;
    const answer = await send('POST', configmaps, 'application/json', bytes(text, [0xff], '"}}'));
    expect([answer.status, answer.json.message]).toEqual([400, expect.stringContaining('data.k: the text is not valid UTF-8')]);
    const broken = await send('POST', configmaps, 'application/json', bytes('{"data":', [0xff]));
    expect([broken.status, broken.json.message]).toEqual([400, 'the body is not valid UTF-8']);
  });

  test('several YAML documents in one body are refused, empty ones are passed over', async () => {
    const before = await state();
    const document = (name: string): string => `kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: ${name}\n`;
    const [one, two] = [unique('c'), unique('c')];
    const several = `${document(one)}---\n${document(two)}`;
    const inOneLine = `{"metadata":{"name":"${one}"}}\n---\n{"metadata":{"name":"${two}"}}\n`;
    const large = `${document(one)}data:\n  k: ${'x'.repeat(200_000)}\n---\n${document(two)}`;
    for (const body of [several, inOneLine, large, `---\n---\n${document(one)}`]) {
      const answer = await send('POST', configmaps, 'application/yaml', body);
      expect([answer.status, answer.json.message]).toEqual([400, expect.stringContaining('the text holds several documents')]);
    }
    const applied = await send('PATCH', `${configmaps}/${one}?fieldManager=m`, 'application/apply-patch+yaml', several);
    expect([applied.status, applied.json.message]).toEqual([400, expect.stringContaining('the text holds several documents')]);
    expect(await state()).toBe(before);

    expect((await send('POST', configmaps, 'application/yaml', `---\n${document(one)}---\n# the end\n---\n...\n`)).status).toBe(201);
    const replaced = await send('PUT', `${configmaps}/${one}`, 'application/yaml', several);
    expect(replaced.status).toBe(400);
    const deleted = await send('DELETE', `${configmaps}/${one}`, 'application/yaml', 'gracePeriodSeconds: 0\n---\ndryRun: [All]\n');
    expect(deleted.status).toBe(400);
    expect((await server.admin.get(`${configmaps}/${one}`)).status).toBe(200);
  });

  test('a client of a custom kind that accepts none of its forms learns which there are', async () => {
    const offered = 'only the following media types are accepted: application/json, application/yaml';
    for (const accept of ['text/html', 'application/xml']) {
      const answer = await server.admin.get(lamps, { accept });
      expect([answer.status, answer.json.message]).toEqual([406, offered]);
    }
    expect((await server.admin.get(lamps, { accept: binary })).status).toBe(406);
    expect((await server.admin.get(lamps, { accept: 'application/*' })).headers['content-type']).toBe('application/json');
  });

  describe('an envelope', () => {
    const raw = (): Buffer => block(1, block(1, unique('c')));
    const post = (given: Partial<Parameters<typeof envelope>[0]>, to = configmaps): Promise<Answer> =>
      send('POST', to, binary, envelope({ kind: 'ConfigMap', apiVersion: 'v1', raw: raw(), ...given }));

    test('of an encoding or a type that is not known is refused with 415', async () => {
      const before = await state();
      for (const given of [
        { contentEncoding: 'gzip' },
        { contentEncoding: 'br', contentType: 'application/json' },
        { contentType: 'text/plain' },
      ]) {
        const answer = await post(given);
        expect([answer.status, answer.json.reason]).toEqual([415, 'UnsupportedMediaType']);
        expect(answer.json.message).toContain(JSON.stringify(given.contentEncoding ?? given.contentType));
      }
      expect(await state()).toBe(before);
      expect((await post({ contentType: binary })).status).toBe(201);
      expect((await post({ contentEncoding: 'identity' })).status).toBe(201);
    });

    test('may hold JSON or YAML, which may leave kind and version to it', async () => {
      const inside = (value: unknown): Buffer => Buffer.from(jsonText(value));
      const contentType = 'application/json';
      const metadata = () => ({ name: unique('c') });
      const plain = await post({ contentType, raw: inside({ metadata: metadata(), data: { a: 'b' } }) });
      expect([plain.status, plain.json.data]).toEqual([201, { a: 'b' }]);
      const whole = await post({
        contentType,
        raw: inside({ kind: 'ConfigMap', apiVersion: 'v1', metadata: metadata(), data: { a: 'b' } }),
      });
      expect([whole.status, whole.json.data]).toEqual([201, { a: 'b' }]);
      const yaml = Buffer.from(`metadata:\n  name: ${unique('c')}\ndata:\n  a: b\n`);
      expect((await post({ contentType: 'application/yaml', raw: yaml })).status).toBe(201);

      expect((await post({ contentType, raw: inside({ kind: 'Secret', metadata: metadata() }) })).status).toBe(400);
      expect((await post({ contentType, kind: 'Secret', raw: inside({ metadata: metadata() }) })).status).toBe(400);
      expect((await post({ contentType, raw: Buffer.from('{') })).json.message).toContain('unexpected end of JSON input');
      expect((await post({ contentType, raw: bytes('{"data":{"k":"', [0x80], '"}}') })).json.message).toContain('data.k: the text is not');
    });

    test('is the only way in which a custom object can be sent as binary', async () => {
      const type = { kind: 'Lamp', apiVersion: 'example.com/v1' };
      const inside = Buffer.from(JSON.stringify({ metadata: { name: unique('l') }, spec: { lit: true } }));
      const answer = await post({ ...type, contentType: 'application/json', raw: inside }, lamps);
      expect([answer.status, answer.json.spec]).toEqual([201, { lit: true }]);
      expect((await post({ ...type }, lamps)).status).toBe(400);
    });
  });
});
