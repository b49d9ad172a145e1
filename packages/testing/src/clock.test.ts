/** Time under the control of a test: what expires does so in order, and is done when `advance` is. */
import { generateKeyPairSync } from 'node:crypto';
import { FakeClock } from '@plat-dev/lib/clock';
import { groupName } from '@plat-dev/meta/identity';
import { makeRequest } from '@plat-dev/pki';
import { afterEach, describe, expect, test } from 'vitest';
import { startTestServer } from './server.ts';
import type { TestServer } from './test-server.ts';

let server: TestServer;
afterEach(() => server.close());

async function good(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const answer = await server.request(method, path, { ...(body !== undefined && { body }) });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body as Record<string, unknown>;
}
const statusOf = async (path: string): Promise<number> => (await server.request('GET', path)).status;
const start = '2026-01-01T00:00:00Z';

test('objects have the time of the server, and time moves only when the test says so', async () => {
  server = await startTestServer({ clock: start });
  const stamp = async (name: string) =>
    ((await good('POST', '/api/v1/namespaces', { metadata: { name } })).metadata as { creationTimestamp: string }).creationTimestamp;
  expect(await stamp('a')).toBe(start);
  await server.clock.advance('1h30m');
  expect(await stamp('b')).toBe('2026-01-01T01:30:00Z');
  await server.clock.advance(500);
  expect(server.clock.now()).toBe(Date.parse(start) + 5_400_500);
});

test('tokens expire', async () => {
  server = await startTestServer({ clock: start });
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  await good('POST', accounts, { metadata: { name: 'robot' } });
  const { status } = await good('POST', `${accounts}/robot/token`, { spec: { expirationSeconds: 3600 } });
  const asked = async () =>
    (await server.request('GET', '/api', { headers: { authorization: `Bearer ${(status as { token: string }).token}` } })).status;
  await server.clock.advance('59m59s');
  expect(await asked()).toBe(200);
  await server.clock.advance('2m');
  expect(await asked()).toBe(401);
});

test('events expire, each at its time', async () => {
  server = await startTestServer({ clock: start, server: { eventTtl: 3_600_000 } });
  const events = '/api/v1/namespaces/default/events';
  const event = (name: string) => ({
    metadata: { name },
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' },
    reason: 'Test',
    message: 'm',
    type: 'Normal',
  });
  await good('POST', events, event('one'));
  await server.clock.advance('10m');
  await good('POST', events, event('two'));
  await server.clock.advance('50m');
  expect([await statusOf(`${events}/one`), await statusOf(`${events}/two`)]).toEqual([404, 200]);
  await server.clock.advance('10m');
  expect(await statusOf(`${events}/two`)).toBe(404);
});

test('history is forgotten: a list at a version from before gets 410', async () => {
  server = await startTestServer({ clock: start, server: { historyRules: ['configmaps=never'] } });
  const maps = '/api/v1/namespaces/default/configmaps';
  const { metadata } = await good('POST', maps, { metadata: { name: 'one' } });
  const { resourceVersion } = metadata as { resourceVersion: string };
  for (const value of ['a', 'b']) await good('PUT', `${maps}/one`, { metadata: { name: 'one' }, data: { value } });
  const list = `${maps}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`;
  expect(await statusOf(list)).toBe(200);
  await server.clock.advance('10m');
  expect(await statusOf(list)).toBe(410);
});

describe('with controllers', () => {
  test('finished Jobs go when their time is over', async () => {
    server = await startTestServer({ clock: start, controllers: ['ttl-after-finished', 'garbagecollector'] });
    const jobs = `/apis/batch/v1/namespaces/default/jobs`;
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] } };
    for (const [name, ttl] of [
      ['short', 60],
      ['long', 600],
    ] as const) {
      const job = await good('POST', jobs, { metadata: { name }, spec: { ttlSecondsAfterFinished: ttl, template } });
      const condition = { type: 'Complete', status: 'True', lastTransitionTime: start, lastProbeTime: start };
      await good('PUT', `${jobs}/${name}/status`, { ...job, status: { conditions: [condition], completionTime: start, startTime: start } });
    }
    await server.clock.advance('59s');
    expect([await statusOf(`${jobs}/short`), await statusOf(`${jobs}/long`)]).toEqual([200, 200]);
    await server.clock.advance('1s');
    expect([await statusOf(`${jobs}/short`), await statusOf(`${jobs}/long`)]).toEqual([404, 200]);
    await server.clock.advance('9m');
    expect(await statusOf(`${jobs}/long`)).toBe(404);
  });

  test('certificate requests that nobody approves go after a day', async () => {
    server = await startTestServer({ clock: start, controllers: ['csrcleaner'] });
    const group = groupName(server.identity, 'certificates');
    const path = `/apis/${group}/v1/certificatesigningrequests`;
    const pem = makeRequest({ commonName: 'jane', organizations: [] }, generateKeyPairSync('ec', { namedCurve: 'P-256' }));
    await good('POST', path, {
      metadata: { name: 'mine' },
      spec: { request: Buffer.from(pem).toString('base64'), signerName: 'example.com/mine', usages: ['client auth'] },
    });
    await server.clock.advance('23h');
    expect(await statusOf(`${path}/mine`)).toBe(200);
    await server.clock.advance('1h');
    expect(await statusOf(`${path}/mine`)).toBe(404);
  });

  test('what a request sets going is done when the server has settled', async () => {
    server = await startTestServer({ clock: start, controllers: true });
    await good('POST', '/api/v1/namespaces', { metadata: { name: 'a' } });
    await server.settled();
    expect(await statusOf('/api/v1/namespaces/a/serviceaccounts/default')).toBe(200);
    await good('DELETE', '/api/v1/namespaces/a');
    await server.clock.advance('1m');
    expect(await statusOf('/api/v1/namespaces/a')).toBe(404);
  });
});

test('a fork has a clock of its own, from where that of the snapshot stood', async () => {
  server = await startTestServer({ clock: start });
  await server.clock.advance('1h');
  const snapshot = await server.snapshot();
  await server.clock.advance('1h');
  await using fork = await snapshot.fork();
  expect(fork.clock.now()).toBe(Date.parse('2026-01-01T01:00:00Z'));
  await fork.clock.advance('1m');
  expect(server.clock.now()).toBe(Date.parse('2026-01-01T02:00:00Z'));
});

test('several servers may share a clock; the clock of the machine cannot be moved', async () => {
  const clock = new FakeClock(Date.parse(start));
  server = await startTestServer({ clock });
  await using other = await startTestServer({ clock });
  await server.clock.advance('1h');
  expect(other.clock.now()).toBe(server.clock.now());
  await using real = await startTestServer();
  await expect(real.clock.advance('1h')).rejects.toThrow("start it with { clock: 'fake' }");
  await expect(startTestServer({ clock: 'tomorrow' })).rejects.toThrow('is not a time');
  await expect(server.clock.advance('-1h')).rejects.toThrow('forward only');
});
