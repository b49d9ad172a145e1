/** The group versions of aggregated servers, by the current APIService objects. */
import type { Duplex } from 'node:stream';
import type { APIService } from '@plat-dev/kinds/apiregistration/schema/v1';
import type { LiveView } from '@plat-dev/kinds/live-view';
import { equal } from '@plat-dev/lib/equal';
import type { Registered } from './order.ts';
import { type RemoteOptions, RemoteServer } from './remote.ts';

export interface Backend {
  /** Of the APIService: `v1.things.example.com`. */
  readonly name: string;
  readonly group: string;
  readonly version: string;
  /** Whether its Available condition is True. */
  readonly available: boolean;
  /** The same object as long as the APIService names the same service with the same settings. */
  readonly server: RemoteServer;
  /** Connects to it, where it is within this process: it needs no check and has no address. */
  readonly connect?: Connect | undefined;
}
type Connect = () => Duplex;

/** A group version that this process serves besides its kinds. An APIService of a client may lead it elsewhere. */
interface LocalVersion extends Registered {
  readonly connect: Connect;
}
export interface LocalServers {
  readonly versions: readonly LocalVersion[];
  /** The connection to what answers for a service whose pods are simulated; undefined for other services. */
  readonly inPlaceOf: (namespace: string, name: string) => Connect | undefined;
}

export class Backends {
  private readonly services: LiveView<APIService>;
  private readonly options: RemoteOptions;
  private readonly local: LocalServers | undefined;
  private readonly isOwn: (group: string, version: string) => boolean;
  private generation = -1;
  private byVersion = new Map<string, Backend>();

  /** `isOwn`: group versions of built-in kinds. No object takes those away from this server. */
  constructor(
    services: LiveView<APIService>,
    isOwn: (group: string, version: string) => boolean,
    options: RemoteOptions,
    local?: LocalServers,
  ) {
    this.local = local;
    this.services = services;
    this.isOwn = isOwn;
    this.options = options;
  }

  find(group: string, version: string): Backend | undefined {
    this.refresh();
    return this.byVersion.size === 0 ? undefined : this.byVersion.get(`${group}/${version}`);
  }
  all(): readonly Backend[] {
    this.refresh();
    return [...this.byVersion.values()];
  }
  /** Whether the group version of an APIService is that of another server. */
  isRemote({ spec }: APIService): boolean {
    return spec.service !== undefined && !this.isOwn(spec.group ?? '', spec.version ?? '');
  }
  close(): void {
    for (const { server } of this.byVersion.values()) server.close();
  }

  private refresh(): void {
    if (this.generation === this.services.generation) return;
    this.generation = this.services.generation;
    const oldBackends = this.byVersion;
    this.byVersion = new Map();
    for (const service of this.services.list()) {
      if (!this.isRemote(service)) continue;
      const { group = '', version = '' } = service.spec;
      const path = `${group}/${version}`;
      const oldBackend = oldBackends.get(path);
      const server = this.serverOf(service, oldBackend?.server);
      if (oldBackend?.server === server) oldBackends.delete(path);
      this.byVersion.set(path, this.backendOf(service, server));
    }
    for (const { metadata, spec, connect } of this.local?.versions ?? []) {
      const { group = '', version = '' } = spec;
      const path = `${group}/${version}`;
      if (this.services.get('', metadata.name ?? '') !== undefined) continue;
      const server = oldBackends.get(path)?.server ?? new RemoteServer({ ...spec }, {}, this.options);
      oldBackends.delete(path);
      this.byVersion.set(path, { name: metadata.name ?? '', group, version, available: true, server, connect });
    }
    for (const { server } of oldBackends.values()) server.retire();
  }

  /** Who answers for a service changes with its endpoints, without a change of the APIService. */
  private backendOf(service: APIService, server: RemoteServer): Backend {
    const { group = '', version = '' } = service.spec;
    const { namespace = '', name = '' } = service.spec.service ?? {};
    const { local } = this;
    return {
      name: service.metadata.name ?? '',
      group,
      version,
      server,
      get available() {
        return this.connect !== undefined || isAvailable(service);
      },
      get connect() {
        return local?.inPlaceOf(namespace, name);
      },
    };
  }

  private readonly specs = new WeakMap<RemoteServer, APIService['spec']>();
  private serverOf({ spec }: APIService, existingServer: RemoteServer | undefined): RemoteServer {
    const { service = {}, caBundle, insecureSkipTLSVerify } = spec;
    const old = existingServer === undefined ? undefined : this.specs.get(existingServer);
    const same =
      old !== undefined &&
      equal(old.service, service) &&
      old.caBundle === caBundle &&
      (old.insecureSkipTLSVerify ?? false) === (insecureSkipTLSVerify ?? false);
    if (same) return existingServer as RemoteServer;
    const server = new RemoteServer(spec, service, this.options);
    this.specs.set(server, spec);
    return server;
  }
}

const isAvailable = ({ status }: APIService): boolean =>
  status.conditions?.some(({ type, status: now }) => type === 'Available' && now === 'True') ?? false;
