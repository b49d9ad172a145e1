/** `/metrics`: the metrics of the server, in the text format of Prometheus. */
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import type { Metrics } from '@plat-dev/lib/metrics';
import { metricsContentType } from '@plat-dev/lib/metrics';
import { Slices } from '@plat-dev/lib/slices';
import { isAtLeast } from '@plat-dev/lib/version';
import type { Engine } from '@plat-dev/storage/engine';
import type { Connections } from '../connections/connection-limits.ts';
import type { InFlight } from '../fairness/in-flight.ts';
import type { Catalog } from '../registry/catalog.ts';
import { send } from '../response/respond.ts';
import type { Endpoint } from './endpoint.ts';

/** How long a scrape waits for the size of the store. */
const STATS_WAIT_MS = 1000;

/**
 * `refresh` is awaited first, for values that are read asynchronously. The series of all kinds come to megabytes: they are made in
 * slices. One scrape is made at a time; those that arrive meanwhile share the next.
 */
/** Releases from this one on say how names with other characters are written. */
const ESCAPING_SINCE = '1.33';

export function metricsEndpoint(metrics: Metrics, refresh: () => Promise<void>, release: string): Endpoint {
  const contentType = isAtLeast(release, ESCAPING_SINCE) ? `${metricsContentType}; escaping=underscores` : metricsContentType;
  let current: Promise<Buffer> | undefined;
  let next: Promise<Buffer> | undefined;
  const scrape = (): Promise<Buffer> => {
    if (current !== undefined) {
      next ??= current.then(again, again);
      return next;
    }
    current = make(metrics, refresh).finally(() => {
      current = undefined;
    });
    return current;
  };
  const again = (): Promise<Buffer> => {
    next = undefined;
    return scrape();
  };
  return async (ctx) => send(ctx, 200, contentType, await scrape());
}

async function make(metrics: Metrics, refresh: () => Promise<void>): Promise<Buffer> {
  await refresh();
  const slices = new Slices();
  const chunks: Buffer[] = [];
  for (const piece of metrics.pieces()) {
    chunks.push(Buffer.from(piece));
    if (slices.due) await slices.pause();
  }
  return Buffer.concat(chunks);
}

export function registerInFlight(metrics: Metrics, inFlight: InFlight): void {
  const current = metrics.gauge({
    name: 'apiserver_current_inflight_requests',
    help: 'Requests in progress, without long-running ones, by kind.',
    labels: ['request_kind'],
    stability: 'STABLE',
  });
  const dropped = metrics.counter({
    name: 'apiserver_dropped_requests_total',
    help: 'Requests that were rejected with 429.',
    labels: ['request_kind'],
  });
  metrics.onCollect(() => {
    current.with('mutating').set(inFlight.mutating);
    current.with('readOnly').set(inFlight.reading);
    dropped.with('mutating').value = inFlight.droppedMutating;
    dropped.with('readOnly').value = inFlight.droppedReading;
  });
}

export function registerConnections(metrics: Metrics, connections: Connections): void {
  const open = metrics.gauge({ name: 'apiserver_open_connections', help: 'Connections that are open.' }).with();
  const refused = metrics.counter({
    name: 'apiserver_refused_connections_total',
    help: 'Connections that were closed as they came, by the bound that was reached.',
    labels: ['bound'],
  });
  metrics.onCollect(() => {
    open.set(connections.open);
    for (const [bound, count] of Object.entries(connections.refused)) refused.with(bound).value = count;
  });
}

/** Objects and watches by kind, counted on each scrape. */
export function registerCollections(metrics: Metrics, catalog: Catalog): void {
  const objects = metrics.gauge({
    name: 'apiserver_storage_objects',
    help: 'Stored objects at the time of the last look, by kind.',
    labels: ['resource'],
    stability: 'STABLE',
  });
  const watchers = metrics.gauge({
    name: 'apiserver_registered_watchers',
    help: 'Watches that are open, by kind.',
    labels: ['group', 'kind', 'version'],
  });
  const unreadable = metrics.gauge({
    name: 'apiserver_storage_unreadable_objects',
    help: 'Stored objects that cannot be read and are set aside, by kind.',
    labels: ['resource'],
  });
  metrics.onCollect(() => {
    unreadable.clear();
    objects.clear();
    watchers.clear();
    for (const { kind, resources } of catalog.all()) {
      const [first] = resources;
      if (first?.collection === undefined || kind.sharesStoreOf !== undefined) continue;
      const resource = first.group === '' ? kind.plural : `${kind.plural}.${first.group}`;
      // While it is loaded the number is not known.
      if (first.collection.pending === undefined) objects.with(resource).set(first.collection.items.size);
      if (first.collection.unreadable !== undefined) unreadable.with(resource).set(first.collection.unreadable.size);
      watchers.with(first.group, kind.kind, first.hub.version).set(first.collection.watchers);
    }
  });
}

/** Size of the store. Returns what a scrape must await. */
export function registerStore(metrics: Metrics, engine: Engine, clock: Clock): () => Promise<void> {
  const stats = metrics.gauge({ name: 'apiserver_storage_engine', help: 'Figures of the store.', labels: ['engine', 'fact'] });
  const revision = metrics
    .gauge({ name: 'apiserver_storage_revision', help: 'The newest revision.', labels: ['engine'] })
    .with(engine.name);
  return async () => {
    revision.set(engine.revision);
    let cancel: Cancel | undefined;
    const timeout = new Promise<Record<string, number>>((resolve) => {
      cancel = clock.after(STATS_WAIT_MS, () => resolve({}));
    });
    // Health checks report a store that does not answer; the other metrics are still served.
    const facts = await Promise.race([engine.stats().catch(() => ({})), timeout]);
    cancel?.();
    for (const [fact, value] of Object.entries(facts)) stats.with(engine.name, fact).set(value);
  };
}
