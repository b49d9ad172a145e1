/** `why pending`: constructed cases, each with the cause that is named first. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Loose, TestServer } from '../support/server.ts';
import { askWhy, container, pod, type Question, startWorldServer, World } from './world.ts';

interface Case {
  readonly title: string;
  /** Constructs the state; the question is about the pod `web`. */
  readonly make: (world: World) => Promise<unknown>;
  readonly reason: string;
  readonly message: RegExp;
  readonly command: RegExp;
  /** Without the built-in scheduler. */
  readonly isAlone?: boolean;
}

const conditions = [{ type: 'Ready', status: 'True' }];
const node = (name: string, more: Loose = {}): Loose => ({
  metadata: { name, labels: { 'kubernetes.io/hostname': name, ...more.labels } },
  spec: more.spec ?? {},
  status: { conditions, allocatable: { cpu: '1', memory: '1Gi', pods: '10', ...more.allocatable } },
});
const requests = (cpu: string): object => ({ containers: [{ ...container, resources: { requests: { cpu } } }] });
const claim = (spec: object = {}): Loose => ({
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
});
const usesClaim = { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] };
const waiting = (reason: string, message?: string): object => ({
  status: {
    phase: 'Pending',
    containerStatuses: [
      {
        name: 'main',
        image: container.image,
        imageID: '',
        ready: false,
        restartCount: 0,
        state: { waiting: { reason, ...(message && { message }) } },
      },
    ],
  },
});
/** A pod on a node that is ready, with a status. */
async function started(world: World, spec: object, status: object = {}): Promise<void> {
  await world.put('nodes', node('n1'));
  await world.put('pods', { ...pod('web', { nodeName: 'n1', ...spec }), ...status });
}

