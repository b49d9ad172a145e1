import { gunzipSync } from 'node:zlib';
import { type ApiObject, kind } from '@plat-dev/kinds/kind';
import { ObjectMeta } from '@plat-dev/kinds/meta';
import { jsonText } from '@plat-dev/lib/json-text';
import type { ApiRelease } from '@plat-dev/lib/version';
import { plat } from '@plat-dev/meta/identity';
import { always, type JsonObject, object } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import { scaleView } from '../../extension/scale.ts';
import type { Endpoint } from '../endpoint.ts';
import { groupsOf, perGeneration } from '../groups.ts';
import { ask, testServices } from '../testing.ts';
import { openapiEndpoints } from './index.ts';

async function setup(identity?: typeof plat, release?: ApiRelease) {
  const feature = release === undefined ? undefined : (gate: string) => gate === 'ServerSideFieldValidation';
  const { services, catalog } = await testServices(identity, feature, release);
  const groups = perGeneration(catalog, () => groupsOf(catalog));
  const paths = openapiEndpoints(services, groups, { version: 'v1.24.17', now: () => 0 });
  const get = (path: string, headers: Record<string, string> = {}) =>
    ask((paths.get(path) ?? paths.get('/openapi/v3/')) as Endpoint, path, headers);
  const json = async (path: string) => JSON.parse((await get(path)).text);
  return { catalog, get, json };
}

/** Every place that refers to a definition which is not there. */
function dangling(document: unknown, definitions: Record<string, unknown>, prefix: string): string[] {
  const found = new Set<string>();
  const walk = (value: unknown): void => {
    if (value === null || typeof value !== 'object') return;
    for (const [key, one] of Object.entries(value)) {
      if (key === '$ref' && typeof one === 'string' && !Object.hasOwn(definitions, one.slice(prefix.length))) found.add(one);
      else walk(one);
    }
  };
  walk(document);
  return [...found];
}
function operations(paths: Record<string, Record<string, { operationId?: string }>>) {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) =>
      operation.operationId === undefined ? [] : [{ path, method, id: operation.operationId }],
    ),
  );
}

test('version 2: one document with every path and definition', async () => {
  const { json } = await setup();
  const document = await json('/openapi/v2');
  expect([document.swagger, document.info]).toEqual(['2.0', { title: 'Kubernetes', version: 'v1.24.17' }]);
  expect(dangling(document, document.definitions, '#/definitions/')).toEqual([]);
  const all = operations(document.paths);
  const ids = all.map((operation) => operation.id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(
    expect.arrayContaining([
      'createCoreV1NamespacedPodBinding',
      'createCoreV1NamespacedServiceAccountToken',
      'connectCoreV1GetNamespacedPodExec',
      'connectCoreV1OptionsNodeProxyWithPath',
      'deleteAppsV1CollectionNamespacedDeployment',
      'listRbacAuthorizationV1ClusterRole',
      'readCoreV1NamespacedPodLog',
      'replaceCertificatesV1CertificateSigningRequestApproval',
      'replaceCoreV1NamespaceFinalize',
      'watchCoreV1NamespacedPodList',
      'getAppsV1APIResources',
      'getCodeVersion',
    ]),
  );
  const pods = document.paths['/api/v1/namespaces/{namespace}/pods'];
  expect(pods.post.parameters.map((p: { name: string }) => p.name)).toEqual(['body', 'dryRun', 'fieldManager']);
  expect(pods.post['x-kubernetes-group-version-kind']).toEqual({ group: '', kind: 'Pod', version: 'v1' });
  const pod = document.definitions['io.k8s.api.core.v1.Pod'];
  expect(pod['x-kubernetes-group-version-kind']).toEqual([{ group: '', kind: 'Pod', version: 'v1' }]);
  expect(pod.properties.metadata.$ref).toBe('#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta');
  expect(Object.keys(document.definitions)).toEqual(
    expect.arrayContaining([
      'io.k8s.apimachinery.pkg.api.resource.Quantity',
      'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition',
      'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceList',
      'io.k8s.apimachinery.pkg.version.Info',
      'io.k8s.api.autoscaling.v1.Scale',
    ]),
  );
});

test('version 3: a document for every group version, complete in itself', async () => {
  const { get, json } = await setup();
  const { paths } = await json('/openapi/v3');
  expect(Object.keys(paths)).toEqual(expect.arrayContaining(['api', 'api/v1', 'apis', 'apis/apps', 'apis/apps/v1', 'version']));
  for (const [name, { serverRelativeURL }] of Object.entries<{ serverRelativeURL: string }>(paths)) {
    expect(serverRelativeURL).toMatch(new RegExp(`^/openapi/v3/${name}\\?hash=[0-9A-F]{128}$`));
    const answer = await get(serverRelativeURL);
    expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'public, immutable']);
    const document = JSON.parse(answer.text);
    expect(dangling(document, document.components.schemas, '#/components/schemas/')).toEqual([]);
    expect(operations(document.paths).length).toBeGreaterThan(0);
  }
  const { paths: apps, components } = await json('/openapi/v3/apis/apps/v1');
  const patch = apps['/apis/apps/v1/namespaces/{namespace}/deployments/{name}'].patch;
  expect(Object.keys(patch.requestBody.content)).toContain('application/apply-patch+yaml');
  expect(components.schemas['io.k8s.api.apps.v1.Deployment'].properties.spec.allOf).toEqual([
    { $ref: '#/components/schemas/io.k8s.api.apps.v1.DeploymentSpec' },
  ]);
});

