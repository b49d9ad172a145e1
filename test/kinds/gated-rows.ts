/**
 * What each feature gate guards in objects: a row says how an object uses the feature, and what becomes of that where the gate is
 * on and where it is off.
 */
import type { GateName } from '../../packages/kinds/src/feature-gates.ts';
import { domainName, type Identity } from '../../packages/meta/src/identity.ts';
import type { Loose } from '../support/server.ts';

/** The field is cleared or set, or the write is refused with this text in its message. */
export type Outcome = { readonly value: unknown } | { readonly refused: string };

export interface Row {
  readonly gate: GateName;
  /** `apps/v1/deployments`, with the base name of the group. */
  readonly resource: string;
  readonly kind: string;
  readonly cluster?: true;
  /** An object that does not use the feature. */
  readonly base: Loose;
  /** Makes it use the feature. */
  use(object: Loose, identity: Identity): void;
  /** The subresource through which it does. */
  readonly through?: 'status';
  field(object: Loose, identity: Identity): unknown;
  readonly on: unknown;
  /** Of a create, and of an update of an object that did not use it. */
  readonly off: Outcome;
  /** Of such an update, where it is another. */
  readonly offOnUpdate?: Outcome;
  /** After an update of an object that uses it while the gate is off, where it is not what `on` says. */
  readonly kept?: unknown;
}

const cleared: Outcome = { value: undefined };
const refused = (text: string): Outcome => ({ refused: text });

const podSpec = (more: Loose = {}): Loose => ({ containers: [{ name: 'c', image: 'i' }], ...more });
const labels = { app: 'a' };
const template = (): Loose => ({ metadata: { labels }, spec: podSpec() });
const serving = (more: Loose = {}): Loose => ({ spec: { selector: { matchLabels: labels }, template: template(), ...more } });
const ending = (): Loose => ({ spec: podSpec({ restartPolicy: 'Never' }) });

const inTemplate = (
  gate: GateName,
  use: (spec: Loose) => void,
  field: (spec: Loose) => unknown,
  on: unknown,
  off: Outcome = cleared,
): Row => ({
  gate,
  resource: 'apps/v1/deployments',
  kind: 'Deployment',
  base: serving(),
  use: ({ spec }) => use(spec.template.spec),
  field: ({ spec }) => field(spec.template.spec),
  on,
  off,
});
const service = { resource: '/v1/services', kind: 'Service' } as const;
const claim = {
  resource: '/v1/persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
  base: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
} as const;
const autoscaler = {
  resource: 'autoscaling/v2/horizontalpodautoscalers',
  kind: 'HorizontalPodAutoscaler',
  base: { spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, minReplicas: 1, maxReplicas: 3 } },
} as const;
const statefulSet = { resource: 'apps/v1/statefulsets', kind: 'StatefulSet', base: serving({ serviceName: 's' }) } as const;
const slice = {
  resource: 'discovery/v1/endpointslices',
  kind: 'EndpointSlice',
  base: { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'] }], ports: [{ port: 80 }] },
} as const;
const policy = { resource: 'networking/v1/networkpolicies', kind: 'NetworkPolicy', base: { spec: { podSelector: {} } } } as const;
const job = { resource: 'batch/v1/jobs', kind: 'Job', base: { spec: { template: ending() } } } as const;
const rule = { rule: 'RunAsAny' };
const securityPolicy = {
  resource: 'policy/v1beta1/podsecuritypolicies',
  kind: 'PodSecurityPolicy',
  cluster: true,
  base: { spec: { seLinux: rule, runAsUser: rule, supplementalGroups: rule, fsGroup: rule, volumes: ['*'] } },
} as const;
const utilization = { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } };
const condition = { type: 'Fine', status: 'True', reason: 'Seen', message: 'm', lastTransitionTime: '2024-01-01T00:00:00Z' };
const onlyThree = 'supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce"';
const trackingOf = (identity: Identity): string => domainName(identity, 'job-tracking', 'batch');
const appArmorOf = (identity: Identity): string => domainName(identity, 'c', 'container.apparmor.security.beta');

