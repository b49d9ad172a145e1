/** Integers of 64 bits come back as they were sent, by every way into a server and out of it. */
import { describe, expect, test } from 'vitest';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { parseYaml } from '../../packages/schema/src/yaml/index.ts';
import { define, definitionOf, definitionsPath, withRules } from '../support/custom.ts';
import { etcdMissing, startEtcd } from '../support/etcd.ts';
import type { Loose, TestServer } from '../support/server.ts';
import { startTestServer, unique } from '../support/server.ts';
import { onStores } from '../support/stores.ts';

const MOST = 9223372036854775807n;
const LEAST = -9223372036854775808n;
const ODD = 9007199254740993n;
const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };

/** A kind whose schema has integers wherever a schema may have one, and a field for anything. */
function schemaOf({ identity: { schemaExtensionPrefix: x } }: TestServer): object {
  const integer = { type: 'integer', format: 'int64' };
  return {
    type: 'object',
    properties: {
      any: { type: 'object', [`${x}preserve-unknown-fields`]: true },
      spec: {
        type: 'object',
        [`${x}validations`]: [
          { rule: '!has(self.rising) || self.rising + 1 > self.rising', message: 'cannot rise' },
          { rule: '!has(self.even) || self.even % 2 == 0' },
          { rule: '!has(self.share) || self.share >= 9007199254740992.0' },
        ],
        properties: {
          size: integer,
          most: { ...integer, default: MOST },
          choice: { ...integer, enum: [ODD, ODD + 2n] },
          few: { ...integer, maximum: 9007199254740992, minimum: -9007199254740992 },
          thirds: { ...integer, multipleOf: 3 },
          rising: integer,
          even: integer,
          share: { type: 'number' },
          set: { type: 'array', items: integer, [`${x}list-type`]: 'set' },
          parts: {
            type: 'array',
            [`${x}list-type`]: 'map',
            [`${x}list-map-keys`]: ['id'],
            items: { type: 'object', required: ['id'], properties: { id: integer, text: { type: 'string' } } },
          },
          replicas: integer,
        },
      },
      status: { type: 'object', properties: { seen: integer, replicas: integer } },
    },
  };
}
const version = (server: TestServer) => ({
  schema: schemaOf(server),
  subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
  additionalPrinterColumns: [
    { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    { name: 'Text', type: 'string', jsonPath: '.spec.size' },
    { name: 'All', type: 'string', jsonPath: '.spec' },
    { name: 'Float', type: 'number', jsonPath: '.spec.size' },
    { name: 'Large', type: 'string', jsonPath: '.spec.parts[?(@.id>9007199254740992)].text' },
  ],
});

function tests(server: () => TestServer): void {
  let kind: Promise<{ group: string; path: string; make: (name: string, rest: object) => object }> | undefined;
  const things = () => {
    kind ??= (async () => {
      const group = `${unique('g')}.example.com`;
      await define(server(), definitionOf(server(), group, 'Thing', [version(server())]));
      const path = `/apis/${group}/v1/namespaces/${await server().namespace()}/things`;
      const make = (name: string, rest: object) => ({ apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name }, ...rest });
      return { group, path, make };
    })();
    return kind;
  };
  const message = ({ status, json }: { status: number; json: Loose }) => [status, json.message];

  test('a number is read as a stock server reads it', async () => {
    const { admin } = server();
    const { path, make } = await things();
    for (const [sent, kept] of [
      ['9007199254740991', '9007199254740991'],
      ['9007199254740992', '9007199254740992'],
      ['9007199254740993', '9007199254740993'],
      ['9223372036854775807', '9223372036854775807'],
      ['-9223372036854775808', '-9223372036854775808'],
      // Not of 64 bits, or with a fraction or an exponent: floats.
      ['9223372036854775808', '9223372036854776000'],
      ['-9223372036854775809', '-9223372036854776000'],
      ['10000000000000000000', '10000000000000000000'],
      ['9007199254740993.0', '9007199254740992'],
      ['1.0', '1'],
      ['1e3', '1000'],
      ['1e300', '1e+300'],
      ['0.1234567890123456', '0.1234567890123456'],
    ] as const) {
      const name = unique('n');
      const body = jsonText(make(name, { any: { n: 'N' } })).replace('"N"', sent);
      expect((await admin.post(path, body)).text).toContain(`"any":{"n":${kept}}`);
      expect((await admin.get(`${path}/${name}`)).text).toContain(`"any":{"n":${kept}}`);
      expect((await admin.patch(`${path}/${name}`, `{"any":{"again":${sent}}}`)).text).toContain(`"any":{"n":${kept},"again":${kept}}`);
    }
    expect(message(await admin.post(path, '{"any":{"n":1e400}}'))).toEqual([400, expect.stringContaining('number 1e400 is out of range')]);
  });

  test('get, list, watch, Table and YAML show it', async () => {
    const { admin } = server();
    const { path, make } = await things();
    const name = unique('n');
    const watch = await admin.watch(`${path}?watch=1&fieldSelector=metadata.name%3D${name}`);
    const spec = { size: MOST, parts: [{ id: ODD, text: 'large' }] };
    await admin.ok('POST', path, make(name, { spec }));
    const all = { ...spec, most: MOST };
    expect((await watch.until(({ type }) => type === 'ADDED')).at(-1)?.object.spec).toEqual(all);
    watch.close();
    expect((await admin.get(`${path}/${name}`)).json.spec).toEqual(all);
    expect((await admin.get(`${path}/${name}?pretty=true`)).text).toContain('"size": 9223372036854775807');
    expect((await admin.get(path)).json.items.find(({ metadata }: Loose) => metadata.name === name).spec).toEqual(all);
    const yaml = await admin.get(`${path}/${name}`, { accept: 'application/yaml' });
    expect(yaml.text).toContain('size: 9223372036854775807\n');
    expect((parseYaml(yaml.text) as Loose).spec).toEqual(all);
    const { rows } = (await admin.get(`${path}/${name}`, TABLE)).json;
    expect(rows[0].cells).toEqual([
      name,
      MOST,
      '9223372036854775807',
      '{"most":9223372036854775807,"parts":[{"id":9007199254740993,"text":"large"}],"size":9223372036854775807}',
      Number(MOST),
      'large',
    ]);
    expect((await admin.get(`${path}/${name}?includeObject=Object`, TABLE)).text).toContain('"size":9223372036854775807');
  });

  test('each type of patch sets it, compares it and leaves it alone', async () => {
    const { admin } = server();
    const { group, path, make } = await things();
    const name = unique('n');
    const object = `${path}/${name}`;
    await admin.ok('POST', path, make(name, { spec: { size: ODD }, any: { list: [ODD] } }));
    expect((await admin.patch(object, { any: { merged: LEAST } })).json.any).toEqual({ list: [ODD], merged: LEAST });
    const operations = [
      { op: 'test', path: '/spec/size', value: ODD },
      { op: 'replace', path: '/spec/size', value: ODD + 1n },
      { op: 'copy', from: '/any/merged', path: '/any/list/-' },
    ];
    expect((await admin.patch(object, operations, 'json-patch')).json).toMatchObject({
      spec: { size: ODD + 1n },
      any: { list: [ODD, LEAST] },
    });
    const wrong = [{ op: 'test', path: '/spec/size', value: ODD }];
    expect((await admin.patch(object, wrong, 'json-patch')).status).toBe(422);
    const yaml = `apiVersion: ${group}/v1\nkind: Thing\nmetadata: {name: ${name}}\nspec: {size: 9007199254740995}\n`;
    expect(message(await admin.patch(`${object}?fieldManager=m`, yaml, 'apply-patch'))[0]).toBe(409);
    expect((await admin.patch(`${object}?fieldManager=m&force=1`, yaml, 'apply-patch')).json.spec.size).toBe(9007199254740995n);
    const share = `apiVersion: ${group}/v1\nkind: Thing\nmetadata: {name: ${name}}\nspec: {size: 9007199254740995, share: 9007199254740993}\n`;
    expect((await admin.patch(`${object}?fieldManager=m&force=1`, share, 'apply-patch')).json.spec.share).toBe(ODD);
    const same = (await admin.get(object)).json;
    expect((await admin.put(object, same)).json.metadata.resourceVersion).toBe(same.metadata.resourceVersion);
    expect((await admin.put(object, { ...same, spec: { ...same.spec, size: ODD } })).json).toMatchObject({
      spec: { size: ODD },
      metadata: { generation: same.metadata.generation + 1 },
    });
  });

  test('applies own the items that such an integer names', async () => {
    const { admin } = server();
    const { path, make } = await things();
    const name = unique('n');
    const apply = (manager: string, spec: object) =>
      admin.patch(`${path}/${name}?fieldManager=${manager}`, make(name, { spec }), 'apply-patch');
    const ownedBy = ({ json }: { json: Loose }, manager: string) =>
      json.metadata.managedFields.find((one: Loose) => one.manager === manager).fieldsV1['f:spec'];
    const one = await apply('one', { set: [ODD, MOST], parts: [{ id: ODD, text: 'a' }] });
    expect(ownedBy(one, 'one')).toEqual({
      'f:set': { 'v:9007199254740993': {}, 'v:9223372036854775807': {} },
      'f:parts': { 'k:{"id":9007199254740993}': { '.': {}, 'f:id': {}, 'f:text': {} } },
    });
    const two = await apply('two', { set: [ODD + 1n], parts: [{ id: ODD + 1n, text: 'b' }] });
    expect(two.json.spec).toMatchObject({
      set: [ODD, MOST, ODD + 1n],
      parts: [
        { id: ODD, text: 'a' },
        { id: ODD + 1n, text: 'b' },
      ],
    });
    expect(ownedBy(two, 'two')).toEqual({
      'f:set': { 'v:9007199254740994': {} },
      'f:parts': { 'k:{"id":9007199254740994}': { '.': {}, 'f:id': {}, 'f:text': {} } },
    });
    expect(message(await apply('two', { parts: [{ id: ODD, text: 'c' }] }))).toEqual([
      409,
      expect.stringContaining('.spec.parts[id=9007199254740993].text'),
    ]);
    const again = await apply('one', { set: [ODD, MOST], parts: [{ id: ODD, text: 'a' }] });
    expect(again.json.metadata.resourceVersion).toBe(two.json.metadata.resourceVersion);
    expect((await apply('one', { set: [MOST] })).json.spec).toMatchObject({ set: [MOST, ODD + 1n], parts: [{ id: ODD + 1n }] });
    const repeated = await admin.post(path, make(unique('n'), { spec: { set: [ODD, ODD + 1n, ODD] } }));
    expect(message(repeated)).toEqual([422, expect.stringContaining('spec.set[2]: Duplicate value: 9007199254740993')]);
  });

  test('schemas and rules check it exactly', async () => {
    const { admin } = server();
    const { path, make } = await things();
    const check = async (spec: object) => {
      const answer = await admin.post(path, make(unique('n'), { spec }));
      return answer.status === 201 ? 'ok' : answer.json.message;
    };
    expect(await check({ size: '1' })).toContain('must be of type integer: "string"');
    expect(await check({ choice: ODD })).toBe('ok');
    expect(await check({ choice: ODD + 1n })).toContain(
      'Unsupported value: 9007199254740994: supported values: "9007199254740993", "9007199254740995"',
    );
    expect(await check({ few: 9007199254740992n })).toBe('ok');
    expect(await check({ few: ODD })).toContain('spec.few in body should be less than or equal to 9007199254740992');
    expect(await check({ few: -ODD })).toContain('spec.few in body should be greater than or equal to -9007199254740992');
    expect(await check({ thirds: 9223372036854775806n })).toBe('ok');
    expect(await check({ thirds: 9223372036854775805n })).toContain('should be a multiple of 3');
    expect(await check({ rising: MOST - 1n })).toBe('ok');
    expect(await check({ rising: MOST })).toContain('integer overflow');
    expect(await check({ even: 9007199254740994n })).toBe('ok');
    expect(await check({ even: ODD })).toContain('failed rule: !has(self.even)');
    expect(await check({ share: ODD })).toBe('ok');
    // Beyond 2^53 a float is no integer.
    const float = await admin.post(path, jsonText(make(unique('n'), { spec: { size: 'F' } })).replace('"F"', '1e16'));
    expect(message(float)).toEqual([422, expect.stringContaining('spec.size in body must be of type integer: "number"')]);
  });

  test('status and scale', async () => {
    const { admin } = server();
    const { path, make } = await things();
    const name = unique('n');
    const made = await admin.ok('POST', path, make(name, { spec: { size: MOST, replicas: 3 } }));
    const { spec, status } = (await admin.put(`${path}/${name}/status`, { ...made, spec: {}, status: { seen: MOST } })).json;
    expect([spec.size, status.seen]).toEqual([MOST, MOST]);
    expect((await admin.patch(`${path}/${name}/status`, { status: { seen: LEAST } })).json.status.seen).toBe(LEAST);
    expect((await admin.get(`${path}/${name}/scale`)).json.spec.replicas).toBe(3);
    expect(message(await admin.patch(`${path}/${name}/scale`, { spec: { replicas: MOST } }))).toEqual([
      422,
      expect.stringContaining('cannot unmarshal number 9223372036854775807'),
    ]);
    expect(message(await admin.patch(`${path}/${name}`, { spec: { replicas: MOST } }))).toEqual([
      422,
      expect.stringContaining('9223372036854775807: should be less than or equal to 2147483647'),
    ]);
    expect((await admin.get(`${path}/${name}/scale`)).json.spec.replicas).toBe(3);
  });

  test('definitions publish it', async () => {
    const { admin } = server();
    const { group } = await things();
    const definition = (await admin.get(`${definitionsPath(server())}/things.${group}`)).json;
    const { spec } = definition.spec.versions[0].schema.openAPIV3Schema.properties;
    expect(spec.properties).toMatchObject({ most: { default: MOST }, choice: { enum: [ODD, ODD + 2n] } });
    const v3 = await admin.get(`/openapi/v3/apis/${group}/v1`);
    expect(v3.text).toContain('"default":9223372036854775807');
    expect(v3.text).toMatch(/"enum":\[9007199254740993,9007199254740995\]/);
  });

  test('the history of a watch has it', async () => {
    const { admin } = server();
    const { path, make } = await things();
    const name = unique('n');
    const { metadata } = await admin.ok('POST', path, make(name, { spec: { size: ODD } }));
    await admin.patch(`${path}/${name}`, { spec: { size: MOST } });
    const watch = await admin.watch(`${path}?watch=1&resourceVersion=${metadata.resourceVersion}`);
    expect((await watch.until(({ object }) => object.metadata.name === name)).at(-1)?.object.spec.size).toBe(MOST);
    watch.close();
  });
}

