import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import type { Endpoint } from './endpoint.ts';
import { type HealthCheck, type HealthPage, healthEndpoints, healthPages, ping, startStep } from './health.ts';
import { ask } from './testing.ts';

interface Setup {
  get(path: string): Promise<{ status: number; text: string }>;
  reports: string[];
  clock: FakeClock;
}
function setup(checks: readonly HealthCheck[], livezGraceMs = 0): Setup {
  const clock = new FakeClock(1000);
  const reports: string[] = [];
  const report = (page: HealthPage, failures: readonly string[]) => reports.push(`${page} ${failures.join('; ')}`);
  const paths = healthEndpoints({ checks, livezGraceMs, startedAt: clock.now(), clock, report });
  return {
    async get(path) {
      const { status, text, headers } = await ask(paths.get(path.split('?')[0] as string) as Endpoint, path);
      expect([headers['content-type'], headers['x-content-type-options']]).toEqual(['text/plain; charset=utf-8', 'nosniff']);
      return { status, text };
    },
    reports,
    clock,
  };
}
const good = (name: string, pages: readonly HealthPage[] = healthPages): HealthCheck => ({ name, in: pages, check: () => {} });
const bad = (name: string, pages: readonly HealthPage[] = healthPages): HealthCheck => ({
  name,
  in: pages,
  check: async () => {
    throw new Error(`${name} is broken`);
  },
});

test('a page is short unless it is asked to be verbose', async () => {
  const { get } = setup([ping, good('etcd'), good('informer-sync', ['readyz'])]);
  expect(await get('/livez')).toEqual({ status: 200, text: 'ok' });
  expect(await get('/livez?verbose')).toEqual({ status: 200, text: '[+]ping ok\n[+]etcd ok\nlivez check passed\n' });
  expect((await get('/readyz?verbose=false')).text).toBe('[+]ping ok\n[+]etcd ok\n[+]informer-sync ok\nreadyz check passed\n');
});

test('checks can be excluded, and unknown names are reported', async () => {
  const { get } = setup([ping, bad('etcd')]);
  expect(await get('/healthz?exclude=etcd')).toEqual({ status: 200, text: 'ok' });
  expect((await get('/healthz?verbose&exclude=etcd&exclude=b&exclude=a')).text).toBe(
    '[+]ping ok\n[+]etcd excluded: ok\nwarn: some health checks cannot be excluded: no matches for "a", "b"\nhealthz check passed\n',
  );
});

test('a failure is always listed in full, but not its reason: that is in the log and under the path of the check itself', async () => {
  const { get, reports } = setup([ping, bad('etcd')]);
  expect(await get('/readyz')).toEqual({ status: 500, text: '[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n' });
  expect(reports).toEqual(['readyz etcd: etcd is broken']);
  expect(await get('/readyz/etcd')).toEqual({ status: 500, text: 'internal server error: etcd is broken\n' });
  expect(await get('/readyz/ping')).toEqual({ status: 200, text: 'ok' });
});

test('a check has paths only under the pages it belongs to', () => {
  const paths = healthEndpoints({
    checks: [good('shutdown', ['readyz'])],
    livezGraceMs: 0,
    startedAt: 0,
    clock: new FakeClock(),
    report: () => {},
  });
  expect([...paths.keys()]).toEqual(['/healthz', '/livez', '/readyz', '/readyz/shutdown']);
});

test('liveness forgives failures for the grace period, readiness does not', async () => {
  const { get, clock } = setup([bad('etcd')], 5000);
  expect((await get('/livez')).status).toBe(200);
  expect((await get('/readyz')).status).toBe(500);
  await clock.advance(5001);
  expect((await get('/livez')).status).toBe(500);
});

test('a step of the start passes once it is done', async () => {
  const step = startStep('bootstrap-roles');
  const { get } = setup([step]);
  expect(await get('/healthz/poststarthook/bootstrap-roles')).toEqual({ status: 500, text: 'internal server error: not finished\n' });
  step.done();
  expect((await get('/healthz?verbose')).text).toBe('[+]poststarthook/bootstrap-roles ok\nhealthz check passed\n');
});

test('a check that does not answer has failed after five seconds', async () => {
  const { get, clock } = setup([{ name: 'etcd', in: healthPages, check: () => new Promise(() => {}) }]);
  const asked = get('/readyz/etcd');
  expect(clock.pending).toBe(1);
  await clock.advance(4999);
  expect(clock.pending).toBe(1);
  await clock.advance(1);
  expect(await asked).toEqual({ status: 500, text: 'internal server error: no answer in time\n' });
  expect(clock.pending).toBe(0);
});