export const rows: readonly Row[] = [
  // Pods, in the template of a workload.
  inTemplate(
    'CSIInlineVolume',
    (spec) => {
      spec.volumes = [{ name: 'v', csi: { driver: 'd.example.com' } }];
    },
    (spec) => spec.volumes[0].csi.driver,
    'd.example.com',
    refused('must specify a volume type'),
  ),
  inTemplate(
    'DownwardAPIHugePages',
    (spec) => {
      spec.containers[0].env = [{ name: 'E', valueFrom: { resourceFieldRef: { resource: 'limits.hugepages-2Mi' } } }];
    },
    (spec) => spec.containers[0].env[0].valueFrom.resourceFieldRef.resource,
    'limits.hugepages-2Mi',
    refused('Unsupported value: "limits.hugepages-2Mi"'),
  ),
  inTemplate(
    'ExpandedDNSConfig',
    (spec) => {
      spec.dnsConfig = { searches: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] };
    },
    (spec) => spec.dnsConfig.searches.length,
    7,
    refused('must not have more than 6 search paths'),
  ),
  inTemplate(
    'GRPCContainerProbe',
    (spec) => {
      spec.containers[0].readinessProbe = { grpc: { port: 1 } };
    },
    (spec) => spec.containers[0].readinessProbe.grpc.port,
    1,
    refused('must specify a handler type'),
  ),
  inTemplate(
    'IdentifyPodOS',
    (spec) => {
      spec.os = { name: 'linux' };
    },
    (spec) => spec.os?.name,
    'linux',
  ),
  inTemplate(
    'LocalStorageCapacityIsolation',
    (spec) => {
      spec.volumes = [{ name: 'v', emptyDir: { sizeLimit: '1Gi' } }];
    },
    (spec) => spec.volumes[0].emptyDir.sizeLimit,
    '1Gi',
  ),
  inTemplate(
    'MinDomainsInPodTopologySpread',
    (spec) => {
      const constraint = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: labels } };
      spec.topologySpreadConstraints = [{ ...constraint, minDomains: 2 }];
    },
    (spec) => spec.topologySpreadConstraints[0].minDomains,
    2,
  ),
  inTemplate(
    'ProbeTerminationGracePeriod',
    (spec) => {
      spec.containers[0].livenessProbe = { tcpSocket: { port: 1 }, terminationGracePeriodSeconds: 5 };
    },
    (spec) => spec.containers[0].livenessProbe.terminationGracePeriodSeconds,
    5,
  ),
  inTemplate(
    'ProcMountType',
    (spec) => {
      spec.containers[0].securityContext = { procMount: 'Unmasked' };
    },
    (spec) => spec.containers[0].securityContext.procMount,
    'Unmasked',
    { value: 'Default' },
  ),
  inTemplate(
    'WindowsHostProcessContainers',
    (spec) => {
      spec.hostNetwork = true;
      spec.securityContext = { windowsOptions: { hostProcess: true } };
    },
    (spec) => spec.securityContext.windowsOptions.hostProcess,
    true,
    refused("not allowed when feature gate 'WindowsHostProcessContainers' is not enabled"),
  ),
  {
    gate: 'AppArmor',
    resource: 'apps/v1/deployments',
    kind: 'Deployment',
    base: serving(),
    use: ({ spec }, identity) => {
      spec.template.metadata.annotations = { [appArmorOf(identity)]: 'unconfined' };
    },
    field: ({ spec }, identity) => spec.template.metadata.annotations?.[appArmorOf(identity)],
    on: 'unconfined',
    off: cleared,
  },
  // Pods themselves.
  {
    gate: 'IdentifyPodOS',
    resource: '/v1/pods',
    kind: 'Pod',
    base: { spec: podSpec() },
    use: ({ spec }) => {
      spec.os = { name: 'linux' };
    },
    field: ({ spec }) => spec.os?.name,
    on: 'linux',
    off: cleared,
  },
  // Workloads.
  {
    gate: 'CronJobTimeZone',
    resource: 'batch/v1/cronjobs',
    kind: 'CronJob',
    base: { spec: { schedule: '0 * * * *', jobTemplate: { spec: { template: ending() } } } },
    use: ({ spec }) => {
      spec.timeZone = 'Europe/Berlin';
    },
    field: ({ spec }) => spec.timeZone,
    on: 'Europe/Berlin',
    off: cleared,
  },
  {
    gate: 'DaemonSetUpdateSurge',
    resource: 'apps/v1/daemonsets',
    kind: 'DaemonSet',
    base: serving(),
    use: ({ spec }) => {
      spec.updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: '0%' } };
    },
    field: ({ spec }) => spec.updateStrategy.rollingUpdate,
    on: { maxSurge: 1, maxUnavailable: '0%' },
    off: refused('StrVal:"0%"}: cannot be 0'),
    kept: { maxSurge: 1, maxUnavailable: 1 },
  },
  {
    ...autoscaler,
    gate: 'HPAContainerMetrics',
    use: ({ spec }) => {
      spec.metrics = [{ type: 'ContainerResource', containerResource: { ...utilization, container: 'c' } }];
    },
    field: ({ spec }) => spec.metrics[0].containerResource.container,
    on: 'c',
    off: refused('only allowed when HPAContainerMetrics feature is enabled'),
  },
  {
    ...autoscaler,
    gate: 'HPAScaleToZero',
    use: ({ spec }) => {
      spec.minReplicas = 0;
      spec.metrics = [{ type: 'External', external: { metric: { name: 'queue' }, target: { type: 'Value', value: '1' } } }];
    },
    field: ({ spec }) => spec.minReplicas,
    on: 0,
    off: refused('must be greater than or equal to 1'),
  },
  {
    ...job,
    gate: 'JobReadyPods',
    through: 'status',
    use: (object) => {
      object.status = { active: 1, ready: 1 };
    },
    field: ({ status }) => status.ready,
    on: 1,
    off: cleared,
  },
  {
    ...job,
    gate: 'JobTrackingWithFinalizers',
    use: ({ metadata }, identity) => {
      metadata.annotations = { [trackingOf(identity)]: '' };
    },
    field: ({ metadata }, identity) => metadata.annotations?.[trackingOf(identity)],
    on: '',
    off: cleared,
  },
  {
    ...statefulSet,
    gate: 'MaxUnavailableStatefulSet',
    use: ({ spec }) => {
      spec.updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } };
    },
    field: ({ spec }) => spec.updateStrategy.rollingUpdate.maxUnavailable,
    on: 2,
    off: cleared,
  },
  {
    ...statefulSet,
    gate: 'StatefulSetAutoDeletePVC',
    use: ({ spec }) => {
      spec.persistentVolumeClaimRetentionPolicy = { whenDeleted: 'Delete' };
    },
    field: ({ spec }) => spec.persistentVolumeClaimRetentionPolicy,
    on: { whenDeleted: 'Delete', whenScaled: 'Retain' },
    off: cleared,
  },
  {
    ...statefulSet,
    gate: 'StatefulSetMinReadySeconds',
    use: ({ spec }) => {
      spec.minReadySeconds = 5;
    },
    field: ({ spec }) => spec.minReadySeconds,
    on: 5,
    off: cleared,
    offOnUpdate: refused("'updateStrategy' and 'persistentVolumeClaimRetentionPolicy' are forbidden"),
  },
  // Networking.
  {
    ...slice,
    gate: 'EndpointSliceTerminatingCondition',
    use: ({ endpoints }) => {
      endpoints[0].conditions = { serving: true, terminating: false };
    },
    field: ({ endpoints }) => endpoints[0].conditions,
    on: { serving: true, terminating: false },
    off: { value: {} },
  },
  {
    ...slice,
    gate: 'TopologyAwareHints',
    use: ({ endpoints }) => {
      endpoints[0].hints = { forZones: [{ name: 'z' }] };
    },
    field: ({ endpoints }) => endpoints[0].hints,
    on: { forZones: [{ name: 'z' }] },
    off: cleared,
  },
  {
    ...service,
    gate: 'MixedProtocolLBService',
    base: { spec: { type: 'LoadBalancer', ports: [{ name: 'a', port: 80 }] } },
    use: ({ spec }) => {
      spec.ports = [{ name: 'a', port: 80 }, { name: 'b', port: 80, protocol: 'UDP' }]; // biome-ignore format: one line reads better
    },
    field: ({ spec }) => spec.ports.map(({ protocol }: { protocol: string }) => protocol),
    on: ['TCP', 'UDP'],
    off: refused("may not contain more than 1 protocol when type is 'LoadBalancer'"),
  },
  {
    ...service,
    gate: 'MixedProtocolLBService',
    base: { spec: { ports: [{ port: 80 }] } },
    through: 'status',
    use: (object) => {
      object.status = { loadBalancer: {}, conditions: [condition] };
    },
    field: ({ status }) => status.conditions,
    on: [condition],
    off: cleared,
  },
  {
    ...service,
    gate: 'MixedProtocolLBService',
    base: { spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } },
    through: 'status',
    use: (object) => {
      object.status = { loadBalancer: { ingress: [{ ip: '192.0.2.1', ports: [{ port: 80, protocol: 'TCP' }] }] } };
    },
    field: ({ status }) => status.loadBalancer.ingress[0].ports,
    on: [{ port: 80, protocol: 'TCP' }],
    off: cleared,
  },
  {
    ...policy,
    gate: 'NetworkPolicyEndPort',
    use: ({ spec }) => {
      spec.ingress = [{ ports: [{ protocol: 'TCP', port: 80, endPort: 90 }] }];
    },
    field: ({ spec }) => spec.ingress[0].ports[0].endPort,
    on: 90,
    off: cleared,
  },
  {
    ...policy,
    gate: 'NetworkPolicyStatus',
    through: 'status',
    use: (object) => {
      object.status = { conditions: [condition] };
    },
    field: ({ status }) => status?.conditions,
    on: [condition],
    off: cleared,
  },
  {
    ...service,
    gate: 'ServiceInternalTrafficPolicy',
    base: { spec: { ports: [{ port: 80 }] } },
    use: ({ spec }) => {
      spec.internalTrafficPolicy = 'Local';
    },
    field: ({ spec }) => spec.internalTrafficPolicy,
    on: 'Local',
    off: cleared,
  },
  // Storage.
  {
    ...claim,
    gate: 'AnyVolumeDataSource',
    use: ({ spec }) => {
      spec.dataSourceRef = { apiGroup: 'example.com', kind: 'Book', name: 'b' };
    },
    field: ({ spec }) => [spec.dataSource?.kind, spec.dataSourceRef?.kind],
    on: ['Book', 'Book'],
    off: { value: [undefined, undefined] },
  },
  {
    gate: 'CSIInlineVolume',
    resource: 'storage/v1/csidrivers',
    kind: 'CSIDriver',
    cluster: true,
    base: { spec: {} },
    use: ({ spec }) => {
      spec.volumeLifecycleModes = ['Ephemeral'];
    },
    field: ({ spec }) => spec.volumeLifecycleModes,
    on: ['Ephemeral'],
    off: cleared,
  },
  {
    ...securityPolicy,
    gate: 'CSIInlineVolume',
    use: ({ spec }) => {
      spec.allowedCSIDrivers = [{ name: 'd.example.com' }];
    },
    field: ({ spec }) => spec.allowedCSIDrivers,
    on: [{ name: 'd.example.com' }],
    off: cleared,
  },
  {
    ...securityPolicy,
    gate: 'ProcMountType',
    use: ({ spec }) => {
      spec.allowedProcMountTypes = ['Unmasked'];
    },
    field: ({ spec }) => spec.allowedProcMountTypes,
    on: ['Unmasked'],
    off: cleared,
  },
  {
    gate: 'CSIMigration',
    resource: 'storage/v1/volumeattachments',
    kind: 'VolumeAttachment',
    cluster: true,
    base: { spec: { attacher: 'd.example.com', nodeName: 'n', source: { persistentVolumeName: 'v' } } },
    use: ({ spec }) => {
      spec.source = { inlineVolumeSpec: { accessModes: ['ReadWriteOnce'], csi: { driver: 'd.example.com', volumeHandle: 'h' } } };
    },
    field: ({ spec }) => spec.source.inlineVolumeSpec.csi.volumeHandle,
    on: 'h',
    off: refused('must specify persistentVolumeName when CSIMigration feature is disabled'),
  },
  {
    ...claim,
    gate: 'ReadWriteOncePod',
    use: ({ spec }) => {
      spec.accessModes = ['ReadWriteOncePod'];
    },
    field: ({ spec }) => spec.accessModes,
    on: ['ReadWriteOncePod'],
    off: refused(onlyThree),
  },
  {
    gate: 'ReadWriteOncePod',
    resource: '/v1/persistentvolumes',
    kind: 'PersistentVolume',
    cluster: true,
    base: { spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } } },
    use: ({ spec }) => {
      spec.accessModes = ['ReadWriteOncePod'];
    },
    field: ({ spec }) => spec.accessModes,
    on: ['ReadWriteOncePod'],
    off: refused(onlyThree),
  },
  {
    ...claim,
    gate: 'RecoverVolumeExpansionFailure',
    through: 'status',
    use: (object) => {
      object.status = { ...object.status, allocatedResources: { storage: '2Gi' }, resizeStatus: 'NodeExpansionPending' };
    },
    field: ({ status }) => [status.allocatedResources?.storage, status.resizeStatus],
    on: ['2Gi', 'NodeExpansionPending'],
    off: { value: [undefined, undefined] },
  },
  // Nodes.
  {
    gate: 'DynamicKubeletConfig',
    resource: '/v1/nodes',
    kind: 'Node',
    cluster: true,
    base: { spec: {} },
    use: ({ spec }) => {
      spec.configSource = { configMap: { namespace: 'default', name: 'c', kubeletConfigKey: 'k' } };
    },
    field: ({ spec }) => spec.configSource?.configMap.name,
    on: 'c',
    off: cleared,
  },
];
