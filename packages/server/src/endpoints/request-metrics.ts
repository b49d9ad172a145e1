/**
 * What is counted of every request, under the names of the stock server. The series of a request are kept where two short
 * look-ups find them, so that a request costs no text and only a few additions.
 */

import { type Counter, exponentialBuckets, type Family, type Gauge, type Histogram, type Metrics } from '@plat-dev/lib/metrics';
import type { Context } from '../context.ts';
import type { Catalog, Resource } from '../registry/catalog.ts';
import type { RequestInfo } from '../request/request-info.ts';
import type { Series } from './series.ts';

const seconds = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];
const where = ['group', 'resource', 'scope', 'subresource', 'verb', 'version'] as const;
/** Series remembered; beyond it all are forgotten, and looked up again as they come. */
const SERIES_LIMIT = 20_000;

interface Labels {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly scope: string;
  readonly verb: string;
}

export interface RequestMetricsOptions {
  readonly catalog: Catalog;
  /** Paths that are not for resources and are counted by themselves; all others are counted together. */
  readonly paths: (path: string) => string;
  /** Milliseconds on the scale of `ctx.started`. */
  readonly now: () => number;
}

export class RequestMetrics {
  private readonly options: RequestMetricsOptions;
  private readonly totals: Family<Counter>;
  private readonly durations: Family<Histogram>;
  private readonly sizes: Family<Histogram>;
  private readonly lasting: Family<Gauge>;
  private readonly deprecated: Family<Gauge>;
  private readonly events: Family<Counter>;
  private readonly seriesByRequest = new Map<string, Map<number, Series>>();
  private count = 0;
  /** Grows when series are forgotten: routes that kept one look for theirs again. */
  private epoch = 0;

  constructor(metrics: Metrics, options: RequestMetricsOptions) {
    this.options = options;
    this.totals = metrics.counter({
      name: 'apiserver_request_total',
      help: 'Requests by verb, group, version, resource, scope, component, dry run and code of the answer.',
      labels: ['code', 'component', 'dry_run', ...where],
      stability: 'STABLE',
    });
    this.durations = metrics.histogram({
      name: 'apiserver_request_duration_seconds',
      help: 'Time from the head of a request to the end of its answer.',
      labels: ['component', 'dry_run', ...where],
      buckets: seconds,
      stability: 'STABLE',
    });
    this.sizes = metrics.histogram({
      name: 'apiserver_response_sizes',
      help: 'Bytes of the answers to reading requests.',
      labels: ['component', ...where],
      buckets: exponentialBuckets(1000, 10, 7),
      stability: 'STABLE',
    });
    this.lasting = metrics.gauge({
      name: 'apiserver_longrunning_requests',
      help: 'Long-running requests in progress, such as watches.',
      labels: ['component', ...where],
      stability: 'STABLE',
    });
    this.deprecated = metrics.gauge({
      name: 'apiserver_requested_deprecated_apis',
      help: 'Deprecated resources that clients have requested, and the release that removes them.',
      labels: ['group', 'removed_release', 'resource', 'subresource', 'version'],
      stability: 'STABLE',
    });
    this.events = metrics.counter({
      name: 'apiserver_watch_events_total',
      help: 'Events sent to watches.',
      labels: ['group', 'kind', 'version'],
    });
    metrics.onCollect(() => this.showUnwatched());
    options.catalog.onRemove((kind, resources) => this.forget(kind.plural, resources));
  }

  /** Forgets the series of a custom kind that is gone: kinds may come and go all the time, each with names of its own. */
  private forget(plural: string, resources: readonly Resource[]): void {
    for (const { group, kind } of resources) {
      for (const family of [this.totals, this.durations, this.sizes, this.lasting, this.deprecated]) {
        family.removeMatching({ group, resource: plural });
      }
      this.events.removeMatching({ group, kind: kind.kind });
    }
    this.epoch++;
    this.count -= this.seriesByRequest.get(plural)?.size ?? 0;
    this.seriesByRequest.delete(plural);
  }

  /** Called once at the end of every request. */
  readonly observe = (ctx: Context): void => {
    const { info } = ctx;
    // What was refused before its path was read is nobody's resource.
    if (info === undefined) return;
    const verb = verbOf(ctx, info);
    const scope = scopeOf(info);
    const number = (ctx.status << 8) | (verb << 3) | scope;
    const { route } = ctx;
    let { series } = route;
    if (series === undefined || route.seriesNumber !== number || route.seriesEpoch !== this.epoch) {
      series = this.seriesOf(ctx, number, verb, scope);
      route.series = series.isKnownPath ? series : undefined;
      route.seriesNumber = number;
      route.seriesEpoch = this.epoch;
    }
    series.total.value++;
    series.duration.observe((this.options.now() - ctx.started) / 1000);
    if (series.size !== undefined) series.size.observe(ctx.responseBytes);
    // Controllers of this process are no clients that have to be changed before an upgrade.
    if (series.unmarked && !ctx.inProcess) this.markDeprecated(series, info);
  };

  private seriesOf(ctx: Context, number: number, verb: number, scope: number): Series {
    const { info } = ctx;
    const dryRun = ctx.search !== '' && ctx.search.includes('dryRun=All') ? 'All' : '';
    const place = info.resourceRequest ? info.resource : this.options.paths(info.path);
    let series = this.seriesByRequest.get(place)?.get(number);
    while (series !== undefined && !isOf(series, info, dryRun)) series = series.next;
    return series ?? this.find(place, number, ctx, verb, scope, dryRun);
  }

