/** Ingresses of the versions before networking/v1: the port of a backend is one value, and the default backend has another name. */
import { always, type Infer, inline, intOrString, list, message, object, opt, ptr, req, string } from '@plat-dev/schema/types';
import { TypedLocalObjectReference } from '../../core/schema/references.ts';
import { ObjectMeta } from '../../meta.ts';
import { inVersion } from '../../versions.ts';
import { IngressStatus, IngressTLS } from './ingress.ts';

/** `version` is the prefix of the names of messages: `networking.v1beta1`. */
export function ingressSchema(version: string) {
  const IngressBackend = message(`${version}.IngressBackend`, {
    serviceName: opt(1, string),
    servicePort: always(2, intOrString),
    resource: ptr(3, TypedLocalObjectReference),
  });
  const HTTPIngressPath = message(`${version}.HTTPIngressPath`, {
    path: opt(1, string),
    pathType: ptr(3, string, { default: 'ImplementationSpecific' }),
    backend: req(2, IngressBackend),
  });
  const HTTPIngressRuleValue = message(`${version}.HTTPIngressRuleValue`, { paths: req(1, list(HTTPIngressPath)) });
  const IngressRuleValue = message(`${version}.IngressRuleValue`, { http: ptr(1, HTTPIngressRuleValue) });
  const IngressRule = message(`${version}.IngressRule`, { host: opt(1, string), ingressRuleValue: inline(2, IngressRuleValue) });
  const IngressSpec = message(`${version}.IngressSpec`, {
    ingressClassName: ptr(4, string),
    backend: ptr(1, IngressBackend),
    tls: opt(2, list(inVersion(IngressTLS, version))),
    rules: opt(3, list(IngressRule)),
  });
  return object(`${version}.Ingress`, {
    metadata: always(1, ObjectMeta),
    spec: always(2, IngressSpec),
    status: always(3, inVersion(IngressStatus, version)),
  });
}
export type OlderIngress = Infer<ReturnType<typeof ingressSchema>>;
export type OlderIngressBackend = NonNullable<OlderIngress['spec']['backend']>;
