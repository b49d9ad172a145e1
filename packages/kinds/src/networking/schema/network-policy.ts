/** Network policies. */
import { always, type Infer, int32, intOrString, list, message, object, opt, ptr, req, string } from '@plat-dev/schema/types';
import { Condition, LabelSelector, ObjectMeta } from '../../meta.ts';
import { itemValues, pointerValues } from '../../published-values.ts';

export const IPBlock = message('networking.v1.IPBlock', {
  cidr: req(1, string),
  except: opt(2, list(string)),
});
export type IPBlock = Infer<typeof IPBlock>;

export const NetworkPolicyPort = message('networking.v1.NetworkPolicyPort', {
  protocol: ptr(1, string, { default: 'TCP', ...pointerValues('SCTP', 'TCP', 'UDP') }),
  port: ptr(2, intOrString),
  endPort: ptr(3, int32, { gate: 'NetworkPolicyEndPort' }),
});
export type NetworkPolicyPort = Infer<typeof NetworkPolicyPort>;

export const NetworkPolicyPeer = message('networking.v1.NetworkPolicyPeer', {
  podSelector: ptr(1, LabelSelector),
  namespaceSelector: ptr(2, LabelSelector),
  ipBlock: ptr(3, IPBlock),
});
export type NetworkPolicyPeer = Infer<typeof NetworkPolicyPeer>;

export const NetworkPolicyIngressRule = message('networking.v1.NetworkPolicyIngressRule', {
  ports: opt(1, list(NetworkPolicyPort)),
  from: opt(2, list(NetworkPolicyPeer)),
});
export type NetworkPolicyIngressRule = Infer<typeof NetworkPolicyIngressRule>;

export const NetworkPolicyEgressRule = message('networking.v1.NetworkPolicyEgressRule', {
  ports: opt(1, list(NetworkPolicyPort)),
  to: opt(2, list(NetworkPolicyPeer)),
});
export type NetworkPolicyEgressRule = Infer<typeof NetworkPolicyEgressRule>;

const NetworkPolicySpec = message('networking.v1.NetworkPolicySpec', {
  podSelector: req(1, LabelSelector, { from: { '1.34': { required: false } } }),
  ingress: opt(2, list(NetworkPolicyIngressRule)),
  egress: opt(3, list(NetworkPolicyEgressRule)),
  policyTypes: opt(4, list(string), itemValues('Egress', 'Ingress')),
});

const NetworkPolicyStatus = message('networking.v1.NetworkPolicyStatus', {
  conditions: opt(1, list(Condition, 'map', ['type']), { patch: 'merge', mergeKey: 'type' }),
});

export const NetworkPolicy = object('networking.v1.NetworkPolicy', {
  metadata: always(1, ObjectMeta),
  spec: always(2, NetworkPolicySpec),
  status: always(3, NetworkPolicyStatus, { until: '1.27' }),
});
export type NetworkPolicy = Infer<typeof NetworkPolicy>;
