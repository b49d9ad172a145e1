import { APIGroupDiscoveryList } from '@plat-dev/kinds/api-discovery';
import { type ApiObject, kind } from '@plat-dev/kinds/kind';
import { ObjectMeta } from '@plat-dev/kinds/meta';
import type { ApiRelease } from '@plat-dev/lib/version';
import { ApiError } from '@plat-dev/meta/errors';
import { type Identity, kubernetes, plat } from '@plat-dev/meta/identity';
import { decodeProtobuf } from '@plat-dev/schema/protobuf';
import { decodeEnvelope } from '@plat-dev/schema/protobuf/envelope';
import { always, object } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import type { RemoteVersion } from '../extension/aggregation/remote-resources.ts';
import { discovery } from './discovery.ts';
import { groupsOf, listedOf, perGeneration } from './groups.ts';
import { ask, testServices } from './testing.ts';

interface Setting {
  readonly identity?: Identity;
  readonly release?: ApiRelease;
  readonly gates?: Readonly<Record<string, boolean>>;
  readonly remote?: Readonly<Record<string, RemoteVersion>>;
}

async function setup({ identity = kubernetes, release = '1.36', gates = {}, remote = {} }: Setting = {}) {
  const { services, catalog } = await testServices(identity, (name) => gates[name] ?? false, release);
  const groups = perGeneration(catalog, () => groupsOf(catalog));
  const others = Object.keys(remote).map((groupVersion) => {
    const [name = '', version = ''] = groupVersion.split('/');
    return { name, versions: [version] };
  });
  const listed = perGeneration(catalog, () => [...listedOf(groups()), ...others]);
  const endpoint = discovery(services, groups, {
    address: () => '192.0.2.1:6443',
    listed,
    remote: { generation: '1', of: (group, version) => remote[`${group}/${version}`] },
  });
  const get = async (path: string, accept: string, more = {}) => {
    try {
      return await ask(endpoint, path, { accept, ...more });
    } catch (error) {
      if (error instanceof ApiError)
        return { status: error.code, headers: {} as Record<string, string>, text: error.message, body: Buffer.alloc(0) };
      throw error;
    }
  };
  const kindOf = async (accept: string) => {
    const { status, text } = await get('/apis', accept);
    return status === 200 ? `${JSON.parse(text).kind} ${JSON.parse(text).apiVersion}` : status;
  };
  return { catalog, get, kindOf };
}
const form = (v: string, g = 'apidiscovery.k8s.io'): string => `application/json;g=${g};v=${v};as=APIGroupDiscoveryList`;
const v2 = form('v2');

test('the Accept header decides between the plain document and the aggregated one', async () => {
  const { kindOf } = await setup();
  const aggregated = 'APIGroupDiscoveryList apidiscovery.k8s.io/v2';
  expect(await kindOf(v2)).toBe(aggregated);
  expect(await kindOf('application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io')).toBe(aggregated);
  expect(await kindOf(`application/json,${v2}`)).toBe(aggregated);
  expect(await kindOf(`${v2};profile=nopeer`)).toBe(aggregated);
  expect(await kindOf(`application/json,${v2};q=0.5`)).toBe('APIGroupList v1');
  expect(await kindOf(`${form('v3')},application/json`)).toBe('APIGroupList v1');
  expect(await kindOf('application/json')).toBe('APIGroupList v1');
  expect(await kindOf(form('v3'))).toBe(406);
  expect(await kindOf(form('v2', 'apidiscovery.example.com'))).toBe(406);
});

test.each([
  ['1.25', {}, [406, 406]],
  ['1.26', {}, [406, 406]],
  ['1.26', { AggregatedDiscoveryEndpoint: true }, [200, 406]],
  ['1.30', {}, [200, 200]],
  ['1.32', {}, [200, 200]],
  ['1.33', {}, [200, 200]],
  ['1.33', { AggregatedDiscoveryRemoveBetaType: true }, [406, 200]],
  ['1.36', {}, [406, 200]],
] as const)('release %s with gates %o answers v2beta1 and v2 with %o', async (release, gates, statuses) => {
  const { get } = await setup({ release, gates });
  expect([(await get('/apis', form('v2beta1'))).status, (await get('/apis', v2)).status]).toEqual(statuses);
});

