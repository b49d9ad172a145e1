/**
 * Backends of ingresses before networking/v1:
 *
 *   v1beta1  serviceName: web, servicePort: 80       v1  service: { name: web, port: { number: 80 } }
 *   v1beta1  serviceName: web, servicePort: http     v1  service: { name: web, port: { name: http } }
 */
import { compact } from '../compact.ts';
import type { Ingress, IngressBackend, IngressServiceBackend } from './schema/ingress.ts';
import type { OlderIngress, OlderIngressBackend } from './schema/older.ts';

type Rules<R extends { spec: { rules?: unknown } }> = NonNullable<R['spec']['rules']>;

function backendToHub({ serviceName = '', servicePort = 0, resource }: Partial<OlderIngressBackend> = {}): IngressBackend {
  const absent = serviceName === '' && servicePort === 0;
  return compact({ service: absent ? undefined : { name: serviceName, port: portToHub(servicePort) }, resource }) as IngressBackend;
}
function portToHub(port: number | string): IngressServiceBackend['port'] {
  if (port === 0 || port === '') return {};
  return typeof port === 'string' ? { name: port } : { number: port };
}

function backendFromHub({ service, resource }: IngressBackend): OlderIngressBackend {
  const { name = '', number = 0 } = service?.port ?? {};
  const servicePort = name === '' ? number : name;
  return compact({ serviceName: service?.name || undefined, servicePort, resource }) as OlderIngressBackend;
}

export function ingressToHub(ingress: OlderIngress): Ingress {
  if (ingress.spec === undefined) return ingress;
  const { backend, rules, ...spec } = ingress.spec;
  return {
    ...ingress,
    spec: compact({
      ...spec,
      defaultBackend: backend && backendToHub(backend),
      rules: rules?.map(({ http, ...rule }) => ({
        ...rule,
        ...(http && { http: { paths: http.paths?.map((path) => ({ ...path, backend: backendToHub(path.backend) })) } }),
      })) as Rules<Ingress> | undefined,
    }) as Ingress['spec'],
  };
}

export function ingressFromHub({ spec: { defaultBackend, rules, ...spec }, ...ingress }: Ingress): OlderIngress {
  return {
    ...ingress,
    spec: compact({
      ...spec,
      backend: defaultBackend && backendFromHub(defaultBackend),
      rules: rules?.map(({ http, ...rule }) => ({
        ...rule,
        ...(http && { http: { paths: http.paths?.map((path) => ({ ...path, backend: backendFromHub(path.backend) })) } }),
      })) as Rules<OlderIngress> | undefined,
    }) as OlderIngress['spec'],
  };
}
