import { expect, test } from 'vitest';
import { pointOf, quantileOf, readTotals } from './metrics.ts';

const text = (requests: number, processor = 1) => `
# HELP apiserver_request_total Requests.
# TYPE apiserver_request_total counter
apiserver_request_total{code="200",verb="LIST",resource="pods"} ${requests}
apiserver_request_total{code="503",verb="GET",resource="pods"} 2
apiserver_request_duration_seconds_bucket{verb="LIST",le="0.1"} ${requests}
apiserver_request_duration_seconds_bucket{verb="LIST",le="+Inf"} ${requests}
apiserver_request_duration_seconds_bucket{verb="WATCH",le="+Inf"} 900
apiserver_flowcontrol_current_inqueue_requests{priority_level="a"} 1
apiserver_flowcontrol_current_inqueue_requests{priority_level="b"} 2
workqueue_depth{name="job"} 4
apiserver_storage_objects{resource="pods"} 10
apiserver_storage_objects{resource="secrets"} -1
process_resident_memory_bytes 1.5e+08
process_cpu_seconds_total ${processor}
`;

test('totals are summed over labels; watches are no latencies, and a size that is not known counts as nothing', () => {
  const { durations, ...sums } = readTotals(text(10), 5000);
  expect(sums).toEqual({
    at: 5000,
    requests: 12,
    failures: 2,
    waiting: 3,
    queued: 4,
    objects: 10,
    memoryBytes: 1.5e8,
    processorSeconds: 1,
  });
  expect([...durations]).toEqual([
    [0.1, 10],
    [Number.POSITIVE_INFINITY, 10],
  ]);
});

test('rates are those between two moments', () => {
  const point = pointOf(readTotals(text(10), 0), readTotals(text(60, 1.5), 10_000));
  expect(point).toMatchObject({ requestRate: 5, failureRate: 0, median: 0.05, processor: 0.05, queued: 4 });
});

test('without an earlier moment, after a restart and after a long gap there is no rate', () => {
  const noRates = { requestRate: null, median: null, processor: null, objects: 10 };
  expect(pointOf(undefined, readTotals(text(10), 0))).toMatchObject(noRates);
  expect(pointOf(readTotals(text(10, 9), 0), readTotals(text(20, 1), 10_000))).toMatchObject(noRates);
  expect(pointOf(readTotals(text(10), 0), readTotals(text(20, 2), 60_001))).toMatchObject(noRates);
});

test('a quantile lies between the bounds of its bucket, and beyond the last bound it is that bound', () => {
  const durations = new Map([
    [Number.POSITIVE_INFINITY, 100],
    [1, 90],
    [0.1, 50],
  ]);
  expect([0.25, 0.5, 0.9, 0.99].map((part) => quantileOf(durations, part))).toEqual([0.05, 0.1, 1, 1]);
  expect(quantileOf(new Map(), 0.5)).toBeNull();
});
