/** Nodes, APIs, definitions and custom objects that are not ready. */
import { expect } from 'vitest';
import type { Loose } from '../../support/server.ts';
import { type Case, owner, type Question, type World } from '../world.ts';
import { claim, core, node, waiting } from './objects.ts';
import { deployment } from './workloads.ts';

const API = 'v1.metrics.example.com';
export async function unavailableApi(world: World, service: object): Promise<Question> {
  await world.put('apiservices', {
    metadata: { name: API },
    spec: { group: 'metrics.example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 10, service },
  });
  const path = world.path('apiservices', API);
  await expect.poll(async () => (await world.server.admin.ok('GET', path)).status.conditions?.[0].status).toBe('False');
  return { group: 'apiregistration.k8s.io', resource: 'apiservices', name: API };
}

export const definition = (group: string, plural: string, kind: string, finalizers: string[] = []): Loose => {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const versions = [{ name: 'v1', served: true, storage: true, schema, subresources: { status: {} } }];
  const names = { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` };
  return { metadata: { name: `${plural}.${group}`, finalizers }, spec: { group, scope: 'Namespaced', names, versions } };
};
/** A definition that the server has looked at. */
async function definitionWith(world: World, object: Loose): Promise<Question> {
  const { name } = object.metadata;
  await world.put('customresourcedefinitions', object);
  const path = world.path('customresourcedefinitions', name);
  await expect.poll(async () => (await world.server.admin.ok('GET', path)).status.conditions?.length ?? 0).toBeGreaterThan(0);
  return { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions', name };
}
async function customSite(world: World, status: object): Promise<{ site: Loose; question: Question }> {
  const group = `${world.name('g')}.example.com`;
  await world.put('customresourcedefinitions', definition(group, 'sites', 'Site'));
  await expect.poll(async () => (await world.server.admin.get(`/apis/${group}/v1/sites`)).status).toBe(200);
  const site = await world.put('sites', { apiVersion: `${group}/v1`, kind: 'Site', metadata: { name: 'shop' }, status }, `${group}/v1`);
  return { site, question: { group, ...core(world, 'sites', 'shop') } };
}

export const clusterCases: readonly Case[] = [
  {
    title: 'a claim that waits for its first consumer',
    make: async (world) => {
      await world.put('storageclasses', {
        metadata: { name: 'late' },
        provisioner: 'disks.example.com',
        volumeBindingMode: 'WaitForFirstConsumer',
      });
      await world.put('persistentvolumeclaims', claim({ storageClassName: 'late' }));
      return core(world, 'persistentvolumeclaims', 'data');
    },
    reason: 'WaitsForConsumer',
    message: /^The claim data is bound when a pod uses it \(storage class late\).$/,
    command: /./,
  },
  {
    title: 'an API whose service has no pods',
    make: async (world) => {
      await world.put('services', { metadata: { name: 'metrics' }, spec: { selector: { app: 'metrics' }, ports: [{ port: 443 }] } });
      return unavailableApi(world, { namespace: world.ns, name: 'metrics' });
    },
    reason: 'SelectorMatchesNothing',
    message: /app=metrics/,
    command: /./,
    chain: 'apiservices/v1.metrics.example.com → services/metrics',
  },
  {
    title: 'a node whose agent does not report',
    make: async (world) => {
      const conditions = [
        { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' },
      ];
      await world.put('nodes', { metadata: { name: 'n-silent' }, status: { conditions } });
      return { resource: 'nodes', name: 'n-silent' };
    },
    reason: 'NodeSilent',
    message: /^Its agent does not report: Kubelet stopped posting node status.$/,
    command: /^get leases\/n-silent -n kube-node-lease -o yaml$/,
  },
  {
    title: 'a definition whose names are taken',
    make: async (world) => {
      const group = `${world.name('g')}.example.com`;
      await world.put('customresourcedefinitions', definition(group, 'widgets', 'Widget'));
      return definitionWith(world, definition(group, 'gadgets', 'Widget'));
    },
    reason: 'NamesConflict',
    message: /^Its condition NamesAccepted is False: \S+: .*already in use.$/,
    command: /^describe customresourcedefinitions\/gadgets\./,
    also: 'NotEstablished',
  },
  {
    title: 'a custom object: the owned deployment that is the cause',
    make: async (world) => {
      const conditions = [{ type: 'Ready', status: 'False', reason: 'Waiting', message: 'deployment is not available' }];
      const { site, question } = await customSite(world, { conditions });
      await deployment(world, [waiting('ErrImagePull')]);
      const headers = { 'content-type': 'application/merge-patch+json' };
      const body = { metadata: { ownerReferences: [owner(site)] } };
      await world.server.admin.send('PATCH', world.path('deployments', 'web'), { headers, body });
      return question;
    },
    reason: 'ImagePull',
    message: /./,
    command: /./,
    chain: 'sites/shop → deployments/web → replicasets/web-1 → pods/web-1-x',
  },
  {
    title: 'a custom object that only has its conditions',
    make: async (world) => {
      const conditions = [
        { type: 'Degraded', status: 'True', reason: 'Slow' },
        { type: 'Ready', status: 'False', reason: 'Waiting', message: 'no address yet.' },
      ];
      return (await customSite(world, { conditions })).question;
    },
    reason: 'Condition',
    message: /^Its condition Ready is False: Waiting: no address yet.$/,
    command: /^describe sites\.\S+\.example\.com\/shop -n /,
  },
  {
    title: 'a custom object whose controller is behind',
    make: async (world) => {
      const conditions = [{ type: 'Ready', status: 'False', reason: 'Waiting' }];
      return (await customSite(world, { observedGeneration: 0, conditions })).question;
    },
    reason: 'NotObserved',
    message: /^Its controller has not looked at its newest spec/,
    command: /^get sites\.\S+\/shop -n \S+ -o yaml$/,
    also: 'Condition',
  },
  {
    title: 'a node whose agent reports a fault, and what it is short of',
    make: async (world) => {
      const conditions = [
        { type: 'MemoryPressure', status: 'True', reason: 'Low' },
        { type: 'Ready', status: 'False', message: 'container runtime is down' },
      ];
      await world.put('nodes', node('n-bad', { conditions }));
      return { resource: 'nodes', name: 'n-bad' };
    },
    reason: 'NodeNotReady',
    message: /^Its agent reports that it is not ready: container runtime is down.$/,
    command: /^get leases\/n-bad -n kube-node-lease -o yaml$/,
    also: 'Condition',
  },
  {
    title: 'an API whose service does not exist',
    make: (world) => unavailableApi(world, { namespace: world.ns, name: 'gone' }),
    reason: 'ServiceMissing',
    message: /^Its service \S+\/gone does not exist.$/,
    command: /^get services -n /,
    also: 'Condition',
  },
  {
    title: 'a definition that is being deleted',
    make: async (world) => {
      const question = await definitionWith(world, definition(`${world.name('g')}.example.com`, 'widgets', 'Widget', ['example.com/hold']));
      await world.remove('customresourcedefinitions', question.name);
      return question;
    },
    reason: 'Deleting',
    message: /^It is being deleted.$/,
    command: /^why not deleted customresourcedefinitions\/widgets\./,
  },
];
