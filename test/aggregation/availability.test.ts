/** APIServices: which of them are available, where they stand in discovery, and those that the server keeps itself. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Loose } from '../support/server.ts';
import { APIS, eventuallyTrue, startWorld, type World } from './support.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
const admin = () => world.server.admin;

const conditionOf = async (name: string): Promise<Loose> =>
  (await admin().ok('GET', `${APIS}/${name}`)).status.conditions?.find((one: Loose) => one.type === 'Available');
const groupNames = async (): Promise<string[]> => (await admin().ok('GET', '/apis')).groups.map((group: Loose) => group.name);

test('a server that goes away is noticed, answers 503, and comes back', async () => {
  const far = await world.extend();
  expect(await far.condition()).toMatchObject({ status: 'True', reason: 'Passed', message: 'all checks passed' });
  const { answer } = far.backend;
  far.backend.answer = (_req, res) => void res.writeHead(500).end();
  await far.touch();
  const failed = await far.until('False');
  expect(failed).toMatchObject({
    reason: 'FailedDiscoveryCheck',
    message: expect.stringMatching(/^failing or missing response from https:.*: bad status from https:.*: 500$/),
  });
  expect(await admin().get(far.base)).toMatchObject({ status: 503, text: 'service unavailable\n' });
  // A check that failed is made again soon, without anything happening.
  far.backend.answer = answer;
  await far.until('True', 'Passed');
  await far.backend.close();
  expect(await admin().get(far.base)).toMatchObject({ status: 503, text: expect.stringContaining('connect: connection refused') });
  await far.touch();
  expect((await far.until('False')).message).toContain('connection refused');
});

test('a service without its port or endpoints makes an APIService unavailable', async () => {
  const spec = { group: 'none.example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 10, insecureSkipTLSVerify: true };
  const name = 'v1.none.example.com';
  await admin().ok('POST', APIS, { metadata: { name }, spec: { ...spec, service: { name: 'none', namespace: world.ns, port: 9443 } } });
  const until = (reason: string) => eventuallyTrue(async () => (await conditionOf(name))?.reason === reason);
  await until('ServiceNotFound');
  const began = (await conditionOf(name)).lastTransitionTime;
  const ports = [{ name: 'https', port: 443 }];
  await admin().ok('POST', `/api/v1/namespaces/${world.ns}/services`, { metadata: { name: 'none' }, spec: { ports } });
  await until('ServicePortError');
  await admin().patch(`${APIS}/${name}`, { spec: { service: { port: 443 } } });
  await until('EndpointsNotFound');
  const endpoints = `/api/v1/namespaces/${world.ns}/endpoints`;
  const subsets = [{ notReadyAddresses: [{ ip: '10.1.1.1' }], ports }];
  await admin().ok('POST', endpoints, { metadata: { name: 'none' }, subsets });
  await until('MissingEndpoints');
  expect(await conditionOf(name)).toMatchObject({
    status: 'False',
    message: `endpoints for service/none in "${world.ns}" have no addresses with port name "https"`,
    lastTransitionTime: began,
  });
  await admin().ok('DELETE', `${APIS}/${name}`);
});

test('groups stand in the order of their priority, and go when their APIServices do', async () => {
  const low = await world.extend();
  const high = await world.extend({ spec: { groupPriorityMinimum: 17_900 } });
  const names = await groupNames();
  expect(names.slice(0, 3)).toEqual(['apiregistration.k8s.io', high.group, 'apps']);
  expect(names.at(-1)).toBe(low.group);
  const second = { ...(await admin().ok('GET', `${APIS}/${low.name}`)).spec, version: 'v2beta1', versionPriority: 11 };
  await admin().ok('POST', APIS, { metadata: { name: `v2beta1.${low.group}` }, spec: second });
  const group = await admin().ok('GET', `/apis/${low.group}`);
  expect(group.versions.map((one: Loose) => one.version)).toEqual(['v2beta1', 'v1']);
  expect(group.preferredVersion.groupVersion).toBe(`${low.group}/v2beta1`);
  expect((await admin().ok('GET', '/')).paths).toEqual(expect.arrayContaining([`/apis/${low.group}`, `/apis/${low.group}/v2beta1`]));
  for (const version of ['v1', 'v2beta1']) await admin().ok('DELETE', `${APIS}/${version}.${low.group}`);
  expect(await admin().get(`/apis/${low.group}`)).toMatchObject({ status: 404, text: '404 page not found\n' });
  expect(await admin().get(low.base)).toMatchObject({ status: 404, text: '404 page not found\n' });
  expect(await groupNames()).not.toContain(low.group);
});

test('the APIService of a built-in group comes back, and no object takes such a group away', async () => {
  const path = `${APIS}/v1.apps`;
  const { metadata } = await admin().ok('GET', path);
  await admin().ok('DELETE', path);
  expect(await groupNames()).toContain('apps');
  await eventuallyTrue(async () => (await admin().get(path)).status === 200);
  expect((await admin().ok('GET', path)).metadata.uid).not.toBe(metadata.uid);
  await admin().patch(path, { spec: { service: { name: 'none', namespace: 'default' }, insecureSkipTLSVerify: true } });
  expect(await admin().ok('GET', '/apis/apps/v1/deployments')).toMatchObject({ items: [] });
  expect(await conditionOf('v1.apps')).toMatchObject({ status: 'True', reason: 'Local' });
});

test('a group of custom kinds has APIServices as long as there is a kind in it', async () => {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const group = 'nuts.example.com';
  const version = (name: string) => ({ name, served: true, storage: name === 'v1', schema: { openAPIV3Schema: { type: 'object' } } });
  const spec = { group, scope: 'Namespaced', names: { plural: 'nuts', kind: 'Nut' }, versions: [version('v1'), version('v1beta1')] };
  await admin().ok('POST', definitions, { metadata: { name: `nuts.${group}` }, spec });
  const path = (name: string): string => `${APIS}/${name}.${group}`;
  await eventuallyTrue(async () => (await admin().get(path('v1beta1'))).status === 200);
  const made = await admin().ok('GET', path('v1'));
  expect(made.metadata.labels).toEqual({ 'kube-aggregator.kubernetes.io/automanaged': 'true' });
  expect(made.spec).toEqual({ group, version: 'v1', groupPriorityMinimum: 1000, versionPriority: 100 });
  await admin().patch(path('v1'), { spec: { groupPriorityMinimum: 5 } });
  await eventuallyTrue(async () => (await admin().ok('GET', path('v1'))).spec.groupPriorityMinimum === 1000);
  // One that somebody else wrote is left alone.
  await admin().patch(path('v1beta1'), { metadata: { labels: null }, spec: { versionPriority: 7 } });
  await admin().ok('DELETE', `${definitions}/nuts.${group}`);
  await eventuallyTrue(async () => (await admin().get(path('v1'))).status === 404);
  expect((await admin().ok('GET', path('v1beta1'))).spec.versionPriority).toBe(7);
});

test('an APIService that somebody wrote leads a group of custom kinds elsewhere, and back when it goes', async () => {
  const far = await world.extend();
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }];
  const spec = { group: far.group, scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' }, versions };
  const things = `${far.base}/namespaces/default/things`;
  await admin().ok('POST', definitions, { metadata: { name: `things.${far.group}` }, spec });
  await eventuallyTrue(async () => (await admin().ok('GET', `${definitions}/things.${far.group}`)).status.conditions?.length > 1);
  expect((await admin().get(things)).text).toBe('hello');
  await admin().ok('DELETE', `${APIS}/${far.name}`);
  await eventuallyTrue(async () => (await admin().get(things)).text !== 'hello');
  await eventuallyTrue(async () => (await admin().get(things)).status === 200);
  expect(await admin().ok('GET', things)).toMatchObject({ kind: 'ThingList', items: [] });
  await eventuallyTrue(async () => (await conditionOf(far.name).catch(() => undefined))?.reason === 'Local');
  await admin().ok('DELETE', `${definitions}/things.${far.group}`);
});

test('which servers cannot be reached is counted', async () => {
  const far = await world.extend();
  await far.backend.close();
  await far.touch();
  await far.until('False');
  const metrics = async (): Promise<string> => (await admin().get('/metrics')).text;
  expect(await metrics()).toContain(`aggregator_unavailable_apiservice{name="${far.name}"} 1`);
  expect(await metrics()).toContain(`aggregator_unavailable_apiservice_total{name="${far.name}",reason="FailedDiscoveryCheck"} 1`);
  await admin().ok('DELETE', `${APIS}/${far.name}`);
  await eventuallyTrue(async () => !(await metrics()).includes(far.name));
});
