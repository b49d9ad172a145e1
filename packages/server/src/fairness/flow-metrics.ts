/** Metrics of priority levels and flow schemas, under the names of a stock server. Handles are looked up once per schema. */
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import { Counter, type Family, Gauge, Histogram, type Metrics } from '@plat-dev/lib/metrics';
import type { Level } from './level.ts';

const reasons = ['queue-full', 'concurrency-limit', 'time-out', 'cancelled'] as const;
export type Reason = (typeof reasons)[number];

const seconds = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];
const lengths = [0, 10, 25, 50, 100, 250, 500, 1000];
const widths = [1, 2, 4, 10];
const PREFIX = 'apiserver_flowcontrol_';
/** Maximum series of one metric: schemas are objects that users create. */
const MAX_SERIES = 2000;

/** The metrics of one schema at one level. */
export interface SchemaMetrics {
  readonly dispatched: Counter;
  readonly executing: Gauge;
  readonly seats: Gauge;
  readonly waiting: Gauge;
  readonly waited: Histogram;
  readonly waitedInVain: Histogram;
  readonly ran: Histogram;
  readonly queueLength: Histogram;
  readonly width: Histogram;
  rejected(reason: Reason): Counter;
}

interface Families {
  readonly dispatched: Family<Counter>;
  readonly rejected: Family<Counter>;
  readonly waiting: Family<Gauge>;
  readonly executing: Family<Gauge>;
  readonly seats: Family<Gauge>;
  readonly limit: Family<Gauge>;
  readonly waited: Family<Histogram>;
  readonly ran: Family<Histogram>;
  readonly queueLength: Family<Histogram>;
  readonly width: Family<Histogram>;
}

function families(metrics: Metrics): Families {
  const labels = ['priority_level', 'flow_schema'];
  const about = (name: string, help: string, more: readonly string[] = []) => ({
    name: `${PREFIX}${name}`,
    help,
    labels: [...labels, ...more],
    maxSeries: MAX_SERIES,
  });
  return {
    dispatched: metrics.counter(about('dispatched_requests_total', 'Requests that were given seats.')),
    rejected: metrics.counter(about('rejected_requests_total', 'Requests that were rejected, by reason.', ['reason'])),
    waiting: metrics.gauge(about('current_inqueue_requests', 'Requests that wait in queues.')),
    executing: metrics.gauge(about('current_executing_requests', 'Requests that hold seats.')),
    seats: metrics.gauge(about('request_concurrency_in_use', 'Seats that are taken.')),
    limit: metrics.gauge({ name: `${PREFIX}request_concurrency_limit`, help: 'Seats of a priority level.', labels: ['priority_level'] }),
    waited: metrics.histogram({ ...about('request_wait_duration_seconds', 'Time in queues.', ['execute']), buckets: seconds }),
    ran: metrics.histogram({ ...about('request_execution_seconds', 'Time for which requests held seats.'), buckets: seconds }),
    queueLength: metrics.histogram({
      ...about('request_queue_length_after_enqueue', 'Length of a queue as a request that was put into it saw it.'),
      buckets: lengths,
    }),
    width: metrics.histogram({ ...about('work_estimated_seats', 'Seats that requests were estimated to need.'), buckets: widths }),
  };
}

export class FlowMetrics {
  private readonly families: Families | undefined;
  private readonly metricsBySchema = new BoundedCache<string, SchemaMetrics>(MAX_SERIES);
  private levels: readonly Level[] = [];

  /** Without a registry everything is counted and not shown. */
  constructor(metrics?: Metrics) {
    if (metrics === undefined) return;
    const metricFamilies = families(metrics);
    this.families = metricFamilies;
    metrics.onCollect(() => {
      metricFamilies.limit.clear();
      for (const level of this.levels) if (!level.exempt) metricFamilies.limit.with(level.name).set(level.limit);
    });
  }

  keepLevels(levels: readonly Level[]): void {
    this.levels = levels;
  }

  of(level: string, schema: string): SchemaMetrics {
    const key = `${level}\n${schema}`;
    let schemaMetrics = this.metricsBySchema.get(key);
    if (schemaMetrics === undefined) {
      schemaMetrics = this.make(level, schema);
      this.metricsBySchema.set(key, schemaMetrics);
    }
    return schemaMetrics;
  }

  private make(level: string, schema: string): SchemaMetrics {
    const metricFamilies = this.families;
    if (metricFamilies === undefined) {
      const counter = new Counter();
      const [gauge, histogram] = [() => new Gauge(), () => new Histogram(seconds)];
      return {
        dispatched: new Counter(),
        executing: gauge(),
        seats: gauge(),
        waiting: gauge(),
        waited: histogram(),
        waitedInVain: histogram(),
        ran: histogram(),
        queueLength: histogram(),
        width: histogram(),
        rejected: () => counter,
      };
    }
    return {
      dispatched: metricFamilies.dispatched.with(level, schema),
      executing: metricFamilies.executing.with(level, schema),
      seats: metricFamilies.seats.with(level, schema),
      waiting: metricFamilies.waiting.with(level, schema),
      waited: metricFamilies.waited.with(level, schema, 'true'),
      waitedInVain: metricFamilies.waited.with(level, schema, 'false'),
      ran: metricFamilies.ran.with(level, schema),
      queueLength: metricFamilies.queueLength.with(level, schema),
      width: metricFamilies.width.with(level, schema),
      rejected: (reason) => metricFamilies.rejected.with(level, schema, reason),
    };
  }
}
