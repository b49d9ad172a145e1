/** Services, endpoints and endpoint slices. */
import type { Endpoints, Service } from '@plat-dev/kinds/core/schema/service';
import type { Endpoint, EndpointSlice } from '@plat-dev/kinds/discovery/schema/v1';
import type { Endpoint as OlderEndpoint, EndpointSlice as OlderSlice } from '@plat-dev/kinds/discovery/schema/v1beta1';
import { builtIns } from './cluster.ts';
import type { Describer } from './describer.ts';
import type { Page } from './page.ts';
import { type Described, labelsText, orNone, orUnset, type ReadForm } from './values.ts';

export const describeService: Describer<Service> = {
  async write(page, { metadata, spec = {}, status = {} }, cluster) {
    const endpoints = await cluster
      .get<Endpoints>(builtIns.endpoints, metadata.namespace ?? '', metadata.name ?? '')
      .catch((): Described<Endpoints> => ({ metadata: {} }));
    page.field('Name', metadata.name).field('Namespace', metadata.namespace);
    page.labels('Labels', metadata.labels).annotations('Annotations', metadata.annotations);
    page.field('Selector', labelsText(spec.selector)).field('Type', spec.type);
    page.fieldIfSet('IP Family Policy', spec.ipFamilyPolicy).field('IP Families', orNone(spec.ipFamilies?.join(',')));
    page.field('IP', spec.clusterIP).field('IPs', orNone(spec.clusterIPs?.join(',')));
    page.fieldIfSet('External IPs', spec.externalIPs?.join(','));
    // Another field of this name: the address that was requested.
    page.fieldIfSet('IP', spec.loadBalancerIP).fieldIfSet('External Name', spec.externalName);
    page.fieldIfSet('LoadBalancer Ingress', status.loadBalancer?.ingress?.map(({ ip, hostname }) => ip || (hostname ?? '')).join(', '));
    for (const { name = '', port = 0, protocol = '', targetPort = 0, nodePort = 0 } of spec.ports ?? []) {
      const portName = name === '' ? '<unset>' : name;
      page.line('Port:', portName, `${port}/${protocol}`).field('TargetPort', `${targetPort}/${protocol}`);
      if (nodePort !== 0) page.line('NodePort:', portName, `${nodePort}/${protocol}`);
      page.field('Endpoints', endpointsText(endpoints, name));
    }
    page.field('Session Affinity', spec.sessionAffinity).fieldIfSet('External Traffic Policy', spec.externalTrafficPolicy);
    if ((spec.healthCheckNodePort ?? 0) !== 0) page.field('HealthCheck NodePort', spec.healthCheckNodePort);
    page.fieldIfSet('LoadBalancer Source Ranges', spec.loadBalancerSourceRanges?.join(','));
  },
};

const MAX_SHOWN = 3;
/** The addresses behind a port: `10.0.0.1:80,10.0.0.2:80,10.0.0.3:80 + 2 more...` */
export function endpointsText({ subsets = [] }: ReadForm<Endpoints>, portName: string): string {
  if (subsets.length === 0) return '<none>';
  const all = subsets.flatMap(({ addresses = [], ports = [] }) =>
    ports.length === 0
      ? addresses.map(({ ip = '' }) => ip)
      : ports
          .filter(({ name = '' }) => name === portName)
          .flatMap(({ port = 0 }) => addresses.map(({ ip = '' }) => `${ip.includes(':') ? `[${ip}]` : ip}:${port}`)),
  );
  const firstAddresses = all.slice(0, MAX_SHOWN).join(',');
  return all.length > MAX_SHOWN ? `${firstAddresses} + ${all.length - MAX_SHOWN} more...` : firstAddresses;
}

export const describeEndpoints: Describer<Endpoints> = {
  async write(page, { metadata, subsets = [] }) {
    page.field('Name', metadata.name).field('Namespace', metadata.namespace);
    page.labels('Labels', metadata.labels).annotations('Annotations', metadata.annotations).heading('Subsets');
    const addressesText = (addresses: readonly { readonly ip?: string }[] = []): string => orNone(addresses.map(({ ip }) => ip).join(','));
    for (const { addresses, notReadyAddresses, ports = [] } of subsets) {
      const below = page.at(1);
      below.field('Addresses', addressesText(addresses)).field('NotReadyAddresses', addressesText(notReadyAddresses));
      if (ports.length > 0)
        below
          .heading('Ports')
          .at(1)
          .table(
            portColumns,
            ports.map(({ name, port, protocol }) => [name || '<unset>', port, protocol]),
          );
      page.line();
    }
  },
};
const portColumns = ['Name', 'Port', 'Protocol'];

export const describeEndpointSlice: Describer<EndpointSlice & OlderSlice> = {
  versions: ['v1', 'v1beta1'],
  async write(page, { metadata, addressType, ports = [], endpoints = [] }, _, version) {
    page.field('Name', metadata.name).field('Namespace', metadata.namespace);
    page.labels('Labels', metadata.labels).annotations('Annotations', metadata.annotations).field('AddressType', addressType);
    if (ports.length === 0) page.line('Ports: <unset>');
    else
      page
        .heading('Ports')
        .at(1)
        .table(
          portColumns,
          ports.map(({ name, port, protocol }) => [name || '<unset>', orUnset(port), protocol]),
        );
    page.line(`Endpoints:${endpoints.length === 0 ? ' <none>' : ''}`);
    for (const endpoint of endpoints) writeEndpoint(page, endpoint, version);
  },
};

function writeEndpoint(
  page: Page,
  { addresses = [], conditions, hostname, targetRef, nodeName, zone, topology }: ReadForm<Endpoint & OlderEndpoint>,
  version: string,
): void {
  const below = page.at(2);
  page.at(1).field('- Addresses', orNone(addresses.join(version === 'v1' ? ', ' : ',')));
  below.heading('Conditions').at(1).field('Ready', orUnset(conditions?.ready));
  below.field('Hostname', orUnset(hostname));
  if (targetRef !== undefined) below.field('TargetRef', `${targetRef.kind ?? ''}/${targetRef.name ?? ''}`);
  if (version === 'v1') below.field('NodeName', orUnset(nodeName)).field('Zone', orUnset(zone));
  else page.labels('    Topology', topology);
}
