/** Evictions that are refused, what they cost, and the order in which a stock server finds out. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';
import { answers, type Row } from './table.ts';

let server: TestServer;
beforeAll(async () => {
  // Nobody else writes the status of a budget.
  server = await startTestServer({ direct: true, identity: 'kubernetes', controllers: ['serviceaccount'] });
});
afterAll(() => server.close());

const labels = { app: 'x' };
const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
const settled = { observedGeneration: 1, disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 };
const unknown = '11111111-2222-3333-4444-555555555555';

interface Place {
  readonly pods: string;
  readonly budgets: string;
}
/** Two pods that run, with budgets over them. */
async function place(status: Loose, names: readonly string[] = ['b'], phase: Loose = ready): Promise<Place> {
  const namespace = await server.namespace();
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const budgets = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;
  const spec = { automountServiceAccountToken: false, nodeName: 'n', containers: [{ name: 'c', image: 'app:1' }] };
  for (const name of ['a', 'c'])
    await answers(server.admin, [
      ['POST', pods, { metadata: { name, labels }, spec }, 201],
      ['PATCH', `${pods}/${name}/status`, { status: phase }, 200],
    ]);
  for (const name of names)
    await answers(server.admin, [
      ['POST', budgets, { metadata: { name }, spec: { minAvailable: 1, selector: { matchLabels: labels } } }, 201],
      ['PATCH', `${budgets}/${name}/status`, { status }, 200],
    ]);
  return { pods, budgets };
}
const evict = ({ pods }: Place, code: number, answer?: string | object, more: Loose = {}, name = 'a'): Row => [
  'POST',
  `${pods}/${name}/eviction`,
  { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name }, ...more },
  code,
  answer,
];
const options = (deleteOptions: Loose): Loose => ({ deleteOptions });
const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

test.each(['policy/v1', 'policy/v1beta1'])('in version %s', async (apiVersion) => {
  const here = await place(settled);
  const old = await answers(server.admin, [evict(here, 201, success, { apiVersion })]);
  expect(old).toEqual(success);
  await answers(server.admin, [
    [
      'GET',
      `${here.budgets}/b`,
      undefined,
      200,
      { status: { disruptionsAllowed: 0, disruptedPods: { a: expect.any(String) }, currentHealthy: 2 } },
    ],
    ['GET', `${here.pods}/a`, undefined, 200, { metadata: { deletionGracePeriodSeconds: 30 } }],
    // What is on its way needs no budget any more.
    evict(here, 201, success, { apiVersion }),
    evict(here, 429, 'TooManyRequests', { apiVersion }, 'c'),
  ]);
});

test.each<[string, Loose, number, object]>([
  [
    'nothing left',
    { ...settled, disruptionsAllowed: 0 },
    429,
    { reason: 'TooManyRequests', details: { causes: [{ reason: 'DisruptionBudget' }] } },
  ],
  [
    'not looked at yet',
    { ...settled, observedGeneration: 0 },
    429,
    { reason: 'TooManyRequests', details: { causes: [{ reason: 'DisruptionBudget' }], retryAfterSeconds: 10 } },
  ],
])('a budget with %s refuses, whatever the options', async (_name, status, code, answer) => {
  const here = await place(status);
  const refused: Row[] = [
    evict(here, code, answer),
    evict(here, code, answer, options({ preconditions: { uid: unknown } })),
    evict(here, code, answer, options({ propagationPolicy: 'Odd' })),
    evict(here, code, answer, options({ dryRun: ['All'] })),
    evict(here, 404, { details: { name: 'none', kind: 'pods' } }, options({ propagationPolicy: 'Odd' }), 'none'),
  ];
  await answers(server.admin, refused);
  const { status: after } = (await server.admin.get(`${here.budgets}/b`)).json;
  expect(after.disruptionsAllowed).toBe(status.disruptionsAllowed);
  expect(after.disruptedPods).toBeUndefined();
});