describe.each(['kubernetes', 'plat'] as const)('identity %s', (identity) => {
  onStores(identity === 'kubernetes' ? ['memory', 'lmdb', 'etcd'] : ['memory'], { identity, features: withRules }, tests);
});

onStores(['memory', 'lmdb'], { identity: 'kubernetes' }, (server) => {
  const podOf = (seconds: string) =>
    `{"metadata":{"name":"${unique()}"},"spec":{"terminationGracePeriodSeconds":${seconds},"containers":[{"name":"a","image":"b"}]}}`;
  const binary = { 'content-type': 'application/vnd.kubernetes.protobuf' };

  test('fields of built-in kinds, in JSON, YAML and the binary form', async () => {
    const { admin } = server();
    const path = `/api/v1/namespaces/${await server().namespace()}/pods`;
    const made = (await admin.post(path, podOf('9223372036854775807'))).json;
    expect(made.spec.terminationGracePeriodSeconds).toBe(MOST);
    const { name } = made.metadata;
    const { bytes } = await admin.get(`${path}/${name}`, { accept: binary['content-type'] });
    // Field 4 of the spec.
    expect(bytes.includes(Buffer.from([0x20, ...Array(8).fill(0xff), 0x7f]))).toBe(true);
    const back = await admin.put(`${path}/${name}`, bytes, binary);
    expect([back.status, back.json.spec.terminationGracePeriodSeconds]).toEqual([200, MOST]);
    const yaml = `metadata: {name: ${unique()}}\nspec: {activeDeadlineSeconds: 1, terminationGracePeriodSeconds: 0x7fffffffffffffff, containers: [{name: a, image: b}]}`;
    expect((await admin.post(path, yaml, { 'content-type': 'application/yaml' })).json.spec.terminationGracePeriodSeconds).toBe(MOST);
  });

  test('a strategic merge patch of a field', async () => {
    const { admin } = server();
    const path = `/apis/apps/v1/namespaces/${await server().namespace()}/deployments`;
    const labels = { app: 'a' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'b' }], terminationGracePeriodSeconds: ODD } };
    await admin.ok('POST', path, { metadata: { name: 'a' }, spec: { selector: { matchLabels: labels }, template } });
    const change = (seconds: bigint) => ({ spec: { template: { spec: { terminationGracePeriodSeconds: seconds } } } });
    const patch = async (body: object) => (await admin.patch(`${path}/a`, body, 'strategic-merge-patch')).json;
    expect((await patch(change(ODD))).metadata.generation).toBe(1);
    expect(await patch(change(ODD + 1n))).toMatchObject({ metadata: { generation: 2 }, ...change(ODD + 1n) });
    expect(await patch({ metadata: { labels: { a: 'b' } } })).toMatchObject(change(ODD + 1n));
  });

  test('what does not fit a field is refused with its digits', async () => {
    const { admin } = server();
    const path = `/api/v1/namespaces/${await server().namespace()}/pods`;
    const refusal = async (body: string) => {
      const { status, json } = await admin.post(path, body);
      return [status, /cannot unmarshal number (\S+) into Go struct field (\S+) of type (\w+)/.exec(json.message)?.slice(1)];
    };
    const field = 'PodSpec.spec.terminationGracePeriodSeconds';
    for (const digits of ['9223372036854775808', '-9223372036854775809', '1e3', '9007199254740993.0', '1.0'])
      expect(await refusal(podOf(digits))).toEqual([400, [digits, field, 'int64']]);
    const port = podOf('1').replace('"image":"b"', '"image":"b","ports":[{"containerPort":9007199254740993}]');
    expect(await refusal(port)).toEqual([400, ['9007199254740993', expect.stringContaining('containerPort'), 'int32']]);
    const user = podOf('1').replace('"image":"b"', '"image":"b","securityContext":{"runAsUser":9223372036854775807}');
    expect((await admin.post(path, user)).json.message).toContain(
      'securityContext.runAsUser: Invalid value: 9223372036854775807: must be between 0 and 2147483647, inclusive',
    );
  });

  test('values within values: embedded objects in JSON and in the binary form', async () => {
    const { admin } = server();
    const path = `/apis/apps/v1/namespaces/${await server().namespace()}/controllerrevisions`;
    const body = { metadata: { name: 'a' }, revision: MOST, data: { n: ODD } };
    expect((await admin.post(path, body)).json).toMatchObject({ revision: MOST, data: { n: ODD } });
    const { bytes } = await admin.get(`${path}/a`, { accept: binary['content-type'] });
    expect(bytes.includes('{"n":9007199254740993}')).toBe(true);
    expect((await admin.put(`${path}/a`, bytes, binary)).json).toMatchObject({ revision: MOST, data: { n: ODD } });
    expect((await admin.get(path, TABLE)).json.rows[0].cells).toContain(MOST);
  });

  test('a grace period without end and a generation of a client count on', async () => {
    const { admin } = server();
    const namespace = await server().namespace();
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    const pod = podOf('9223372036854775807').replace('"spec":{', '"spec":{"nodeName":"n",');
    const { name } = (await admin.post(pods, pod)).json.metadata;
    expect((await admin.delete(`${pods}/${name}`)).json.metadata).toMatchObject({
      deletionTimestamp: '9999-12-31T23:59:59Z',
      deletionGracePeriodSeconds: MOST,
    });
    expect((await admin.delete(`${pods}/${name}?gracePeriodSeconds=9223372036854775808`)).json.message).toContain('value out of range');
    expect((await admin.delete(`${pods}/${name}?gracePeriodSeconds=${ODD}`)).json.metadata.deletionGracePeriodSeconds).toBe(ODD);
    const maps = `/api/v1/namespaces/${namespace}/configmaps`;
    await admin.ok('POST', maps, { metadata: { name: 'a', generation: MOST, finalizers: ['example.com/hold'] } });
    expect((await admin.delete(`${maps}/a`)).json.metadata.generation).toBe(LEAST);
  });
});

