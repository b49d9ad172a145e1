/** Metrics of the controllers, under the names of stock controllers. */
import { exponentialBuckets, type Metrics } from '@plat-dev/lib/metrics';

export interface QueueMetrics {
  added(depth: number): void;
  dequeued(depth: number, waitedMs: number): void;
  done(tookMs: number): void;
  retried(): void;
}
export interface ControllerMetrics {
  queue(name: string): QueueMetrics;
  leading(name: string, leads: boolean): void;
}

const seconds = exponentialBuckets(0.00001, 10, 8);
const labels = ['name'];

/** Registers the metrics once for all controllers of a process. */
export function controllerMetrics(metrics: Metrics): ControllerMetrics {
  const depth = metrics.gauge({ name: 'workqueue_depth', help: 'Current depth of workqueue', labels });
  const adds = metrics.counter({ name: 'workqueue_adds_total', help: 'Total number of adds handled by workqueue', labels });
  const retries = metrics.counter({ name: 'workqueue_retries_total', help: 'Total number of retries handled by workqueue', labels });
  const waited = metrics.histogram({
    name: 'workqueue_queue_duration_seconds',
    help: 'How long in seconds an item stays in workqueue before being requested.',
    labels,
    buckets: seconds,
  });
  const worked = metrics.histogram({
    name: 'workqueue_work_duration_seconds',
    help: 'How long in seconds processing an item from workqueue takes.',
    labels,
    buckets: seconds,
  });
  const leader = metrics.gauge({
    name: 'leader_election_master_status',
    help: 'Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master.',
    labels,
  });
  return {
    queue(name) {
      const series = {
        depth: depth.with(name),
        adds: adds.with(name),
        retries: retries.with(name),
        waited: waited.with(name),
        worked: worked.with(name),
      };
      return {
        added(now) {
          series.depth.set(now);
          series.adds.inc();
        },
        dequeued(now, waitedMs) {
          series.depth.set(now);
          series.waited.observe(waitedMs / 1000);
        },
        done: (tookMs) => series.worked.observe(tookMs / 1000),
        retried: () => series.retries.inc(),
      };
    },
    leading: (name, leads) => leader.with(name).set(leads ? 1 : 0),
  };
}