test('an address with another hash leads to the right one', async () => {
  const { get } = await setup();
  const answer = await get('/openapi/v3/apis/apps/v1?hash=00');
  expect([answer.status, answer.headers['content-type']]).toEqual([301, 'text/html; charset=utf-8']);
  expect(answer.headers.location).toMatch(/^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]{128}$/);
});

test('releases name the types of their documents from 1.27 on, and share parameters from 1.28 on', async () => {
  const typesIn = async (release: ApiRelease) => {
    const { get } = await setup(undefined, release);
    const binary = { accept: 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf' };
    const answers = [await get('/openapi/v2'), await get('/openapi/v2', binary), await get('/openapi/v3/apis/apps/v1?hash=00')];
    return answers.map(({ headers }) => headers['content-type']);
  };
  expect(await typesIn('1.26')).toEqual(['text/plain; charset=utf-8', 'application/octet-stream', 'text/html; charset=utf-8']);
  expect(await typesIn('1.27')).toEqual([
    'application/json',
    'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
    'application/json',
  ]);

  const { json, get } = await setup(undefined, '1.36');
  const document = await json('/openapi/v2');
  const { parameters, post } = document.paths['/api/v1/namespaces/{namespace}/configmaps'];
  expect(parameters).toEqual([{ $ref: '#/parameters/namespace-vgWSWtn3' }, { $ref: '#/parameters/pretty-tJGM1-ng' }]);
  expect(document.parameters['namespace-vgWSWtn3']).toMatchObject({ name: 'namespace', in: 'path', required: true });
  // Clients look for these two where the operation is, and the body is that of the kind.
  expect(post.parameters.map((p: { name?: string }) => p.name)).toEqual(['body', 'dryRun', undefined, 'fieldValidation']);
  const references = [...jsonText(document.paths).matchAll(/#\/parameters\/[^"]+/g)].map(([reference]) => reference);
  expect(new Set(references)).toEqual(new Set(Object.keys(document.parameters).map((name) => `#/parameters/${name}`)));
  const { body } = await get('/openapi/v2', { accept: 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf' });
  expect(body.includes('#/parameters/namespace-vgWSWtn3')).toBe(true);
});

test('clients that have a document already are not sent it again, and others may have it compressed', async () => {
  const { get } = await setup();
  const first = await get('/openapi/v2');
  expect(first.headers.etag).toMatch(/^"[0-9A-F]{128}"$/);
  expect(first.headers['last-modified']).toBe('Thu, 01 Jan 1970 00:00:00 GMT');
  const again = await get('/openapi/v2', { 'if-none-match': `"other", W/${first.headers.etag}` });
  expect([again.status, again.body.length]).toEqual([304, 0]);
  const packed = await get('/openapi/v2', { 'accept-encoding': 'gzip' });
  expect(packed.headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(packed.body).equals(first.body)).toBe(true);
});

test('forms that are refused, and documents that are not there', async () => {
  const { get } = await setup();
  const seen = async (path: string, accept?: string) => {
    const { status, headers, text } = await get(path, accept === undefined ? {} : { accept });
    return [status, headers['content-type'], text];
  };
  expect(await seen('/openapi/v2', 'application/yaml')).toEqual([406, undefined, '']);
  expect(await seen('/openapi/v3/apis/apps/v1', 'text/plain')).toEqual([406, undefined, '']);
  for (const name of ['apis/apps/v9', 'nothing', 'api/v1/pods', 'apis//v1', 'api/apps', 'constructor']) {
    expect([name, ...(await seen(`/openapi/v3/${name}`))]).toEqual([name, 404, undefined, '']);
  }
});

test('under another identity names are its own, but kinds are found by stock clients too', async () => {
  const { json } = await setup(plat);
  const document = await json('/openapi/v2');
  const ingress = document.definitions['dev.plat.api.networking.v1.Ingress'];
  const kinds = [{ group: 'networking.plat.dev', kind: 'Ingress', version: 'v1' }];
  expect([ingress['x-plat.dev-group-version-kind'], ingress['x-kubernetes-group-version-kind']]).toEqual([kinds, kinds]);
  expect(document.info.title).toBe('Plat');
  const read = document.paths['/apis/networking.plat.dev/v1/namespaces/{namespace}/ingresses/{name}'].get;
  expect([read.operationId, read['x-plat.dev-action']]).toEqual(['readNetworkingV1NamespacedIngress', 'get']);
});

test('custom kinds come and go with the schema their author wrote', async () => {
  const { json, get, catalog } = await setup();
  const before = (await get('/openapi/v2')).headers.etag;
  const apps = (await get('/openapi/v3/apis/apps/v1')).headers.etag;
  const openapi: JsonObject = {
    type: 'object',
    description: 'a seed',
    properties: {
      spec: {
        type: 'object',
        required: ['n'],
        properties: { n: { type: 'integer', minimum: 2, default: 3 }, word: { type: 'string', nullable: true } },
      },
    },
  };
  const seeds = kind<ApiObject>({
    group: 'garden.example.com',
    kind: 'Seed',
    plural: 'seeds',
    scope: 'Namespaced',
    versions: { v1: { schema: object('garden.Seed', { metadata: always(1, ObjectMeta) }), openapi, selectable: new Set(['spec.word']) } },
    hub: 'v1',
  });
  await catalog.add(seeds);
  const v3 = await json('/openapi/v3/apis/garden.example.com/v1');
  expect(v3.info).toEqual({ title: 'Kubernetes CRD Swagger', version: 'v0.1.0' });
  expect(Object.keys(v3.paths).sort()).toEqual([
    '/apis/garden.example.com/v1/namespaces/{namespace}/seeds',
    '/apis/garden.example.com/v1/namespaces/{namespace}/seeds/{name}',
    '/apis/garden.example.com/v1/seeds',
  ]);
  expect(v3.components.schemas['com.example.garden.v1.Seed']).toMatchObject({
    description: 'a seed',
    properties: { spec: { properties: { n: { default: 3 }, word: { nullable: true } } }, metadata: { allOf: [{}] } },
    'x-kubernetes-group-version-kind': [{ group: 'garden.example.com', kind: 'Seed', version: 'v1' }],
    'x-kubernetes-selectable-fields': [{ fieldPath: 'spec.word' }],
  });
  const v2 = await json('/openapi/v2');
  expect(v2.definitions['com.example.garden.v1.Seed'].properties.spec.properties).toEqual({
    n: { type: 'integer', minimum: 2, default: 3 },
    word: {},
  });
  expect(v2.definitions['com.example.garden.v1.SeedList'].properties.items).toEqual({
    description: 'List of seeds.',
    type: 'array',
    items: { $ref: '#/definitions/com.example.garden.v1.Seed' },
  });
  expect(dangling(v2, v2.definitions, '#/definitions/')).toEqual([]);
  expect((await get('/openapi/v3/apis/apps/v1')).headers.etag).toBe(apps);
  catalog.remove(seeds, true);
  expect((await get('/openapi/v2')).headers.etag).toBe(before);
  expect((await get('/openapi/v3/apis/garden.example.com/v1')).status).toBe(404);
});

/** The definition of a custom kind with a schema, in both releases. */
async function published(openapi: JsonObject | undefined, more: Partial<Parameters<typeof kind>[0]> = {}) {
  const { json, get, catalog } = await setup();
  const schema = object('garden.Seed', { metadata: always(1, ObjectMeta) });
  const seeds = kind<ApiObject>({
    group: 'garden.example.com',
    kind: 'Seed',
    plural: 'seeds',
    scope: 'Namespaced',
    versions: { v1: { schema, ...(openapi !== undefined && { openapi }) } },
    hub: 'v1',
    ...more,
  } as Parameters<typeof kind<ApiObject>>[0]);
  await catalog.add(seeds);
  const v2 = await json('/openapi/v2');
  const v3 = await json('/openapi/v3/apis/garden.example.com/v1');
  expect(dangling(v2, v2.definitions, '#/definitions/')).toEqual([]);
  expect(dangling(v3, v3.components.schemas, '#/components/schemas/')).toEqual([]);
  return {
    v2: v2.definitions['com.example.garden.v1.Seed'],
    v3: v3.components.schemas['com.example.garden.v1.Seed'],
    documents: { v2, v3 },
    get,
  };
}
const spec = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties: { spec: { type: 'object', properties, ...more } },
});

test('what version 2 cannot say is left open', async () => {
  const open = { 'x-kubernetes-preserve-unknown-fields': true };
  const either = { 'x-kubernetes-int-or-string': true };
  const { v2, v3 } = await published(
    spec(
      {
        either: { ...either, anyOf: [{ type: 'integer' }, { type: 'string' }] },
        free: { type: 'object', ...open, properties: { a: { type: 'string' } } },
        list: { type: 'array', ...open, items: { type: 'string' } },
        maybe: { type: 'object', nullable: true, properties: { a: { type: 'string' } } },
        set: { type: 'array', items: { type: 'string', nullable: true }, 'x-kubernetes-list-type': 'set' },
        some: { type: 'string', default: 'x', oneOf: [{ pattern: 'x' }], not: { pattern: 'y' }, allOf: [{ minLength: 1 }] },
      },
      { required: ['maybe', 'some'], description: 'the wish', example: { a: 1 } },
    ),
  );
  expect(v2.properties.spec).toEqual({
    type: 'object',
    description: 'the wish',
    required: ['some'],
    properties: {
      either,
      free: { type: 'object', ...open },
      list: open,
      maybe: {},
      set: { type: 'array', items: {}, 'x-kubernetes-list-type': 'set' },
      some: { type: 'string', default: 'x' },
    },
  });
  expect(v3.properties.spec).toMatchObject({
    required: ['maybe', 'some'],
    properties: {
      either: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
      free: { properties: { a: { type: 'string' } } },
      maybe: { type: 'object', nullable: true },
      some: { oneOf: [{ pattern: 'x' }], not: { pattern: 'y' }, allOf: [{ minLength: 1 }] },
    },
  });
  expect(v3.properties.spec.example).toBeUndefined();
});

test('an object that may hold anything names no fields in version 2, where clients would refuse all others', async () => {
  const kinds = { 'x-kubernetes-group-version-kind': [{ group: 'garden.example.com', kind: 'Seed', version: 'v1' }] };
  const open = { 'x-kubernetes-preserve-unknown-fields': true };
  const { v2, v3 } = await published({ type: 'object', ...open, properties: { spec: { type: 'string' } } });
  expect(v2).toEqual({ type: 'object', ...kinds });
  expect(v3).toMatchObject({ ...open, ...kinds, properties: { spec: { type: 'string' }, metadata: {}, kind: {}, apiVersion: {} } });
  expect((await published(undefined)).v2).toEqual({ type: 'object', ...kinds });
});

test('an object within an object has what every object has', async () => {
  const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true };
  const open = { 'x-kubernetes-preserve-unknown-fields': true };
  const { v2, v3 } = await published(
    spec({ one: { ...embedded, required: ['kind'], properties: { spec: { type: 'string' } } }, any: { ...embedded, ...open } }),
  );
  expect(Object.keys(v2.properties.spec.properties.one.properties).sort()).toEqual(['apiVersion', 'kind', 'metadata', 'spec']);
  expect(v2.properties.spec.properties.one.required).toEqual(['kind', 'apiVersion']);
  expect(v2.properties.spec.properties.any).toEqual({ ...embedded, ...open });
  expect(Object.keys(v3.properties.spec.properties.any.properties)).toEqual(['apiVersion', 'kind', 'metadata']);
});

test('fields of the schema may bear any name', async () => {
  const { v2 } = await published(spec(JSON.parse('{"constructor":{"type":"string"},"__proto__":{"type":"integer"}}')));
  expect(Object.keys(v2.properties.spec.properties)).toEqual(['constructor', '__proto__']);
});

test('the scale of a custom kind is published with it', async () => {
  const { documents } = await published(spec({ n: { type: 'integer' } }), {
    subresources: { scale: scaleView({ specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' }) as never },
  });
  const path = '/apis/garden.example.com/v1/namespaces/{namespace}/seeds/{name}/scale';
  const read = documents.v3.paths[path].get;
  expect(read.operationId).toBe('readGardenExampleComV1NamespacedSeedScale');
  expect(read['x-kubernetes-group-version-kind']).toEqual({ group: 'autoscaling', kind: 'Scale', version: 'v1' });
  expect(Object.keys(documents.v2.paths[path])).toEqual(expect.arrayContaining(['get', 'put', 'patch']));
});

test('whatever a schema says has a binary form', async () => {
  const everything: JsonObject = {
    title: 't',
    description: 'd',
    format: 'f',
    default: { a: [null, 1.5, 'x'] },
    maximum: 1e300,
    exclusiveMaximum: true,
    minimum: -0.5,
    exclusiveMinimum: false,
    maxLength: Number.MAX_SAFE_INTEGER,
    minLength: 0,
    pattern: '^\\w"$',
    maxItems: 2 ** 40,
    minItems: 1,
    uniqueItems: true,
    multipleOf: 0.1,
    enum: [null, { a: 1 }, ['x'], true],
    maxProperties: 3,
    minProperties: 0,
    required: ['b'],
    nullable: true,
    'x-kubernetes-list-map-keys': ['a'],
    'x-kubernetes-validations': [{ rule: 'self.a > 1', message: 'no' }],
    allOf: [{ anyOf: [{ oneOf: [{ not: { enum: [1] } }] }] }],
  };
  const nested = { ...everything, type: 'array', items: { ...everything, type: 'object', additionalProperties: everything } };
  const { get } = await published(
    spec({ all: { ...everything, type: 'object', properties: { nested }, additionalProperties: true }, nested }),
  );
  for (const [path, release] of [
    ['/openapi/v2', 'v2'],
    ['/openapi/v3/apis/garden.example.com/v1', 'v3'],
  ] as const) {
    const { status, body } = await get(path, { accept: `application/com.github.proto-openapi.spec.${release}@v1.0+protobuf` });
    expect([release, status]).toEqual([release, 200]);
    expect(body.includes('com.example.garden.v1.Seed')).toBe(true);
  }
});