const cases: readonly Case[] = [
  {
    title: 'there are no nodes',
    make: (world) => world.put('pods', pod('web')),
    reason: 'NoNodes',
    message: /^There are no nodes.$/,
    command: /^get nodes$/,
  },
  {
    title: 'nodes have not enough of a resource: which',
    make: async (world) => {
      for (const name of ['n1', 'n2']) await world.put('nodes', node(name));
      await world.put('pods', pod('web', requests('4')));
    },
    reason: 'InsufficientResources',
    message: /^n1, n2: Insufficient cpu.$/,
    command: /^describe nodes\/n1$/,
  },
  {
    title: 'other pods use what the node has',
    make: async (world) => {
      await world.put('nodes', node('n1'));
      await world.put('pods', pod('other', { nodeName: 'n1', ...requests('800m') }));
      await world.put('pods', pod('web', requests('500m')));
    },
    reason: 'InsufficientResources',
    message: /^n1: Insufficient cpu.$/,
    command: /./,
  },
  {
    title: 'a taint that it does not tolerate',
    make: async (world) => {
      await world.put('nodes', node('n1', { spec: { taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] } }));
      await world.put('pods', pod('web'));
    },
    reason: 'UntoleratedTaint',
    message: /^n1: had untolerated taint \{gpu: yes\}.$/,
    command: /./,
  },
  {
    title: 'a node that is cordoned',
    make: async (world) => {
      await world.put('nodes', node('n1', { spec: { unschedulable: true } }));
      await world.put('pods', pod('web'));
    },
    reason: 'NodeUnschedulable',
    message: /^n1: were unschedulable.$/,
    command: /./,
  },
  {
    title: 'a selector that no node has',
    make: async (world) => {
      await world.put('nodes', node('n1'));
      await world.put('pods', pod('web', { nodeSelector: { disk: 'ssd' } }));
    },
    reason: 'NodeSelector',
    message: /^n1: didn't match Pod's node affinity\/selector.$/,
    command: /./,
  },
  {
    title: 'a port that another pod has',
    make: async (world) => {
      const containers = [{ ...container, ports: [{ containerPort: 80, hostPort: 8080 }] }];
      await world.put('nodes', node('n1'));
      await world.put('pods', pod('other', { nodeName: 'n1', containers }));
      await world.put('pods', pod('web', { containers }));
    },
    reason: 'PortsTaken',
    message: /^n1: didn't have free ports/,
    command: /./,
  },
  {
    title: 'pods that it must not be with',
    make: async (world) => {
      const term = { labelSelector: { matchLabels: { app: 'web' } }, topologyKey: 'kubernetes.io/hostname' };
      await world.put('nodes', node('n1'));
      await world.put('pods', pod('other', { nodeName: 'n1' }, { labels: { app: 'web' } }));
      const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
      await world.put('pods', pod('web', { affinity }));
    },
    reason: 'PodAffinity',
    message: /^n1: didn't match pod anti-affinity rules.$/,
    command: /./,
  },
  {
    title: 'the reason of most nodes comes first',
    make: async (world) => {
      await world.put('nodes', node('n1', { spec: { unschedulable: true } }));
      for (const name of ['n2', 'n3', 'n4', 'n5']) await world.put('nodes', node(name));
      await world.put('pods', pod('web', requests('4')));
    },
    reason: 'InsufficientResources',
    message: /^n2, n3, n4 and 1 other: Insufficient cpu.$/,
    command: /./,
  },
  {
    title: 'a claim that does not exist',
    make: (world) => world.put('pods', pod('web', usesClaim)),
    reason: 'ClaimMissing',
    message: /^The claim data does not exist.$/,
    command: /^get persistentvolumeclaims -n /,
  },
  {
    title: 'a claim whose storage class does not exist',
    make: async (world) => {
      await world.put('persistentvolumeclaims', claim({ storageClassName: 'fast' }));
      await world.put('pods', pod('web', usesClaim));
    },
    reason: 'StorageClassMissing',
    message: /^The storage class fast of the claim data does not exist.$/,
    command: /^get storageclasses$/,
  },
  {
    title: 'a claim that no volume fits',
    make: async (world) => {
      await world.put('persistentvolumes', {
        metadata: { name: world.name('v') },
        spec: { capacity: { storage: '100Mi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
        status: { phase: 'Available' },
      });
      await world.put('persistentvolumeclaims', claim({ storageClassName: '' }));
      await world.put('pods', pod('web', usesClaim));
    },
    reason: 'NoVolumeFits',
    message: /^No available volume fits the claim data, and nothing provisions one.$/,
    command: /^get persistentvolumes$/,
  },
  {
    title: 'a claim that waits for its provisioner',
    make: async (world) => {
      await world.put('storageclasses', { metadata: { name: 'slow' }, provisioner: 'disks.example.com' });
      await world.put('persistentvolumeclaims', claim({ storageClassName: 'slow' }));
      await world.put('pods', pod('web', usesClaim));
    },
    reason: 'WaitsForProvisioner',
    message: /^The claim data waits for the provisioner disks.example.com of the storage class slow.$/,
    command: /^describe persistentvolumeclaims\/data /,
  },
  {
    title: 'a claim that its provisioner could not serve, by the newest event',
    make: async (world) => {
      await world.put('storageclasses', { metadata: { name: 'slow' }, provisioner: 'disks.example.com' });
      const { apiVersion, kind, metadata } = await world.put('persistentvolumeclaims', claim({ storageClassName: 'slow' }));
      const involvedObject = { apiVersion, kind, namespace: world.ns, name: 'data', uid: metadata.uid };
      const event = { involvedObject, type: 'Warning', reason: 'ProvisioningFailed', message: 'no space left' };
      await world.put('events', { metadata: { name: world.name('e') }, ...event });
      await world.put('pods', pod('web', usesClaim));
    },
    reason: 'ProvisioningFailed',
    message: /^The claim data gets no volume: no space left.$/,
    command: /./,
  },
  {
    title: 'a claim that is being deleted',
    make: async (world) => {
      await world.put('persistentvolumeclaims', { ...claim(), metadata: { name: 'data', finalizers: ['kubernetes.io/pvc-protection'] } });
      await world.remove('persistentvolumeclaims', 'data');
      await world.put('pods', pod('web', usesClaim));
    },
    reason: 'ClaimDeleting',
    message: /^The claim data is being deleted.$/,
    command: /^why not deleted persistentvolumeclaims\/data -n /,
  },
  {
    title: 'a claim that names a volume that does not exist',
    make: async (world) => {
      await world.put('persistentvolumeclaims', claim({ volumeName: 'gone', storageClassName: '' }));
      await world.put('pods', pod('web', usesClaim));
    },
    reason: 'VolumeMissing',
    message: /^The claim data names the volume gone, which does not exist.$/,
    command: /./,
  },
  {
    title: 'a domain that has too many of its pods already',
    make: async (world) => {
      await world.put('nodes', node('n1', { labels: { zone: 'x' } }));
      await world.put('nodes', node('n2', { labels: { zone: 'y' }, spec: { unschedulable: true } }));
      const labels = { app: 'web' };
      await world.put('pods', pod('other', { nodeName: 'n1' }, { labels }));
      const constraint = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: labels } };
      await world.put('pods', pod('web', { topologySpreadConstraints: [constraint] }, { labels }));
    },
    reason: 'TopologySpread',
    message: /^n1: didn't match pod topology spread constraints.$/,
    command: /./,
  },
  {
    title: 'the scheduler of another program',
    make: (world) => world.put('pods', pod('web', { schedulerName: 'batch' })),
    reason: 'OtherScheduler',
    message: /^It waits for the scheduler batch,/,
    command: /./,
  },
  {
    title: 'no scheduler at all',
    make: (world) => world.put('pods', pod('web')),
    isAlone: true,
    reason: 'NoScheduler',
    message: /--workloads=scheduler/,
    command: /./,
  },
  {
    title: 'a scheduler elsewhere has reported',
    make: async (world) => {
      const message =
        '0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint {gpu: yes}. preemption: 0/3 nodes are available.';
      const status = { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }] };
      await world.put('pods', { ...pod('web'), status });
    },
    isAlone: true,
    reason: 'UntoleratedTaint',
    message: /^2 nodes: had untolerated taint \{gpu: yes\}.$/,
    command: /^describe pods\/web /,
  },
  {
    title: 'scheduling gates of a newer release',
    make: async (world) => {
      const status = {
        phase: 'Pending',
        conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated', message: 'Scheduling is blocked' }],
      };
      await world.put('pods', { ...pod('web'), status });
    },
    isAlone: true,
    reason: 'SchedulingGated',
    message: /^It waits for its scheduling gates to be removed.$/,
    command: /./,
  },
  {
    title: 'room that another pod has to leave',
    make: async (world) => {
      await world.put('pods', { ...pod('web'), status: { phase: 'Pending', nominatedNodeName: 'n1' } });
    },
    isAlone: true,
    reason: 'Preempting',
    message: /^It waits for pods of lower priority to leave the node n1.$/,
    command: /^get pods -A --field-selector spec.nodeName=n1$/,
  },
  {
    title: 'a node that is gone',
    make: (world) => world.put('pods', pod('web', { nodeName: 'n-gone' })),
    reason: 'NodeGone',
    message: /^Its node n-gone does not exist.$/,
    command: /./,
  },
  {
    title: 'an image that cannot be pulled',
    make: (world) => started(world, {}, waiting('ImagePullBackOff', 'Back-off pulling image')),
    reason: 'ImagePull',
    message: /^The image registry.test\/app:1 of the container main cannot be pulled \(ImagePullBackOff\): Back-off pulling image.$/,
    command: /^describe pods\/web -n /,
  },
  {
    title: 'a config map that is missing',
    make: (world) => started(world, { volumes: [{ name: 'c', configMap: { name: 'settings' } }] }, waiting('ContainerCreating')),
    reason: 'ConfigMapMissing',
    message: /^The config map settings does not exist.$/,
    command: /^get configmaps -n /,
  },
  {
    title: 'a key of a secret that is missing',
    make: async (world) => {
      await world.put('secrets', { metadata: { name: 'token' }, stringData: { user: 'SECRET-VALUE' } });
      const env = [{ name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'token', key: 'password' } } }];
      await started(world, { containers: [{ ...container, env }] }, waiting('CreateContainerConfigError'));
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
        {
          status: {
            phase: 'Pending',
            initContainerStatuses: [{ name: 'setup', image: 'x', imageID: '', ready: false, restartCount: 0, state: { running: {} } }],
          },
        },
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
];