/** What the stock conformance test "CustomResourceDefinition Watch" sends by the dynamic client, and expects of the events. */
test('the conversation of the conformance test of watches', async () => {
  const server = await startTestServer({ identity: 'kubernetes', store: 'lmdb' });
  const { admin } = server;
  const group = 'mygroup.example.com';
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  await define(server, definitionOf(server, group, 'Noxu', [{ name: 'v1beta1', schema }], { scope: 'Cluster' }));
  const path = `/apis/${group}/v1beta1/noxus`;
  const noxu =
    '{"apiVersion":"mygroup.example.com/v1beta1","content":{"key":"value"},"kind":"Noxu","metadata":{"name":"name1"},"num":{"num1":9223372036854775807,"num2":1000000}}';
  const watch = await admin.watch(
    `${path}?watch=true&fieldSelector=metadata.name%3Dname1&resourceVersion=${(await admin.get(path)).json.metadata.resourceVersion}`,
  );
  const createdNoxu = await admin.post(path, noxu);
  expect([createdNoxu.status, createdNoxu.json.num]).toEqual([201, { num1: MOST, num2: 1000000 }]);
  const patched = await admin.patch(`${path}/name1`, '[{"op":"add","path":"/dummy","value":"test"}]', 'json-patch');
  expect(patched.json).toMatchObject({ dummy: 'test', num: { num1: MOST } });
  const deletion = '{"kind":"DeleteOptions","apiVersion":"mygroup.example.com/v1beta1"}';
  expect((await admin.delete(`${path}/name1`, deletion)).status).toBe(200);
  const events = await watch.until(({ type }) => type === 'DELETED');
  expect(events.map(({ type, object }) => [type, object.num.num1, object.dummy])).toEqual([
    ['ADDED', MOST, undefined],
    ['MODIFIED', MOST, 'test'],
    ['DELETED', MOST, 'test'],
  ]);
  expect(events[0]?.object).toEqual(createdNoxu.json);
  expect(events[1]?.object).toEqual(patched.json);
  watch.close();
  await server.close();
});

test.each(['lmdb', 'etcd'] as const)('a restart on %s keeps it', async (store) => {
  if (store === 'etcd' && etcdMissing !== undefined) return;
  const etcd = store === 'etcd' ? await startEtcd() : undefined;
  const server = await startTestServer({ store, identity: 'kubernetes', ...(etcd !== undefined && { etcdServers: [etcd.endpoint] }) });
  const group = `${unique('g')}.example.com`;
  await define(server, definitionOf(server, group, 'Thing', [version(server)]));
  const path = `/apis/${group}/v1/namespaces/default/things`;
  const thing = { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'a' }, spec: { size: ODD }, any: { list: [MOST, LEAST] } };
  await server.admin.ok('POST', path, thing);
  const again = await server.restart();
  expect((await again.admin.get(`${path}/a`)).json).toMatchObject(thing);
  expect((await again.admin.patch(`${path}/a`, { any: { more: MOST } })).json).toMatchObject({
    spec: { size: ODD },
    any: { list: [MOST, LEAST], more: MOST },
  });
  await again.close();
  await etcd?.stop();
});
