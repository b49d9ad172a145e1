/** Pods that have no node. */
import { type Case, container, pod } from '../world.ts';
import { claim, node, usesClaim, volume } from './objects.ts';

export const requests = (cpu: string): object => ({ containers: [{ ...container, resources: { requests: { cpu } } }] });
/** What a scheduler elsewhere has reported about the pod. */
const reported = (message: string, reason = 'Unschedulable'): object => ({
  status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason, message }] },
});

export const placementCases: readonly Case[] = [
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
      await world.put('pods', { ...pod('web'), ...reported(message) });
    },
    isAlone: true,
    reason: 'UntoleratedTaint',
    message: /^2 nodes: had untolerated taint \{gpu: yes\}.$/,
    command: /^describe pods\/web /,
  },
  {
    title: 'scheduling gates of a newer release',
    make: (world) => world.put('pods', { ...pod('web'), ...reported('Scheduling is blocked', 'SchedulingGated') }),
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
    title: 'a volume that is bound to another node',
    make: async (world) => {
      const nodeAffinity = {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n2'] }] }] },
      };
      const name = world.name('v');
      await world.put('nodes', node('n1'));
      await world.put('persistentvolumes', volume(name, '1Gi', { nodeAffinity, claimRef: { namespace: world.ns, name: 'data' } }));
      await world.put('persistentvolumeclaims', { ...claim({ storageClassName: '', volumeName: name }), status: { phase: 'Bound' } });
      await world.put('pods', pod('web', usesClaim));
    },
    reason: 'Volumes',
    message: /^n1: had volume node affinity conflict.$/,
    command: /^describe nodes\/n1$/,
  },
  {
    title: 'a reason of a plug-in of a scheduler elsewhere',
    make: (world) => world.put('pods', { ...pod('web'), ...reported('0/2 nodes are available: 2 node(s) share no GPU.') }),
    isAlone: true,
    reason: 'NodesRefuse',
    message: /^2 nodes: share no GPU.$/,
    command: /^describe pods\/web /,
  },
  {
    title: 'a scheduler elsewhere that gives no nodes as its reason',
    make: (world) => world.put('pods', { ...pod('web'), ...reported('waits for the other pods of its group') }),
    isAlone: true,
    reason: 'Unschedulable',
    message: /^waits for the other pods of its group.$/,
    command: /^describe pods\/web /,
  },
  {
    title: 'a node that has room by now',
    make: async (world) => {
      await world.put('nodes', node('n1'));
      // The scheduler of this server leaves the pod to the other one.
      await world.put('pods', { ...pod('web', { schedulerName: 'batch' }), ...reported('0/1 nodes are available: 1 Insufficient cpu.') });
    },
    reason: 'WaitsForScheduler',
    message: /^It fits on n1: the scheduler should bind it soon.$/,
    command: /^get pods\/web -n \S+ --watch$/,
  },
];
