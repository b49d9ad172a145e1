/** Ingresses and ingress classes. */
import { always, type Infer, inline, int32, list, message, object, opt, ptr, req, string } from '@plat-dev/schema/types';
import { TypedLocalObjectReference } from '../../core/schema/references.ts';
import { LoadBalancerStatus } from '../../core/schema/service.ts';
import { ObjectMeta } from '../../meta.ts';
import { pointerValues } from '../../published-values.ts';

const servicePort = { name: opt(1, string), number: opt(2, int32) };
const ServiceBackendPort = message('networking.v1.ServiceBackendPort', servicePort);
/** From 1.31 on a port has one owner. */
const AtomicServiceBackendPort = message('networking.v1.ServiceBackendPort', servicePort, { atomic: true });

export const IngressServiceBackend = message('networking.v1.IngressServiceBackend', {
  name: req(1, string),
  port: always(2, ServiceBackendPort, { from: { '1.31': { type: AtomicServiceBackendPort } } }),
});
export type IngressServiceBackend = Infer<typeof IngressServiceBackend>;

export const IngressBackend = message('networking.v1.IngressBackend', {
  service: ptr(4, IngressServiceBackend),
  resource: ptr(3, TypedLocalObjectReference),
});
export type IngressBackend = Infer<typeof IngressBackend>;

export const HTTPIngressPath = message('networking.v1.HTTPIngressPath', {
  path: opt(1, string),
  pathType: req(3, string, { nullable: true, ...pointerValues('Exact', 'ImplementationSpecific', 'Prefix') }),
  backend: req(2, IngressBackend),
});
export type HTTPIngressPath = Infer<typeof HTTPIngressPath>;

const HTTPIngressRuleValue = message('networking.v1.HTTPIngressRuleValue', {
  paths: req(1, list(HTTPIngressPath)),
});

export const IngressTLS = message('networking.v1.IngressTLS', {
  hosts: opt(1, list(string)),
  secretName: opt(2, string),
});
export type IngressTLS = Infer<typeof IngressTLS>;

const IngressRuleValue = message('networking.v1.IngressRuleValue', {
  http: ptr(1, HTTPIngressRuleValue),
});

export const IngressRule = message('networking.v1.IngressRule', {
  host: opt(1, string),
  ingressRuleValue: inline(2, IngressRuleValue),
});
export type IngressRule = Infer<typeof IngressRule>;

export const IngressSpec = message('networking.v1.IngressSpec', {
  ingressClassName: ptr(4, string),
  defaultBackend: ptr(1, IngressBackend),
  tls: opt(2, list(IngressTLS)),
  rules: opt(3, list(IngressRule)),
});
export type IngressSpec = Infer<typeof IngressSpec>;

const IngressPortStatus = message('networking.v1.IngressPortStatus', {
  port: req(1, int32),
  protocol: req(2, string, { enum: ['SCTP', 'TCP', 'UDP'] }),
  error: ptr(3, string),
});

const IngressLoadBalancerIngress = message('networking.v1.IngressLoadBalancerIngress', {
  ip: opt(1, string),
  hostname: opt(2, string),
  ports: opt(4, list(IngressPortStatus)),
});

const IngressLoadBalancerStatus = message('networking.v1.IngressLoadBalancerStatus', {
  ingress: opt(1, list(IngressLoadBalancerIngress)),
});

export const IngressStatus = message('networking.v1.IngressStatus', {
  // Up to 1.25 it is the status of services.
  loadBalancer: always(1, IngressLoadBalancerStatus, {
    from: { '1.15': { type: LoadBalancerStatus }, '1.26': { type: IngressLoadBalancerStatus } },
  }),
});
export type IngressStatus = Infer<typeof IngressStatus>;

export const Ingress = object('networking.v1.Ingress', {
  metadata: always(1, ObjectMeta),
  spec: always(2, IngressSpec),
  status: always(3, IngressStatus),
});
export type Ingress = Infer<typeof Ingress>;

export const IngressClassParametersReference = message('networking.v1.IngressClassParametersReference', {
  apiGroup: ptr(1, string),
  kind: req(2, string),
  name: req(3, string),
  scope: always(4, string, { nullable: true, default: 'Cluster' }),
  namespace: ptr(5, string),
});
export type IngressClassParametersReference = Infer<typeof IngressClassParametersReference>;

const IngressClassSpec = message('networking.v1.IngressClassSpec', {
  controller: opt(1, string),
  parameters: ptr(2, IngressClassParametersReference),
});

export const IngressClass = object('networking.v1.IngressClass', {
  metadata: always(1, ObjectMeta),
  spec: always(2, IngressClassSpec),
});
export type IngressClass = Infer<typeof IngressClass>;
