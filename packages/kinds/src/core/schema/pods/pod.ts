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
import { Volume } from '../volumes/volumes.ts';
import { ContainerStatus } from './container-status.ts';
import { Container, EphemeralContainer } from './containers.ts';
import { Affinity, Toleration, TopologySpreadConstraint } from './scheduling.ts';
import { PodSecurityContext } from './security-context.ts';

const HostAlias = message('core.v1.HostAlias', {
  ip: opt(1, string),
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
});
export type PodSpec = Infer<typeof PodSpec>;

export const PodCondition = message('core.v1.PodCondition', {
  type: req(1, string),
  status: req(2, string),
  lastProbeTime: always(3, time),
  lastTransitionTime: always(4, time),
  reason: opt(5, string),
  message: opt(6, string),
});
export type PodCondition = Infer<typeof PodCondition>;

const PodIP = message('core.v1.PodIP', {
  ip: opt(1, string),
});

export const PodStatus = message('core.v1.PodStatus', {
  phase: opt(1, string, { enum: ['Failed', 'Pending', 'Running', 'Succeeded', 'Unknown'] }),
  conditions: opt(2, list(PodCondition, 'map', ['type']), { patch: 'merge', mergeKey: 'type' }),
  message: opt(3, string),
  reason: opt(4, string),
  nominatedNodeName: opt(11, string),
  hostIP: opt(5, string),
  podIP: opt(6, string),
  podIPs: opt(12, list(PodIP, 'map', ['ip']), { patch: 'merge', mergeKey: 'ip' }),
  startTime: ptr(7, time),
  initContainerStatuses: opt(10, list(ContainerStatus)),
  containerStatuses: opt(8, list(ContainerStatus)),
  qosClass: opt(9, string, { enum: ['BestEffort', 'Burstable', 'Guaranteed'] }),
  ephemeralContainerStatuses: opt(13, list(ContainerStatus)),
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
