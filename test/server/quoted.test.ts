/** What a server says about input is bounded, however large the input: values are cut, causes and warnings counted. */
import { expect, test } from 'vitest';
import { FeatureGates, readFeatureGates } from '../../packages/kinds/src/feature-gates.ts';
import { MAX_WARNINGS } from '../../packages/server/src/context.ts';
import { define, definitionOf } from '../support/custom.ts';
import { unique } from '../support/server.ts';
import { onStores } from '../support/stores.ts';

/** No refusal is larger than this: a message, its causes, and the rest of a Status. */
const STATUS_BYTES = 256 * 1024;
const long = 'x'.repeat(1_000_000);
const deep = (depth: number): unknown => (depth === 0 ? long : { a: deep(depth - 1) });

/** A server that reports unknown fields, of which a request can have very many. */
const features = new FeatureGates(new Set([...readFeatureGates(new Map()).list(), 'ServerSideFieldValidation']));

onStores(['memory'], { identity: 'kubernetes', features }, (server) => {
  const authorization = '/apis/authorization.k8s.io/v1';
  const inNamespace = async (resource: string, group = '/api/v1') => `${group}/namespaces/${await server().namespace()}/${resource}`;
  const refusals: [string, () => Promise<{ status: number; bytes: Buffer }>][] = [
    [
      'metadata of a review',
      () => server().bob.post(`${authorization}/selfsubjectaccessreviews`, { metadata: { labels: { a: long } }, spec: {} }),
    ],
    [
      'a question of a review',
      () =>
        server().bob.post(`${authorization}/selfsubjectaccessreviews`, {
          spec: { nonResourceAttributes: { path: long, verb: long }, resourceAttributes: { verb: 'get' } },
        }),
    ],
    ['a body without a kind', async () => server().admin.post(await things(), { a: long })],
    [
      'a value of another type',
      async () => server().admin.post(await inNamespace('configmaps'), { metadata: { name: 'a' }, data: { [long]: 1 } }),
    ],
    ['a name', async () => server().admin.post(await inNamespace('configmaps'), { metadata: { name: long } })],
    [
      'names of labels',
      async () => {
        const labels = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`${i} not a label`, 'not a value']));
        return server().admin.post(await inNamespace('configmaps'), { metadata: { name: 'a', labels } });
      },
    ],
    [
      'unknown fields',
      async () => {
        const fields = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`unknown field ${i}`, 0]));
        return server().admin.post(`${await inNamespace('configmaps')}?fieldValidation=Strict`, { metadata: { name: 'a' }, ...fields });
      },
    ],
    [
      'a directive of a patch',
      async () => {
        const path = await inNamespace('configmaps');
        await server().admin.ok('POST', path, { metadata: { name: 'a' } });
        return server().admin.patch(`${path}/a`, { $patch: long, data: { a: long } }, 'strategic-merge-patch');
      },
    ],
    [
      'the result of a patch',
      async () => {
        const path = await inNamespace('configmaps');
        await server().admin.ok('POST', path, { metadata: { name: 'a' } });
        return server().admin.patch(`${path}/a`, { data: [long, deep(3)] });
      },
    ],
    [
      'conflicts of an apply',
      async () => {
        const path = await inNamespace('configmaps');
        const data = (value: string) => Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`key-${i}`, value]));
        await server().admin.ok('POST', path, { metadata: { name: 'a' }, data: data('1') });
        const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: data('2') };
        const answer = await server().admin.patch(`${path}/a?fieldManager=other`, applied, 'apply-patch');
        expect(answer.json.message).toContain('Apply failed with 5000 conflicts');
        return answer;
      },
    ],
    ['a label selector', async () => server().admin.get(`${await inNamespace('pods')}?labelSelector=${'a!'.repeat(15_000)}`)],
    ['a field selector', async () => server().admin.get(`${await inNamespace('pods')}?fieldSelector=${'a'.repeat(30_000)}=b`)],
    ['a resource version', async () => server().admin.get(`${await inNamespace('pods')}?resourceVersion=${'a'.repeat(30_000)}`)],
    ['a content type', async () => server().admin.post(await inNamespace('pods'), '{}', { 'content-type': 'a'.repeat(30_000) })],
    ['a path', () => server().bob.get(`/api/v1/namespaces/${'a'.repeat(30_000)}/pods`)],
  ];
  const things = async (): Promise<string> => {
    const group = `${unique('g')}.example.com`;
    const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    await define(server(), definitionOf(server(), group, 'Thing', [{ schema }]));
    return inNamespace('things', `/apis/${group}/v1`);
  };

  test.each(refusals)('%s is not repeated whole', async (_, send) => {
    const answer = await send();
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.bytes.length).toBeLessThan(STATUS_BYTES);
  });

  test('a subject is not repeated in the reason of a review', async () => {
    const path = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
    const subject = { kind: 'User', name: long.slice(0, 400_000), apiGroup: 'rbac.authorization.k8s.io' };
    const roleRef = { kind: 'ClusterRole', name: 'cluster-admin', apiGroup: 'rbac.authorization.k8s.io' };
    await server().admin.ok('POST', path, { metadata: { name: unique() }, roleRef, subjects: [subject] });
    const spec = { user: subject.name, resourceAttributes: { verb: 'get', resource: 'pods' } };
    const { status } = (await server().admin.post(`${authorization}/subjectaccessreviews`, { spec })).json;
    expect(status.allowed).toBe(true);
    expect(status.reason.length).toBeLessThan(5_000);
  });

  test('errors of an object are listed up to a number, and the list says that there are more', async () => {
    const labels = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`${i} not a label`, '']));
    const { details } = (await server().admin.post(await inNamespace('configmaps'), { metadata: { name: 'a', labels } })).json;
    expect(details.causes.length).toBeLessThanOrEqual(300);
    expect(details.causes.at(-1).message).toContain('more than 256 errors');
  });

  test.each([{ http2: false }, { http2: true }])('warnings are bounded in number and in bytes (HTTP/2: $http2)', async (protocol) => {
    const client = server().client({ token: 'admin-token', ...protocol });
    const path = `${await inNamespace('configmaps')}?fieldValidation=Warn&dryRun=All`;
    const warningsOf = async (length: number, field: (i: number) => string): Promise<string[]> => {
      const fields = Object.fromEntries(Array.from({ length }, (_, i) => [field(i), 0]));
      const answer = await client.post(path, { metadata: { name: 'a' }, ...fields });
      expect(answer.status).toBe(201);
      return [answer.headers.warning ?? []].flat().flatMap((all) => all.split(/, (?=299 )/));
    };
    const short = await warningsOf(2_000, (i) => i.toString(36));
    expect(short.length).toBeGreaterThan(10);
    expect(short.length).toBeLessThanOrEqual(MAX_WARNINGS);
    for (const made of [
      short,
      await warningsOf(200, (i) => `${i}${'ü€'.repeat(300)}`),
      await warningsOf(200, (i) => `${i}${'"\\'.repeat(2_000)}`),
    ])
      expect(made.reduce((sum, text) => sum + Buffer.byteLength(text, 'latin1') + 'Warning: \r\n'.length, 0)).toBeLessThanOrEqual(8 * 1024);
  });
});
