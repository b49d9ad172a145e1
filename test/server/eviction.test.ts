/** Evictions: pods go, and budgets are charged with them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  // Nobody else writes the status of a budget.
  server = await startTestServer({ direct: true, identity: 'kubernetes', controllers: ['serviceaccount'] });
});
afterAll(() => server.close());

const labels = { app: 'x' };
const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
const patch = async (path: string, body: Loose): Promise<void> => expect((await server.admin.patch(path, body)).status).toBe(200);

interface World {
  readonly core: string;
  readonly budget: string;
  evict(name: string, more?: Loose, query?: string): Promise<{ status: number; json: Loose }>;
}

/** Pods that run, and a budget over them. */
async function world(pods: readonly string[], allowed: number, phase: Loose = ready): Promise<World> {
  const namespace = await server.namespace();
  const core = `/api/v1/namespaces/${namespace}`;
  const budgets = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;
  const spec = { automountServiceAccountToken: false, nodeName: 'n', containers: [{ name: 'c', image: 'app:1' }] };
  for (const name of pods) {
    await server.admin.ok('POST', `${core}/pods`, { metadata: { name, labels }, spec });
    await patch(`${core}/pods/${name}/status`, { status: phase });
  }
  await server.admin.ok('POST', budgets, { metadata: { name: 'b' }, spec: { minAvailable: 1, selector: { matchLabels: labels } } });
  const status = {
    observedGeneration: 1,
    disruptionsAllowed: allowed,
    currentHealthy: pods.length,
    desiredHealthy: 1,
    expectedPods: pods.length,
  };
  await patch(`${budgets}/b/status`, { status });
  return {
    core,
    budget: `${budgets}/b`,
    evict: (name, more = {}, query = '') => server.admin.post(`${core}/pods/${name}/eviction${query}`, { metadata: { name }, ...more }),
  };
}

test('an eviction deletes the pod and is charged to its budget', async () => {
  const { core, budget, evict } = await world(['a', 'b'], 1);
  expect((await evict('a', { deleteOptions: { gracePeriodSeconds: 7 } })).status).toBe(201);
  const { json: pod } = await server.admin.get(`${core}/pods/a`);
  expect(pod.metadata.deletionGracePeriodSeconds).toBe(7);
  const { json } = await server.admin.get(budget);
  expect(json.status).toMatchObject({ disruptionsAllowed: 0, disruptedPods: { a: expect.any(String) } });
  expect(json.status.conditions).toMatchObject([{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }]);
  const refused = await evict('b');
  expect(refused.status).toBe(429);
  expect(refused.json.details.causes).toEqual([
    { reason: 'DisruptionBudget', message: 'The disruption budget b needs 1 healthy pods and has 2 currently' },
  ]);
  expect((await server.admin.get(`${core}/pods/b`)).json.metadata.deletionTimestamp).toBeUndefined();
});

test('evictions at the same time share no allowance', async () => {
  const names = Array.from({ length: 12 }, (_, i) => `p${i}`);
  const { budget, evict } = await world(names, 5);
  const answers = await Promise.all(names.map((name) => evict(name, { deleteOptions: { gracePeriodSeconds: 0 } })));
  const codes = answers.map(({ status }) => status);
  expect(codes.filter((code) => code === 201)).toHaveLength(5);
  expect(codes.filter((code) => code === 429)).toHaveLength(7);
  const { json } = await server.admin.get(budget);
  expect(json.status.disruptionsAllowed).toBe(0);
  expect(Object.keys(json.status.disruptedPods)).toHaveLength(5);
});

test.each([
  ['in the query', {}, '?dryRun=All'],
  ['in the body', { deleteOptions: { dryRun: ['All'] } }, ''],
])('a dry run %s asks the budget and costs nothing', async (_name, more, query) => {
  const { core, budget, evict } = await world(['a'], 1);
  expect((await evict('a', more, query)).status).toBe(201);
  expect((await server.admin.get(`${core}/pods/a`)).json.metadata.deletionTimestamp).toBeUndefined();
  expect((await server.admin.get(budget)).json.status.disruptionsAllowed).toBe(1);
});

test('pods that do not keep a budget satisfied go without it', async () => {
  const pending = await world(['a'], 0, { phase: 'Pending' });
  expect((await pending.evict('a')).status).toBe(201);
  const done = await world(['a'], 0, { phase: 'Succeeded' });
  expect((await done.evict('a')).status).toBe(201);
  const sick = await world(['a'], 0, { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] });
  expect((await sick.evict('a')).status).toBe(201);
});

test('a new budget, two budgets, and conditions on the pod', async () => {
  const { budget, core, evict } = await world(['a'], 1);
  const { json: pod } = await server.admin.get(`${core}/pods/a`);
  const wrong = await evict('a', { deleteOptions: { preconditions: { uid: '11111111-2222-3333-4444-555555555555' } } });
  expect([wrong.status, wrong.json.details]).toEqual([409, { name: 'a', kind: 'Pod' }]);
  await patch(budget, { spec: { minAvailable: 2 } });
  const early = await evict('a');
  expect([early.status, early.json.details.retryAfterSeconds]).toEqual([429, 10]);
  await server.admin.ok('POST', budget.slice(0, -2), { metadata: { name: 'c' }, spec: { selector: {} } });
  const torn = await evict('a');
  expect([torn.status, torn.json.message]).toEqual([422, expect.stringContaining('more than one PodDisruptionBudget')]);
  expect((await server.admin.get(`${core}/pods/a`)).json.metadata.resourceVersion).toBe(pod.metadata.resourceVersion);
});

test('the older version of an eviction, and what is none', async () => {
  const { evict } = await world(['a'], 1);
  expect((await evict('a', { metadata: { name: 'b' } })).json.message).toBe('name in URL does not match name in Eviction object');
  expect((await evict('a', { apiVersion: 'policy/v2', kind: 'Eviction' })).status).toBe(400);
  expect((await evict('a', { deleteOptions: { propagationPolicy: 'Odd' } })).status).toBe(422);
  expect((await evict('a', { apiVersion: 'policy/v1beta1', kind: 'Eviction' })).status).toBe(201);
  expect((await evict('none')).status).toBe(404);
});
