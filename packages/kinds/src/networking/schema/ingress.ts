/** Ingresses and ingress classes. */
import { always, type Infer, inline, int32, list, message, object, opt, ptr, req, string } from '@plat-dev/schema/types';
import { TypedLocalObjectReference } from '../../core/schema/references.ts';
import { LoadBalancerStatus } from '../../core/schema/service.ts';
import { ObjectMeta } from '../../meta.ts';

const ServiceBackendPort = message('networking.v1.ServiceBackendPort', {
  name: opt(1, string),
  number: opt(2, int32),
});

export const IngressServiceBackend = message('networking.v1.IngressServiceBackend', {
  name: req(1, string),
  port: always(2, ServiceBackendPort),
});
export type IngressServiceBackend = Infer<typeof IngressServiceBackend>;

export const IngressBackend = message('networking.v1.IngressBackend', {
  service: ptr(4, IngressServiceBackend),
  resource: ptr(3, TypedLocalObjectReference),
});
export type IngressBackend = Infer<typeof IngressBackend>;

export const HTTPIngressPath = message('networking.v1.HTTPIngressPath', {
  path: opt(1, string),
  pathType: req(3, string, { nullable: true }),
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

export const IngressStatus = message('networking.v1.IngressStatus', {
  loadBalancer: always(1, LoadBalancerStatus),
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
