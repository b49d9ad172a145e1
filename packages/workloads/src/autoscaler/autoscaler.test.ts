import { FakeApi, fakeKinds, type Loose, runControllers, type TestRun } from '@plat-dev/controllers/testing';
import { expect, test } from 'vitest';
import type { WorkloadPod } from '../shared/pods.ts';
import type { Autoscaler } from './autoscaler.ts';
import { autoscalerController } from './controller.ts';
import { History, limit } from './limits.ts';
import { byAverage, byUtilization, byValue, byValuePerPod, groupPods, type PodMetric, tolerancesOf } from './replicas.ts';

const start = Date.UTC(2024, 0, 1);
const time = (second: number): string => new Date(start + second * 1000).toISOString().replace('.000', '');

/** A running pod that has been ready for long. */
function pod(name: string, more: Loose = {}): WorkloadPod {
  return {
    metadata: { name, namespace: 'a', labels: { app: 'web' }, ...more.metadata },
    spec: { containers: [{ name: 'c', resources: { requests: { cpu: more.request ?? '1' } } }] },
    status: {
      phase: 'Running',
      startTime: time(-3600),
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: time(-3500) }],
      ...more.status,
    },
  } as unknown as WorkloadPod;
}
const metricsOf = (values: Record<string, number>): Map<string, PodMetric> =>
  new Map(Object.entries(values).map(([name, value]) => [name, { value, at: start, window: 30_000 }]));

test('pods are grouped by whether their metrics can be used', () => {
  const condition = (status: string, second: number): Loose => [{ type: 'Ready', status, lastTransitionTime: time(second) }];
  const pods = [
    pod('fine'),
    pod('going', { metadata: { deletionTimestamp: time(0) } }),
    pod('failed', { status: { phase: 'Failed' } }),
    pod('pending', { status: { phase: 'Pending' } }),
    pod('silent'),
    // Started lately: the metric has to be of a time in which it was ready.
    pod('young', { status: { startTime: time(-60), conditions: condition('True', -20) } }),
    pod('younger', { status: { startTime: time(-60), conditions: condition('True', -30) } }),
    // Never ready, and ready once.
    pod('never', { status: { startTime: time(-3600), conditions: condition('False', -3590) } }),
    pod('once', { status: { startTime: time(-3600), conditions: condition('False', -60) } }),
  ];
  const names = ['fine', 'going', 'failed', 'young', 'younger', 'never', 'once'];
  const metrics = metricsOf(Object.fromEntries(names.map((name) => [name, 1])));
  expect(groupPods(pods, metrics, 'cpu', start)).toEqual({
    ready: 3,
    unready: ['pending', 'young', 'never'],
    missing: ['silent'],
    ignored: ['going', 'failed'],
  });
  expect(groupPods(pods, metrics, 'memory', start).unready).toEqual(['pending']);
});

test('replicas by the use of what pods request', () => {
  const pods = ['a', 'b', 'c'].map((name) => pod(name));
  const by = (values: Record<string, number>, target: number, all = pods): Loose => {
    const input = { current: 3, pods: all, metrics: metricsOf(values), resource: 'cpu', now: start };
    return byUtilization(input, target);
  };
  expect(by({ a: 900, b: 900, c: 900 }, 30)).toEqual({ replicas: 9, utilization: 90, value: 900 });
  expect(by({ a: 300, b: 300, c: 300 }, 90).replicas).toBe(1);
  // Within the tolerance nothing changes.
  expect(by({ a: 540, b: 540, c: 540 }, 50).replicas).toBe(3);
  expect(by({ a: 560, b: 560, c: 560 }, 50).replicas).toBe(4);
  // A pod without metrics: full use on the way down, none on the way up.
  expect(by({ a: 100, b: 100 }, 50).replicas).toBe(3);
  expect(by({ a: 10, b: 10 }, 100).replicas).toBe(2);
  expect(by({ a: 900, b: 900 }, 50).replicas).toBe(4);
  expect(by({ a: 600, b: 600 }, 50).replicas).toBe(3);
  // A pod that is not ready uses nothing on the way up.
  const unready = [pod('a'), pod('b'), pod('c', { status: { phase: 'Pending' } })];
  expect(by({ a: 900, b: 900 }, 50, unready).replicas).toBe(4);
  expect(() => by({ x: 1 }, 50)).toThrow('no metrics returned matched known pods');
  expect(() => by({}, 50)).toThrow('did not receive metrics for any ready pods');
  expect(() => by({ a: 1 }, 50, [])).toThrow('no pods returned by selector');
  expect(() => by({ a: 1 }, 50, [{ ...pod('a'), spec: { containers: [{ name: 'c' }] } } as Loose])).toThrow('missing request for cpu');
  const odd = { current: 3, pods, metrics: metricsOf({ a: 1, b: 1, c: 1 }), resource: 'constructor', now: start };
  expect(() => byUtilization(odd, 50)).toThrow('missing request for constructor');
});

