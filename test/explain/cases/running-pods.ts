/** Pods that are not ready. */
import { type Case, container, owner } from '../world.ts';
import { core, event, node, podOn, running, waiting } from './objects.ts';
import { deployment } from './workloads.ts';

export const runningPodCases: readonly Case[] = [
  {
    title: 'a pod whose readiness probe fails: what the node reported',
    make: async (world) => {
      await world.put('nodes', node('n1'));
      const containers = [{ ...container, readinessProbe: { httpGet: { path: '/', port: 80 } } }];
      const stored = await world.put('pods', podOn('web', [running({ started: true })], { spec: { containers } }));
      await event(world, stored, 'Unhealthy', 'Readiness probe failed: HTTP probe failed with statuscode: 503');
      return core(world, 'pods', 'web');
    },
    reason: 'ReadinessProbe',
    message: /^The readiness probe of the container main does not succeed: Readiness probe failed: .*503.$/,
    command: /^describe pods\/web -n /,
  },
  {
    title: 'a pod whose startup probe has not succeeded',
    make: async (world) => {
      await world.put('nodes', node('n1'));
      const containers = [{ ...container, startupProbe: { httpGet: { path: '/', port: 80 } } }];
      await world.put('pods', podOn('web', [running({ started: false })], { spec: { containers } }));
      return core(world, 'pods', 'web');
    },
    reason: 'StartupProbe',
    message: /^The startup probe of the container main does not succeed.$/,
    command: /./,
  },
  {
    title: 'a readiness gate that nobody has set',
    make: async (world) => {
      await world.put('nodes', node('n1'));
      const spec = { readinessGates: [{ conditionType: 'example.com/attached' }] };
      await world.put('pods', podOn('web', [running({ ready: true })], { spec }));
      return core(world, 'pods', 'web');
    },
    reason: 'ReadinessGate',
    message: /^Its readiness gate example.com\/attached is not set/,
    command: /./,
  },
  {
    title: 'a pod that was evicted',
    make: async (world) => {
      await world.put(
        'pods',
        podOn('web', [], { status: { phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory.' } }),
      );
      return core(world, 'pods', 'web');
    },
    reason: 'Evicted',
    message: /^It failed \(Evicted\): The node was low on resource: memory.$/,
    command: /./,
  },
  {
    title: 'a pod that needs a config map that is missing, below a deployment',
    make: async (world) => {
      const question = await deployment(world, [running({ ready: true })]);
      const set = await world.server.admin.ok('GET', world.path('replicasets', 'web-1'));
      const metadata = { ownerReferences: [owner(set, { controller: true })] };
      const spec = { volumes: [{ name: 'c', configMap: { name: 'settings' } }] };
      await world.server.admin.ok('DELETE', `${world.path('pods', 'web-1-x')}?gracePeriodSeconds=0`);
      await world.put('pods', podOn('web-1-y', [waiting('ContainerCreating')], { metadata, spec, status: { phase: 'Pending' } }));
      return question;
    },
    reason: 'ConfigMapMissing',
    message: /^The config map settings does not exist.$/,
    command: /^get configmaps -n /,
    chain: 'deployments/web → replicasets/web-1 → pods/web-1-y',
  },
  {
    title: 'a container that cannot be started beside one that runs',
    make: async (world) => {
      await world.put('nodes', node('n1'));
      const containers = [container, { ...container, name: 'side' }];
      const side = waiting('RunContainerError', { name: 'side' });
      await world.put('pods', podOn('web', [running({ ready: true }), side], { spec: { containers } }));
      return core(world, 'pods', 'web');
    },
    reason: 'ContainerNotStarted',
    message: /^The container side cannot be started \(RunContainerError\).$/,
    command: /^describe pods\/web -n /,
  },
  {
    title: 'a container that runs, without a probe',
    make: async (world) => {
      await world.put('nodes', node('n1'));
      await world.put('pods', podOn('web', [running()]));
      return core(world, 'pods', 'web');
    },
    reason: 'ContainerNotReady',
    message: /^The container main runs, and its node has not reported it as ready.$/,
    command: /^describe pods\/web -n /,
  },
  {
    title: 'a pod whose containers are ready and that is not reported as ready',
    make: async (world) => {
      await world.put('nodes', node('n1'));
      await world.put('pods', podOn('web', [running({ ready: true })]));
      return core(world, 'pods', 'web');
    },
    reason: 'NotReady',
    message: /^Its node has not reported it as ready.$/,
    command: /^describe pods\/web -n /,
  },
  {
    title: 'a pod whose node stopped to report',
    make: async (world) => {
      await world.put('nodes', node('n1', { conditions: [{ type: 'Ready', status: 'Unknown', message: 'Kubelet stopped.' }] }));
      await world.put('pods', podOn('web', [running()]));
      return core(world, 'pods', 'web');
    },
    reason: 'NodeNotReady',
    message: /^Its node n1 is not ready: Kubelet stopped.$/,
    command: /^why not ready nodes\/n1$/,
  },
  {
    title: 'a pod that is over',
    make: async (world) => {
      await world.put('pods', podOn('web', [], { status: { phase: 'Succeeded' } }));
      return core(world, 'pods', 'web');
    },
    reason: 'Completed',
    message: /^Its containers have ended successfully/,
    command: /^describe pods\/web -n /,
  },
  {
    title: 'a pod that failed, without a word why',
    make: async (world) => {
      await world.put('pods', podOn('web', [], { status: { phase: 'Failed' } }));
      return core(world, 'pods', 'web');
    },
    reason: 'Failed',
    message: /^It failed.$/,
    command: /^describe pods\/web -n /,
  },
  {
    title: 'a pod that is being deleted',
    make: async (world) => {
      await world.put('pods', podOn('web', [waiting('ErrImagePull')]));
      await world.remove('pods', 'web', { gracePeriodSeconds: 3600 });
      return core(world, 'pods', 'web');
    },
    reason: 'Deleting',
    message: /^It is being deleted.$/,
    command: /^why not deleted pods\/web -n /,
  },
];
