/** Namespaces and definitions that are not deleted. */
import { expect } from 'vitest';
import type { Case, World } from '../world.ts';
import { definition, unavailableApi } from './cluster.ts';
import { deletedPod, hold, terminatingNamespace } from './deleted-objects.ts';

const getsNamespaces = (world: World): Promise<void> =>
  world.grantCluster('gets-namespaces', [{ verbs: ['get'], apiGroups: [''], resources: ['namespaces'] }]);

export const namespaceDeletionCases: readonly Case[] = [
  {
    title: 'a namespace with an object that has a finalizer',
    make: async (world) => {
      await world.put('configmaps', { metadata: { name: 'a-free' } });
      await world.put('secrets', { metadata: { name: 'held', finalizers: [hold] } });
      return terminatingNamespace(world);
    },
    reason: 'FinalizerOnContent',
    message: /^1 secret \(held\) has the finalizer example.com\/hold. /,
    command: /^why not deleted secrets\/held -n /,
  },
  {
    title: 'a namespace with objects, counted',
    make: async (world) => {
      for (const name of ['a', 'b', 'c', 'd']) await world.put('configmaps', { metadata: { name } });
      return terminatingNamespace(world);
    },
    reason: 'ContentRemains',
    message: /^4 configmaps remain \(a, b, c and 1 other\), not being deleted yet.$/,
    command: /^why not deleted configmaps\/a -n /,
  },
  {
    title: 'a namespace while an API does not answer',
    make: async (world) => {
      await world.put('configmaps', { metadata: { name: 'a', finalizers: [hold] } });
      await unavailableApi(world, { namespace: 'default', name: 'gone' });
      return terminatingNamespace(world);
    },
    reason: 'APIUnavailable',
    message: /^The API v1.metrics.example.com does not answer, .*: service\/gone in "default" is not present\.$/,
    command: /^why not ready apiservices\/v1.metrics.example.com$/,
  },
  {
    title: 'a namespace with a pod whose node is gone',
    make: async (world) => {
      await deletedPod(world, 'n-gone', {}, { gracePeriodSeconds: 3600 });
      return terminatingNamespace(world);
    },
    reason: 'NodeGone',
    message: /^Its node n-gone does not exist/,
    command: /^delete pods\/web .* --force/,
  },
  {
    title: 'an empty namespace waits for its controller',
    make: terminatingNamespace,
    reason: 'WaitsForController',
    message: /^It is empty./,
    command: /--watch$/,
  },
  {
    title: 'a namespace with a finalizer of its own',
    make: async (world) => {
      const path = world.path('namespaces', world.ns);
      const stored = await world.server.admin.ok('GET', path);
      await world.server.admin.ok('PUT', `${path}/finalize`, { ...stored, spec: { finalizers: ['kubernetes', hold] } });
      return terminatingNamespace(world);
    },
    reason: 'NamespaceFinalizer',
    message: /^Its spec has the finalizer example.com\/hold/,
    command: /finalize -f -$/,
  },
  {
    title: 'a definition with objects that have finalizers',
    make: async (world) => {
      const group = `${world.name('g')}.example.com`;
      await world.put('customresourcedefinitions', definition(group, 'widgets', 'Widget'));
      const custom = { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'one', finalizers: [hold] } };
      await expect.poll(async () => (await world.server.admin.get(`/apis/${group}/v1/widgets`)).status).toBe(200);
      await world.put('widgets', custom, `${group}/v1`);
      await world.remove('customresourcedefinitions', `widgets.${group}`);
      return { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions', name: `widgets.${group}` };
    },
    reason: 'FinalizerOnContent',
    message: /^1 widget \(one\) has the finalizer example.com\/hold/,
    command: /^why not deleted widgets\.\S+\.example\.com\/one -n /,
  },
  {
    title: 'a namespace whose content the caller may not list, and that says nothing itself',
    make: async (world) => {
      await getsNamespaces(world);
      return terminatingNamespace(world);
    },
    isAskedByAlice: true,
    reason: 'NothingFound',
    message: /^Nothing keeps it that you may read/,
    command: /^get namespaces\/\S+ --watch$/,
  },
  {
    title: 'a namespace whose content the caller may not list: what it says itself',
    make: async (world) => {
      await getsNamespaces(world);
      const question = await terminatingNamespace(world);
      const message = 'Some resources are remaining: secrets. has 1 resource instances';
      const conditions = [{ type: 'NamespaceContentRemaining', status: 'True', reason: 'SomeResourcesRemain', message }];
      const path = world.path('namespaces', world.ns);
      const stored = await world.server.admin.ok('GET', path);
      await world.server.admin.ok('PUT', `${path}/status`, { ...stored, status: { phase: 'Terminating', conditions } });
      return question;
    },
    isAskedByAlice: true,
    reason: 'Condition',
    message: /^Its condition NamespaceContentRemaining is True: SomeResourcesRemain: Some resources .* instances.$/,
    command: /^describe namespaces\//,
  },
];
