import { kubernetes, plat } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import type { Pod } from '../core/schema/pods/pod.ts';
import type { ScopedResourceSelectorRequirement } from '../core/schema/quota.ts';
import { isInScopes, scopesOf } from './scopes.ts';
import { isComputeResource, resourceCounted, usageOf } from './usage.ts';

const now = Date.UTC(2024, 0, 1);
const pods = { group: '', name: 'pods' };
const shown = (resource: { group: string; name: string }, object: unknown, identity = kubernetes): Record<string, string> =>
  Object.fromEntries([...usageOf(resource, object, identity, now)].map(([name, quantity]) => [name, quantity.toString()]));
const container = (requests?: object, limits?: object) => ({
  name: 'c',
  resources: { ...(requests && { requests }), ...(limits && { limits }) },
});
const pod = (containers: object[], spec: object = {}, more: object = {}): Pod =>
  ({ metadata: { name: 'p' }, spec: { containers, ...spec }, status: {}, ...more }) as unknown as Pod;

test('a pod counts for itself and for what it asks for', () => {
  const one = pod([
    container({ cpu: '100m', memory: '10Mi' }, { cpu: '1' }),
    container({ cpu: '200m', 'example.com/gpu': '1', 'hugepages-2Mi': '2Mi' }),
  ]);
  expect(shown(pods, one)).toEqual({
    'count/pods': '1',
    pods: '1',
    cpu: '300m',
    'requests.cpu': '300m',
    memory: '10Mi',
    'requests.memory': '10Mi',
    'limits.cpu': '1',
    'requests.example.com/gpu': '1',
    'hugepages-2Mi': '2Mi',
    'requests.hugepages-2Mi': '2Mi',
  });
});

test('init containers run one after another before the others; overhead comes on top', () => {
  const one = pod([container({ cpu: '100m' }), container({ cpu: '100m' })], {
    initContainers: [container({ cpu: '500m' }), container({ cpu: '300m', memory: '1Mi' })],
    overhead: { cpu: '50m' },
  });
  expect(shown(pods, one)).toMatchObject({ cpu: '550m', memory: '1Mi' });
});

test.each([
  ['ended', { status: { phase: 'Succeeded' } }],
  ['failed', { status: { phase: 'Failed' } }],
  ['stuck', { metadata: { name: 'p', deletionTimestamp: '2023-12-31T23:00:00Z', deletionGracePeriodSeconds: 30 } }],
])('a pod that has %s is only counted', (_state, more) => {
  expect(shown(pods, pod([container({ cpu: '1' })], {}, more))).toEqual({ 'count/pods': '1' });
});

test.each([
  [{ type: 'ClusterIP', ports: [{ port: 1 }] }, {}],
  [{ type: 'NodePort', ports: [{ port: 1 }, { port: 2 }] }, { 'services.nodeports': '2' }],
  [
    { type: 'LoadBalancer', ports: [{ port: 1 }] },
    { 'services.nodeports': '1', 'services.loadbalancers': '1' },
  ],
  [
    { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports: [{ port: 1 }, { port: 2, nodePort: 3 }] },
    { 'services.nodeports': '1', 'services.loadbalancers': '1' },
  ],
])('a service %j counts for %j besides itself', (spec, more) => {
  const services = { group: '', name: 'services' };
  expect(shown(services, { metadata: {}, spec })).toEqual({ 'count/services': '1', services: '1', ...more });
});

test('a claim counts for its size, by class, in the names of the identity', () => {
  const claims = { group: '', name: 'persistentvolumeclaims' };
  const claim = { metadata: {}, spec: { storageClassName: 'fast', resources: { requests: { storage: '2Gi' } } } };
  expect(shown(claims, claim, plat)).toEqual({
    'count/persistentvolumeclaims': '1',
    persistentvolumeclaims: '1',
    'requests.storage': '2Gi',
    'fast.storageclass.storage.plat.dev/persistentvolumeclaims': '1',
    'fast.storageclass.storage.plat.dev/requests.storage': '2Gi',
  });
});

