import { type ApiObject, kind } from '@plat-dev/kinds/kind';
import { ObjectMeta } from '@plat-dev/kinds/meta';
import { APIResourceList } from '@plat-dev/kinds/meta-kinds';
import { ApiError } from '@plat-dev/meta/errors';
import { plat } from '@plat-dev/meta/identity';
import { decodeProtobuf } from '@plat-dev/schema/protobuf';
import { decodeEnvelope } from '@plat-dev/schema/protobuf/envelope';
import { always, object } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import { discovery } from './discovery.ts';
import { groupsOf, listedOf, perGeneration } from './groups.ts';
import { rootEndpoint } from './root.ts';
import { ask, testServices } from './testing.ts';

async function setup(identity?: typeof plat) {
  const { services, catalog } = await testServices(identity);
  const groups = perGeneration(catalog, () => groupsOf(catalog));
  const listed = perGeneration(catalog, () => listedOf(groups()));
  const endpoint = discovery(services, groups, { address: () => '192.0.2.1:6443', listed });
  const json = async (path: string) => JSON.parse((await ask(endpoint, path)).text);
  const refusal = async (path: string, headers = {}, method = 'GET'): Promise<unknown> => {
    try {
      return (await ask(endpoint, path, headers, method)).text;
    } catch (error) {
      return error instanceof ApiError ? [error.code, error.message] : error;
    }
  };
  return { endpoint, catalog, groups, listed, json, refusal };
}

const garden = (versions: readonly string[]) => {
  const Seed = object('garden.Seed', { metadata: always(1, ObjectMeta) });
  return kind<ApiObject>({
    group: 'garden.example.com',
    kind: 'Seed',
    plural: 'seeds',
    short: ['sd'],
    scope: 'Namespaced',
    versions: Object.fromEntries(versions.map((version) => [version, { schema: Seed }])),
    hub: versions[0] as string,
  });
};

test('the documents of the groups', async () => {
  const { json } = await setup();
  expect(await json('/api')).toEqual({
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '192.0.2.1:6443' }],
  });
  const { groups, ...head } = await json('/apis');
  expect(head).toEqual({ kind: 'APIGroupList', apiVersion: 'v1' });
  expect(groups.map((g: { name: string }) => g.name).slice(0, 3)).toEqual(['apiregistration.k8s.io', 'apps', 'events.k8s.io']);
  expect(await json('/apis/autoscaling/')).toEqual({
    kind: 'APIGroup',
    apiVersion: 'v1',
    name: 'autoscaling',
    versions: ['v2', 'v1', 'v2beta1', 'v2beta2'].map((version) => ({ groupVersion: `autoscaling/${version}`, version })),
    preferredVersion: { groupVersion: 'autoscaling/v2', version: 'v2' },
  });
});

test('resources with their subresources, in the order of names', async () => {
  const { json } = await setup();
  const { resources, ...head } = await json('/api/v1');
  expect(head).toEqual({ kind: 'APIResourceList', groupVersion: 'v1' });
  const names = resources.map((r: { name: string }) => r.name);
  expect(names).toEqual([...names].sort());
  const entry = (name: string) => resources.find((r: { name: string }) => r.name === name);
  expect(entry('pods')).toEqual({
    name: 'pods',
    singularName: '',
    namespaced: true,
    kind: 'Pod',
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    shortNames: ['po'],
    categories: ['all'],
    storageVersionHash: 'xPOwRZ+Yhw8=',
  });
  expect(entry('pods/eviction')).toEqual({
    name: 'pods/eviction',
    singularName: '',
    namespaced: true,
    group: 'policy',
    version: 'v1',
    kind: 'Eviction',
    verbs: ['create'],
  });
  expect(entry('pods/status')).toMatchObject({ kind: 'Pod', verbs: ['get', 'patch', 'update'] });
  expect(entry('bindings').storageVersionHash).toBeUndefined();
});

test('under the own identity groups have their own names', async () => {
  const { json } = await setup(plat);
  expect((await json('/apis/networking.plat.dev')).preferredVersion.groupVersion).toBe('networking.plat.dev/v1');
});

test('custom kinds come and go', async () => {
  const { json, refusal, catalog, groups, listed } = await setup();
  expect(await refusal('/apis/garden.example.com')).toBe('404 page not found\n');
  const seeds = garden(['v1alpha1', 'v2', 'v1']);
  await catalog.add(seeds);
  expect((await json('/apis/garden.example.com')).versions.map((v: { version: string }) => v.version)).toEqual(['v2', 'v1', 'v1alpha1']);
  const { resources } = await json('/apis/garden.example.com/v1');
  expect(resources[0]).toMatchObject({
    singularName: 'seed',
    verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
  });
  expect((await json('/apis')).groups.at(-1).name).toBe('garden.example.com');
  const root = rootEndpoint(groups, listed, () => ['/version', '/api']);
  const { paths } = JSON.parse((await ask(root, '/')).text);
  expect(paths).toEqual([...paths].sort());
  expect(paths).toEqual(expect.arrayContaining(['/api', '/api/v1', '/apis/apps/v1', '/apis/garden.example.com/v2', '/version']));
  catalog.remove(seeds, true);
  expect(await refusal('/apis/garden.example.com/v1')).toBe('404 page not found\n');
});

test('other representations', async () => {
  const { endpoint } = await setup();
  const yaml = await ask(endpoint, '/apis/node.k8s.io', { accept: 'application/yaml' });
  expect(yaml.headers['content-type']).toBe('application/yaml');
  expect(yaml.text).toBe(
    'apiVersion: v1\nkind: APIGroup\nname: node.k8s.io\npreferredVersion:\n  groupVersion: node.k8s.io/v1\n  version: v1\nversions:\n- groupVersion: node.k8s.io/v1\n  version: v1\n- groupVersion: node.k8s.io/v1beta1\n  version: v1beta1\n',
  );
  const binary = await ask(endpoint, '/apis/apps/v1', { accept: 'application/vnd.kubernetes.protobuf' });
  const { kind: name, raw } = decodeEnvelope(binary.body);
  expect(name).toBe('APIResourceList');
  expect(decodeProtobuf(APIResourceList, raw)).toMatchObject({
    groupVersion: 'apps/v1',
    resources: expect.arrayContaining([expect.objectContaining({ name: 'deployments' })]),
  });
  const indented = await ask(endpoint, '/apis/apps', { 'user-agent': 'curl/8' });
  expect(indented.text).toMatch(/^\{\n {2}"kind": "APIGroup",/);
});

test('what is refused, and how', async () => {
  const { refusal } = await setup();
  const nowhere = [404, 'the server could not find the requested resource'];
  const method = [405, 'the server does not allow this method on the requested resource'];
  expect(await refusal('/api/v2')).toEqual(nowhere);
  expect(await refusal('/apis/apps/v9')).toEqual(nowhere);
  expect(await refusal('/apis/nothing.example.com/v1')).toBe('404 page not found\n');
  expect(await refusal('/api', {}, 'POST')).toEqual(method);
  expect(await refusal('/apis/apps/v1', {}, 'DELETE')).toEqual(method);
  expect(await refusal('/apis', {}, 'DELETE')).toMatch(/"APIGroupList"/);
  expect(await refusal('/apis/apps/v1', { accept: 'text/html' })).toEqual([406, '406: Not Acceptable']);
});
