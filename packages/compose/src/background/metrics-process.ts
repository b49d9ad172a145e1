/** Metrics of the process itself: memory, CPU time, event loop lag, speed of the time of objects. */
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import type { Metrics } from '@plat-dev/lib/metrics';

const second = 1e9;

/** Registers the metrics; the returned function ends their measurement. */
export function registerProcessMetrics(metrics: Metrics, timeFactor: number): () => void {
  const gauge = (name: string, help: string) => metrics.gauge({ name, help, stability: 'ALPHA' }).with();
  const memory = gauge('process_resident_memory_bytes', 'Resident memory size in bytes.');
  const heap = gauge('nodejs_heap_size_used_bytes', 'Bytes of the heap in use.');
  const external = gauge('nodejs_external_memory_bytes', 'Bytes held outside of the heap by objects within it.');
  const processor = metrics.counter({ name: 'process_cpu_seconds_total', help: 'Total user and system CPU time spent in seconds.' }).with();
  gauge('process_start_time_seconds', 'Start time of the process since unix epoch in seconds.').set(
    Math.round(performance.timeOrigin / 1000),
  );
  gauge('apiserver_time_factor', 'How much faster time passes for objects and controllers than for the machine.').set(timeFactor);
  const lag = gauge('nodejs_eventloop_lag_p99_seconds', 'The 99th percentile of the delay of the event loop since the last scrape.');
  const longest = gauge('nodejs_eventloop_lag_max_seconds', 'The longest delay of the event loop since the last scrape.');
  const collections = metrics.counter({ name: 'nodejs_gc_duration_seconds_total', help: 'Time spent collecting garbage.' }).with();

  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) collections.inc(entry.duration / 1000);
  });
  observer.observe({ entryTypes: ['gc'] });

  metrics.onCollect(() => {
    const usage = process.memoryUsage();
    memory.set(usage.rss);
    heap.set(usage.heapUsed);
    external.set(usage.external);
    const cpu = process.cpuUsage();
    processor.value = (cpu.user + cpu.system) / 1e6;
    lag.set(delay.percentile(99) / second);
    longest.set(delay.max / second);
    delay.reset();
  });
  return () => {
    delay.disable();
    observer.disconnect();
  };
}