test('replicas by averages and values', () => {
  const pods = ['a', 'b', 'c'].map((name) => pod(name));
  const input = { current: 3, pods, metrics: metricsOf({ a: 20_000, b: 10_000, c: 30_000 }), now: start };
  expect(byAverage(input, 10_000)).toEqual({ replicas: 6, value: 20_000 });
  expect(byValue(3, pods, 20_000, 10_000)).toEqual({ replicas: 6, value: 20_000 });
  expect(byValue(3, pods, 10_500, 10_000).replicas).toBe(3);
  expect(byValue(0, [], 25_000, 10_000).replicas).toBe(3);
  expect(byValuePerPod(3, 60_000, 10_000)).toEqual({ replicas: 6, value: 20_000 });
  expect(byValuePerPod(3, 31_000, 10_000)).toEqual({ replicas: 3, value: 10_334 });
});

test('an autoscaler may say which change is too small, for each direction', () => {
  const pods = ['a', 'b', 'c'].map((name) => pod(name));
  const tolerances = tolerancesOf({ scaleUp: { tolerance: '500m' }, scaleDown: { tolerance: '0' } });
  expect([tolerances, tolerancesOf({ scaleUp: {} }).up]).toEqual([{ up: 0.5, down: 0 }, 0.1]);
  const by = (value: number): number =>
    byUtilization({ current: 3, pods, metrics: metricsOf({ a: value, b: value, c: value }), resource: 'cpu', now: start, tolerances }, 50)
      .replicas;
  expect([by(750), by(760), by(500), by(330)]).toEqual([3, 5, 3, 2]);
  expect([byValue(3, pods, 15_000, 10_000, tolerances).replicas, byValuePerPod(3, 45_000, 10_000, tolerances).replicas]).toEqual([3, 3]);
});

const scaler = (spec: Loose): Autoscaler => ({ metadata: {}, spec: { minReplicas: 1, maxReplicas: 100, ...spec } }) as Autoscaler;

test('without a behavior replicas grow to twice as many at a time, and shrink after five minutes', () => {
  const history = new History();
  history.begin(3, start);
  const at = (second: number, current: number, proposed: number, spec: Loose = {}): unknown => {
    const { replicas, able, limit: met, isLimited } = limit(scaler(spec), history, current, proposed, start + second * 1000);
    return [replicas, able.reason, isLimited ? met.reason : ''];
  };
  expect(at(0, 3, 50)).toEqual([6, 'ReadyForNewScale', 'ScaleUpLimit']);
  expect(at(15, 1, 50, { maxReplicas: 3 })).toEqual([3, 'ReadyForNewScale', 'TooManyReplicas']);
  expect(at(30, 6, 2)).toEqual([12, 'ScaleDownStabilized', 'ScaleUpLimit']);
  expect(at(316, 6, 2)).toEqual([2, 'ReadyForNewScale', '']);
  expect(at(1000, 6, 0, { minReplicas: 2 })).toEqual([2, 'ReadyForNewScale', 'TooFewReplicas']);
});

