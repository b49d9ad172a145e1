/** Resolves a service reference to an address. */
import type { EndpointSubset, Endpoints, Service } from '@plat-dev/kinds/core/schema/service';
import type { LiveSource } from '@plat-dev/kinds/live-view';

interface Address {
  readonly host: string;
  readonly port: number;
}
/** Throws an Error if the service has no address. */
export type ResolveService = (namespace: string, name: string, port: number) => Address;

/**
 * Cluster addresses may not be routable here, so that one of the ready endpoints is
 * chosen at random; without endpoints, the cluster address of the service.
 */
export function serviceResolver(live: LiveSource, randomBelow: (limit: number) => number): ResolveService {
  const services = live<Service>('', 'services');
  const endpoints = live<Endpoints>('', 'endpoints');
  return (namespace, name, port) => {
    const service = services.get(namespace, name);
    if (service === undefined) throw new Error(`service ${JSON.stringify(name)} not found`);
    const { spec } = service;
    if (spec.type === 'ExternalName') return { host: spec.externalName ?? '', port };
    const servicePort = spec.ports?.find((one) => one.port === port);
    if (servicePort === undefined) throw new Error(`no service port ${port} found for service ${JSON.stringify(name)}`);
    const endpointsObject = endpoints.get(namespace, name);
    if (endpointsObject === undefined && spec.clusterIP !== undefined && spec.clusterIP !== '' && spec.clusterIP !== 'None')
      return { host: spec.clusterIP, port };
    const ready = (endpointsObject?.subsets ?? []).flatMap((subset) => addressesOf(subset, servicePort.name ?? ''));
    if (ready.length === 0) throw new Error(`no endpoints available for service ${JSON.stringify(name)}`);
    return ready[randomBelow(ready.length)] as Address;
  };
}

function addressesOf({ addresses, ports }: EndpointSubset, portName: string): Address[] {
  const port = ports?.find(({ name }) => (name ?? '') === portName)?.port;
  return port === undefined ? [] : (addresses ?? []).map(({ ip }) => ({ host: ip, port }));
}
