/** What surrounds the resources of a server: its endpoints, health, metrics, limits and flows. */

import type { LiveSource } from '@plat-dev/kinds/live-view';
import { builtFrom } from '@plat-dev/lib/build-info';
import { productVersion } from '@plat-dev/lib/version';
import { configurationPath, type IssuerDocuments, keysPath } from '@plat-dev/server/auth/service-account/discovery';
import type { Context } from '@plat-dev/server/context';
import { type HealthCheck, healthPages, partCheck, ping } from '@plat-dev/server/endpoints/health';
import { type Endpoint, endpoints } from '@plat-dev/server/endpoints/index';
import { issuerEndpoint } from '@plat-dev/server/endpoints/issuer';
import { registerCollections, registerInFlight, registerStore } from '@plat-dev/server/endpoints/metrics-endpoint';
import { RequestMetrics } from '@plat-dev/server/endpoints/request-metrics';
import { BACKUP_PATH, backupEndpoint } from '@plat-dev/server/endpoints/store-backup';
import type { Aggregation } from '@plat-dev/server/extension/aggregation/aggregation';
import { dumpEndpoints } from '@plat-dev/server/fairness/dump';
import { Fairness } from '@plat-dev/server/fairness/fairness';
import { FlowMetrics } from '@plat-dev/server/fairness/flow-metrics';
import { InFlight } from '@plat-dev/server/fairness/in-flight';
import { Flows } from '@plat-dev/server/fairness/request-flow';
import type { Step } from '@plat-dev/server/pipeline';
import type { Catalog } from '@plat-dev/server/registry/catalog';
import type { Services } from '@plat-dev/server/services';
import type { Cache } from '@plat-dev/storage/cache';
import type { Engine } from '@plat-dev/storage/engine';
import { type StartPart, startChecks } from '../background/health-checks.ts';
import { registerProcessMetrics } from '../background/metrics-process.ts';
import type { Base } from '../base.ts';
import { flagTexts } from '../config/flag-texts.ts';
import type { ServerOptions } from '../config/server-options.ts';
import type { Encryption } from '../store/encryption.ts';

export interface Surface {
  /** Between impersonation and authorization. */
  readonly steps: readonly Step[];
  /** Answers what is not for a resource. */
  readonly serve: Endpoint;
  /** Called with the end of every request. */
  readonly finished: (ctx: Context) => void;
  readonly watchEvents: RequestMetrics['watchEvents'];
  /** A part of the start is done. */
  started(part: StartPart): void;
  /** From now on the server is not ready. */
  shuttingDown(): void;
  close(): void;
}

export interface SurfaceOptions {
  readonly live: LiveSource;
  /** `host:port`, known once the server listens. */
  readonly address: () => string;
  /** Where the issuer has any: there as soon as the server has its key. */
  readonly issuer: (() => Promise<IssuerDocuments>) | undefined;
  readonly aggregation: Aggregation;
  /** Health checks and endpoints of the encryption of the store, where it is encrypted. */
  readonly encryption: Pick<Encryption, 'checks' | 'endpoints'> | undefined;
  /** The store itself, for backups. */
  readonly store: Engine;
}

