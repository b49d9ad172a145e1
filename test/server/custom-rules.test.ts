/** Validation rules of custom kinds through the API; what single rules do is tested in `packages/kinds/src/apiextensions/cel`. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readFeatureGates } from '../../packages/kinds/src/feature-gates.ts';
import { define, definitionOf, definitionsPath, withRules } from '../support/custom.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';

const group = 'rules.example.com';
const integer = { type: 'integer' };

describe.each([
  ['plat', 'lmdb'],
  ['kubernetes', 'memory'],
] as const)('as %s in %s', (identity, store) => {
  let server: TestServer;
  let namespace: string;
  beforeAll(async () => {
    server = await startTestServer({ direct: true, identity, store, features: withRules });
    namespace = await server.namespace();
  });
  afterAll(() => server.close());

  const schemaOf = (...rules: Loose[]): object => ({
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { n: integer, most: integer }, [`${server.identity.schemaExtensionPrefix}validations`]: rules },
      status: { type: 'object', properties: { n: integer } },
    },
    [`${server.identity.schemaExtensionPrefix}validations`]: [
      { rule: '!has(self.status) || self.status.n <= self.spec.n', message: 'status.n is at most spec.n' },
    ],
  });
  const bounded = { rule: 'self.n <= self.most', message: 'n is at most most' };
  const grows = { rule: 'self.n >= oldSelf.n', message: 'n never shrinks' };
  const path = (plural: string, version = 'v1', name = ''): string =>
    `/apis/${group}/${version}/namespaces/${namespace}/${plural}${name === '' ? '' : `/${name}`}`;
  const object = (kind: string, name: string, spec: object, version = 'v1'): Loose => ({
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name },
    spec,
  });
  const causes = ({ status, json }: { status: number; json: Loose }): unknown => [
    status,
    (json.details?.causes ?? []).map(({ field, message }: Loose) => `${field}: ${message}`),
  ];

  test('creates, updates, patches, applies and status obey the rules', async () => {
    await define(server, definitionOf(server, group, 'Gauge', [{ schema: schemaOf(bounded, grows), subresources: { status: {} } }]));
    const gauges = path('gauges');
    const gauge = (n: number): Loose => object('Gauge', 'one', { n, most: 9 });
    const refused = [422, ['spec: Invalid value: "object": n is at most most']];
    const wrong = await server.admin.post(gauges, gauge(10));
    expect(causes(wrong)).toEqual(refused);
    expect(wrong.json).toMatchObject({ reason: 'Invalid', message: `Gauge.${group} "one" is invalid: ${refused[1]}` });
    const made = await server.admin.ok('POST', gauges, gauge(5));
    const yaml = Buffer.from(`apiVersion: ${group}/v1\nkind: Gauge\nmetadata: {name: two}\nspec: {"n": 3, most: 2}\n`);
    expect(causes(await server.admin.send('POST', gauges, { body: yaml, headers: { 'content-type': 'application/yaml' } }))).toEqual(
      refused,
    );

    const one = `${gauges}/one`;
    const shrunk = [422, ['spec: Invalid value: "object": n never shrinks']];
    expect(causes(await server.admin.send('PUT', one, { body: { ...made, spec: { n: 4, most: 9 } } }))).toEqual(shrunk);
    expect(causes(await server.admin.patch(one, { spec: { n: 4 } }))).toEqual(shrunk);
    expect(causes(await server.admin.patch(one, { spec: { n: 6 } }))).toEqual([200, []]);
    const applied = (n: number) =>
      server.admin.send('PATCH', `${one}?fieldManager=me&force=true`, {
        body: gauge(n),
        headers: { 'content-type': 'application/apply-patch+yaml' },
      });
    expect(causes(await applied(5))).toEqual(shrunk);
    expect(causes(await applied(10))).toEqual(refused);
    expect(causes(await applied(7))).toEqual([200, []]);

    expect(causes(await server.admin.patch(`${one}/status`, { status: { n: 8 } }))).toEqual([
      422,
      ['<nil>: Invalid value: "object": status.n is at most spec.n'],
    ]);
    expect(causes(await server.admin.patch(`${one}/status`, { status: { n: 7 } }))).toEqual([200, []]);
  });

  test('the rules of the version of the request hold', async () => {
    const versions = [
      { name: 'v1', schema: schemaOf(bounded) },
      { name: 'v2', schema: schemaOf({ rule: 'self.n > 100', message: 'v2 is for large ones' }) },
    ];
    await define(server, definitionOf(server, group, 'Meter', versions));
    expect(causes(await server.admin.post(path('meters', 'v2'), object('Meter', 'a', { n: 1, most: 9 }, 'v2')))).toEqual([
      422,
      ['spec: Invalid value: "object": v2 is for large ones'],
    ]);
    await server.admin.ok('POST', path('meters', 'v2'), object('Meter', 'a', { n: 101, most: 9 }, 'v2'));
    expect(causes(await server.admin.patch(path('meters', 'v1', 'a'), { metadata: { labels: { a: 'b' } } }))).toEqual([
      422,
      ['spec: Invalid value: "object": n is at most most'],
    ]);
  });

  test('a definition that changes changes its rules, and one whose rules do not compile is refused', async () => {
    await define(server, definitionOf(server, group, 'Dial', [{ schema: schemaOf(bounded) }]));
    const definition = `${definitionsPath(server)}/dials.${group}`;
    const replaced = (...rules: Loose[]) => {
      const { spec } = definitionOf(server, group, 'Dial', [{ schema: schemaOf(...rules) }]);
      return server.admin.patch(definition, { spec: { versions: spec.versions } });
    };
    const [status, faults] = causes(await replaced({ rule: 'self.m > 1' })) as [number, string[]];
    expect([status, faults]).toEqual([422, [expect.stringContaining("compilation failed: ERROR: <input>:1:5: undefined field 'm'")]]);
    // Watches of a kind end once it is served by its changed definition.
    const watch = await server.admin.watch(`${path('dials')}?watch=1`);
    expect((await replaced({ rule: 'self.n > 5', message: 'more' })).status).toBe(200);
    await watch.ended;
    expect(causes(await server.admin.post(path('dials'), object('Dial', 'a', { n: 5, most: 1 })))).toEqual([
      422,
      ['spec: Invalid value: "object": more'],
    ]);
    await server.admin.ok('POST', path('dials'), object('Dial', 'a', { n: 6, most: 1 }));
  });

  test('definitions keep their rules in the binary form, and publish them', async () => {
    const rule = { ...bounded, messageExpression: "'at most ' + string(self.most)", reason: 'FieldValueForbidden', fieldPath: '.n' };
    await define(server, definitionOf(server, group, 'Knob', [{ schema: schemaOf(rule) }]));
    const name = `knobs.${group}`;
    const accept = server.identity.protobufMediaType;
    const binary = await server.admin.get(`${definitionsPath(server)}/${name}`, { accept });
    expect([binary.status, binary.headers['content-type']]).toEqual([200, accept]);
    expect(binary.bytes.includes("'at most ' + string(self.most)")).toBe(true);
    const body = binary.bytes;
    const back = await server.admin.send('PUT', `${definitionsPath(server)}/${name}`, { body, headers: { 'content-type': accept } });
    const field = `${server.identity.schemaExtensionPrefix}validations`;
    expect(back.json.spec.versions[0].schema.openAPIV3Schema.properties.spec[field]).toEqual([rule]);
    expect(causes(await server.admin.post(path('knobs'), object('Knob', 'a', { n: 2, most: 1 })))).toEqual([
      422,
      ['spec.n: Forbidden: at most 1'],
    ]);
    const document = await server.admin.ok('GET', `/openapi/v3/apis/${group}/v1`);
    expect(JSON.stringify(document)).toContain(JSON.stringify(field));
  });
});

test('with the feature off, as in 1.24 by default, rules are dropped, and those that are stored are kept and not enforced', async () => {
  const schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { n: integer }, 'x-kubernetes-validations': [{ rule: 'self.n > 3' }] } },
  };
  const server = await startTestServer({ direct: true, identity: 'kubernetes', store: 'lmdb', apiRelease: '1.25' });
  await define(server, definitionOf(server, group, 'Lamp', [{ schema }], { scope: 'Cluster' }));
  const lamp = (kind: string) => ({ apiVersion: `${group}/v1`, kind, metadata: { name: 'a' }, spec: { n: 1 } });
  expect((await server.admin.post(`/apis/${group}/v1/lamps`, lamp('Lamp'))).status).toBe(422);
  const off = await server.restart({ apiRelease: '1.24' });
  await off.admin.ok('POST', `/apis/${group}/v1/lamps`, lamp('Lamp'));
  await define(off, definitionOf(off, group, 'Bulb', [{ schema }], { scope: 'Cluster' }));
  await off.admin.ok('POST', `/apis/${group}/v1/bulbs`, lamp('Bulb'));
  const rulesOf = async (plural: string): Promise<unknown> => {
    const { spec } = await off.admin.ok('GET', `${definitionsPath(off)}/${plural}.${group}`);
    return spec.versions[0].schema.openAPIV3Schema.properties.spec['x-kubernetes-validations'];
  };
  expect(await rulesOf('lamps')).toEqual([{ rule: 'self.n > 3' }]);
  expect(await rulesOf('bulbs')).toBeUndefined();
  const on = await off.restart({ features: readFeatureGates(new Map([['CustomResourceValidationExpressions', 'true']])) });
  expect((await on.admin.patch(`/apis/${group}/v1/lamps/a`, { spec: { n: 2 } })).status).toBe(422);
  expect((await on.admin.patch(`/apis/${group}/v1/bulbs/a`, { spec: { n: 2 } })).status).toBe(200);
  await on.close();
});
