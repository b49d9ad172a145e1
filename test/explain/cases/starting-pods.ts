/** Pods on a node that has not started their containers. */
import { type Case, container, pod, type World } from '../world.ts';
import { event, node, running, waiting } from './objects.ts';

const notStarted = (reason: string, message?: string): object => ({
  status: { phase: 'Pending', containerStatuses: [waiting(reason, { state: { waiting: { reason, ...(message && { message }) } } })] },
});
/** A pod on a node that is ready, with a status. */
export async function started(world: World, spec: object, status: object = {}) {
  await world.put('nodes', node('n1'));
  return world.put('pods', { ...pod('web', { nodeName: 'n1', ...spec }), ...status });
}

export const startingPodCases: readonly Case[] = [
  {
    title: 'a node that is gone',
    make: (world) => world.put('pods', pod('web', { nodeName: 'n-gone' })),
    reason: 'NodeGone',
    message: /^Its node n-gone does not exist.$/,
    command: /./,
  },
  {
    title: 'an image that cannot be pulled',
    make: (world) => started(world, {}, notStarted('ImagePullBackOff', 'Back-off pulling image')),
    reason: 'ImagePull',
    message: /^The image registry.test\/app:1 of the container main cannot be pulled \(ImagePullBackOff\): Back-off pulling image.$/,
    command: /^describe pods\/web -n /,
  },
  {
    title: 'a config map that is missing',
    make: (world) => started(world, { volumes: [{ name: 'c', configMap: { name: 'settings' } }] }, notStarted('ContainerCreating')),
    reason: 'ConfigMapMissing',
    message: /^The config map settings does not exist.$/,
    command: /^get configmaps -n /,
  },
  {
    title: 'a key of a secret that is missing',
    make: async (world) => {
      await world.put('secrets', { metadata: { name: 'token' }, stringData: { user: 'SECRET-VALUE' } });
      const env = [{ name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'token', key: 'password' } } }];
      await started(world, { containers: [{ ...container, env }] }, notStarted('CreateContainerConfigError'));
    },
    reason: 'SecretKeyMissing',
    message: /^The secret token has no key password.$/,
    command: /^describe secrets\/token -n /,
  },
  {
    title: 'an init container that runs',
    make: (world) =>
      started(
        world,
        { initContainers: [{ ...container, name: 'setup' }] },
        { status: { phase: 'Pending', initContainerStatuses: [running({ name: 'setup' })] } },
      ),
    reason: 'InitContainerRuns',
    message: /^The init container setup is still running.$/,
    command: /^logs web -n \S+ -c setup$/,
  },
  {
    title: 'a pod that runs',
    make: (world) => started(world, {}, { status: { phase: 'Running' } }),
    reason: 'NotPending',
    message: /^It is not pending: its phase is Running.$/,
    command: /^why not ready pods\/web -n /,
  },
  {
    title: 'a node that is not ready',
    make: async (world) => {
      const conditions = [{ type: 'Ready', status: 'False', message: 'container runtime is down' }];
      await world.put('nodes', node('n1', { conditions }));
      await world.put('pods', { ...pod('web', { nodeName: 'n1' }), ...notStarted('ImagePullBackOff') });
    },
    reason: 'NodeNotReady',
    message: /^Its node n1 is not ready: container runtime is down.$/,
    command: /^why not ready nodes\/n1$/,
  },
  {
    title: 'a secret that is missing',
    make: (world) => started(world, { volumes: [{ name: 's', secret: { secretName: 'token' } }] }, notStarted('ContainerCreating')),
    reason: 'SecretMissing',
    message: /^The secret token does not exist.$/,
    command: /^get secrets -n /,
  },
  {
    title: 'a key of a config map that is missing',
    make: async (world) => {
      await world.put('configmaps', { metadata: { name: 'settings' }, data: { colour: 'red' } });
      const volumes = [{ name: 'c', configMap: { name: 'settings', items: [{ key: 'size', path: 'size' }] } }];
      await started(world, { volumes }, notStarted('ContainerCreating'));
    },
    reason: 'ConfigMapKeyMissing',
    message: /^The config map settings has no key size.$/,
    command: /^describe configmaps\/settings -n /,
  },
  {
    title: 'a container that cannot be created',
    make: (world) => started(world, {}, notStarted('CreateContainerError', 'no such command')),
    reason: 'ContainerNotStarted',
    message: /^The container main cannot be started \(CreateContainerError\): no such command.$/,
    command: /^describe pods\/web -n /,
  },
  {
    title: 'a volume that cannot be mounted, by the newest event',
    make: async (world) => {
      const stored = await started(world, {}, notStarted('ContainerCreating'));
      await event(world, stored, 'FailedMount', 'MountVolume.SetUp failed for volume "data": timed out');
    },
    reason: 'VolumeNotMounted',
    message: /^Its node n1 has not started its containers yet: MountVolume.SetUp failed for volume "data": timed out.$/,
    command: /^describe pods\/web -n /,
  },
  {
    title: 'a node that has reported nothing',
    make: (world) => started(world, {}),
    reason: 'NotStarted',
    message: /^Its node n1 has not started its containers yet.$/,
    command: /^describe pods\/web -n /,
  },
  {
    title: 'a pod that is being deleted',
    make: async (world) => {
      await started(world, {}, notStarted('ImagePullBackOff'));
      await world.remove('pods', 'web', { gracePeriodSeconds: 3600 });
    },
    reason: 'Deleting',
    message: /^It is being deleted and will not start.$/,
    command: /^why not deleted pods\/web -n /,
  },
];
