/** Endpoints objects: addresses with the same ports form a subset, ready and not ready ones apart. */
import type { EndpointAddress, EndpointSubset } from '@plat-dev/kinds/core/schema/service';
import { portsKey, type ResolvedPort, type ServiceEndpoint } from './service.ts';

/** Maximum addresses of one object. */
const CAPACITY = 1000;

export interface Subsets {
  readonly subsets: EndpointSubset[];
  /** There are more endpoints than one object may hold. */
  readonly truncated: boolean;
}

export function subsetsOf(endpoints: readonly ServiceEndpoint[]): Subsets {
  const truncated = endpoints.length > CAPACITY;
  // Ready addresses are kept first.
  const listed = truncated ? [...endpoints].sort((a, b) => Number(b.ready) - Number(a.ready)).slice(0, CAPACITY) : endpoints;
  const groups = new Map<string, { ports: readonly ResolvedPort[]; endpoints: ServiceEndpoint[] }>();
  for (const endpoint of listed) {
    const key = portsKey(endpoint.ports);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { ports: endpoint.ports, endpoints: [endpoint] });
    else group.endpoints.push(endpoint);
  }
  const subsets = [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { ports, endpoints: all }]) => subsetOf(ports, all));
  return { subsets, truncated };
}

function subsetOf(ports: readonly ResolvedPort[], endpoints: readonly ServiceEndpoint[]): EndpointSubset {
  const sorted = [...endpoints].sort((a, b) =>
    a.address === b.address ? (a.targetRef.uid < b.targetRef.uid ? -1 : 1) : a.address < b.address ? -1 : 1,
  );
  const ready = sorted.filter((endpoint) => endpoint.ready).map(addressOf);
  const others = sorted.filter((endpoint) => !endpoint.ready).map(addressOf);
  const sortedPorts = [...ports].sort((a, b) => (a.name === b.name ? a.port - b.port : a.name < b.name ? -1 : 1));
  return {
    ...(ready.length > 0 && { addresses: ready }),
    ...(others.length > 0 && { notReadyAddresses: others }),
    ...(sortedPorts.length > 0 && {
      ports: sortedPorts.map(({ name, port, protocol, appProtocol }) => ({
        ...(name !== '' && { name }),
        port,
        protocol,
        ...(appProtocol !== undefined && { appProtocol }),
      })),
    }),
  };
}

const addressOf = ({ address, hostname, nodeName, targetRef }: ServiceEndpoint): EndpointAddress => ({
  ip: address,
  ...(hostname !== undefined && { hostname }),
  ...(nodeName !== undefined && { nodeName }),
  targetRef,
});
