import { systemClock } from '@plat-dev/lib/clock';
import { Metrics } from '@plat-dev/lib/metrics';
import { expect, test } from 'vitest';
import type { Context } from '../context.ts';
import { InFlight } from '../fairness/in-flight.ts';
import { requestInfo } from '../request/request-info.ts';
import { Routes } from '../request/route.ts';
import { MAX_SERIES, measured } from './measured-engine.ts';
import { metricsEndpoint, registerCollections, registerInFlight, registerStore } from './metrics-endpoint.ts';
import { RequestMetrics } from './request-metrics.ts';
import { ask, testServices } from './testing.ts';

async function setup() {
  const { catalog, engine } = await testServices();
  const metrics = new Metrics({ version: '1.24' });
  const routes = new Routes();
  let now = 0;
  const requests = new RequestMetrics(metrics, { catalog, paths: (path) => (path === '/healthz' ? path : ''), now: () => now });
  const finished = (
    method: string,
    path: string,
    status: number,
    options: { type?: string; bytes?: number; millis?: number; inProcess?: boolean } = {},
  ): void => {
    now = options.millis ?? 3;
    const route = routes.of(method, path);
    requests.observe({
      route,
      info: route.info,
      method,
      search: route.search,
      status,
      started: 0,
      responseBytes: options.bytes ?? 0,
      header: () => options.type,
      inProcess: options.inProcess ?? false,
    } as unknown as Context);
  };
  const lines = (name: string): string[] =>
    metrics
      .expose()
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`));
  return { metrics, requests, catalog, engine, finished, lines };
}
const pods = '/api/v1/namespaces/a/pods';

test('requests are counted by what they asked for and how they ended', async () => {
  const { finished, lines } = await setup();
  finished('GET', pods, 200);
  finished('GET', pods, 200);
  finished('GET', `${pods}/one`, 404);
  finished('POST', `${pods}?dryRun=All`, 201);
  finished('PATCH', '/apis/apps/v1/namespaces/a/deployments/one/scale', 200, { type: 'application/apply-patch+yaml' });
  finished('GET', '/healthz', 200);
  expect(lines('apiserver_request_total')).toEqual([
    'apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="pods",scope="namespace",subresource="",verb="LIST",version="v1"} 2',
    'apiserver_request_total{code="200",component="apiserver",dry_run="",group="apps",resource="deployments",scope="resource",subresource="scale",verb="APPLY",version="v1"} 1',
    'apiserver_request_total{code="200",component="",dry_run="",group="",resource="",scope="",subresource="/healthz",verb="GET",version=""} 1',
    'apiserver_request_total{code="404",component="apiserver",dry_run="",group="",resource="pods",scope="resource",subresource="",verb="GET",version="v1"} 1',
    'apiserver_request_total{code="201",component="apiserver",dry_run="All",group="",resource="pods",scope="resource",subresource="",verb="POST",version="v1"} 1',
  ]);
});

test('what clients invent shares one series', async () => {
  const { finished, lines } = await setup();
  for (let i = 0; i < 50; i++) {
    finished('GET', `/apis/made.up/v1/things${i}`, 404);
    finished('GET', `/nothing/${i}`, 404);
    finished('GET', `${pods}/one/invented${i}`, 404);
    finished(`ODD${i}`, `${pods}`, 405);
  }
  const seen = lines('apiserver_request_total');
  expect(seen.length).toBeLessThanOrEqual(4);
  expect(seen.join()).not.toMatch(/things|nothing|invented|ODD/);
});

test('durations and sizes fall into their buckets', async () => {
  const { finished, metrics } = await setup();
  finished('GET', pods, 200, { bytes: 5000, millis: 30 });
  const text = metrics.expose();
  expect(text).toMatch(/apiserver_request_duration_seconds_bucket\{[^}]*resource="pods"[^}]*le="0.025"\} 0\n/);
  expect(text).toMatch(/apiserver_request_duration_seconds_bucket\{[^}]*resource="pods"[^}]*le="0.05"\} 1\n/);
  expect(text).toMatch(/apiserver_response_sizes_sum\{[^}]*resource="pods"[^}]*\} 5000\n/);
});

test('deprecated resources that clients have requested are shown with the release that removes them', async () => {
  const { finished, lines } = await setup();
  // The garbage collector of the process reads all resources.
  finished('GET', '/apis/batch/v1beta1/cronjobs', 200, { inProcess: true });
  finished('GET', '/apis/policy/v1beta1/podsecuritypolicies', 200, { inProcess: true });
  expect(lines('apiserver_requested_deprecated_apis')).toEqual([]);
  finished('GET', '/apis/batch/v1beta1/cronjobs', 200);
  finished('GET', '/apis/batch/v1/cronjobs', 200);
  expect(lines('apiserver_requested_deprecated_apis')).toEqual([
    'apiserver_requested_deprecated_apis{group="batch",removed_release="1.25",resource="cronjobs",subresource="",version="v1beta1"} 1',
  ]);
});

test('watches are counted while they last, and their events as they are sent', async () => {
  const { requests, catalog, lines } = await setup();
  const ctx = {
    info: requestInfo('GET', pods, (name) => (name === 'watch' ? '1' : undefined)),
    header: () => undefined,
  } as unknown as Context;
  const shown = (count: number) => [
    `apiserver_longrunning_requests{component="apiserver",group="",resource="pods",scope="namespace",subresource="",verb="WATCH",version="v1"} ${count}`,
  ];
  const end = requests.begin(ctx);
  expect(lines('apiserver_longrunning_requests')).toEqual(shown(1));
  end();
  expect(lines('apiserver_longrunning_requests')).toEqual(shown(0));
  requests.watchEvents(catalog.builtin('', 'pods')).inc();
  const events = lines('apiserver_watch_events_total');
  expect(events).toContain('apiserver_watch_events_total{group="",kind="Pod",version="v1"} 1');
  expect(events).toContain('apiserver_watch_events_total{group="apps",kind="Deployment",version="v1"} 0');
});

test('a scrape shows what is under way, what is stored and how the store does', async () => {
  const { metrics, catalog, engine } = await setup();
  const inFlight = new InFlight({ reading: 1, mutating: 1 });
  inFlight.reading = 7;
  registerInFlight(metrics, inFlight);
  registerCollections(metrics, catalog);
  const store = measured(engine, metrics, () => 0);
  await store.commit([{ type: 'put', key: 'other/things/one', value: Buffer.from('text') }]);
  const { text, headers } = await ask(metricsEndpoint(metrics, registerStore(metrics, engine, systemClock), '1.24'), '/metrics', {
    accept: 'application/json',
  });
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(text).toContain('apiserver_current_inflight_requests{request_kind="readOnly"} 7\n');
  expect(text).toContain('# TYPE apiserver_storage_objects gauge\n');
  expect(text).toContain('apiserver_storage_objects{resource="deployments.apps"} 0\n');
  expect(text).toContain('etcd_request_duration_seconds_count{operation="txn",type="other/things"} 1\n');
  expect(text).toContain('apiserver_storage_revision{engine="memory"} 1\n');
});

test('scrapes at the same time show every series once, and what was counted before them', async () => {
  const metrics = new Metrics({ version: '1.24' });
  const anew = metrics.gauge({ name: 'anew', help: '', labels: ['n'] });
  let collected = 0;
  metrics.onCollect(() => {
    collected++;
    anew.clear();
    for (let n = 0; n < 3_000; n++) anew.with(String(n)).set(collected);
  });
  const endpoint = metricsEndpoint(metrics, async () => {}, '1.36');
  const answers = await Promise.all(Array.from({ length: 4 }, () => ask(endpoint, '/metrics')));
  for (const { text, headers } of answers) {
    const series = text.match(/^anew\{n="\d+"\} \d+$/gm) ?? [];
    expect(new Set(series.map((line) => line.split(' ')[0])).size).toBe(3_000);
    expect(series).toHaveLength(3_000);
    expect(new Set(series.map((line) => line.split(' ')[1])).size).toBe(1);
    expect(headers['content-length']).toBe(String(Buffer.byteLength(text)));
  }
  // The first made one of its own, the others share the one that began when that was done.
  expect(collected).toBe(2);
  expect((await ask(endpoint, '/metrics')).text).toContain('anew{n="0"} 3\n');
});

test('a scrape that fails does not keep those that wait for the next', async () => {
  const metrics = new Metrics({ version: '1.24' });
  metrics.counter({ name: 'c', help: '' });
  let fails = true;
  const endpoint = metricsEndpoint(
    metrics,
    async () => {
      const failing = fails;
      fails = false;
      if (failing) throw new Error('no figures');
    },
    '1.24',
  );
  const answers = await Promise.allSettled([ask(endpoint, '/metrics'), ask(endpoint, '/metrics')]);
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
});

test('calls of the store are shown for a bounded number of kinds', async () => {
  const { metrics, engine } = await setup();
  const store = measured(engine, metrics, () => 0);
  for (let n = 0; n < MAX_SERIES + 100; n++) await store.get(`group/things${n}/one`);
  expect(metrics.expose().match(/^etcd_request_duration_seconds_count/gm)).toHaveLength(MAX_SERIES);
});

test('series of a kind that is gone are forgotten, and those of others stay', async () => {
  const { finished, lines, catalog, metrics } = await setup();
  for (let i = 0; i < 3; i++) finished('GET', pods, 404);
  finished('GET', pods, 200);
  finished('GET', '/api/v1/namespaces/a/configmaps', 200);
  const kind = catalog.find('', 'v1', 'pods')?.kind;
  catalog.remove(kind as NonNullable<typeof kind>, false);
  expect(metrics.expose()).not.toContain('resource="pods"');
  expect(metrics.expose()).not.toContain('kind="Pod"');
  expect(lines('apiserver_request_total')).toEqual([
    'apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="configmaps",scope="namespace",subresource="",verb="LIST",version="v1"} 1',
  ]);
  // A request that ends after its kind went leads nowhere, and is counted so.
  finished('GET', pods, 404);
  expect(metrics.expose()).not.toContain('resource="pods"');
});
