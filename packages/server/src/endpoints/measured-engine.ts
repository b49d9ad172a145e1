/** A store engine whose calls are timed, under the stock server's metric. */
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import type { Histogram, Metrics } from '@plat-dev/lib/metrics';
import type { Engine, Operation, RangeRequest } from '@plat-dev/storage/engine';

const seconds = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 15, 30, 60];

/** Maximum number of series; custom kinds come and go, and each has its own. Further ones are not shown. */
export const MAX_SERIES = 2_000;

/** The same engine, with the duration of every call recorded. `now` is in milliseconds. */
export function measured(engine: Engine, metrics: Metrics, now: () => number): Engine {
  const durations = metrics.histogram({
    name: 'etcd_request_duration_seconds',
    help: 'Time that calls of the store take, by operation and kind of object.',
    labels: ['operation', 'type'],
    buckets: seconds,
    maxSeries: MAX_SERIES,
  });
  /** The resource is the first part of the key. */
  const series = (operation: string): ((key: string) => Histogram) => {
    const histograms = new BoundedCache<string, Histogram>(MAX_SERIES);
    return (key) => {
      const type = typeOf(key);
      let histogram = histograms.get(type);
      if (histogram === undefined) {
        histogram = durations.with(operation, type);
        histograms.set(type, histogram);
      }
      return histogram;
    };
  };
  const timed = <T>(histogram: Histogram, work: Promise<T>): Promise<T> => {
    const start = now();
    const done = (): void => histogram.observe((now() - start) / 1000);
    work.then(done, done);
    return work;
  };
  const [gets, lists, writes] = [series('get'), series('list'), series('txn')];
  return {
    name: engine.name,
    exclusive: engine.exclusive,
    mark: engine.mark,
    get revision() {
      return engine.revision;
    },
    get compacted() {
      return engine.compacted;
    },
    currentRevision: () => engine.currentRevision(),
    get: (key: string, at?: number) => timed(gets(key), engine.get(key, at)),
    range: (request: RangeRequest) => timed(lists(request.prefix), engine.range(request)),
    commit: (operations: readonly Operation[], assigned?: (revision: number) => void) =>
      timed(writes(operations[0]?.key ?? ''), engine.commit(operations, assigned)),
    changes: (request) => timed(lists(request.prefix), engine.changes(request)),
    subscribe: (after, deliver, failed) => engine.subscribe(after, deliver, failed),
    history: engine.history,
    compact: (revision) => engine.compact(revision),
    hold: (milliseconds) => engine.hold(milliseconds),
    skipTo: (revision) => engine.skipTo(revision),
    ...(engine.keepAs !== undefined && { keepAs: engine.keepAs.bind(engine) }),
    get refusing() {
      return engine.refusing;
    },
    ping: () => engine.ping(),
    stats: () => engine.stats(),
    close: () => engine.close(),
  };
}

/** `apps/deployments/shop/web` → `apps/deployments`. */
function typeOf(key: string): string {
  const first = key.indexOf('/');
  const second = first < 0 ? -1 : key.indexOf('/', first + 1);
  return second < 0 ? '' : key.slice(0, second);
}
