/** Nodes. */
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
import { ObjectMeta } from '../../meta.ts';
import { Taint } from './pods/scheduling.ts';

export const ConfigMapNodeConfigSource = message('core.v1.ConfigMapNodeConfigSource', {
  namespace: req(1, string),
  name: req(2, string),
  uid: opt(3, string),
  resourceVersion: opt(4, string),
  kubeletConfigKey: req(5, string),
});
export type ConfigMapNodeConfigSource = Infer<typeof ConfigMapNodeConfigSource>;

export const NodeConfigSource = message('core.v1.NodeConfigSource', {
  configMap: ptr(2, ConfigMapNodeConfigSource),
});
export type NodeConfigSource = Infer<typeof NodeConfigSource>;

const NodeSpec = message('core.v1.NodeSpec', {
  podCIDR: opt(1, string),
  podCIDRs: opt(7, list(string, 'set'), { patch: 'merge' }),
  providerID: opt(3, string),
  unschedulable: opt(4, bool),
  taints: opt(5, list(Taint)),
  configSource: ptr(6, NodeConfigSource, { gate: { name: 'DynamicKubeletConfig', alone: true } }),
  externalID: opt(2, string),
});

export const NodeCondition = message('core.v1.NodeCondition', {
  type: req(1, string),
  status: req(2, string),
  lastHeartbeatTime: always(3, time),
  lastTransitionTime: always(4, time),
  reason: opt(5, string),
  message: opt(6, string),
});
export type NodeCondition = Infer<typeof NodeCondition>;

const NodeAddress = message('core.v1.NodeAddress', {
  type: req(1, string),
  address: req(2, string),
});

const DaemonEndpoint = message('core.v1.DaemonEndpoint', {
  Port: req(1, int32),
});

const NodeDaemonEndpoints = message('core.v1.NodeDaemonEndpoints', {
  kubeletEndpoint: always(1, DaemonEndpoint),
});

const NodeSwapStatus = message('core.v1.NodeSwapStatus', {
  capacity: ptr(1, int64),
});

const NodeSystemInfo = message('core.v1.NodeSystemInfo', {
  machineID: req(1, string),
  systemUUID: req(2, string),
  bootID: req(3, string),
  kernelVersion: req(4, string),
  osImage: req(5, string),
  containerRuntimeVersion: req(6, string),
  kubeletVersion: req(7, string),
  kubeProxyVersion: req(8, string),
  operatingSystem: req(9, string),
  architecture: req(10, string),
  swap: ptr(11, NodeSwapStatus, { since: '1.33' }),
});

const ContainerImage = message('core.v1.ContainerImage', {
  names: always(1, list(string)),
  sizeBytes: opt(2, int64),
});

const AttachedVolume = message('core.v1.AttachedVolume', {
  name: req(1, string),
  devicePath: req(2, string),
});

const NodeConfigStatus = message('core.v1.NodeConfigStatus', {
  assigned: ptr(1, NodeConfigSource),
  active: ptr(2, NodeConfigSource),
  lastKnownGood: ptr(3, NodeConfigSource),
  error: opt(4, string),
});

const NodeRuntimeHandlerFeatures = message('core.v1.NodeRuntimeHandlerFeatures', {
  recursiveReadOnlyMounts: ptr(1, bool),
  userNamespaces: ptr(2, bool, { since: '1.31' }),
});

const NodeRuntimeHandler = message('core.v1.NodeRuntimeHandler', {
  name: always(1, string),
  features: ptr(2, NodeRuntimeHandlerFeatures),
});

const NodeFeatures = message('core.v1.NodeFeatures', {
  supplementalGroupsPolicy: ptr(1, bool),
});

const NodeStatus = message('core.v1.NodeStatus', {
  capacity: opt(1, map(quantity)),
  allocatable: opt(2, map(quantity)),
  phase: opt(3, string, { enum: ['Pending', 'Running', 'Terminated'] }),
  conditions: opt(4, list(NodeCondition, 'map', ['type']), { patch: 'merge', mergeKey: 'type' }),
  addresses: opt(5, list(NodeAddress, 'map', ['type']), { patch: 'merge', mergeKey: 'type' }),
  daemonEndpoints: always(6, NodeDaemonEndpoints),
  nodeInfo: always(7, NodeSystemInfo),
  images: opt(8, list(ContainerImage)),
  volumesInUse: opt(9, list(string)),
  volumesAttached: opt(10, list(AttachedVolume)),
  config: ptr(11, NodeConfigStatus, { gate: { name: 'DynamicKubeletConfig', alone: true } }),
  runtimeHandlers: opt(12, list(NodeRuntimeHandler), { since: '1.30', gate: 'RecursiveReadOnlyMounts' }),
  features: ptr(13, NodeFeatures, { since: '1.31', gate: 'SupplementalGroupsPolicy' }),
  declaredFeatures: opt(14, list(string), { since: '1.35', gate: 'NodeDeclaredFeatures' }),
});

export const Node = object('core.v1.Node', {
  metadata: always(1, ObjectMeta),
  spec: always(2, NodeSpec),
  status: always(3, NodeStatus),
});
export type Node = Infer<typeof Node>;
