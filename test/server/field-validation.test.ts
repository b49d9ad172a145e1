/**
 * `?fieldValidation=` for every body and patch: Strict refuses unknown and repeated fields, Warn names them, Ignore drops them.
 * The texts are those of a stock server with the gate on.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readFeatureGates } from '../../packages/kinds/src/feature-gates.ts';
import { groupName } from '../../packages/meta/src/identity.ts';
import { BinaryTypes } from '../support/binary-types.ts';
import { define, definitionOf } from '../support/custom.ts';
import { type Answer, type Loose, startTestServer, type TestServer, unique } from '../support/server.ts';
import { envelope, number } from '../support/wire.ts';

const deploymentJson = (name: string): string => `{
  "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "${name}", "labels": {"app": "a"}},
  "spec": {
    "unknown1": "a", "unknownTwice": "a", "unknownTwice": "b", "paused": true, "paused": false,
    "selector": {"matchLabels": {"app": "a"}},
    "template": {
      "metadata": {"labels": {"app": "a"}},
      "spec": {"containers": [{"name": "a", "image": "a", "unknownNested": "a", "imagePullPolicy": "Always", "imagePullPolicy": "Never"}]}
    }
  }
}`;
const deploymentYaml = (name: string): string => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
spec:
  unknown1: a
  unknownTwice: a
  unknownTwice: b
  paused: true
  paused: false
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:
      containers:
      - name: a
        image: a
        unknownNested: a
        imagePullPolicy: Always
        imagePullPolicy: Never
`;
const jsonFaults = [
  'unknown field "spec.unknown1"',
  // What is unknown and repeated is unknown.
  'unknown field "spec.unknownTwice"',
  'duplicate field "spec.paused"',
  'unknown field "spec.template.spec.containers[0].unknownNested"',
  'duplicate field "spec.template.spec.containers[0].imagePullPolicy"',
];
const yamlLines = [
  'line 8: key "unknownTwice" already set in map',
  'line 10: key "paused" already set in map',
  'line 20: key "imagePullPolicy" already set in map',
];
/** YAML is read by the order of its keys. */
const yamlFields = [
  'unknown field "spec.template.spec.containers[0].unknownNested"',
  'unknown field "spec.unknown1"',
  'unknown field "spec.unknownTwice"',
];

/** The texts of the warnings of an answer. */
function warningsOf(answer: Answer): string[] {
  const header = [answer.headers.warning ?? []].flat().join(', ');
  return [...header.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replaceAll(/\\(.)/g, '$1'));
}
const deployment = (name: string) => {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a' }] } };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec: { selector: { matchLabels: labels }, template } };
};

/** Which of the parameters of the PUT and PATCH of a path, in both documents, is `fieldValidation`: once if it is in all of them. */
async function publishedAt(server: TestServer, groupVersion: string, path: string): Promise<string[]> {
  const documents = await Promise.all(['/openapi/v2', `/openapi/v3/${groupVersion}`].map((at) => server.admin.ok('GET', at)));
  const names = documents.flatMap(({ paths }) =>
    ['put', 'patch'].map((method) =>
      paths[path][method].parameters.map(({ name }: Loose) => name).filter((name: string) => name === 'fieldValidation'),
    ),
  );
  for (const other of names) expect(other).toEqual(names[0]);
  return names[0];
}

test('a server of a release that has the gate on validates unasked and publishes the parameter, unless the gate is off', async () => {
  const pod = '/api/v1/namespaces/{namespace}/pods/{name}';
  for (const [apiRelease, gates, isOn] of [
    ['1.25', {}, true],
    ['1.23', {}, false],
    ['1.25', { ServerSideFieldValidation: 'false' }, false],
  ] as const) {
    const features =
      Object.keys(gates).length === 0 ? undefined : readFeatureGates(new Map(Object.entries(gates)), { release: apiRelease });
    const server = await startTestServer({ apiRelease, store: 'memory', direct: true, features });
    const body = { metadata: { name: 'a' }, typo: 1 };
    const answer = await server.admin.post(`/api/v1/namespaces/${await server.namespace()}/configmaps`, body);
    expect(warningsOf(answer)).toEqual(isOn ? ['unknown field "typo"'] : []);
    expect(await publishedAt(server, 'api/v1', pod)).toEqual(isOn ? ['fieldValidation'] : []);
    await server.close();
  }
});