let server: TestServer;
let alone: TestServer;
beforeAll(async () => {
  server = await startWorldServer({ workloads: ['scheduler'] });
  alone = await startWorldServer();
});
afterAll(async () => {
  await server.close();
  await alone.close();
});
const about = ({ ns }: World): Question => ({ resource: 'pods', namespace: ns, name: 'web' });

/** Pods would use nodes of the next case. */
async function ended(world: World): Promise<void> {
  await world.server.admin.ok('DELETE', `${world.path('pods')}?gracePeriodSeconds=0`);
  await world.close();
}

describe('the first cause', () => {
  test.each(cases)('$title', async ({ make, reason, message, command, isAlone }) => {
    const on = isAlone ? alone : server;
    const world = new World(on, await on.namespace());
    try {
      await make(world);
      const answer = await askWhy(on.admin, 'pendingexplanations', about(world));
      expect(answer.causes[0]).toMatchObject({ reason, message: expect.stringMatching(message), command: expect.stringMatching(command) });
      expect(answer.pending).toBe(reason !== 'NotPending');
      expect(JSON.stringify(answer)).not.toContain('SECRET-VALUE');
    } finally {
      await ended(world);
    }
  });
});

test('what each node refuses, and without the right to list nodes only how many', async () => {
  const world = new World(server, await server.namespace());
  try {
    await world.put('nodes', node('west'));
    await world.put('nodes', node('east', { spec: { unschedulable: true } }));
    await world.put('pods', pod('web', requests('4')));
    expect((await askWhy(server.admin, 'pendingexplanations', about(world))).refusals).toEqual([
      { reason: 'Insufficient cpu', count: 1, nodes: ['west'] },
      { reason: 'node(s) were unschedulable', count: 1, nodes: ['east'] },
    ]);
    await world.put('clusterroles', {
      metadata: { name: 'asks' },
      rules: [{ verbs: ['create'], apiGroups: ['explain.k8s.io'], resources: ['*'] }],
    });
    const apiGroup = 'rbac.authorization.k8s.io';
    const subjects = [{ kind: 'User', name: 'alice' }];
    await world.put('clusterrolebindings', {
      metadata: { name: 'asks' },
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'asks' },
      subjects,
    });
    await world.put('rolebindings', { metadata: { name: 'views' }, roleRef: { apiGroup, kind: 'ClusterRole', name: 'view' }, subjects });
    const isDecided = async () => (await server.admin.ok('GET', world.path('pods', 'web'))).status.conditions?.[0].status;
    await expect.poll(isDecided, { timeout: 20_000 }).toBe('False');
    const answer = await askWhy(server.alice, 'pendingexplanations', about(world));
    expect(answer.refusals).toEqual([
      { reason: 'Insufficient cpu', count: 1 },
      { reason: 'node(s) were unschedulable', count: 1 },
    ]);
    expect(JSON.stringify(answer)).not.toMatch(/west|east/);
    expect(answer.incomplete).toContain('you may not list nodes');
  } finally {
    await ended(world);
  }
});

test('a secret that the caller may not read is counted, whether it is there or not', async () => {
  const world = new World(server, await server.namespace());
  try {
    await started(world, { volumes: [{ name: 's', secret: { secretName: 'hidden' } }] }, waiting('ContainerCreating'));
    await world.put('clusterroles', {
      metadata: { name: 'asks' },
      rules: [
        { verbs: ['create'], apiGroups: ['explain.k8s.io'], resources: ['*'] },
        { verbs: ['get'], apiGroups: [''], resources: ['pods'] },
      ],
    });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'asks' };
    await world.put('clusterrolebindings', { metadata: { name: 'asks' }, roleRef, subjects: [{ kind: 'User', name: 'alice' }] });
    const withoutSecret = await askWhy(server.alice, 'pendingexplanations', about(world));
    expect(withoutSecret).toMatchObject({ unread: 2, causes: [{ reason: 'NotStarted' }] });
    await world.put('secrets', { metadata: { name: 'hidden' } });
    expect(await askWhy(server.alice, 'pendingexplanations', about(world))).toEqual(withoutSecret);
  } finally {
    await ended(world);
  }
});