test('a refused eviction costs nothing', async () => {
  const here = await place(settled);
  await answers(server.admin, [
    evict(here, 409, { reason: 'Conflict', details: { name: 'a', kind: 'Pod' } }, options({ preconditions: { uid: unknown } })),
    evict(here, 409, 'Conflict', options({ preconditions: { resourceVersion: '1' } })),
    evict(here, 422, ['propagationPolicy NotSupported'], options({ propagationPolicy: 'Odd' })),
    evict(here, 422, ['dryRun NotSupported'], options({ dryRun: ['Some'] })),
    evict(here, 422, ['propagationPolicy Invalid'], options({ propagationPolicy: 'Orphan', orphanDependents: true })),
    evict(here, 400, 'BadRequest', { metadata: {} }),
    evict(here, 400, 'BadRequest', { metadata: { name: 'a', namespace: 'elsewhere' } }),
    ['GET', `${here.budgets}/b`, undefined, 200, { status: settled }],
  ]);
  const pod = (await server.admin.get(`${here.pods}/a`)).json;
  await answers(server.admin, [
    evict(here, 201, success, options({ preconditions: { uid: pod.metadata.uid, resourceVersion: pod.metadata.resourceVersion } })),
    ['GET', `${here.budgets}/b`, undefined, 200, { status: { disruptionsAllowed: 0 } }],
  ]);
});

test('several budgets are refused for pods that need one', async () => {
  const here = await place(settled, ['b', 'd']);
  await answers(server.admin, [
    evict(here, 422, 'Invalid'),
    ['PATCH', `${here.pods}/a/status`, { status: { phase: 'Failed' } }, 200],
    evict(here, 201, success),
    ['GET', `${here.budgets}/b`, undefined, 200, { status: settled }],
  ]);
});

test('pods that are not ready go while enough others are', async () => {
  const unready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] };
  const none = { ...settled, disruptionsAllowed: 0 };
  const enough = await place(none, ['b'], unready);
  const fewer = await place({ ...none, currentHealthy: 0 }, ['b'], unready);
  const unwanted = await place({ ...none, desiredHealthy: 0 }, ['b'], unready);
  await answers(server.admin, [
    evict(enough, 201, success),
    ['GET', `${enough.budgets}/b`, undefined, 200, { status: none }],
    evict(fewer, 429, 'TooManyRequests'),
    evict(unwanted, 429, 'TooManyRequests'),
  ]);
});

test('the condition of a budget changes with its last allowance only', async () => {
  const since = '2020-01-01T00:00:00Z';
  const allowed = {
    type: 'DisruptionAllowed',
    status: 'True',
    reason: 'SufficientPods',
    message: '',
    lastTransitionTime: since,
    observedGeneration: 1,
  };
  const here = await place({ ...settled, disruptionsAllowed: 2, conditions: [allowed] });
  await answers(server.admin, [
    evict(here, 201),
    ['GET', `${here.budgets}/b`, undefined, 200, { status: { disruptionsAllowed: 1, conditions: [allowed] } }],
    evict(here, 201, success, {}, 'c'),
  ]);
  const { status } = (await server.admin.get(`${here.budgets}/b`)).json;
  expect(Object.keys(status.disruptedPods)).toEqual(['a', 'c']);
  expect(status.conditions).toMatchObject([{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }]);
  expect(status.conditions[0].lastTransitionTime).not.toBe(since);
});

test('a budget whose count is below zero is forbidden ground', async () => {
  const here = await place(settled);
  // Version 1beta1 does not check the counts.
  const beta = here.budgets.replace('/v1/', '/v1beta1/');
  await answers(server.admin, [
    ['PATCH', `${beta}/b/status`, { status: { disruptionsAllowed: -1 } }, 200],
    evict(here, 403, { reason: 'Forbidden', details: { name: 'b', group: 'policy', kind: 'poddisruptionbudget' } }),
  ]);
});
