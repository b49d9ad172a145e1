/** Ingresses and ingress classes. */
import type { Endpoints, Service } from '@plat-dev/kinds/core/schema/service';
import type { Ingress, IngressBackend, IngressClass } from '@plat-dev/kinds/networking/schema/ingress';
import type { OlderIngress, OlderIngressBackend } from '@plat-dev/kinds/networking/schema/older';
import { builtIns, type Cluster } from './cluster.ts';
import type { Describer } from './describer.ts';
import { endpointsText } from './services.ts';
import type { Described, ReadForm } from './values.ts';

/** A backend of one of both versions. */
type Backend = ReadForm<IngressBackend> & ReadForm<OlderIngressBackend>;
type Rule = {
  readonly host?: string;
  readonly http?: { readonly paths?: readonly { readonly path?: string; readonly backend?: Backend }[] };
};

export const describeIngress: Describer<Ingress | OlderIngress> = {
  group: 'networking',
  versions: ['v1', 'v1beta1'],
  async write(page, { metadata, spec = {}, status = {} }, cluster, version) {
    const { defaultBackend, backend, rules = [], tls = [], ingressClassName } = spec as ReadForm<Ingress['spec'] & OlderIngress['spec']>;
    const backends = new Backends(cluster, metadata.namespace ?? '', version === 'v1');
    const byDefault = (defaultBackend ?? backend) as Backend | undefined;
    page.field('Name', metadata.name).labels('Labels', metadata.labels).field('Namespace', metadata.namespace);
    const addresses = new Set(
      status.loadBalancer?.ingress?.map(({ ip, hostname }) => ip || (hostname ?? '')).filter((text) => text !== ''),
    );
    page.field('Address', [...addresses].sort().join(',')).field('Ingress Class', ingressClassName ?? '<none>');
    const defaultText = byDefault === undefined ? '<default>' : await backends.text(byDefault, false);
    page.field('Default backend', defaultText);
    if (tls.length > 0) page.heading('TLS');
    for (const { secretName = '', hosts = [] } of tls)
      page.at(1).line(`${secretName === '' ? 'SNI routes' : `${secretName} terminates`} ${hosts.join(',')}`);
    const table = page.heading('Rules').at(1).table(['Host', 'Path', 'Backends'], []);
    const served = (rules as readonly Rule[]).filter(({ http }) => http !== undefined);
    for (const { host, http } of served) {
      table.line(host || '*', '');
      for (const { path, backend: of } of http?.paths ?? []) table.at(1).line('', `${path ?? ''} `, await backends.text(of ?? {}, true));
    }
    if (served.length === 0) table.line('*', version === 'v1' ? '*' : '* ', version === 'v1' ? defaultText : '<default>');
    page.annotations('Annotations', metadata.annotations);
  },
};

class Backends {
  private readonly cluster: Cluster;
  private readonly namespace: string;
  private readonly isV1: boolean;

  constructor(cluster: Cluster, namespace: string, isV1: boolean) {
    this.cluster = cluster;
    this.namespace = namespace;
    this.isV1 = isV1;
  }
  /** `web:80 (10.0.0.1:80)`. Before v1 the default backend is shown without its name. */
  async text(backend: Backend, inRule: boolean): Promise<string> {
    const { service, resource } = backend;
    if (!this.isV1) {
      const name = `${backend.serviceName ?? ''}:${backend.servicePort ?? 0}`;
      const addresses = await this.addresses(backend.serviceName ?? '', backend.servicePort).catch(errorText);
      return inRule ? `${name} (${addresses})` : addresses;
    }
    if (service !== undefined) {
      const { number = 0, name: portName } = service.port ?? {};
      const port = number !== 0 ? number : portName;
      const addresses = await this.addresses(service.name ?? '', port).catch(errorText);
      return `${service.name ?? ''}:${port ?? ''} (${addresses})`;
    }
    return resource === undefined ? '' : `APIGroup: ${resource.apiGroup ?? '<none>'}, Kind: ${resource.kind}, Name: ${resource.name}`;
  }
  /** A port is named by its number or its name. */
  private async addresses(name: string, port: number | string | undefined): Promise<string> {
    const endpoints = await this.cluster.get<Endpoints>(builtIns.endpoints, this.namespace, name);
    const service: Described<Service> = await this.cluster.get<Service>(builtIns.services, this.namespace, name);
    const servicePort = service.spec?.ports?.findLast((one) =>
      typeof port === 'number' ? one.port === port : port !== '' && one.name === port,
    );
    return endpointsText(endpoints, servicePort?.name ?? '');
  }
}
const errorText = (error: Error): string => `<error: ${error.message}>`;

export const describeIngressClass: Describer<IngressClass> = {
  versions: ['v1', 'v1beta1'],
  async write(page, { metadata, spec = {} }) {
    page.field('Name', metadata.name).labels('Labels', metadata.labels).annotations('Annotations', metadata.annotations);
    page.field('Controller', spec.controller);
    if (spec.parameters === undefined) return;
    const { apiGroup, kind, name } = spec.parameters;
    const below = page.heading('Parameters').at(1);
    if (apiGroup !== undefined) below.field('APIGroup', apiGroup);
    below.field('Kind', kind).field('Name', name);
  },
};
