/** Every path that leads to no resource. One file an endpoint; this is where they get their places. */

import type { Clock } from '@plat-dev/lib/clock';
import type { Metrics } from '@plat-dev/lib/metrics';
import type { Context } from '../context.ts';
import type { ListedGroup } from '../extension/aggregation/order.ts';
import type { RemoteResources } from '../extension/aggregation/remote-resources.ts';
import type { RemoteSpec } from '../extension/aggregation/specs.ts';
import { pageNotFound } from '../response/respond.ts';
import type { Services } from '../services.ts';
import { discovery } from './discovery.ts';
import type { Endpoint } from './endpoint.ts';
import { groupsOf, listedOf, perGeneration } from './groups.ts';
import { type HealthCheck, type HealthPage, healthEndpoints } from './health.ts';
import { metricsEndpoint } from './metrics-endpoint.ts';
import { rootEndpoint } from './root.ts';
import { type BuildInfo, documentVersion, versionEndpoint } from './version.ts';
import { zpages } from './zpages.ts';

export type { Endpoint } from './endpoint.ts';

export interface EndpointOptions {
  readonly build: BuildInfo;
  /** `host:port` under which clients reach the server, asked when a document is made. */
  readonly address: () => string;
  readonly checks: readonly HealthCheck[];
  readonly livezGraceMs: number;
  /** Milliseconds since 1970. */
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Awaited before a scrape. */
  readonly beforeScrape: () => Promise<void>;
  /** The aggregated API servers. Absent: none. */
  readonly aggregation?: {
    readonly groups: readonly ListedGroup[];
    readonly remoteSpecs: readonly RemoteSpec[];
    readonly remoteResources: RemoteResources | undefined;
  };
  /** Names and values of the flags, for status pages. */
  readonly flags: () => Readonly<Record<string, string>>;
  /** Endpoints of other parts, such as the keys of service account tokens. */
  readonly more?: ReadonlyMap<string, Endpoint>;
  /** The same, left out of the list of paths. */
  readonly unlisted?: ReadonlyMap<string, Endpoint>;
}

export interface Endpoints {
  readonly byPath: ReadonlyMap<string, Endpoint>;
  /** Answers every request that is not for a resource; a path that leads nowhere too. */
  readonly serve: Endpoint;
  /** The path by which metrics count a request, empty for one that leads nowhere. */
  readonly metricsPath: (path: string) => string;
}

export function endpoints(services: Services, options: EndpointOptions): Endpoints {
  const { catalog } = services.registry;
  const groups = perGeneration(catalog, () => groupsOf(catalog));
  const { aggregation } = options;
  const own = perGeneration(catalog, () => listedOf(groups()));
  const listGroups = aggregation === undefined ? own : () => aggregation.groups;
  const discover = discovery(services, groups, { ...options, listed: listGroups, remote: aggregation?.remoteResources });
  const version = versionEndpoint(options.build);
  const openapi = whenAsked(() =>
    import('./openapi/index.ts').then((m) =>
      m.openapiEndpoints(services, groups, {
        version: documentVersion(options.build),
        now: () => options.clock.now(),
        remote: () => aggregation?.remoteSpecs ?? [],
      }),
    ),
  );
  // Without the feature nothing below this path is served or listed.
  const v3: [string, Endpoint][] = services.registry.env.feature('OpenAPIV3')
    ? ['/openapi/v3', '/openapi/v3/'].map((path) => [path, openapi(path)])
    : [];
  const root = rootEndpoint(groups, listGroups, () => byPath.keys());
  const report = (page: HealthPage, failures: readonly string[]) => services.log.error('health check failed', { page, failures });
  const startedAt = options.clock.now();
  const byPath: Map<string, Endpoint> = new Map<string, Endpoint>([
    ['/api', discover],
    ['/apis', discover],
    ['/apis/', discover],
    ['/version', version],
    ['/metrics', metricsEndpoint(options.metrics, options.beforeScrape, options.build.release)],
    ['/openapi/v2', openapi('/openapi/v2')],
    ...v3,
    ...healthEndpoints({ ...options, startedAt, report }),
    ...zpages(services, {
      release: options.build.release,
      startedAt,
      now: () => options.clock.now(),
      flags: options.flags,
      paths: () => statusPaths.filter((path) => byPath.has(path)),
    }),
    ...(options.more ?? []),
  ]);
  /** Paths that are served but not listed. */
  const unlisted = new Map<string, Endpoint>([['/', root], ['/index.html', root], ['/version/', version], ...(options.unlisted ?? [])]);
  const below: [string, Endpoint][] = [['/api/', discover], ['/apis/', discover], ...v3.slice(1)];
  const find = (path: string): Endpoint => {
    const exact = byPath.get(path) ?? unlisted.get(path);
    if (exact !== undefined) return exact;
    return below.find(([prefix]) => path.startsWith(prefix))?.[1] ?? noEndpoint;
  };
  return {
    byPath,
    serve: (ctx: Context) => find(ctx.path)(ctx),
    metricsPath: (path) => (byPath.has(path) ? path : (below.find(([prefix]) => path.startsWith(prefix))?.[0].slice(0, -1) ?? '')),
  };
}

/** Those that a status page names. */
const statusPaths = ['/flagz', '/healthz', '/livez', '/metrics', '/readyz', '/statusz', '/version'];

const noEndpoint: Endpoint = async (ctx) => pageNotFound(ctx);

/** Endpoints that are loaded with the first request for one of them: a start does not wait for what few ask for. */
function whenAsked(load: () => Promise<ReadonlyMap<string, Endpoint>>): (path: string) => Endpoint {
  let loaded: Promise<ReadonlyMap<string, Endpoint>> | undefined;
  return (path) => async (ctx) => {
    loaded ??= load();
    return ((await loaded).get(path) ?? pageNotFound)(ctx);
  };
}
