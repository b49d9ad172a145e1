/** What the overview takes out of the metrics of a server: totals of a moment, and what two moments say together. */

/** Totals at a moment. Counters grow until the server starts again. */
export interface Totals {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly requests: number;
  /** Requests that were answered with 5xx. */
  readonly failures: number;
  /** Requests that took at most so many seconds, watches and the like left out; the last bound is infinite. */
  readonly durations: ReadonlyMap<number, number>;
  /** Requests that wait for a seat. */
  readonly waiting: number;
  /** Keys that wait in the queues of controllers. */
  readonly queued: number;
  readonly objects: number;
  readonly memoryBytes: number;
  readonly processorSeconds: number;
}

/** A moment of the charts; null where it cannot be said. */
export interface Point {
  readonly at: number;
  readonly requestRate: number | null;
  readonly failureRate: number | null;
  /** Seconds. */
  readonly median: number | null;
  readonly slowest: number | null;
  readonly waiting: number | null;
  readonly queued: number | null;
  readonly objects: number | null;
  readonly memoryBytes: number | null;
  /** Of a core: 1 is one core that does nothing else. */
  readonly processor: number | null;
}

const longRunning = /verb="(WATCH|CONNECT|WATCHLIST)"/;
const line = /^([a-zA-Z_:][\w:]*)(\{.*\})? (\S+)/;

/** Reads the text format of Prometheus. Metrics that a server does not have count as zero. */
export function readTotals(text: string, at: number): Totals {
  const sums = { requests: 0, failures: 0, waiting: 0, queued: 0, objects: 0, memoryBytes: 0, processorSeconds: 0 };
  const durations = new Map<number, number>();
  for (const one of text.split('\n')) {
    if (!wantedStart.test(one)) continue;
    const [, name = '', labels = '', number = ''] = line.exec(one) ?? [];
    const value = Number(number);
    if (!Number.isFinite(value) || value < 0) continue;
    if (name === 'apiserver_request_total') {
      sums.requests += value;
      if (/code="5/.test(labels)) sums.failures += value;
    } else if (name === 'apiserver_request_duration_seconds_bucket') {
      if (longRunning.test(labels)) continue;
      const bound = boundOf(labels);
      durations.set(bound, (durations.get(bound) ?? 0) + value);
    } else if (name === 'apiserver_flowcontrol_current_inqueue_requests') sums.waiting += value;
    else if (name === 'workqueue_depth') sums.queued += value;
    else if (name === 'apiserver_storage_objects') sums.objects += value;
    else if (name === 'process_resident_memory_bytes') sums.memoryBytes = value;
    else if (name === 'process_cpu_seconds_total') sums.processorSeconds = value;
  }
  return { at, ...sums, durations };
}
/** Most lines are about something else, and are not looked at further. */
const wantedStart =
  /^(apiserver_request_(total|duration_seconds_bucket)|apiserver_flowcontrol_current_inqueue|workqueue_depth|apiserver_storage_objects|process_)/;

function boundOf(labels: string): number {
  const [, text = ''] = /le="([^"]*)"/.exec(labels) ?? [];
  return text === '+Inf' ? Number.POSITIVE_INFINITY : Number(text);
}

/** Longer than this between two moments, and nothing is said about the time between them. */
export const LONGEST_GAP_MILLIS = 60_000;

/** What happened between two moments. Without the first one, or after a restart of the server, only sizes are known. */
export function pointOf(earlier: Totals | undefined, now: Totals): Point {
  const { at, waiting, queued, objects, memoryBytes } = now;
  const sizes = { at, waiting, queued, objects, memoryBytes };
  const seconds = earlier === undefined ? 0 : (at - earlier.at) / 1000;
  const isRestarted = earlier !== undefined && now.processorSeconds < earlier.processorSeconds;
  if (earlier === undefined || isRestarted || now.requests < earlier.requests || seconds <= 0 || seconds * 1000 > LONGEST_GAP_MILLIS)
    return { ...sizes, requestRate: null, failureRate: null, median: null, slowest: null, processor: null };
  const durations = new Map([...now.durations].map(([bound, count]) => [bound, count - (earlier.durations.get(bound) ?? 0)]));
  return {
    ...sizes,
    requestRate: (now.requests - earlier.requests) / seconds,
    failureRate: (now.failures - earlier.failures) / seconds,
    median: quantileOf(durations, 0.5),
    slowest: quantileOf(durations, 0.99),
    processor: (now.processorSeconds - earlier.processorSeconds) / seconds,
  };
}

/** The duration that a part of the requests does not exceed, drawn straight between the bounds; null without requests. */
export function quantileOf(durations: ReadonlyMap<number, number>, part: number): number | null {
  const buckets = [...durations].sort(([one], [other]) => one - other);
  const total = buckets.at(-1)?.[1] ?? 0;
  if (total <= 0) return null;
  const rank = total * part;
  let [lowerBound, lowerCount] = [0, 0];
  for (const [bound, count] of buckets) {
    if (count >= rank) {
      if (bound === Number.POSITIVE_INFINITY) return lowerBound;
      return lowerBound + ((bound - lowerBound) * (rank - lowerCount)) / Math.max(count - lowerCount, 1);
    }
    [lowerBound, lowerCount] = [bound, count];
  }
  return lowerBound;
}