export function composeSurface(
  { options, metrics, clock, log }: Base,
  services: Services,
  { live, address, issuer, aggregation, encryption, store }: SurfaceOptions,
): Surface {
  const { catalog, cache } = services.registry;
  const now = (): number => clock.now();
  let ending = false;
  const fair = isFair(options, catalog);
  const start = startChecks(
    {
      views: () => cache.problem(),
      fairness: !fair
        ? undefined
        : {
            // Without any schema that can be read, requests have the level of those that no schema matches.
            configuration: () => cache.problem(),
            seats: () => (fairness?.isOpen === true ? undefined : 'requests take no seats'),
          },
      aggregation: (part) => aggregation.problem(part),
    },
    options.apiRelease,
  );
  const backup = backupEndpoint({
    engine: store,
    facts: () => ({ productVersion, identity: services.identity.name, ...(store.mark !== undefined && { storeId: store.mark.id }) }),
    clock,
    log,
  });
  const requests = new RequestMetrics(metrics, {
    catalog,
    paths: (path) => surface.metricsPath(path),
    now: () => clock.monotonic(),
  });
  const none = { reading: 0, mutating: 0 };
  const limits = { reading: options.maxRequestsInflight, mutating: options.maxMutatingRequestsInflight };
  const inFlight = new InFlight(fair ? none : limits, requests.begin);
  const flows = fair
    ? new Flows(live, { total: limits.reading + limits.mutating, now: () => clock.monotonic(), metrics: new FlowMetrics(metrics) })
    : undefined;
  const chunks = options.features.isOn('APIListChunking');
  const fairness =
    flows && new Fairness({ flows, catalog, clock, requestTimeoutMs: options.requestTimeout, dropped: inFlight.dropped, chunks });
  const surface = endpoints(services, {
    build: { version: productVersion, release: options.apiRelease, from: builtFrom },
    address,
    flags: () => flagTexts(options),
    checks: [...basicChecks(cache, log), ...(encryption?.checks ?? []), ...start.checks, shutdownCheck(() => ending)],
    livezGraceMs: options.livezGracePeriod,
    clock,
    metrics,
    beforeScrape: registerStore(metrics, cache.engine, clock),
    aggregation,
    more: new Map([
      ...issuerEndpoints(issuer),
      ...(encryption?.endpoints ?? []),
      ...(flows === undefined ? [] : dumpEndpoints(flows, now)),
    ]),
    unlisted: new Map([[BACKUP_PATH, backup]]),
  });
  registerInFlight(metrics, inFlight);
  registerCollections(metrics, catalog);
  const endProcessMetrics = registerProcessMetrics(metrics, options.timeFactor);
  return {
    steps: flows === undefined || fairness === undefined ? [inFlight.step] : [inFlight.step, flows.step, fairness.step],
    serve: surface.serve,
    finished: requests.observe,
    watchEvents: (resource) => requests.watchEvents(resource),
    started: start.started,
    shuttingDown: () => {
      ending = true;
    },
    close: () => {
      fairness?.close();
      endProcessMetrics();
    },
  };
}

/** Checks of what every request needs. */
const basicChecks = (cache: Cache, log: Base['log']): HealthCheck[] => [
  ping,
  partCheck('log', () => log.problem?.()),
  // Clients and dashboards know the store by this name, whichever engine it is.
  { name: 'etcd', in: ['healthz', 'livez'], check: () => cache.engine.ping() },
  { name: 'etcd', in: ['readyz'], check: () => checkWritable(cache) },
  {
    name: 'informer-sync',
    in: ['readyz'],
    check: () => {
      if (cache.engine.exclusive && cache.revision < cache.engine.revision) throw new Error('the cache is behind the store');
    },
  },
  { name: 'store-values', in: healthPages, advisory: true, check: () => checkValues(cache) },
];

const shutdownCheck = (isEnding: () => boolean): HealthCheck => ({
  name: 'shutdown',
  in: ['readyz'],
  check: () => {
    if (isEnding()) throw new Error('process is shutting down');
  },
});

const issuerEndpoints = (issuer: SurfaceOptions['issuer']): (readonly [string, Endpoint])[] =>
  issuer === undefined
    ? []
    : [
        [configurationPath, issuerEndpoint('application/json', async () => (await issuer()).configuration)],
        [keysPath, issuerEndpoint('application/jwk-set+json', async () => (await issuer()).keys)],
      ];

/** A store that takes no writes is alive, and its reads go on; it is not ready. */
async function checkWritable({ engine }: Cache): Promise<void> {
  await engine.ping();
  if (engine.refusing !== undefined) throw new Error(engine.refusing);
}

/** Throws while the store has objects that cannot be read. */
function checkValues(cache: Cache): void {
  const counts = cache.unreadable();
  if (counts.size === 0) return;
  let objects = 0;
  for (const count of counts.values()) objects += count;
  throw new Error(`${objects} ${objects === 1 ? 'object' : 'objects'} cannot be read`);
}

const isFair = (options: ServerOptions, catalog: Catalog): boolean =>
  options.enablePriorityAndFairness && options.features.isOn('APIPriorityAndFairness') && hasFlows(catalog);

/** An administrator may have switched the group off; requests then have no flow, and the limits of number hold. */
function hasFlows(catalog: Catalog): boolean {
  for (const { kind, resources } of catalog.all()) if (kind.plural === 'flowschemas' && resources.length > 0) return true;
  return false;
}
