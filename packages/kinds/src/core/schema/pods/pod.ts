/** Pods and pod templates. */
import {
  always,
  bool,
  type Infer,
  int32,
  int64,
  list,
  map,
  message,
  object,
  opt,
  ptr,
  quantity,
  req,
  string,
  time,
} from '@plat-dev/schema/types';
import { ObjectMeta } from '../../../meta.ts';
import { LocalObjectReference } from '../references.ts';
import { ResourceRequirements } from '../resources.ts';
import { Volume } from '../volumes/volumes.ts';
import { ContainerStatus } from './container-status.ts';
import { Container, EphemeralContainer } from './containers.ts';
import { Affinity, Toleration, TopologySpreadConstraint } from './scheduling.ts';
import { PodSecurityContext } from './security-context.ts';

/** An address that identifies an item of a list is required since lists say by what their items are known. */
const requiredLater = { from: { '1.30': { required: true, always: true } } } as const;

const HostAlias = message('core.v1.HostAlias', {
  ip: opt(1, string, requiredLater),
  hostnames: opt(2, list(string)),
});

const PodDNSConfigOption = message('core.v1.PodDNSConfigOption', {
  name: opt(1, string),
  value: ptr(2, string),
});

export const PodDNSConfig = message('core.v1.PodDNSConfig', {
  nameservers: opt(1, list(string)),
  searches: opt(2, list(string)),
  options: opt(3, list(PodDNSConfigOption)),
});
export type PodDNSConfig = Infer<typeof PodDNSConfig>;

const PodReadinessGate = message('core.v1.PodReadinessGate', {
  conditionType: req(1, string),
});

export const PodOS = message('core.v1.PodOS', {
  name: req(1, string),
});
export type PodOS = Infer<typeof PodOS>;

const PodSchedulingGate = message('core.v1.PodSchedulingGate', {
  name: req(1, string),
});

const ClaimSource = message('core.v1.ClaimSource', {
  resourceClaimName: ptr(1, string),
  resourceClaimTemplateName: ptr(2, string),
});

const PodResourceClaim = message('core.v1.PodResourceClaim', {
  name: req(1, string),
  source: always(2, ClaimSource, { until: '1.30' }),
  resourceClaimName: ptr(3, string, { since: '1.31' }),
  resourceClaimTemplateName: ptr(4, string, { since: '1.31' }),
});

const WorkloadReference = message('core.v1.WorkloadReference', {
  name: req(1, string),
  podGroup: req(2, string),
  podGroupReplicaKey: opt(3, string),
});

const PodSchedulingGroup = message('core.v1.PodSchedulingGroup', {
  podGroupName: ptr(1, string),
});