test('policies limit how many pods come and go in their period', () => {
  const policy = (type: string, value: number, periodSeconds = 60): Loose => ({ type, value, periodSeconds });
  const up = (scaleUp: Loose): Loose => ({ behavior: { scaleUp: { stabilizationWindowSeconds: 0, ...scaleUp }, scaleDown: {} } });
  const down = (scaleDown: Loose): Loose => ({ behavior: { scaleUp: {}, scaleDown: { stabilizationWindowSeconds: 0, ...scaleDown } } });
  const to = (spec: Loose, current: number, proposed: number, before?: (history: History) => void): number => {
    const history = new History();
    before?.(history);
    return limit(scaler(spec), history, current, proposed, start).replicas;
  };
  const both = [policy('Pods', 4), policy('Percent', 100)];
  expect(to(up({ policies: both }), 3, 50)).toBe(7);
  expect(to(up({ policies: both }), 10, 50)).toBe(20);
  expect(to(up({ policies: both, selectPolicy: 'Min' }), 10, 50)).toBe(14);
  expect(to(up({ policies: both, selectPolicy: 'Disabled' }), 10, 50)).toBe(10);
  // Four have come within the period.
  expect(to(up({ policies: [policy('Pods', 4)] }), 10, 50, (history) => history.scaled(6, 10, start - 30_000))).toBe(10);
  expect(to(up({ policies: [policy('Pods', 4)] }), 10, 50, (history) => history.scaled(6, 10, start - 60_000))).toBe(14);
  expect(to(down({ policies: both }), 10, 1)).toBe(1);
  expect(to(down({ policies: [policy('Pods', 4), policy('Percent', 10)] }), 20, 1)).toBe(16);
  expect(to(down({ policies: [policy('Pods', 4), policy('Percent', 10)], selectPolicy: 'Min' }), 20, 1)).toBe(18);
  expect(to(down({ policies: both, selectPolicy: 'Disabled' }), 10, 1)).toBe(10);
});

test('a window upwards takes the lowest recommendation, one downwards the highest', () => {
  const spec = { behavior: { scaleUp: { stabilizationWindowSeconds: 60 }, scaleDown: { stabilizationWindowSeconds: 120 } } };
  const history = new History();
  const at = (second: number, current: number, proposed: number): unknown => {
    const { replicas, able } = limit(scaler(spec), history, current, proposed, start + second * 1000);
    return [replicas, able.reason];
  };
  expect(at(0, 5, 6)).toEqual([6, 'ReadyForNewScale']);
  expect(at(30, 6, 8)).toEqual([6, 'ScaleUpStabilized']);
  expect(at(61, 6, 8)).toEqual([8, 'ReadyForNewScale']);
  expect(at(100, 8, 2)).toEqual([8, 'ScaleDownStabilized']);
  expect(at(182, 8, 2)).toEqual([2, 'ReadyForNewScale']);
});

// ---- the controller on a fake server ---------------------------------------------------------------------------------

const scalerKind = {
  group: 'autoscaling',
  version: 'v2',
  name: 'horizontalpodautoscalers',
  kind: 'HorizontalPodAutoscaler',
  namespaced: true,
};
const widgetKind = { group: 'example.com', version: 'v1', name: 'widgets', kind: 'Widget', namespaced: true };
const eventKind = { group: '', version: 'v1', name: 'events', kind: 'Event', namespaced: true };

interface World {
  readonly api: FakeApi;
  readonly run: TestRun;
  /** Replicas of the target, and what the metrics APIs answer by path. */
  readonly target: { replicas: number; selector: string };
  readonly answers: Map<string, Loose>;
  put(spec: Loose): Promise<void>;
  status(): Loose;
  condition(type: string): string;
  events(): string[];
}
function world(): World {
  const api = new FakeApi([scalerKind, widgetKind, eventKind, fakeKinds.pods, fakeKinds.definitions, fakeKinds.apiServices]);
  const target = { replicas: 2, selector: 'app=web' };
  const answers = new Map<string, Loose>();
  api.answer = (method, path, body) => {
    if (path.endsWith('/widgets/w/scale')) {
      if (method === 'PUT') target.replicas = body.spec.replicas;
      const { replicas, selector } = target;
      return { metadata: { name: 'w', namespace: 'a' }, spec: { replicas }, status: { replicas, selector } };
    }
    for (const [place, items] of answers) if (decodeURIComponent(path).startsWith(place)) return { items };
    return undefined;
  };
  const run = runControllers(api, [autoscalerController]);
  const status = (): Loose => api.get(scalerKind, 'a', 's').status;
  return {
    api,
    run,
    target,
    answers,
    async put(spec) {
      api.put(scalerKind, {
        metadata: { name: 's', namespace: 'a', uid: 'u' },
        spec: {
          scaleTargetRef: { apiVersion: 'example.com/v1', kind: 'Widget', name: 'w' },
          minReplicas: 1,
          maxReplicas: 10,
          metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }],
          ...spec,
        },
        status: api.get(scalerKind, 'a', 's')?.status ?? { desiredReplicas: 0, currentMetrics: null },
      });
      await run.idle();
    },
    status,
    condition(type) {
      const found = status().conditions.find((one: Loose) => one.type === type);
      return `${found?.status} ${found?.reason}`;
    },
    events: () => api.all(eventKind).map(({ reason, message }) => `${reason}: ${message}`),
  };
}
const usage = (values: Record<string, string>): Loose =>
  Object.entries(values).map(([name, cpu]) => ({
    metadata: { name, namespace: 'a' },
    timestamp: time(0),
    window: '30s',
    containers: [{ name: 'c', usage: { cpu } }],
  }));
