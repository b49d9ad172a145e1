import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '../../packages/lib/src/log.ts';
import { recordedText } from '../../packages/lib/src/testing/recordings.testing.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes' });
});
afterAll(() => server.close());

test.each(['/healthz', '/livez', '/readyz'])('%s: short, in full, in part', async (page) => {
  expect((await server.admin.get(page)).text).toBe('ok');
  const verbose = (await server.admin.get(`${page}?verbose`)).text;
  expect(verbose).toMatch(/^\[\+\]ping ok\n\[\+\]log ok\n\[\+\]etcd ok\n/);
  expect(verbose).toMatch(new RegExp(`\n${page.slice(1)} check passed\n$`));
  expect((await server.admin.get(`${page}/ping`)).text).toBe('ok');
  expect((await server.admin.get(`${page}/nothing`)).status).toBe(404);
  expect((await server.admin.get(`${page}?verbose&exclude=etcd`)).text).toContain('[+]etcd excluded: ok\n');
});

test('every check of a stock server is there, alone and excluded', async () => {
  const recorded = recordedText('api-facts', 'health-checks.txt');
  expect((await server.admin.get('/readyz?verbose')).text).toBe(recorded);
  const names = [...recorded.matchAll(/^\[\+\](\S+) ok$/gm)].map(([, name]) => name as string);
  expect(names.length).toBeGreaterThan(20);
  for (const page of ['/healthz', '/livez', '/readyz'])
    for (const name of names) {
      // Whether the server is to be given requests is no question of its life.
      const there = page === '/readyz' || (name !== 'informer-sync' && name !== 'shutdown');
      const alone = await server.admin.get(`${page}/${name}`);
      expect([page, name, alone.status, there ? alone.text : '']).toEqual([page, name, there ? 200 : 404, there ? 'ok' : '']);
      const excluded = await server.admin.get(`${page}?verbose=1&exclude=${encodeURIComponent(name)}`);
      expect(excluded.text.includes(`[+]${name} excluded: ok\n`), `${page} ${name}`).toBe(there);
      expect(excluded.text.includes(`no matches for "${name}"\n`), `${page} ${name}`).toBe(!there);
    }
});

test('what is behind a check is for those who may ask for it', async () => {
  expect((await server.anonymous.get('/readyz?verbose')).status).toBe(200);
  expect((await server.anonymous.get('/readyz/ping')).status).toBe(403);
  expect((await server.alice.get('/livez/etcd')).status).toBe(403);
});

test('without fairness its checks are not there', async () => {
  const other = await startTestServer({ identity: 'kubernetes', enablePriorityAndFairness: false });
  const { text } = await other.admin.get('/readyz?verbose');
  await other.close();
  expect(text).toContain('[+]poststarthook/priority-and-fairness-config-producer ok');
  expect(text).not.toMatch(/config-consumer|fairness-filter/);
});

test('a store that does not answer fails every page, and only the store is named', async () => {
  const { engine } = server as unknown as { engine: { ping(): Promise<void> } };
  const { ping } = engine;
  engine.ping = async () => {
    throw new Error('no answer');
  };
  for (const page of ['/healthz', '/livez', '/readyz']) {
    const answer = await server.admin.get(page);
    expect(answer.status).toBe(500);
    expect(answer.text.match(/^\[-\].*$/gm)).toEqual(['[-]etcd failed: reason withheld']);
    expect((await server.admin.get(`${page}?exclude=etcd`)).status).toBe(200);
  }
  engine.ping = ping;
  expect((await server.admin.get('/readyz')).status).toBe(200);
});

const failing = async (client: TestServer['admin']): Promise<string[]> =>
  ((await client.get('/readyz?verbose')).text.match(/^\[-\]\S+/gm) ?? []).map((line) => line.slice(3));

test('a log that loses lines fails its own check alone, and while it does', async () => {
  let lost: string | undefined;
  const other = await startTestServer({ identity: 'kubernetes', log: { ...silentLog, problem: () => lost } });
  expect(await failing(other.admin)).toEqual([]);
  lost = '3 lines were dropped';
  expect(await failing(other.admin)).toEqual(['log']);
  expect((await other.admin.get('/livez/log')).text).toBe('internal server error: 3 lines were dropped\n');
  lost = undefined;
  expect(await failing(other.admin)).toEqual([]);
  await other.close();
});

test('metrics count requests, watches and objects under stock names', async () => {
  const path = `/api/v1/namespaces/${await server.namespace()}/secrets`;
  await server.admin.ok('POST', path, { metadata: { name: 'a' } });
  await server.admin.get(`${path}/absent`);
  const watch = await server.admin.watch(`${path}?watch=1`);
  await watch.next();
  const answer = await server.admin.get('/metrics');
  expect(answer.headers['content-type']).toContain('text/plain');
  const lines = answer.text.split('\n');
  const value = (pattern: RegExp): number =>
    Number(
      lines
        .find((line) => pattern.test(line))
        ?.split(' ')
        .at(-1),
    );
  expect(value(/^apiserver_request_total\{.*code="201".*resource="secrets".*verb="POST".*\}/)).toBe(1);
  expect(value(/^apiserver_request_total\{.*code="404".*resource="secrets".*verb="GET".*\}/)).toBe(1);
  expect(value(/^apiserver_request_duration_seconds_count\{.*resource="secrets".*verb="POST".*\}/)).toBe(1);
  expect(value(/^apiserver_longrunning_requests\{.*resource="secrets".*verb="WATCH".*\}/)).toBeGreaterThanOrEqual(1);
  expect(value(/^apiserver_watch_events_total\{.*kind="Secret".*\}/)).toBeGreaterThanOrEqual(1);
  expect(value(/^apiserver_storage_objects\{resource="secrets"\}/)).toBe(1);
  expect(value(/^process_resident_memory_bytes /)).toBeGreaterThan(1e7);
  watch.close();
});

test('version and root', async () => {
  expect((await server.admin.get('/version')).json).toMatchObject({
    major: '1',
    minor: '24',
    gitVersion: expect.stringMatching(/^v1\.24\./),
  });
  const { paths } = (await server.admin.get('/')).json;
  expect(paths).toEqual(
    expect.arrayContaining(['/api', '/api/v1', '/apis', '/apis/apps', '/apis/apps/v1', '/healthz', '/metrics', '/openapi/v2', '/version']),
  );
});
