/** Services and endpoints. */
import { always, bool, type Infer, int32, intOrString, list, map, message, object, opt, ptr, req, string } from '@plat-dev/schema/types';
import { Condition, ObjectMeta } from '../../meta.ts';
import { itemValues, pointerValues } from '../../published-values.ts';
import { ObjectReference } from './references.ts';

export const ServicePort = message('core.v1.ServicePort', {
  name: opt(1, string),
  protocol: opt(2, string, { default: 'TCP', enum: ['SCTP', 'TCP', 'UDP'] }),
  appProtocol: ptr(6, string),
  port: req(3, int32),
  targetPort: always(4, intOrString),
  nodePort: opt(5, int32),
});
export type ServicePort = Infer<typeof ServicePort>;

const ClientIPConfig = message('core.v1.ClientIPConfig', {
  timeoutSeconds: ptr(1, int32),
});

const SessionAffinityConfig = message('core.v1.SessionAffinityConfig', {
  clientIP: ptr(1, ClientIPConfig),
});

export const ServiceSpec = message('core.v1.ServiceSpec', {
  ports: opt(1, list(ServicePort, 'map', ['port', 'protocol']), { patch: 'merge', mergeKey: 'port' }),
  selector: opt(2, map(string, { atomic: true })),
  clusterIP: opt(3, string),
  clusterIPs: opt(18, list(string)),
  type: opt(4, string, { default: 'ClusterIP', enum: ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'] }),
  externalIPs: opt(5, list(string)),
  sessionAffinity: opt(7, string, { default: 'None', enum: ['ClientIP', 'None'] }),
  loadBalancerIP: opt(8, string),
  loadBalancerSourceRanges: opt(9, list(string)),
  externalName: opt(10, string),
  externalTrafficPolicy: opt(11, string, { enum: ['Cluster', 'Local'] }),
  healthCheckNodePort: opt(12, int32),
  publishNotReadyAddresses: opt(13, bool),
  sessionAffinityConfig: ptr(14, SessionAffinityConfig),
  ipFamilies: opt(19, list(string), itemValues('', 'IPv4', 'IPv6')),
  ipFamilyPolicy: ptr(17, string, pointerValues('PreferDualStack', 'RequireDualStack', 'SingleStack')),
  allocateLoadBalancerNodePorts: ptr(20, bool),
  loadBalancerClass: ptr(21, string),
  internalTrafficPolicy: ptr(22, string, { gate: 'ServiceInternalTrafficPolicy', ...pointerValues('Cluster', 'Local') }),
  trafficDistribution: ptr(23, string, { since: '1.30', gate: 'ServiceTrafficDistribution' }),
});
export type ServiceSpec = Infer<typeof ServiceSpec>;

const PortStatus = message('core.v1.PortStatus', {
  port: req(1, int32),
  protocol: req(2, string, { enum: ['SCTP', 'TCP', 'UDP'] }),
  error: ptr(3, string),
});

const LoadBalancerIngress = message('core.v1.LoadBalancerIngress', {
  ip: opt(1, string),
  hostname: opt(2, string),
  ipMode: ptr(3, string, { since: '1.29', gate: 'LoadBalancerIPMode' }),
  ports: opt(4, list(PortStatus)),
});

export const LoadBalancerStatus = message('core.v1.LoadBalancerStatus', {
  ingress: opt(1, list(LoadBalancerIngress)),
});
export type LoadBalancerStatus = Infer<typeof LoadBalancerStatus>;

const ServiceStatus = message('core.v1.ServiceStatus', {
  loadBalancer: always(1, LoadBalancerStatus),
  conditions: opt(2, list(Condition, 'map', ['type']), {
    patch: 'merge',
    mergeKey: 'type',
    gate: { name: 'MixedProtocolLBService', alone: true },
  }),
});

export const Service = object('core.v1.Service', {
  metadata: always(1, ObjectMeta),
  spec: always(2, ServiceSpec),
  status: always(3, ServiceStatus),
});
export type Service = Infer<typeof Service>;

export const EndpointAddress = message(
  'core.v1.EndpointAddress',
  {
    ip: req(1, string),
    hostname: opt(3, string),
    nodeName: ptr(4, string),
    targetRef: ptr(2, ObjectReference),
  },
  { atomic: true },
);
export type EndpointAddress = Infer<typeof EndpointAddress>;

export const EndpointPort = message(
  'core.v1.EndpointPort',
  {
    name: opt(1, string),
    port: req(2, int32),
    protocol: opt(3, string, { default: 'TCP', enum: ['SCTP', 'TCP', 'UDP'] }),
    appProtocol: ptr(4, string),
  },
  { atomic: true },
);
export type EndpointPort = Infer<typeof EndpointPort>;

export const EndpointSubset = message('core.v1.EndpointSubset', {
  addresses: opt(1, list(EndpointAddress)),
  notReadyAddresses: opt(2, list(EndpointAddress)),
  ports: opt(3, list(EndpointPort)),
});
export type EndpointSubset = Infer<typeof EndpointSubset>;

export const Endpoints = object('core.v1.Endpoints', {
  metadata: always(1, ObjectMeta),
  subsets: opt(2, list(EndpointSubset)),
});
export type Endpoints = Infer<typeof Endpoints>;