const podsPath = '/apis/metrics.k8s.io/v1beta1/namespaces/a/pods?labelSelector=app=web';

test('an autoscaler of a custom kind follows the CPU of its pods, every fifteen seconds', async () => {
  const { api, run, target, answers, put, status, condition, events } = world();
  for (const name of ['a', 'b']) api.put(fakeKinds.pods, pod(name));
  answers.set(podsPath, usage({ a: '900m', b: '700m' }));
  await put({});
  expect(target.replicas).toBe(4);
  expect(status()).toMatchObject({
    currentReplicas: 2,
    desiredReplicas: 4,
    lastScaleTime: time(0),
    currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 80, averageValue: '800m' } } }],
  });
  expect(['AbleToScale', 'ScalingActive', 'ScalingLimited'].map(condition)).toEqual([
    'True SucceededRescale',
    'True ValidMetricFound',
    'False DesiredWithinRange',
  ]);
  expect(events()).toEqual(['SuccessfulRescale: New size: 4; reason: cpu resource utilization (percentage of request) above target']);
  // Lower use has an effect when the higher recommendations are five minutes old.
  for (const name of ['c', 'd']) api.put(fakeKinds.pods, pod(name));
  answers.set(podsPath, usage({ a: '100m', b: '100m', c: '100m', d: '100m' }));
  await run.pass(15_000);
  expect([target.replicas, condition('AbleToScale')]).toEqual([4, 'True ScaleDownStabilized']);
  await run.pass(300_000);
  expect(target.replicas).toBe(1);
  expect(events().at(-1)).toBe('SuccessfulRescale: New size: 1; reason: All metrics below target');
  expect(run.failures).toEqual([]);
  await run.stop();
});

test('replicas outside of the limits are brought back without metrics, and none are left alone', async () => {
  const { run, target, put, condition, events } = world();
  target.replicas = 20;
  await put({ maxReplicas: 5 });
  expect([target.replicas, events().at(-1)]).toEqual([
    5,
    'SuccessfulRescale: New size: 5; reason: Current number of replicas above Spec.MaxReplicas',
  ]);
  target.replicas = 1;
  await put({ minReplicas: 3 });
  expect([target.replicas, events().at(-1)]).toEqual([
    3,
    'SuccessfulRescale: New size: 3; reason: Current number of replicas below Spec.MinReplicas',
  ]);
  target.replicas = 0;
  await run.pass(15_000);
  expect([target.replicas, condition('ScalingActive')]).toEqual([0, 'False ScalingDisabled']);
  await run.stop();
});

test('what cannot be read is reported, and nothing is removed while a metric is unknown', async () => {
  const { api, run, target, answers, put, status, condition, events } = world();
  api.put(fakeKinds.pods, pod('a'));
  await put({});
  expect(condition('ScalingActive')).toBe('False FailedGetResourceMetric');
  const message =
    'failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)';
  expect(events()).toEqual([
    `FailedGetResourceMetric: ${message}`,
    `FailedComputeMetricsReplicas: invalid metrics (1 invalid out of 1), first error is: ${message}`,
  ]);
  expect(status().conditions.find(({ type }: Loose) => type === 'ScalingActive').message).toBe(
    `the HPA was unable to compute the replica count: ${message}`,
  );
  answers.set('/apis/external.metrics.k8s.io/v1beta1/namespaces/a/queue?labelSelector=q=1', [{ value: '3' }, { value: '500m' }]);
  const external = (value: string): Loose => ({
    type: 'External',
    external: { metric: { name: 'queue', selector: { matchLabels: { q: '1' } } }, target: { type: 'AverageValue', averageValue: value } },
  });
  const cpu = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } };
  await put({ metrics: [cpu, external('10')] });
  expect([target.replicas, condition('ScalingActive')]).toEqual([2, 'False FailedGetResourceMetric']);
  await put({ metrics: [cpu, external('500m')] });
  expect([target.replicas, condition('ScalingActive')]).toEqual([4, 'True ValidMetricFound']);
  await run.stop();
});