test('both identities answer in the group that was asked for', async () => {
  const { kindOf } = await setup({ identity: plat });
  expect(await kindOf(v2)).toBe('APIGroupDiscoveryList apidiscovery.k8s.io/v2');
  expect(await kindOf(form('v2', 'apidiscovery.plat.dev'))).toBe('APIGroupDiscoveryList apidiscovery.plat.dev/v2');
});

test('subresources stand below their resource', async () => {
  const { get } = await setup();
  const { headers, text } = await get('/api', v2);
  expect(headers).toMatchObject({ 'content-type': v2, vary: 'Accept' });
  const [core] = JSON.parse(text).items;
  expect(core.versions.map((one: { version: string; freshness: string }) => [one.version, one.freshness])).toEqual([['v1', 'Current']]);
  expect(core.versions[0].resources.find((one: { resource: string }) => one.resource === 'serviceaccounts')).toEqual({
    resource: 'serviceaccounts',
    responseKind: { group: '', version: '', kind: 'ServiceAccount' },
    scope: 'Namespaced',
    singularResource: 'serviceaccount',
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    shortNames: ['sa'],
    subresources: [
      { subresource: 'token', responseKind: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' }, verbs: ['create'] },
    ],
  });
});

test('the binary form holds the same as the text', async () => {
  const { get } = await setup();
  const { headers, body } = await get('/api', v2.replace('json', 'vnd.kubernetes.protobuf'));
  expect(headers['content-type']).toBe('application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList');
  const { apiVersion, kind: name, raw } = decodeEnvelope(body);
  expect([apiVersion, name]).toEqual(['apidiscovery.k8s.io/v2', 'APIGroupDiscoveryList']);
  const { items } = decodeProtobuf(APIGroupDiscoveryList, raw);
  const text = JSON.parse((await get('/api', v2)).text);
  expect(items?.[0]?.versions).toEqual(text.items[0].versions);
});

test('a document that the client has is not sent again, until kinds come or go', async () => {
  const { get, catalog } = await setup();
  const etag = (await get('/apis', v2)).headers.etag as string;
  expect(etag).toMatch(/^"[0-9A-F]+"$/);
  const again = await get('/apis', v2, { 'if-none-match': etag });
  expect([again.status, again.text]).toEqual([304, '']);
  const Seed = object('garden.Seed', { metadata: always(1, ObjectMeta) });
  const names = { group: 'garden.example.com', kind: 'Seed', plural: 'seeds', short: ['sd'] };
  await catalog.add({ ...kind<ApiObject>({ ...names, scope: 'Cluster', versions: { v1: { schema: Seed } }, hub: 'v1' }), custom: true });
  const changed = await get('/apis', v2, { 'if-none-match': etag });
  expect(changed.status).toBe(200);
  const garden = JSON.parse(changed.text).items.find((one: ApiObject) => one.metadata.name === 'garden.example.com');
  expect(garden.versions[0].resources[0]).toMatchObject({
    resource: 'seeds',
    responseKind: { group: 'garden.example.com', version: 'v1', kind: 'Seed' },
    scope: 'Cluster',
  });
});

test('group versions of other servers have what these said last, and whether that is current', async () => {
  const entry = { name: 'things', singularName: 'thing', namespaced: true, kind: 'Thing', verbs: ['get'] };
  const orphan = { ...entry, name: 'others/status', kind: 'Other' };
  const { get } = await setup({
    remote: {
      'a.example.com/v1': { resources: [entry, orphan], isCurrent: true },
      'b.example.com/v1': { resources: [entry], isCurrent: false },
      'c.example.com/v1': { isCurrent: false },
    },
  });
  const items: { metadata: { name: string }; versions: { freshness: string; resources?: { resource: string }[] }[] }[] = JSON.parse(
    (await get('/apis', v2)).text,
  ).items;
  const shown = items
    .filter(({ metadata }) => metadata.name.endsWith('.example.com'))
    .map(({ metadata, versions: [version] }) => [metadata.name, version?.freshness, version?.resources?.map(({ resource }) => resource)]);
  expect(shown).toEqual([
    ['a.example.com', 'Current', ['things', 'others']],
    ['b.example.com', 'Stale', ['things']],
    ['c.example.com', 'Stale', undefined],
  ]);
});