export const PodSpec = message('core.v1.PodSpec', {
  volumes: opt(1, list(Volume, 'map', ['name']), { patch: 'merge,retainKeys', mergeKey: 'name' }),
  initContainers: opt(20, list(Container, 'map', ['name']), { patch: 'merge', mergeKey: 'name' }),
  containers: req(2, list(Container, 'map', ['name']), { patch: 'merge', mergeKey: 'name' }),
  ephemeralContainers: opt(34, list(EphemeralContainer, 'map', ['name']), {
    patch: 'merge',
    mergeKey: 'name',
    gate: 'EphemeralContainers',
  }),
  restartPolicy: opt(3, string, { enum: ['Always', 'Never', 'OnFailure'] }),
  terminationGracePeriodSeconds: ptr(4, int64),
  activeDeadlineSeconds: ptr(5, int64),
  dnsPolicy: opt(6, string, { enum: ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'] }),
  nodeSelector: opt(7, map(string, { atomic: true })),
  serviceAccountName: opt(8, string),
  serviceAccount: opt(9, string),
  automountServiceAccountToken: ptr(21, bool),
  nodeName: opt(10, string),
  hostNetwork: opt(11, bool),
  hostPID: opt(12, bool),
  hostIPC: opt(13, bool),
  shareProcessNamespace: ptr(27, bool),
  securityContext: ptr(14, PodSecurityContext),
  imagePullSecrets: opt(15, list(LocalObjectReference, 'map', ['name']), { patch: 'merge', mergeKey: 'name' }),
  hostname: opt(16, string),
  subdomain: opt(17, string),
  affinity: ptr(18, Affinity),
  schedulerName: opt(19, string),
  tolerations: opt(22, list(Toleration)),
  hostAliases: opt(23, list(HostAlias, 'map', ['ip']), { patch: 'merge', mergeKey: 'ip' }),
  priorityClassName: opt(24, string),
  priority: ptr(25, int32),
  dnsConfig: ptr(26, PodDNSConfig),
  readinessGates: opt(28, list(PodReadinessGate)),
  runtimeClassName: ptr(29, string),
  enableServiceLinks: ptr(30, bool),
  preemptionPolicy: ptr(31, string),
  overhead: opt(32, map(quantity)),
  topologySpreadConstraints: opt(33, list(TopologySpreadConstraint, 'map', ['topologyKey', 'whenUnsatisfiable']), {
    patch: 'merge',
    mergeKey: 'topologyKey',
  }),
  setHostnameAsFQDN: ptr(35, bool),
  os: ptr(36, PodOS, { gate: 'IdentifyPodOS' }),
  hostUsers: ptr(37, bool, {
    since: '1.25',
    gate: 'UserNamespacesStatelessPodsSupport',
    from: { '1.28': { gate: 'UserNamespacesSupport' } },
  }),
  schedulingGates: opt(38, list(PodSchedulingGate, 'map', ['name']), {
    patch: 'merge',
    mergeKey: 'name',
    since: '1.26',
    gate: 'PodSchedulingReadiness',
  }),
  resourceClaims: opt(39, list(PodResourceClaim, 'map', ['name']), {
    patch: 'merge,retainKeys',
    mergeKey: 'name',
    since: '1.26',
    gate: 'DynamicResourceAllocation',
  }),
  resources: ptr(40, ResourceRequirements, { since: '1.32', gate: 'PodLevelResources' }),
  hostnameOverride: ptr(41, string, { since: '1.34', gate: 'HostnameOverride' }),
  workloadRef: ptr(42, WorkloadReference, { since: '1.35', until: '1.35', gate: 'GenericWorkload' }),
  schedulingGroup: ptr(43, PodSchedulingGroup, { since: '1.36', gate: 'GenericWorkload' }),
});
export type PodSpec = Infer<typeof PodSpec>;

export const PodCondition = message('core.v1.PodCondition', {
  type: req(1, string),
  observedGeneration: opt(7, int64, { since: '1.33', gate: 'PodObservedGenerationTracking' }),
  status: req(2, string),
  lastProbeTime: always(3, time),
  lastTransitionTime: always(4, time),
  reason: opt(5, string),
  message: opt(6, string),
});
export type PodCondition = Infer<typeof PodCondition>;

const PodIP = message('core.v1.PodIP', {
  ip: opt(1, string, requiredLater),
});
const HostIP = message('core.v1.HostIP', {
  ip: opt(1, string, requiredLater),
});

const PodResourceClaimStatus = message('core.v1.PodResourceClaimStatus', {
  name: req(1, string),
  resourceClaimName: ptr(2, string),
});

const ContainerExtendedResourceRequest = message('core.v1.ContainerExtendedResourceRequest', {
  containerName: req(1, string),
  resourceName: req(2, string),
  requestName: req(3, string),
});

const PodExtendedResourceClaimStatus = message('core.v1.PodExtendedResourceClaimStatus', {
  requestMappings: req(1, list(ContainerExtendedResourceRequest)),
  resourceClaimName: req(2, string),
});

const NodeAllocatableResourceClaimStatus = message('core.v1.NodeAllocatableResourceClaimStatus', {
  resourceClaimName: req(1, string),
  containers: opt(2, list(string, 'set')),
  resources: req(3, map(quantity)),
});

export const PodStatus = message('core.v1.PodStatus', {
  observedGeneration: opt(17, int64, { since: '1.33', gate: 'PodObservedGenerationTracking' }),
  phase: opt(1, string, { enum: ['Failed', 'Pending', 'Running', 'Succeeded', 'Unknown'] }),
  conditions: opt(2, list(PodCondition, 'map', ['type']), { patch: 'merge', mergeKey: 'type' }),
  message: opt(3, string),
  reason: opt(4, string),
  nominatedNodeName: opt(11, string),
  hostIP: opt(5, string),
  hostIPs: opt(16, list(HostIP), { patch: 'merge', mergeKey: 'ip', since: '1.28', gate: 'PodHostIPs' }),
  podIP: opt(6, string),
  podIPs: opt(12, list(PodIP, 'map', ['ip']), { patch: 'merge', mergeKey: 'ip' }),
  startTime: ptr(7, time),
  initContainerStatuses: opt(10, list(ContainerStatus)),
  containerStatuses: opt(8, list(ContainerStatus)),
  qosClass: opt(9, string, { enum: ['BestEffort', 'Burstable', 'Guaranteed'] }),
  ephemeralContainerStatuses: opt(13, list(ContainerStatus)),
  resize: opt(14, string, { since: '1.27', gate: 'InPlacePodVerticalScaling', from: { '1.33': { gate: undefined } } }),
  resourceClaimStatuses: opt(15, list(PodResourceClaimStatus, 'map', ['name']), {
    patch: 'merge,retainKeys',
    mergeKey: 'name',
    since: '1.28',
    gate: 'DynamicResourceAllocation',
  }),
  extendedResourceClaimStatus: ptr(18, PodExtendedResourceClaimStatus, { since: '1.34', gate: 'DRAExtendedResource' }),
  allocatedResources: opt(19, map(quantity), { since: '1.35', gate: 'InPlacePodLevelResourcesVerticalScaling' }),
  resources: ptr(20, ResourceRequirements, { since: '1.35', gate: 'InPlacePodLevelResourcesVerticalScaling' }),
  nodeAllocatableResourceClaimStatuses: opt(21, list(NodeAllocatableResourceClaimStatus), {
    since: '1.36',
    gate: 'DRANodeAllocatableResources',
  }),
});
export type PodStatus = Infer<typeof PodStatus>;

export const Pod = object('core.v1.Pod', {
  metadata: always(1, ObjectMeta),
  spec: always(2, PodSpec),
  status: always(3, PodStatus),
});
export type Pod = Infer<typeof Pod>;

export const PodTemplateSpec = message('core.v1.PodTemplateSpec', {
  metadata: always(1, ObjectMeta),
  spec: always(2, PodSpec),
});
export type PodTemplateSpec = Infer<typeof PodTemplateSpec>;

export const PodTemplate = object('core.v1.PodTemplate', {
  metadata: always(1, ObjectMeta),
  template: always(2, PodTemplateSpec),
});
export type PodTemplate = Infer<typeof PodTemplate>;

export const PodStatusResult = object('core.v1.PodStatusResult', {
  metadata: always(1, ObjectMeta),
  status: always(2, PodStatus),
});
export type PodStatusResult = Infer<typeof PodStatusResult>;