test('a metrics API that is not there is named as on a stock server', async () => {
  const { api, run, put, events } = world();
  api.put(fakeKinds.pods, pod('a'));
  const target = { type: 'AverageValue', averageValue: '1' };
  await put({
    metrics: [
      { type: 'Pods', pods: { metric: { name: 'hits' }, target } },
      { type: 'External', external: { metric: { name: 'queue' }, target } },
    ],
  });
  expect(events()).toEqual(
    expect.arrayContaining([
      expect.stringContaining('unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered'),
      expect.stringContaining(
        'unable to fetch metrics from external metrics API: the server could not find the requested resource (get queue.external.metrics.k8s.io)',
      ),
    ]),
  );
  expect(events().join()).not.toContain('page not found');
  await run.stop();
});

test('a target that is not there or has no selector is reported', async () => {
  const { run, target, put, condition, events } = world();
  await put({ scaleTargetRef: { apiVersion: 'example.com/v1', kind: 'Gadget', name: 'w' } });
  expect([condition('AbleToScale'), events()]).toEqual([
    'False FailedGetScale',
    ['FailedGetScale: no matches for kind "Gadget" in version "example.com/v1"'],
  ]);
  target.selector = '';
  await put({});
  expect(condition('ScalingActive')).toBe('False InvalidSelector');
  await run.stop();
});

test('metrics of pods, of an object and from outside', async () => {
  const { api, run, target, answers, put, status } = world();
  for (const name of ['a', 'b']) api.put(fakeKinds.pods, pod(name));
  const custom = '/apis/custom.metrics.k8s.io/v1beta2/namespaces/a';
  answers.set(`${custom}/pods/*/hits?labelSelector=app=web`, [
    { describedObject: { name: 'a' }, value: '10', timestamp: time(0) },
    { describedObject: { name: 'b' }, value: '20', timestamp: time(0) },
  ]);
  answers.set(`${custom}/widgets.example.com/w/length`, [{ describedObject: { name: 'w' }, value: '9' }]);
  await put({
    metrics: [
      { type: 'Pods', pods: { metric: { name: 'hits' }, target: { type: 'AverageValue', averageValue: '10' } } },
      {
        type: 'Object',
        object: {
          metric: { name: 'length' },
          describedObject: { apiVersion: 'example.com/v1', kind: 'Widget', name: 'w' },
          target: { type: 'Value', value: '10' },
        },
      },
    ],
  });
  expect(target.replicas).toBe(3);
  expect(status().currentMetrics).toEqual([
    { type: 'Pods', pods: { metric: { name: 'hits' }, current: { averageValue: '15' } } },
    {
      type: 'Object',
      object: {
        metric: { name: 'length' },
        describedObject: { apiVersion: 'example.com/v1', kind: 'Widget', name: 'w' },
        current: { value: '9' },
      },
    },
  ]);
  await run.stop();
});

test('a refused scale is reported and retried with the next period', async () => {
  const { api, run, target, put, condition, events } = world();
  target.replicas = 20;
  let refused = 0;
  api.before = (method, path) => {
    if (method === 'PUT' && path.endsWith('/scale') && refused++ === 0) FakeApi.refuse(403, 'Forbidden', 'no');
  };
  await put({});
  expect([condition('AbleToScale'), events()]).toEqual([
    'False FailedUpdateScale',
    ['FailedRescale: New size: 10; reason: Current number of replicas above Spec.MaxReplicas; error: no'],
  ]);
  await run.pass(15_000);
  expect(target.replicas).toBe(10);
  await run.stop();
});