  /** Counts a lasting request in; the answer counts it out. */
  readonly begin = (ctx: Context): (() => void) => {
    const labels = this.labelsOf(ctx.info, verbOf(ctx, ctx.info), scopeOf(ctx.info))?.labels;
    if (labels === undefined) return () => {};
    const gauge = this.lasting.with('apiserver', ...values(labels));
    gauge.inc();
    return () => gauge.dec();
  };

  /** The counter of the events that watches of this resource are sent. Keep it. */
  watchEvents(resource: Resource): Counter {
    return this.events.with(resource.group, resource.kind.kind, resource.version);
  }

  private find(place: string, number: number, ctx: Context, verb: number, scope: number, dryRun: string): Series {
    const { info } = ctx;
    const labelsAndComponent = this.labelsOf(info, verb, scope);
    const labels = labelsAndComponent?.labels ?? {
      group: '',
      version: '',
      resource: '',
      subresource: '',
      scope: '',
      verb: verbs[verb] as string,
    };
    const component = labelsAndComponent?.component ?? 'apiserver';
    const all = values(labels);
    const series: Series = {
      group: info.group,
      version: info.version,
      subresource: info.subresource,
      dryRun,
      next: this.seriesByRequest.get(place)?.get(number),
      isKnownPath: labelsAndComponent !== undefined,
      total: this.totals.with(String(ctx.status), component, dryRun, ...all),
      duration: this.durations.with(component, dryRun, ...all),
      size: verb === GET || verb === LIST ? this.sizes.with(component, ...all) : undefined,
      unmarked: labelsAndComponent !== undefined && this.isDeprecated(info),
    };
    if (series.isKnownPath) this.remember(place, number, series);
    return series;
  }

  private remember(place: string, number: number, series: Series): void {
    if (this.count >= SERIES_LIMIT) {
      this.seriesByRequest.clear();
      this.count = 0;
      this.epoch++;
    }
    const numbers = this.seriesByRequest.get(place) ?? new Map<number, Series>();
    this.seriesByRequest.set(place, numbers.set(number, series));
    this.count++;
  }

  /** Undefined for a path that leads nowhere. */
  private labelsOf(info: RequestInfo, verb: number, scope: number): { labels: Labels; component: string } | undefined {
    const { group, version, resource, subresource } = info;
    if (info.resourceRequest) {
      const servedResource = this.options.catalog.find(group, version, resource);
      if (servedResource === undefined || (subresource !== '' && !Object.hasOwn(servedResource.kind.subresources, subresource)))
        return undefined;
      return { labels: { group, version, resource, subresource, ...words(verb, scope) }, component: 'apiserver' };
    }
    const path = this.options.paths(info.path);
    return path === ''
      ? undefined
      : { labels: { group: '', version: '', resource: '', subresource: path, ...words(verb, scope) }, component: '' };
  }

  private isDeprecated(info: RequestInfo): boolean {
    const resource = this.options.catalog.find(info.group, info.version, info.resource);
    return resource?.deprecation !== undefined || resource?.definition.warning !== undefined;
  }

  private markDeprecated(series: Series, info: RequestInfo): void {
    series.unmarked = false;
    // Deprecated versions of custom kinds have a warning of their own, and no release that removes them.
    const removed = this.options.catalog.find(info.group, info.version, info.resource)?.deprecation?.removed ?? '';
    this.deprecated.with(info.group, removed, info.resource, info.subresource, info.version).set(1);
  }

  /** Kinds that nobody has watched yet are shown as zero. */
  private showUnwatched(): void {
    for (const { kind, resources } of this.options.catalog.all()) {
      if (kind.verbs.includes('watch')) for (const resource of resources) this.watchEvents(resource);
    }
  }
}

const values = (l: Labels): string[] => [l.group, l.resource, l.scope, l.subresource, l.verb, l.version];

/** Words of the stock server's metrics, by number. */
const verbs = ['other', 'GET', 'LIST', 'WATCH', 'POST', 'PUT', 'PATCH', 'DELETE', 'DELETECOLLECTION', 'CONNECT', 'APPLY'] as const;
const GET = 1;
const LIST = 2;
const scopes = ['', 'resource', 'namespace', 'cluster'] as const;
const words = (verb: number, scope: number) => ({ verb: verbs[verb] as string, scope: scopes[scope] as string });

const isOf = (series: Series, info: RequestInfo, dryRun: string): boolean =>
  series.subresource === info.subresource && series.group === info.group && series.version === info.version && series.dryRun === dryRun;

function verbOf(ctx: Context, info: RequestInfo): number {
  if (info.subresource !== '' && tunnels.has(info.subresource)) return 9;
  switch (info.verb) {
    case 'get':
      return GET;
    case 'list':
      return LIST;
    case 'watch':
      return 3;
    case 'create':
    case 'post':
      return 4;
    case 'update':
    case 'put':
      return 5;
    case 'patch':
      return ctx.header('content-type')?.startsWith('application/apply-patch') === true ? 10 : 6;
    case 'delete':
      return 7;
    case 'deletecollection':
      return 8;
    default:
      return 0;
  }
}
const tunnels = new Set(['attach', 'exec', 'portforward', 'proxy']);

function scopeOf(info: RequestInfo): number {
  if (info.name !== '' || info.verb === 'create') return 1;
  if (info.namespace !== '') return 2;
  return info.resourceRequest ? 3 : 0;
}
