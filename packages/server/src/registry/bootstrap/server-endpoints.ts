/**
 * The service of the API server in `default`, and its endpoints. Each of several servers on one store
 * keeps a key with its address while it runs; the endpoints are the addresses of all keys.
 */

import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import { equal } from '@plat-dev/lib/equal';
import { own, setOwn } from '@plat-dev/lib/own';
import { domainName, type Identity } from '@plat-dev/meta/identity';
import { type IPFamily, ipFamily } from '@plat-dev/meta/ip';
import type { Cache } from '@plat-dev/storage/cache';
import type { Collection } from '@plat-dev/storage/collection';
import { storedValue } from '@plat-dev/storage/item';
import type { SystemWriter } from '../system.ts';
import { serverService } from './objects.ts';

/** How long a server counts as alive after its last heartbeat, and the interval of heartbeats. */
const LEASE_SECONDS = 15;
const RENEW_MS = 10_000;
const EVENT_LIMIT = 16;

export interface Server {
  readonly address: string;
  readonly port: number;
}
export interface AnnounceOptions {
  readonly identity: Identity;
  readonly cache: Cache;
  readonly leases: Collection;
  readonly writer: SystemWriter;
  /** The address of the service: the first of the range. */
  readonly serviceAddress: string;
  readonly clock: Clock;
  readonly report: (error: unknown) => void;
}

export class ServerEndpoints {
  private readonly options: AnnounceOptions;
  private readonly leases: Collection;
  private server: Server | undefined;
  private stopRenewing: Cancel | undefined;

  constructor(options: AnnounceOptions) {
    this.options = options;
    this.leases = options.leases;
  }

  /** `server` is undefined when this machine has no address that others could use: then there is a service without endpoints. */
  async announce(server: Server | undefined, port: number): Promise<void> {
    this.server = server;
    await this.writeService(port);
    if (server === undefined) return;
    await this.renew();
    if (this.options.cache.engine.exclusive) return;
    this.stopRenewing = this.options.clock.every(RENEW_MS, () => void this.renew().catch(this.options.report));
  }
  /** Removes this server from the endpoints, so that clients do not try it in vain. */
  async withdraw(): Promise<void> {
    this.stopRenewing?.();
    const { cache } = this.options;
    const { server } = this;
    if (server === undefined || cache.engine.exclusive) return;
    this.server = undefined;
    await cache.commit([{ type: 'delete', key: this.leases.prefix + keyOf(server) }], []);
    await this.writeEndpoints();
  }

  private async renew(): Promise<void> {
    const { cache } = this.options;
    if (this.server !== undefined && !cache.engine.exclusive) {
      const key = keyOf(this.server);
      const value = storedValue(JSON.stringify({ uid: key, ...this.server }), key);
      await cache.commit([{ type: 'put', key: this.leases.prefix + key, value, ttlSeconds: LEASE_SECONDS }], []);
    }
    await this.writeEndpoints();
  }

  private get servers(): Server[] {
    const ownEndpoints = this.server === undefined ? [] : [this.server];
    if (this.options.cache.engine.exclusive) return ownEndpoints;
    const all = this.leases.items.all().map((item) => JSON.parse(item.bytes.toString()) as Server);
    return all.map(({ address, port }) => ({ address, port }));
  }

  private async writeService(port: number): Promise<void> {
    const { identity, writer, serviceAddress } = this.options;
    const desiredService = serverService(identity, serviceAddress, port);
    if (await writer.ensure('', 'services', desiredService)) return;
    await writer.change('', 'services', 'default', identity.serviceName, (object) => {
      const { spec } = object as ApiObject & { spec: { ports?: unknown; type?: string } };
      if (equal(spec.ports, desiredService.spec.ports) && spec.type === desiredService.spec.type) return;
      spec.ports = desiredService.spec.ports;
      spec.type = desiredService.spec.type;
    });
  }

  private async writeEndpoints(): Promise<void> {
    const { identity, writer, serviceAddress } = this.options;
    const family = ipFamily(serviceAddress) as IPFamily;
    const servers = this.servers.filter(({ address }) => ipFamily(address) === family);
    const endpoints = serverEndpoints(identity, servers);
    const slice = serverSlice(identity, servers, family);
    await Promise.all([
      write(writer, '', 'endpoints', endpoints, 'subsets'),
      servers.length > 0 && write(writer, 'discovery', 'endpointslices', slice, 'endpoints', 'ports'),
    ]);
  }
}

/** Heartbeats of the servers on this store. Before the cache starts. */
export const declareServerLeases = (cache: Cache): Collection =>
  cache.declare({ prefix: 'cluster/servers/', facts: () => ({ labels: undefined, fields: undefined }), eventLimit: EVENT_LIMIT });
const keyOf = ({ address, port }: Server): string => `${address}/${port}`;

/** Creates the object, or updates the named fields of an existing one. */
async function write(
  writer: SystemWriter,
  group: string,
  plural: string,
  object: { metadata: { name: string; namespace: string } } & Record<string, unknown>,
  ...fields: string[]
): Promise<void> {
  if (await writer.ensure(group, plural, object)) return;
  await writer.change(group, plural, object.metadata.namespace, object.metadata.name, (live) => {
    const target = live as unknown as Record<string, unknown>;
    for (const field of fields) if (!equal(own(target, field), own(object, field))) setOwn(target, field, own(object, field));
  });
}

const PORT_NAME = 'https';

/** Servers that listen on the same port make one subset. */
function serverEndpoints(identity: Identity, servers: readonly Server[]) {
  const ports = [...new Set(servers.map(({ port }) => port))].sort((a, b) => a - b);
  const subsets = ports.map((port) => ({
    addresses: servers
      .filter((server) => server.port === port)
      .map(({ address }) => ({ ip: address }))
      .sort((a, b) => (a.ip < b.ip ? -1 : 1)),
    ports: [{ name: PORT_NAME, port, protocol: 'TCP' }],
  }));
  const labels = { [domainName(identity, 'skip-mirror', 'endpointslice')]: 'true' };
  return {
    metadata: { name: identity.serviceName, namespace: 'default', labels },
    ...(subsets.length > 0 && { subsets }),
  };
}

/** A slice has one list of ports for all of its endpoints: that of the first server. */
function serverSlice(identity: Identity, servers: readonly Server[], family: IPFamily) {
  const port = servers[0]?.port;
  const endpoints = servers
    .filter((server) => server.port === port)
    .map(({ address }) => ({ addresses: [address], conditions: { ready: true } }))
    .sort((a, b) => ((a.addresses[0] as string) < (b.addresses[0] as string) ? -1 : 1));
  return {
    metadata: {
      name: identity.serviceName,
      namespace: 'default',
      labels: { [domainName(identity, 'service-name')]: identity.serviceName },
    },
    addressType: family,
    endpoints,
    ...(port !== undefined && { ports: [{ name: PORT_NAME, port, protocol: 'TCP' }] }),
  };
}