test.each([
  ['pods', 'pods.'],
  ['count/pods', 'pods.'],
  ['requests.cpu', 'pods.'],
  ['memory', 'pods.'],
  ['limits.memory', 'pods.'],
  ['requests.example.com/gpu', 'pods.'],
  ['hugepages-2Mi', 'pods.'],
  ['services.nodeports', 'services.'],
  ['requests.storage', 'persistentvolumeclaims.'],
  ['fast.storageclass.storage.k8s.io/requests.storage', 'persistentvolumeclaims.'],
  ['count/deployments.apps', 'deployments.apps'],
  ['count/leases.coordination.k8s.io', 'leases.coordination.k8s.io'],
  ['limits.example.com/gpu', undefined],
  ['nonsense', undefined],
])('%s is counted by %s', (name, resource) => {
  const found = resourceCounted(name, kubernetes);
  expect(found === undefined ? undefined : `${found.name}.${found.group}`).toBe(resource);
});

test('what pods request differs from what is counted', () => {
  expect(['cpu', 'requests.memory', 'pods', 'count/pods'].map(isComputeResource)).toEqual([true, true, false, false]);
});

const effort = container({ cpu: '1' });
test.each<[string, ScopedResourceSelectorRequirement, Pod, boolean]>([
  ['Terminating', { scopeName: 'Terminating', operator: 'Exists' }, pod([effort], { activeDeadlineSeconds: 1 }), true],
  ['NotTerminating', { scopeName: 'NotTerminating', operator: 'Exists' }, pod([effort]), true],
  ['BestEffort', { scopeName: 'BestEffort', operator: 'Exists' }, pod([container()]), true],
  ['NotBestEffort', { scopeName: 'NotBestEffort', operator: 'Exists' }, pod([container()]), false],
  ['a class', { scopeName: 'PriorityClass', operator: 'In', values: ['high'] }, pod([effort], { priorityClassName: 'high' }), true],
  [
    'another class',
    { scopeName: 'PriorityClass', operator: 'NotIn', values: ['high'] },
    pod([effort], { priorityClassName: 'high' }),
    false,
  ],
  ['no class', { scopeName: 'PriorityClass', operator: 'DoesNotExist' }, pod([effort]), true],
  [
    'other namespaces',
    { scopeName: 'CrossNamespacePodAffinity', operator: 'Exists' },
    pod([effort], {
      affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ namespaces: ['b'], topologyKey: 'k' }] } },
    }),
    true,
  ],
])('the scope of %s', (_what, scope, one, matches) => {
  expect(isInScopes(pods, [scope], one)).toBe(matches);
});

test('scopes of both ways to write them are joined', () => {
  const selector = { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'Exists' }] };
  expect(scopesOf({ scopes: ['BestEffort'], scopeSelector: selector }).map((scope) => scope.scopeName)).toEqual([
    'BestEffort',
    'PriorityClass',
  ]);
});

const claims = { group: '', name: 'persistentvolumeclaims' };
test.each<[string, string[], object, boolean]>([
  ['In', ['gold'], { spec: { volumeAttributesClassName: 'gold' } }, true],
  ['In', ['gold'], { spec: { volumeAttributesClassName: 'silver' } }, false],
  ['In', ['gold'], { status: { currentVolumeAttributesClassName: 'gold' } }, true],
  ['In', ['gold'], { status: { modifyVolumeStatus: { targetVolumeAttributesClassName: 'gold', status: 'Pending' } } }, true],
  ['NotIn', ['gold'], {}, true],
  ['Exists', [], {}, false],
  ['Exists', [], { spec: { volumeAttributesClassName: 'gold' } }, true],
  ['DoesNotExist', [], {}, true],
])('claims are in the scope of their class of attributes: %s %j', (operator, values, claim, matches) => {
  const scope = { scopeName: 'VolumeAttributesClass', operator, values };
  expect(isInScopes(claims, [scope], { metadata: {}, spec: {}, status: {}, ...claim })).toBe(matches);
  expect(isInScopes(claims, [{ scopeName: 'Terminating', operator: 'Exists' }], claim)).toBe(false);
});
