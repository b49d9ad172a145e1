/**
 * API aggregation: group versions of other servers are served next to this server's own. APIService objects define
 * them; this combines the maintenance of those objects, the availability checks, and the order of groups.
 */

import type { APIService } from '@plat-dev/kinds/apiregistration/schema/v1';
import type { Endpoints, Service } from '@plat-dev/kinds/core/schema/service';
import type { LiveSource } from '@plat-dev/kinds/live-view';
import type { Clock } from '@plat-dev/lib/clock';
import type { Metrics } from '@plat-dev/lib/metrics';
import { isAtLeast } from '@plat-dev/lib/version';
import type { Identity } from '@plat-dev/meta/identity';
import type { ResolveService } from '../../admission/webhooks/service.ts';
import { apiServices, automanagedLabel, servedVersions } from '../../registry/bootstrap/api-services.ts';
import type { Catalog } from '../../registry/catalog.ts';
import type { SystemWriter } from '../../registry/system.ts';
import { Availability } from './availability.ts';
import { AvailabilityMetrics } from './availability-metrics.ts';
import { type Backend, Backends, type LocalServers } from './backends.ts';
import { type ListedGroup, listedGroups, type Registered } from './order.ts';
import { Registrations } from './registrations.ts';
import type { RemoteOptions } from './remote.ts';
import { RemoteResources } from './remote-resources.ts';
import { type RemoteSpec, RemoteSpecs } from './specs.ts';

export interface AggregationOptions {
  readonly identity: Identity;
  readonly catalog: Catalog;
  readonly live: LiveSource;
  readonly resolve: ResolveService;
  readonly clientCertificate: RemoteOptions['clientCertificate'];
  readonly isOwn: RemoteOptions['isOwn'];
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly report: (error: unknown) => void;
  readonly local?: LocalServers | undefined;
}

const GROUP = 'apiregistration';
const PLURAL = 'apiservices';
/** The first release with aggregated discovery. */
const AGGREGATED_SINCE = '1.26';

/** The parts of aggregation; views: the caches of the objects that the others read. */
export type AggregationPart = 'views' | 'registrations' | 'availability' | 'specs';

export class Aggregation {
  private readonly options: AggregationOptions;
  private readonly backends: Backends;
  private readonly specs: RemoteSpecs;
  /** Absent where no discovery asks for it. */
  readonly remoteResources: RemoteResources | undefined;
  private ends: { close(): void }[] = [];
  private parts: { readonly registrations: Registrations; readonly availability: Availability } | undefined;
  private listing: { readonly key: string; readonly groups: readonly ListedGroup[] } = { key: '', groups: [] };

  constructor(options: AggregationOptions) {
    this.options = options;
    const { identity, catalog, live, resolve, clientCertificate, isOwn, clock, local } = options;
    const services = live<APIService>(GROUP, PLURAL);
    const ownGroupVersions = ownVersions(catalog);
    const remote = { clock, resolve, clientCertificate, isOwn, userAgent: `${identity.word}-aggregator` };
    this.backends = new Backends(services, (group, version) => ownGroupVersions.has(`${group}/${version}`), remote, local);
    this.specs = new RemoteSpecs({ apiServices: services, backends: this.backends, clock });
    this.remoteResources = isAtLeast(catalog.release, AGGREGATED_SINCE)
      ? new RemoteResources({ apiServices: services, backends: this.backends, clock })
      : undefined;
  }

  /** Why a part fails; undefined while all work. */
  problem(part: AggregationPart): string | undefined {
    if (this.parts === undefined) return 'not started';
    if (part === 'views') return undefined;
    return part === 'specs' ? this.specs.problem() : this.parts[part].problem();
  }

  /** Called when the objects of the first start and the kinds of definitions exist. */
  start(writer: SystemWriter): void {
    const { identity, catalog, live, clock, report, metrics } = this.options;
    const services = live<APIService>(GROUP, PLURAL);
    const registrations = new Registrations({ identity, catalog, services, writer, clock, report });
    const availabilityMetrics = new AvailabilityMetrics(metrics);
    const availability = new Availability({
      apiServices: services,
      services: live<Service>('', 'services'),
      endpoints: live<Endpoints>('', 'endpoints'),
      backends: this.backends,
      onServiceChange: (listener) => onServiceChange(catalog, listener),
      changeStatus: (name, change) => writer.change(GROUP, PLURAL, '', name, change, 'status'),
      observed: (name, verdict) => availabilityMetrics.observed(name, verdict),
      clock,
      report,
    });
    this.parts = { registrations, availability };
    const started = [registrations, availability, this.specs, ...(this.remoteResources === undefined ? [] : [this.remoteResources])];
    this.ends = [...started, this.backends];
    for (const part of started) part.start();
  }
  close(): void {
    for (const part of this.ends) part.close();
  }

  /** The server of a group version, if it is not this one. */
  find(group: string, version: string): Backend | undefined {
    return this.backends.find(group, version);
  }
  /** The OpenAPI documents of aggregated servers; the same list until one changes. */
  get remoteSpecs(): readonly RemoteSpec[] {
    return this.specs.current;
  }

  /** All groups but the core one in the order of discovery; the same list until they change. */
  get groups(): readonly ListedGroup[] {
    const { catalog, live } = this.options;
    const services = live<APIService>(GROUP, PLURAL);
    const key = `${catalog.generation} ${services.generation}`;
    if (this.listing.key !== key) this.listing = { key, groups: this.list(services.list()) };
    return this.listing.groups;
  }

  /** The served groups change at once; the objects follow later. */
  private list(services: readonly APIService[]): ListedGroup[] {
    const { identity, catalog, local } = this.options;
    const label = automanagedLabel(identity);
    const ownServices = apiServices(identity, servedVersions(catalog), '', catalog.release);
    const served = new Map<string, Registered>(
      [...ownServices, ...(local?.versions ?? [])].map((service) => [service.metadata.name ?? '', service]),
    );
    const present = new Set(services.map(({ metadata }) => metadata.name ?? ''));
    const all: Registered[] = services.filter(({ metadata }) => served.has(metadata.name ?? '') || metadata.labels?.[label] === undefined);
    for (const [name, service] of served) if (!present.has(name)) all.push(service);
    const groups = listedGroups(all).filter(({ name }) => name !== '');
    const ownListed = ownGroup(catalog);
    return ownListed === undefined ? groups : [ownListed, ...groups.filter(({ name }) => name !== ownListed.name)];
  }
}

/** The group of APIServices has no APIService itself, and comes first: all others depend on it. */
function ownGroup(catalog: Catalog): ListedGroup | undefined {
  const name = catalog.groupName(GROUP);
  const versions = new Set<string>();
  for (const { resources } of catalog.all()) for (const resource of resources) if (resource.group === name) versions.add(resource.version);
  return versions.size === 0 ? undefined : { name, versions: [...versions] };
}

/** `group/version` of built-in kinds, which do not change while the server runs. */
function ownVersions(catalog: Catalog): ReadonlySet<string> {
  const ownGroupVersions = new Set<string>();
  for (const { resources } of catalog.all())
    for (const resource of resources) if (!resource.custom) ownGroupVersions.add(`${resource.group}/${resource.version}`);
  return ownGroupVersions;
}

/** Passes keys alone: endpoints change often, and few of them belong to an APIService. */
function onServiceChange(catalog: Catalog, listener: (key: string) => void): () => void {
  const ends = ['services', 'endpoints'].map((plural) => catalog.builtin('', plural).collection?.listen(({ item }) => listener(item.key)));
  return () => {
    for (const end of ends) end?.();
  };
}