const gateOn = readFeatureGates(new Map([['ServerSideFieldValidation', 'true']]));

describe.each([
  { gate: 'off', identity: 'kubernetes', store: 'memory', features: undefined } as const,
  { gate: 'on', identity: 'plat', store: 'lmdb', features: gateOn } as const,
])('the gate is $gate', ({ gate, identity, store, features }) => {
  let server: TestServer;
  let ns: string;
  let deployments: string;
  const yaml = { 'content-type': 'application/yaml' };
  beforeAll(async () => {
    server = await startTestServer({ identity, store, direct: store === 'lmdb', ...(features !== undefined && { features }) });
    ns = await server.namespace();
    deployments = `/apis/apps/v1/namespaces/${ns}/deployments`;
  });
  afterAll(() => server.close());
  const refusal = (answer: Answer): [number, string, string] => [answer.status, answer.json.reason, answer.json.message];

  test('create and update: JSON', async () => {
    const name = unique();
    const refused = [
      400,
      'BadRequest',
      `Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: ${jsonFaults.join(', ')}`,
    ];
    expect(refusal(await server.admin.post(`${deployments}?fieldValidation=Strict`, deploymentJson(name)))).toEqual(refused);
    const warned = await server.admin.post(`${deployments}?fieldValidation=Warn`, deploymentJson(name));
    expect([warned.status, warningsOf(warned)]).toEqual([201, jsonFaults]);
    expect(warned.json.spec).toMatchObject({ template: { spec: { containers: [{ imagePullPolicy: 'Never' }] } } });
    expect(warned.text).not.toContain('unknown');
    const path = `${deployments}/${name}`;
    expect(refusal(await server.admin.put(`${path}?fieldValidation=Strict`, deploymentJson(name)))).toEqual(refused);
    expect(refusal(await server.admin.put(`${path}/status?fieldValidation=Strict`, deploymentJson(name)))).toEqual(refused);
    const updated = await server.admin.put(`${path}?fieldValidation=Warn`, deploymentJson(name));
    expect([updated.status, warningsOf(updated)]).toEqual([200, jsonFaults]);
    const ignored = await server.admin.put(`${path}?fieldValidation=Ignore`, deploymentJson(name));
    expect([ignored.status, warningsOf(ignored)]).toEqual([200, []]);
  });

  test('create and update: YAML', async () => {
    const name = unique();
    const message = `Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: yaml: unmarshal errors:\n  ${yamlLines.join('\n  ')}, ${yamlFields.join(', ')}`;
    const strict = await server.admin.post(`${deployments}?fieldValidation=Strict`, deploymentYaml(name), yaml);
    expect(refusal(strict)).toEqual([400, 'BadRequest', message]);
    const warned = await server.admin.post(`${deployments}?fieldValidation=Warn`, deploymentYaml(name), yaml);
    expect([warned.status, warningsOf(warned)]).toEqual([201, [...yamlLines, ...yamlFields]]);
    const updated = await server.admin.put(`${deployments}/${name}?fieldValidation=Warn`, deploymentYaml(name), yaml);
    expect([updated.status, warningsOf(updated)]).toEqual([200, [...yamlLines, ...yamlFields]]);
    const ignored = await server.admin.put(`${deployments}/${name}?fieldValidation=Ignore`, deploymentYaml(name), yaml);
    expect([ignored.status, warningsOf(ignored)]).toEqual([200, []]);
  });

  test('without the parameter the gate decides', async () => {
    const on = gate === 'on';
    const name = unique();
    const json = await server.admin.post(deployments, deploymentJson(name));
    expect([json.status, warningsOf(json)]).toEqual([201, on ? jsonFaults : []]);
    const text = await server.admin.put(`${deployments}/${name}`, deploymentYaml(name), yaml);
    expect([text.status, warningsOf(text)]).toEqual([200, on ? [...yamlLines, ...yamlFields] : []]);
    const patched = await server.admin.patch(`${deployments}/${name}`, '{"nope":1}');
    expect([patched.status, warningsOf(patched)]).toEqual([200, on ? ['unknown field "nope"'] : []]);
    const body = `{"apiVersion":"apps/v1","kind":"Deployment","spec":{"replicas":1,"replicas":2}}`;
    const applied = await server.admin.patch(`${deployments}/${name}?fieldManager=a&force=true`, body, 'apply-patch');
    expect([applied.status, warningsOf(applied)]).toEqual([200, on ? ['line 1: key "replicas" already set in map'] : []]);
    const clean = await server.admin.post(`${deployments}?fieldValidation=`, deployment(unique()));
    expect([clean.status, warningsOf(clean)]).toEqual([201, []]);
  });

  test('a value that there is not is refused for every verb', async () => {
    const meta = groupName(server.identity, 'meta');
    const refused = (kind: string): unknown[] => [
      422,
      'Invalid',
      `${kind}.${meta} "" is invalid: fieldValidation: Unsupported value: "strict": supported values: "", "Ignore", "Strict", "Warn"`,
    ];
    const query = '?fieldValidation=strict';
    expect(refusal(await server.admin.post(deployments + query, deployment('a')))).toEqual(refused('CreateOptions'));
    expect(refusal(await server.admin.put(`${deployments}/a${query}`, deployment('a')))).toEqual(refused('UpdateOptions'));
    expect(refusal(await server.admin.patch(`${deployments}/a${query}`, {}))).toEqual(refused('PatchOptions'));
    expect(refusal(await server.admin.patch(`${deployments}/a/scale${query}`, {}))).toEqual(refused('PatchOptions'));
  });

  test.each<[string, string, string[]]>([
    [
      'merge-patch',
      '{"spec":{"replicas":1,"replicas":2,"nope":1,"nope":2}}',
      ['duplicate field "spec.replicas"', 'duplicate field "spec.nope"', 'unknown field "spec.nope"'],
    ],
    ['merge-patch', '{"spec":{"nope":null},"metadata":{"labels":{"a":"b"}}}', []],
    [
      'strategic-merge-patch',
      '{"spec":{"paused":true,"paused":false,"template":{"spec":{"containers":[{"name":"a","nope":1}]}}}}',
      ['duplicate field "spec.paused"', 'unknown field "spec.template.spec.containers[0].nope"'],
    ],
    [
      'json-patch',
      '[{"op":"add","path":"/spec/nope","value":{"a":1,"a":2},"extra":1,"op":"add"},{"op":"add","path":"/spec/paused","value":true}]',
      [
        'json patch duplicate field "[0].value.a"',
        'json patch unknown field "[0].extra"',
        'json patch duplicate field "[0].op"',
        'unknown field "spec.nope"',
      ],
    ],
    ['json-patch', '[{"op":"test","path":"/spec/paused","value":null},{"op":"add","path":"/spec/paused","value":true,"from":""}]', []],
  ])('%s %s', async (type, patch, faults) => {
    const name = unique();
    await server.admin.ok('POST', deployments, deployment(name));
    const path = `${deployments}/${name}`;
    const ignored = await server.admin.patch(`${path}?fieldValidation=Ignore&dryRun=All`, patch, type);
    expect([ignored.status, warningsOf(ignored)]).toEqual([200, []]);
    const warned = await server.admin.patch(`${path}?fieldValidation=Warn&dryRun=All`, patch, type);
    expect([warned.status, warningsOf(warned)]).toEqual([200, faults]);
    const strict = await server.admin.patch(`${path}?fieldValidation=Strict`, patch, type);
    if (faults.length === 0) return expect(strict.status).toBe(200);
    expect([strict.status, strict.json.reason, strict.json.details.causes[0].field]).toEqual([422, 'Invalid', 'patch']);
    expect(strict.json.message).toMatch(/^ "" is invalid: patch: Invalid value: /);
    expect(strict.json.message.endsWith(`: strict decoding error: ${faults.join(', ')}`)).toBe(true);
    expect((await server.admin.ok('GET', path)).metadata.generation).toBe(1);
  });

  test('apply: unknown fields are errors in any case, repeated ones by the parameter', async () => {
    const name = unique();
    const path = `${deployments}/${name}?fieldManager=a`;
    const body = JSON.stringify({ ...deployment(name), kind: 'Deployment' }, null, 1);
    const twice = body.replace('"spec": {', '"spec": {\n"replicas": 1,\n"replicas":\n2,');
    const line = twice.split('\n').indexOf('2,') + 1;
    const repeated = `line ${line}: key "replicas" already set in map`;
    const refused = `error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  ${repeated}`;
    // Before and after the object is there.
    for (const status of [201, 200]) {
      expect(refusal(await server.admin.patch(`${path}&fieldValidation=Strict`, twice, 'apply-patch'))).toEqual([
        400,
        'BadRequest',
        refused,
      ]);
      const warned = await server.admin.patch(`${path}&fieldValidation=Warn`, twice, 'apply-patch');
      expect([warned.status, warningsOf(warned), warned.json.spec.replicas]).toEqual([status, [repeated], 2]);
    }
    const unknown = body.replace('"spec": {', '"spec": {\n"nope": 1,\n"nope": 1,');
    for (const mode of ['Strict', 'Warn', 'Ignore']) {
      const answer = await server.admin.patch(`${path}&fieldValidation=${mode}`, unknown, 'apply-patch');
      expect(answer.json.message).toContain('.spec.nope: field not declared in schema');
    }
    const text = `apiVersion: apps/v1\nkind: Deployment\nspec:\n  replicas: 1\n  replicas: 3\n`;
    const applied = await server.admin.patch(`${path}&fieldValidation=Warn`, text, 'apply-patch');
    expect(warningsOf(applied)).toEqual(['line 5: key "replicas" already set in map']);
  });

  test.each<[string, string, object]>([
    ['POST', 'api/v1/namespaces/NS/pods/a/binding', { target: { kind: 'Node', name: 'a' } }],
    ['POST', 'api/v1/namespaces/NS/bindings', { metadata: { name: 'a' }, target: { kind: 'Node', name: 'a' } }],
    ['POST', 'api/v1/namespaces/NS/pods/a/eviction', { metadata: { name: 'a' } }],
    ['POST', 'api/v1/namespaces/NS/serviceaccounts/default/token', { spec: { audiences: ['a'] } }],
    ['PUT', 'api/v1/namespaces/NS/pods/a/ephemeralcontainers', { metadata: { name: 'a' } }],
    ['PUT', 'api/v1/namespaces/NS/pods/a/status', { metadata: { name: 'a' } }],
    ['PUT', 'api/v1/namespaces/a/finalize', { metadata: { name: 'a' } }],
    ['PUT', 'apis/apps/v1/namespaces/NS/deployments/a/scale', { metadata: { name: 'a' } }],
    ['PUT', 'apis/certificates.GROUPS/v1/certificatesigningrequests/a/approval', { metadata: { name: 'a' } }],
    ['POST', 'apis/authentication.GROUPS/v1/tokenreviews', { spec: { token: 'a' } }],
    ['POST', 'apis/authorization.GROUPS/v1/selfsubjectaccessreviews', { spec: { nonResourceAttributes: { path: '/', verb: 'get' } } }],
  ])('%s %s', async (method, address, body) => {
    const path = `/${address.replace('NS', ns).replace('GROUPS', server.identity.groupSuffix)}`;
    const sent = { ...body, nope: { a: 1 } };
    const answer = await server.admin.send(method, `${path}?fieldValidation=Strict&dryRun=All`, { body: sent });
    expect([answer.status, answer.json.message]).toEqual([400, expect.stringMatching(/: strict decoding error: unknown field "nope"$/)]);
    const warned = await server.admin.send(method, `${path}?fieldValidation=Warn&dryRun=All`, { body: sent });
    expect(warningsOf(warned)).toContain('unknown field "nope"');
  });

  test('patches of the scale of an object', async () => {
    const name = unique();
    await server.admin.ok('POST', deployments, deployment(name));
    const path = `${deployments}/${name}/scale`;
    const patch = '{"spec":{"replicas":1,"replicas":2,"nope":1}}';
    const faults = ['duplicate field "spec.replicas"', 'unknown field "spec.nope"'];
    for (const type of ['merge-patch', 'strategic-merge-patch']) {
      const strict = await server.admin.patch(`${path}?fieldValidation=Strict`, patch, type);
      expect([strict.status, strict.json.message.endsWith(`: strict decoding error: ${faults.join(', ')}`)]).toEqual([422, true]);
      expect(warningsOf(await server.admin.patch(`${path}?fieldValidation=Warn`, patch, type))).toEqual(faults);
    }
    const body = `apiVersion: autoscaling/v1\nkind: Scale\nspec:\n  replicas: 1\n  replicas: 2\n`;
    const applied = await server.admin.patch(`${path}?fieldValidation=Strict&fieldManager=a&force=true`, body, 'apply-patch');
    expect([applied.status, applied.json.message]).toEqual([400, expect.stringContaining('line 5: key "replicas" already set in map')]);
  });

  test('the binary form has no names: nothing is reported', async () => {
    const mediaType = server.identity.protobufMediaType;
    const types = new BinaryTypes(server.identity);
    const raw = Buffer.concat([types.encode(types.typeOf('v1', 'ConfigMap'), { metadata: { name: unique() } }), number(200, 1)]);
    const body = envelope({ kind: 'ConfigMap', apiVersion: 'v1', raw });
    const path = `/api/v1/namespaces/${ns}/configmaps?fieldValidation=Strict`;
    const answer = await server.admin.post(path, body, { 'content-type': mediaType });
    expect([answer.status, warningsOf(answer)]).toEqual([201, []]);
    // JSON in an envelope has them.
    const json = envelope({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      raw: Buffer.from('{"metadata":{"name":"a"},"nope":1}'),
      contentType: 'application/json',
    });
    expect((await server.admin.post(path, json, { 'content-type': mediaType })).json.message).toContain('unknown field "nope"');
  });

  if (gate === 'off')
    test('large bodies', async () => {
      const configMaps = `/api/v1/namespaces/${ns}/configmaps`;
      // One with few parts, which the engine's parser may read at once, and one with many.
      for (const data of [{ a: 'x'.repeat(200_000) }, Object.fromEntries(Array.from({ length: 11_000 }, (_, i) => [`k${i}`, 'x']))]) {
        const text = JSON.stringify({ metadata: { name: unique() }, data, immutable: false }).replace(
          '"immutable"',
          '"typo":1,"immutable":true,"immutable"',
        );
        const faults = ['unknown field "typo"', 'duplicate field "immutable"'];
        const strict = await server.admin.post(`${configMaps}?fieldValidation=Strict`, text);
        expect([strict.status, strict.json.message.endsWith(`strict decoding error: ${faults.join(', ')}`)]).toEqual([400, true]);
        expect(warningsOf(await server.admin.post(`${configMaps}?fieldValidation=Warn&dryRun=All`, text))).toEqual(faults);
        const lines = `metadata: {name: a}\nimmutable: true\nimmutable: false\ntypo: 1\ndata: ${JSON.stringify(data)}\n`;
        expect(warningsOf(await server.admin.post(`${configMaps}?fieldValidation=Warn&dryRun=All`, lines, yaml))).toEqual([
          'line 3: key "immutable" already set in map',
          'unknown field "typo"',
        ]);
      }
      const name = unique();
      await server.admin.ok('POST', configMaps, { metadata: { name } });
      const patch = JSON.stringify({ typo: 1, data: { a: 'x'.repeat(200_000) } }).replace('{', '{"immutable":true,"immutable":false,');
      const patched = await server.admin.patch(`${configMaps}/${name}?fieldValidation=Warn`, patch);
      expect(warningsOf(patched)).toEqual(['duplicate field "immutable"', 'unknown field "typo"']);
    });

  describe('custom kinds', () => {
    const group = `${unique('g')}.example.com`;
    let things: string;
    beforeAll(async () => {
      const extension = (name: string) => `${server.identity.schemaExtensionPrefix}${name}`;
      const port = { type: 'object', properties: { name: { type: 'string' }, port: { type: 'integer' } } };
      const properties = {
        known: { type: 'string' },
        ports: { type: 'array', items: port },
        free: { type: 'object', [extension('preserve-unknown-fields')]: true },
        inner: { type: 'object', [extension('embedded-resource')]: true, properties: { spec: { type: 'object' } } },
      };
      const status = { type: 'object', properties: { ready: { type: 'boolean' } } };
      const schema = { type: 'object', properties: { metadata: { type: 'object' }, spec: { type: 'object', properties }, status } };
      await define(server, definitionOf(server, group, 'Thing', [{ schema, subresources: { status: {} } }]));
      things = `/apis/${group}/v1/namespaces/${ns}/things`;
    });
    test('clients find the parameter in OpenAPI only if the server validates unasked', async () => {
      const published = gate === 'on' ? ['fieldValidation'] : [];
      expect(await publishedAt(server, 'api/v1', '/api/v1/namespaces/{namespace}/pods/{name}')).toEqual(published);
      const custom = things.replace(ns, '{namespace}');
      await expect.poll(async () => (await server.admin.ok('GET', '/openapi/v2')).paths[custom]).toBeDefined();
      expect(await publishedAt(server, `apis/${group}/v1`, `${custom}/{name}`)).toEqual(published);
    });

    const thing = (name: string): string => `{"apiVersion": "${group}/v1", "kind": "Thing", "metadata": {"name": "${name}", "nick": "n"},
"spec": {"zeta": 1, "alpha": {"a": 1}, "zeta": 2, "known": "a", "known": "b", "free": {"a": 1},
"inner": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "nick": "n"}, "typo": 1},
"ports": [{"name": "a", "port": 1, "port": 2, "prot": "TCP"}]}}`;
    const duplicates = ['duplicate field "spec.zeta"', 'duplicate field "spec.known"', 'duplicate field "spec.ports[0].port"'];
    const lines = [
      'line 2: key "zeta" already set in map',
      'line 2: key "known" already set in map',
      'line 4: key "port" already set in map',
    ];
    const unknown = ['metadata.nick', 'spec.alpha', 'spec.inner.typo', 'spec.ports[0].prot', 'spec.zeta', 'spec.inner.metadata.nick'].map(
      (path) => `unknown field "${path}"`,
    );

    test('create, update and status, JSON and YAML', async () => {
      const name = unique();
      const refused = `Thing in version "v1" cannot be handled as a Thing: strict decoding error: ${[...duplicates, ...unknown].join(', ')}`;
      expect(refusal(await server.admin.post(`${things}?fieldValidation=Strict`, thing(name)))).toEqual([400, 'BadRequest', refused]);
      const warned = await server.admin.post(`${things}?fieldValidation=Warn`, thing(name));
      expect([warned.status, warningsOf(warned)]).toEqual([201, [...duplicates, ...unknown]]);
      const { resourceVersion } = warned.json.metadata;
      const again = thing(name).replace('"nick"', `"resourceVersion": "${resourceVersion}", "nick"`);
      for (const sub of ['', '/status']) {
        const path = `${things}/${name}${sub}?fieldValidation=`;
        expect(refusal(await server.admin.put(`${path}Strict`, again))).toEqual([400, 'BadRequest', refused]);
        expect(warningsOf(await server.admin.put(`${path}Warn&dryRun=All`, again))).toEqual([...duplicates, ...unknown]);
        expect(warningsOf(await server.admin.put(`${path}Warn&dryRun=All`, again, yaml))).toEqual([...lines, ...unknown]);
        expect(warningsOf(await server.admin.put(`${path}Ignore&dryRun=All`, again))).toEqual([]);
      }
    });

    test('patches and apply', async () => {
      const name = unique();
      await server.admin.ok('POST', things, { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name }, spec: { known: 'a' } });
      const path = `${things}/${name}`;
      const merge = '{"spec":{"known":"a","known":"b","typo":1,"free":{"any":1}}}';
      const faults = ['duplicate field "spec.known"', 'unknown field "spec.typo"'];
      const strict = await server.admin.patch(`${path}?fieldValidation=Strict`, merge);
      expect([strict.status, strict.json.message.endsWith(`: strict decoding error: ${faults.join(', ')}`)]).toEqual([422, true]);
      expect(warningsOf(await server.admin.patch(`${path}?fieldValidation=Warn`, merge))).toEqual(faults);
      const operations = '[{"op":"add","path":"/spec/typo","value":1}]';
      expect(warningsOf(await server.admin.patch(`${path}?fieldValidation=Warn`, operations, 'json-patch'))).toEqual([
        'unknown field "spec.typo"',
      ]);
      expect((await server.admin.patch(`${path}?fieldValidation=Strict`, operations, 'json-patch')).status).toBe(422);
      const applied = (spec: string, query: string): Promise<Answer> =>
        server.admin.patch(
          `${path}?fieldManager=a&force=true${query}`,
          `apiVersion: ${group}/v1\nkind: Thing\nspec: ${spec}\n`,
          'apply-patch',
        );
      expect((await applied('{known: a, typo: 1}', '')).json.message).toContain('.spec.typo: field not declared in schema');
      expect((await applied('{known: a, known: b}', '&fieldValidation=Strict')).json.message).toContain(
        'line 3: key "known" already set in map',
      );
      expect(warningsOf(await applied('{known: a, known: b}', '&fieldValidation=Warn'))).toEqual([
        'line 3: key "known" already set in map',
      ]);
    });
  });
});
