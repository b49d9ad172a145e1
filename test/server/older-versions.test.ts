/** Versions that were removed, through the API of a server that serves them: every way to write and read, next to the versions of today. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kubernetes } from '../../packages/meta/src/identity.ts';
import { startTestServer, type TestServer } from '../../packages/testing/src/index.ts';
import type { Loose } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes', apiRelease: '1.15' });
});
afterAll(() => server.close());

const json = 'application/json';
/** The Status of a request that is refused. */
async function refused(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Loose> {
  const answer = await server.request(method, path, { ...(body !== undefined && { body }), headers: { accept: json, ...headers } });
  return answer.body as Loose;
}
/** The object that a request answers with; anything but success is an error. */
async function good(method: string, path: string, body?: unknown, type?: string): Promise<Loose> {
  const answer = await server.request(method, path, {
    ...(body !== undefined && { body }),
    headers: { accept: json, ...(type !== undefined && { 'content-type': type }) },
  });
  expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
  return answer.body as Loose;
}

const older = '/apis/extensions/v1beta1/namespaces/default/deployments';
const newer = '/apis/apps/v1/namespaces/default/deployments';
const template = { metadata: { labels: { app: 'shop' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
const deployment = (name: string): Loose => ({ metadata: { name }, spec: { template } });
const rollback = 'deprecated.deployment.rollback.revision';

test('an object that is created in a removed version is one of today, with the defaults of the removed version', async () => {
  const made = await good('POST', older, deployment('a'));
  expect([made.apiVersion, made.kind]).toEqual(['extensions/v1beta1', 'Deployment']);
  expect(made.metadata).toMatchObject({ generation: 1, labels: { app: 'shop' } });
  expect(made.spec).toMatchObject({ progressDeadlineSeconds: 2147483647, strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } });
  const today = await good('GET', `${newer}/a`);
  expect(today.apiVersion).toBe('apps/v1');
  expect({ ...today, apiVersion: made.apiVersion, metadata: 0 }).toEqual({ ...made, metadata: 0 });
  expect(today.metadata.uid).toBe(made.metadata.uid);
});

test('patches of every type and apply work on the fields of the removed version', async () => {
  await good('POST', older, deployment('b'));
  const merged = await good('PATCH', `${older}/b`, { spec: { rollbackTo: { revision: 3 } } }, 'application/merge-patch+json');
  expect(merged.spec.rollbackTo).toEqual({ revision: 3 });
  expect((await good('GET', `${newer}/b`)).metadata.annotations).toEqual({ [rollback]: '3' });
  const operations = [{ op: 'replace', path: '/spec/rollbackTo/revision', value: 4 }];
  expect((await good('PATCH', `${older}/b`, operations, 'application/json-patch+json')).spec.rollbackTo).toEqual({ revision: 4 });
  const containers = [{ name: 'web', env: [{ name: 'A', value: 'b' }] }];
  const strategic = { spec: { rollbackTo: null, template: { spec: { containers } } } };
  const patched = await good('PATCH', `${older}/b`, strategic, 'application/strategic-merge-patch+json');
  expect(patched.spec).not.toHaveProperty('rollbackTo');
  expect(patched.spec.template.spec.containers).toMatchObject([{ name: 'web', image: 'web:1', env: [{ name: 'A', value: 'b' }] }]);
  expect((await good('GET', `${newer}/b`)).metadata).not.toHaveProperty('annotations');
  const applied = { apiVersion: 'extensions/v1beta1', kind: 'Deployment', ...deployment('b'), spec: { template, replicas: 5 } };
  const owned = await good('PATCH', `${older}/b?fieldManager=me&force=true`, applied, 'application/apply-patch+yaml');
  expect(owned.spec.replicas).toBe(5);
  const mine = owned.metadata.managedFields.find(({ manager }: Loose) => manager === 'me');
  expect(mine).toMatchObject({ operation: 'Apply', apiVersion: 'extensions/v1beta1' });
  const again = { ...applied, apiVersion: 'apps/v1', spec: { template, replicas: 6, selector: { matchLabels: { app: 'shop' } } } };
  expect((await good('PATCH', `${newer}/b?fieldManager=me`, again, 'application/apply-patch+yaml')).spec.replicas).toBe(6);
  const conflicting = { ...again, spec: { ...again.spec, replicas: 7 } };
  const type = { 'content-type': 'application/apply-patch+yaml' };
  expect((await refused('PATCH', `${newer}/b?fieldManager=other`, conflicting, type)).code).toBe(409);
});

test('lists, watches, tables and the binary form show the removed version', async () => {
  await good('POST', older, deployment('c'));
  const list = await good('GET', `${older}?fieldSelector=metadata.name=c`);
  expect([list.kind, list.apiVersion, list.items.length]).toEqual(['DeploymentList', 'extensions/v1beta1', 1]);
  const table = await server.request('GET', `${older}/c`, { headers: { accept: `${json};as=Table;v=v1;g=meta.k8s.io` } });
  expect((table.body as Loose).rows[0].cells.slice(0, 4)).toEqual(['c', '0/1', 0, 0]);
  const binary = await server.fetch(`http://server${older}/c`, { headers: { accept: kubernetes.protobufMediaType } });
  const bytes = Buffer.from(await binary.arrayBuffer());
  expect(bytes.subarray(0, 40).toString('latin1')).toContain('extensions/v1beta1');
  const again = await server.fetch(`http://server${older}/c`, {
    method: 'PUT',
    body: bytes,
    headers: { 'content-type': kubernetes.protobufMediaType, accept: json },
  });
  expect([again.status, ((await again.json()) as Loose).spec.selector]).toEqual([200, { matchLabels: { app: 'shop' } }]);
  const watch = await server.fetch(`http://server${older}?watch=1&fieldSelector=metadata.name=c&timeoutSeconds=1`);
  const reader = watch.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const first = JSON.parse(
    Buffer.from((await reader.read()).value ?? [])
      .toString()
      .split('\n')[0] as string,
  );
  await reader.cancel();
  expect([first.type, first.object.apiVersion, first.object.metadata.name]).toEqual(['ADDED', 'extensions/v1beta1', 'c']);
});

test('the selector can be changed where it could, and nowhere else', async () => {
  await good('POST', older, deployment('d'));
  const change = (labels: Loose): Loose => ({ spec: { selector: { matchLabels: labels }, template: { metadata: { labels } } } });
  const merge = 'application/merge-patch+json';
  expect((await refused('PATCH', `${newer}/d`, change({ app: 'shop', a: '1' }), { 'content-type': merge })).code).toBe(422);
  await good('PATCH', `${older}/d`, change({ app: 'shop', a: '1' }), merge);
  const beta1 = newer.replace('/v1/', '/v1beta1/');
  await good('PATCH', `${beta1}/d`, change({ app: 'shop', a: '2' }), merge);
  const beta2 = newer.replace('/v1/', '/v1beta2/');
  expect((await refused('PATCH', `${beta2}/d`, change({ app: 'shop', a: '3' }), { 'content-type': merge })).code).toBe(422);
});

test('scale and rollback are of the version of their object', async () => {
  await good('POST', older, deployment('e'));
  const scale = await good('GET', `${older}/e/scale`);
  expect(scale).toMatchObject({
    apiVersion: 'extensions/v1beta1',
    kind: 'Scale',
    spec: { replicas: 1 },
    status: { replicas: 0, selector: { app: 'shop' }, targetSelector: 'app=shop' },
  });
  expect((await good('PUT', `${older}/e/scale`, { ...scale, spec: { replicas: 4 } })).spec).toEqual({ replicas: 4 });
  expect((await good('GET', `${newer}/e/scale`)).apiVersion).toBe('autoscaling/v1');
  expect((await good('GET', `${newer}/e`)).spec.replicas).toBe(4);

  const body = (name: string): Loose => ({
    kind: 'DeploymentRollback',
    name,
    updatedAnnotations: { why: 'x' },
    rollbackTo: { revision: 2 },
  });
  const answer = await server.request('POST', `${older}/e/rollback`, { body: { apiVersion: 'extensions/v1beta1', ...body('e') } });
  expect([answer.status, answer.body]).toMatchObject([
    201,
    { status: 'Success', message: 'rollback request for deployment "e" succeeded' },
  ]);
  expect((await good('GET', `${newer}/e`)).metadata.annotations).toEqual({ why: 'x', [rollback]: '2' });
  expect((await good('GET', `${older}/e`)).spec.rollbackTo).toEqual({ revision: 2 });
  const beta1 = newer.replace('/v1/', '/v1beta1/');
  expect(await refused('POST', `${beta1}/e/rollback`, { apiVersion: 'apps/v1beta1', ...body('other') })).toMatchObject({
    code: 400,
    message: 'name in URL does not match name in DeploymentRollback object',
  });
  expect(await refused('POST', `${beta1}/e/rollback`, { apiVersion: 'apps/v1beta1', ...body('') })).toMatchObject({
    code: 422,
    details: { causes: [{ field: 'name' }] },
  });
  expect(await refused('POST', `${beta1}/none/rollback`, { apiVersion: 'apps/v1beta1', ...body('none') })).toMatchObject({ code: 404 });
});

test('an object that is deleted without a policy leaves its dependents, as it did', async () => {
  await good('POST', older, { ...deployment('f'), metadata: { name: 'f', finalizers: ['example.com/hold'] } });
  await good('DELETE', `${older}/f`);
  expect((await good('GET', `${newer}/f`)).metadata.finalizers).toEqual(['example.com/hold', 'orphan']);
});

test('a field that is no number is refused in the words of the version', async () => {
  const answer = await refused('POST', older, { ...deployment('g'), spec: { template, rollbackTo: { revision: 'x' } } });
  expect(answer).toMatchObject({ code: 400 });
  expect(answer.message).toContain('rollbackTo');
});

test('reviews of access understand the groups of version 1beta1', async () => {
  const review = (group: string): Promise<Loose> =>
    good('POST', '/apis/authorization.k8s.io/v1beta1/subjectaccessreviews', {
      spec: { resourceAttributes: { verb: 'get', resource: 'pods' }, user: 'u', group: [group] },
    });
  const allowed = await review('system:masters');
  expect([allowed.apiVersion, allowed.status.allowed, allowed.spec.group]).toEqual([
    'authorization.k8s.io/v1beta1',
    true,
    ['system:masters'],
  ]);
  expect((await review('nobody')).status.allowed).toBe(false);
});

test('webhooks and certificates of version 1beta1 may say less', async () => {
  const webhook = { name: 'a.b.example.com', clientConfig: { url: 'https://127.0.0.1:1/x' }, rules: [] };
  const path = '/apis/admissionregistration.k8s.io/v1beta1/validatingwebhookconfigurations';
  const made = await good('POST', path, { metadata: { name: 'w' }, webhooks: [webhook] });
  expect(made.webhooks[0]).toMatchObject({ sideEffects: 'Unknown', failurePolicy: 'Ignore', timeoutSeconds: 30 });
});

test('a definition of version 1beta1 without a schema keeps whatever its objects hold', async () => {
  const definitions = '/apis/apiextensions.k8s.io/v1beta1/customresourcedefinitions';
  const made = await good('POST', definitions, {
    metadata: { name: 'widgets.example.com' },
    spec: { group: 'example.com', version: 'v1', names: { plural: 'widgets', kind: 'Widget' } },
  });
  expect(made.spec).toMatchObject({ version: 'v1', versions: [{ name: 'v1', served: true, storage: true }], preserveUnknownFields: true });
  expect(made.status.storedVersions).toEqual(['v1']);
  await server.settled();
  const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, anything: { at: ['all'] } };
  expect(await good('POST', '/apis/example.com/v1/namespaces/default/widgets', widget)).toMatchObject({ anything: { at: ['all'] } });
  const patched = await good(
    'PATCH',
    `${definitions}/widgets.example.com`,
    { spec: { additionalPrinterColumns: [{ name: 'At', type: 'string', JSONPath: '.anything.at' }] } },
    'application/merge-patch+json',
  );
  expect(patched.spec.additionalPrinterColumns).toEqual([{ name: 'At', type: 'string', JSONPath: '.anything.at' }]);
});

test('roles of version 1alpha1 are there where they are asked for', async () => {
  expect((await refused('GET', '/apis/rbac.authorization.k8s.io/v1alpha1/clusterroles')).code).toBe(404);
});
