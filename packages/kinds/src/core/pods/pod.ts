/** Pods. */
import { ageColumn, nameColumn } from '../../columns.ts';
import { kind } from '../../kind.ts';
import { Eviction } from '../../policy/schema/v1.ts';
import { objectSubresource, proxy, status, stream } from '../../subresources.ts';
import { Binding } from '../schema/cluster.ts';
import { Pod } from '../schema/pods/pod.ts';
import { podCells } from './pod-cells.ts';
import { podDefaults } from './pod-defaults.ts';
import { podGates } from './pod-gates.ts';
import { ephemeralContainersStrategy, podGracePeriod, podStatusStrategy, podStrategy, resizeStrategy } from './pod-strategy.ts';

/** The fields that selectors may use. */
const fields: Readonly<Record<string, (pod: Pod) => string>> = {
  'spec.nodeName': (pod) => pod.spec.nodeName ?? '',
  'spec.restartPolicy': (pod) => pod.spec.restartPolicy ?? '',
  'spec.schedulerName': (pod) => pod.spec.schedulerName ?? '',
  'spec.serviceAccountName': (pod) => pod.spec.serviceAccountName ?? '',
  'status.phase': (pod) => pod.status.phase ?? '',
  'status.podIP': (pod) => pod.status.podIPs?.[0]?.ip ?? '',
  // Accepted, but never set.
  'status.podIPs': () => '',
  'status.nominatedNodeName': (pod) => pod.status.nominatedNodeName ?? '',
  // The old name.
  'spec.host': (pod) => pod.spec.nodeName ?? '',
};
const hostNetworkOf = ({ spec }: Pod): string => String(spec.hostNetwork === true);

export const PodKind = kind<Pod>({
  group: '',
  kind: 'Pod',
  plural: 'pods',
  short: ['po'],
  categories: ['all'],
  scope: 'Namespaced',
  versions: { v1: { schema: Pod, defaults: podDefaults } },
  hub: 'v1',
  strategy: podStrategy,
  from: { '1.28': { fields: { ...fields, 'spec.hostNetwork': hostNetworkOf } }, '1.33': { generation: true } },
  gated: podGates((pod) => pod),
  gracePeriod: podGracePeriod,
  deleteReturnsObject: true,
  fields,
  subresources: {
    attach: stream('PodAttachOptions'),
    binding: { type: 'action', verbs: ['create'], kind: { group: '', version: 'v1', kind: 'Binding' }, schema: Binding },
    ephemeralcontainers: { ...objectSubresource(ephemeralContainersStrategy), gate: 'EphemeralContainers' },
    eviction: {
      type: 'action',
      verbs: ['create'],
      kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
      schema: Eviction,
      olderVersions: ['v1beta1'],
    },
    exec: stream('PodExecOptions'),
    log: { type: 'action', verbs: ['get'], kind: { group: '', version: 'v1', kind: 'Pod' } },
    portforward: stream('PodPortForwardOptions'),
    proxy: proxy('PodProxyOptions'),
    resize: { ...objectSubresource(resizeStrategy), since: '1.32', gate: 'InPlacePodVerticalScaling' },
    status: status(podStatusStrategy),
  },
  columns: [
    nameColumn,
    { name: 'Ready', type: 'string', description: 'How many containers are ready, of all containers.' },
    { name: 'Status', type: 'string', description: 'The state of the pod in one word.' },
    { name: 'Restarts', type: 'string', description: 'How often containers were restarted, and how long ago that last happened.' },
    ageColumn,
    { name: 'IP', type: 'string', priority: 1, description: 'The address of the pod.' },
    { name: 'Node', type: 'string', priority: 1, description: 'The node that the pod runs on.' },
    { name: 'Nominated Node', type: 'string', priority: 1, description: 'The node on which room is being made for the pod.' },
    { name: 'Readiness Gates', type: 'string', priority: 1, description: 'How many of the extra conditions for readiness hold.' },
  ],
  cells: podCells,
});
