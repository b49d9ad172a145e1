/** The examples of workloads do what the page on workloads says. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTestServer } from '../../packages/testing/src/server.ts';
import type { TestServer } from '../../packages/testing/src/test-server.ts';
import { examplesFolder } from '../support/examples.ts';

// biome-ignore lint/suspicious/noExplicitAny: what a test looks at has no type until it has looked.
type Loose = any;
const textOf = (name: string): string => readFileSync(join(examplesFolder, 'workloads', name), 'utf8');
const serverWith = (objects: string): Promise<TestServer> =>
  startTestServer({ identity: 'kubernetes', clock: '2026-01-01T00:00:00Z', workloads: true, objects });

async function get(server: TestServer, path: string): Promise<Loose> {
  const { status, body, text } = await server.request('GET', path);
  expect(status, text).toBe(200);
  return body;
}
const shop = '/apis/apps/v1/namespaces/default/deployments/shop';
const stateOf = ({ status }: Loose, type: string): string | undefined => status.conditions?.find((one: Loose) => one.type === type)?.reason;

test('chart and failing-rollout: all of a chart becomes ready, and a version that never is ready stops at its deadline', async () => {
  await using server = await serverWith(textOf('chart.yaml'));
  await server.clock.advance('30s');
  expect((await get(server, shop)).status).toMatchObject({ availableReplicas: 3, updatedReplicas: 3 });
  expect((await get(server, '/apis/apps/v1/namespaces/default/statefulsets/cache')).status.readyReplicas).toBe(2);
  expect((await get(server, '/apis/batch/v1/namespaces/default/jobs/migrate')).status.succeeded).toBe(1);
  expect((await get(server, '/api/v1/namespaces/default/services/shop')).status.loadBalancer.ingress).toHaveLength(1);
  const applied = await server.request('PATCH', `${shop}?fieldManager=test&force=true`, {
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: textOf('failing-rollout.yaml'),
  });
  expect(applied.status, applied.text).toBe(200);
  await server.clock.advance('30s');
  const failed = await get(server, shop);
  expect([stateOf(failed, 'Progressing'), failed.status.availableReplicas]).toEqual(['ProgressDeadlineExceeded', 3]);
});

const merge = { 'content-type': 'application/merge-patch+json' };
test('blocked-drain: no pod can be evicted while the budget wants both, and one can with a third', async () => {
  await using server = await serverWith(textOf('blocked-drain.yaml'));
  await server.clock.advance('10s');
  const pods = '/api/v1/namespaces/default/pods';
  const [{ metadata }] = (await get(server, pods)).items;
  const evict = async (): Promise<number> => {
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: metadata.name } };
    return (await server.request('POST', `${pods}/${metadata.name}/eviction`, { body })).status;
  };
  expect(await evict()).toBe(429);
  const steady = '/apis/apps/v1/namespaces/default/deployments/steady';
  expect((await server.request('PATCH', steady, { headers: merge, body: { spec: { replicas: 3 } } })).status).toBe(200);
  await server.clock.advance('10s');
  expect(await evict()).toBe(201);
});

test('thousand-nodes: a day of a smaller pool, with a job each hour', async () => {
  await using server = await startTestServer({ identity: 'kubernetes', clock: '2026-01-01T00:00:00Z', workloads: true });
  await server.clock.advance('1s');
  const [pool, cron] = textOf('thousand-nodes.yaml').replace('count: 1000', 'count: 20').split('\n---\n') as [string, string];
  const headers = { 'content-type': 'application/yaml' };
  for (const [path, body] of [
    ['/apis/simulation.k8s.io/v1alpha1/nodepools', pool],
    ['/apis/batch/v1/namespaces/default/cronjobs', cron],
  ] as const) {
    const { status, text } = await server.request('POST', path, { headers, body });
    expect(status, text).toBe(201);
  }
  await server.clock.advance('24h');
  const nodes = (await get(server, '/api/v1/nodes')).items;
  const ready = nodes.filter((node: Loose) => stateOf(node, 'Ready') === 'KubeletReady');
  expect([nodes.length, ready.length]).toEqual([23, 23]);
  const { status } = await get(server, '/apis/batch/v1/namespaces/default/cronjobs/hourly');
  expect(status.lastScheduleTime).toBe('2026-01-02T00:00:00Z');
});
