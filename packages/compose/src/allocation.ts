/** Addresses and ports of services, and the service that leads to the server itself. */
import { networkInterfaces } from 'node:os';
import type { Service } from '@plat-dev/kinds/core/schema/service';
import type { LiveSource } from '@plat-dev/kinds/live-view';
import type { Log } from '@plat-dev/lib/log';
import { firstAddress, ipFamily, nonSpecialIP } from '@plat-dev/meta/ip';
import { addressRange, portRange, staticBand } from '@plat-dev/meta/ranges';
import { adminAccessHook } from '@plat-dev/server/registry/admin-access';
import { AddressObjects, addressHook, addressHookName } from '@plat-dev/server/registry/allocate/address-objects';
import { followAddressObjects } from '@plat-dev/server/registry/allocate/follow-address-objects';
import { repairAllocations } from '@plat-dev/server/registry/allocate/repair';
import { type ServiceAllocation, serviceHook } from '@plat-dev/server/registry/allocate/services';
import { AllocationTable } from '@plat-dev/server/registry/allocate/table';
import { declareServerLeases, ServerEndpoints } from '@plat-dev/server/registry/bootstrap/server-endpoints';
import type { Catalog } from '@plat-dev/server/registry/catalog';
import type { Hooks } from '@plat-dev/server/registry/hooks';
import type { SystemWriter } from '@plat-dev/server/registry/system';
import type { Cache } from '@plat-dev/storage/cache';
import type { Operation } from '@plat-dev/storage/engine';
import type { Base } from './base.ts';
import type { ServerOptions } from './config/server-options.ts';

export interface Allocations {
  readonly hooks: Hooks;
  /** Loads what the store holds and repairs it. Before the first write. */
  start(live: LiveSource, log: Log): Promise<void>;
}

/** Before the cache starts: what is given out is part of what it loads. */
export function declareAllocations({ options, identity, objectClock, random }: Base, cache: Cache, catalog: Catalog): Allocations {
  const reserved = options.features.isOn('ServiceIPStaticSubrange') ? staticBand : undefined;
  const addresses = new AllocationTable(cache, 'ips', options.serviceClusterIpRange.map(addressRange), reserved);
  const { first, last } = options.serviceNodePortRange;
  const ports = new AllocationTable(cache, 'ports', [portRange(first, last)]);
  let endpoints: ReturnType<LiveSource> | undefined;
  let namespaces: ReturnType<LiveSource> | undefined;
  const adminAccess = adminAccessHook(identity, (namespace) => namespaces?.get('', namespace)?.metadata.labels);
  const objects = hasAddressObjects(catalog)
    ? new AddressObjects({
        identity,
        resource: () => catalog.builtin('networking', 'ipaddresses'),
        newUid: random.uuid,
        now: () => objectClock.now(),
      })
    : undefined;
  const allocation: ServiceAllocation = {
    addresses,
    ports,
    objects,
    randomBelow: random.below,
    now: () => objectClock.now(),
    // The endpoints controller may lag; a new service of the name must not find the old endpoints.
    alsoDelete: ({ metadata: { namespace = '', name = '' } }): Operation | undefined => {
      const storedEndpoints = endpoints?.get(namespace, name);
      if (storedEndpoints === undefined || (storedEndpoints.metadata.finalizers ?? []).length > 0) return undefined;
      return { type: 'delete', key: `core/endpoints/${namespace}/${name}` };
    },
  };
  return {
    hooks: new Map([
      ['core/services', serviceHook(allocation)],
      ...(objects === undefined ? [] : [[addressHookName, addressHook(addresses)] as const]),
      ...['resourceclaims', 'resourceclaimtemplates'].map((plural) => [`resource/${plural}`, adminAccess] as const),
    ]),
    start: async (live, log) => {
      endpoints = live('', 'endpoints');
      namespaces = live('', 'namespaces');
      addresses.loaded();
      ports.loaded();
      const services = live<Service>('', 'services');
      const taken = objects === undefined ? [] : await followAddressObjects({ cache, addresses, objects, services, live, log });
      const { freed, restored, doubled } = await repairAllocations(cache, allocation, services.list(), taken);
      if (freed + restored > 0) log.warn('repaired the allocations of services', { freed, restored });
      if (doubled.length > 0) log.error('services share an address or port', { members: doubled });
    },
  };
}

/** Whether addresses of services are objects, too. */
const hasAddressObjects = (catalog: Catalog): boolean =>
  catalog.serves('networking', 'ipaddresses') &&
  catalog.serves('networking', 'servicecidrs') &&
  catalog.feature('MultiCIDRServiceAllocator');

export interface Announcement {
  readonly writer: SystemWriter;
  readonly port: number;
}

/** Before the cache starts. `announce` is called when the server listens, and returns the function that reverts it. */
export function declareServerEndpoints(
  { options, identity, clock, log }: Base,
  cache: Cache,
): { announce(announcement: Announcement): Promise<() => Promise<void>> } {
  const leases = declareServerLeases(cache);
  return {
    announce: async ({ writer, port }) => {
      const report = (error: unknown): void => log.error('cannot write the service of this server', { error: String(error) });
      const serviceAddress = firstAddress(options.serviceClusterIpRange[0] as string);
      const endpoints = new ServerEndpoints({ identity, cache, leases, writer, serviceAddress, clock, report });
      const address = advertisedAddress(options);
      // A service of a client in its place must not prevent the start.
      await endpoints.announce(address === undefined ? undefined : { address, port }, port).catch(report);
      return () => endpoints.withdraw().catch(report);
    },
  };
}

/**
 * The address under which others in the cluster reach this server: --advertise-address, else the one it listens on, else
 * one of the machine. Undefined when there is none that could stand in endpoints, or none of the family of services.
 */
export function advertisedAddress(options: ServerOptions): string | undefined {
  const family = ipFamily(firstAddress(options.serviceClusterIpRange[0] as string));
  const fits = (address: string): boolean => ipFamily(address) === family && nonSpecialIP(address).length === 0;
  const localAddresses = Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address));
  const candidates = options.advertiseAddress === undefined ? [options.bindAddress, ...localAddresses] : [options.advertiseAddress];
  return candidates.find(fits);
}
