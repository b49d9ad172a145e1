import { FakeApi, type FakeKind, type Loose, runControllers, type TestRun } from '@plat-dev/controllers/testing';
import { formatTime } from '@plat-dev/meta/time';
import { afterEach, expect, test } from 'vitest';
import { WorkloadApi, workloadKinds } from '../shared/workload-api.testing.ts';
import { replicaController } from './controller.ts';
import { replicaSets, replicationControllers } from './kinds.ts';

const { pods, replicaSets: setKind, replicationControllers: controllerKind } = workloadKinds;
let run: TestRun | undefined;
afterEach(async () => {
  await run?.stop();
  run = undefined;
});

function start(api = new WorkloadApi()): { api: WorkloadApi; run: TestRun } {
  const settings = { deletionCost: true, logarithmic: true };
  run = runControllers(api, [replicaController(replicaSets, settings), replicaController(replicationControllers, settings)]);
  return { api, run };
}
const labels = { app: 'web' };
const template = { metadata: { labels: { ...labels, tier: 'front' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const set = (replicas: number, more: Loose = {}): Loose => ({
  metadata: { name: 'web' },
  spec: { replicas, selector: { matchLabels: labels }, template, ...more },
});
const ownersOf = (object: Loose): unknown => object.metadata.ownerReferences?.map(({ kind, name }: Loose) => `${kind}/${name}`);
const statusOf = (api: WorkloadApi, kind: FakeKind = setKind): Loose => api.one(kind, 'web').status;

test.each([
  ['ReplicaSet', setKind, { matchLabels: labels }, 'apps/v1'],
  ['ReplicationController', controllerKind, labels, 'v1'],
])('a %s has its pods, of its template, and counts them', async (kind, resource, selector, apiVersion) => {
  const { api, run } = start();
  api.make(resource, set(3, { selector }));
  await run.idle();
  const made = api.all(pods);
  expect(made).toHaveLength(3);
  expect(made[0].metadata).toMatchObject({
    labels: { app: 'web', tier: 'front' },
    ownerReferences: [
      { apiVersion, kind, name: 'web', uid: api.one(resource, 'web').metadata.uid, controller: true, blockOwnerDeletion: true },
    ],
  });
  expect(made[0].spec).toEqual(template.spec);
  expect(statusOf(api, resource)).toEqual({ replicas: 3, fullyLabeledReplicas: 3, observedGeneration: 1 });
  expect(api.reports('SuccessfulCreate').sort()).toEqual(made.map(({ metadata }) => `Created pod: ${metadata.name}`).sort());
  for (const pod of made.slice(0, 2)) api.run(pod);
  await run.idle();
  expect(statusOf(api, resource)).toMatchObject({ readyReplicas: 2, availableReplicas: 2 });
  api.edit(resource, 'web', (object) => {
    object.spec.replicas = 1;
  });
  await run.idle();
  expect(api.all(pods)).toHaveLength(1);
  expect(statusOf(api, resource)).toEqual({
    replicas: 1,
    fullyLabeledReplicas: 1,
    readyReplicas: 1,
    availableReplicas: 1,
    observedGeneration: 2,
  });
  expect(api.reports('SuccessfulDelete')).toHaveLength(2);
});

test('nothing is written when nothing changes', async () => {
  const { api, run } = start();
  api.make(setKind, set(2));
  await run.idle();
  const before = api.calls.length;
  api.run(api.all(pods)[0], false);
  await run.pass(60_000);
  expect(api.calls.slice(before)).toEqual([]);
});

test('pods that fail or are deleted are replaced; those that failed stay and do not count', async () => {
  const api = new WorkloadApi();
  api.isGraceful = true;
  const { run } = start(api);
  api.make(setKind, set(2));
  await run.idle();
  const [first, second] = api.all(pods);
  api.fail(first);
  await run.idle();
  expect([api.all(pods).length, api.activePods().length, statusOf(api).replicas]).toEqual([3, 2, 2]);
  await api.remove(pods, 'a', second.metadata.name);
  await run.idle();
  // It terminates still.
  expect([api.all(pods).length, api.activePods().length, statusOf(api).replicas]).toEqual([4, 2, 2]);
  expect(api.one(pods, first.metadata.name).status.phase).toBe('Failed');
});

test('orphans that match are adopted, also later, and those that no longer match are released and replaced', async () => {
  const { api, run } = start();
  const orphan = (name: string, own: Loose): Loose => ({ metadata: { name, labels: own }, spec: template.spec });
  api.make(pods, orphan('early', labels));
  api.make(pods, { ...orphan('done', labels), status: { phase: 'Succeeded' } });
  api.make(setKind, set(2));
  await run.idle();
  expect([ownersOf(api.one(pods, 'early')), ownersOf(api.one(pods, 'done')), api.all(pods).length]).toEqual([
    ['ReplicaSet/web'],
    undefined,
    3,
  ]);
  // It does not have all labels of the template.
  expect(statusOf(api)).toMatchObject({ replicas: 2, fullyLabeledReplicas: 1 });
  api.edit(pods, 'early', (pod) => {
    pod.metadata.labels = { app: 'other' };
  });
  await run.idle();
  expect([ownersOf(api.one(pods, 'early')), api.activePods().length, statusOf(api).replicas]).toEqual([[], 3, 2]);
  // One too many is adopted first, and then one goes.
  api.edit(pods, 'early', (pod) => {
    pod.metadata.labels = labels;
  });
  await run.idle();
  expect([api.activePods().length, statusOf(api).replicas]).toEqual([2, 2]);
});

test('pods of another owner are left alone', async () => {
  const { api, run } = start();
  const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'other', controller: true }];
  api.make(pods, { metadata: { name: 'foreign', labels, ownerReferences }, spec: template.spec });
  api.make(setKind, set(1));
  await run.idle();
  expect([ownersOf(api.one(pods, 'foreign')), statusOf(api).replicas]).toEqual([['Job/j'], 1]);
});

test('what a set may not create is a condition and an event, until it may', async () => {
  const { api, run } = start();
  let left = 2;
  api.before = (method, path) => {
    if (method === 'POST' && path.endsWith('/pods') && left-- <= 0) FakeApi.refuse(403, 'Forbidden', 'exceeded quota: q');
  };
  api.make(setKind, set(10));
  await run.idle();
  const { conditions, replicas } = statusOf(api);
  expect(replicas).toBe(2);
  expect(conditions).toEqual([
    {
      type: 'ReplicaFailure',
      status: 'True',
      reason: 'FailedCreate',
      message: 'exceeded quota: q',
      lastTransitionTime: formatTime(run.clock.now()),
    },
  ]);
  expect(api.reports('FailedCreate')).toEqual(['Error creating: exceeded quota: q']);
  left = 100;
  await run.pass(60_000);
  expect(statusOf(api)).toEqual({ replicas: 10, fullyLabeledReplicas: 10, observedGeneration: 1 });
});

test('what it may not delete is a condition, too', async () => {
  const { api, run } = start();
  api.make(setKind, set(2));
  await run.idle();
  let isRefused = true;
  api.before = (method, path) => {
    if (isRefused && method === 'DELETE' && path.includes('/pods/')) FakeApi.refuse(500, 'InternalError', 'no');
  };
  api.edit(setKind, 'web', (object) => {
    object.spec.replicas = 0;
  });
  await run.idle();
  expect(statusOf(api)).toMatchObject({ replicas: 2, conditions: [{ type: 'ReplicaFailure', reason: 'FailedDelete', message: 'no' }] });
  isRefused = false;
  await run.pass(60_000);
  expect(statusOf(api)).toEqual({ replicas: 0, observedGeneration: 2 });
});

test('conditions of others are kept', async () => {
  const { api, run } = start();
  api.make(setKind, set(1));
  await run.idle();
  const mine = { type: 'Mine', status: 'True', lastTransitionTime: formatTime(run.clock.now()) };
  api.put(setKind, { ...api.one(setKind, 'web'), status: { replicas: 7, conditions: [mine] } });
  await run.idle();
  expect(statusOf(api)).toEqual({ replicas: 1, fullyLabeledReplicas: 1, observedGeneration: 1, conditions: [mine] });
});

test('a pod is available after the minimum ready seconds', async () => {
  const { api, run } = start();
  api.make(setKind, set(2, { minReadySeconds: 10 }));
  await run.idle();
  api.run(api.all(pods)[0]);
  await run.pass(4000);
  api.run(api.all(pods)[1]);
  await run.pass(5999);
  expect(statusOf(api)).toMatchObject({ readyReplicas: 2 });
  expect(statusOf(api).availableReplicas).toBeUndefined();
  await run.pass(1);
  expect(statusOf(api)).toMatchObject({ readyReplicas: 2, availableReplicas: 1 });
  await run.pass(4000);
  expect(statusOf(api)).toMatchObject({ readyReplicas: 2, availableReplicas: 2 });
});

test('a set that is being deleted creates, deletes and adopts nothing', async () => {
  const { api, run } = start();
  api.make(setKind, set(2));
  await run.idle();
  await api.remove(setKind, 'a', 'web', 'Foreground');
  await api.remove(pods, 'a', api.all(pods)[0].metadata.name);
  api.make(pods, { metadata: { name: 'orphan', labels }, spec: template.spec });
  await run.idle();
  expect([api.all(pods).length, ownersOf(api.one(pods, 'orphan')), statusOf(api).replicas]).toEqual([2, undefined, 1]);
});

test('a status that conflicts with a change of the spec is about the older generation, and the newer one follows', async () => {
  const { api, run } = start();
  api.make(setKind, set(1));
  let isFirst = true;
  const observed: unknown[] = [];
  api.before = (method, path) => {
    if (method !== 'PUT' || !path.endsWith('/status') || !isFirst) return;
    isFirst = false;
    api.edit(setKind, 'web', (object) => {
      object.spec.replicas = 3;
    });
  };
  api.changed = (method) => {
    if (method === 'PUT') observed.push(statusOf(api).observedGeneration);
  };
  await run.idle();
  expect([observed, run.failures, statusOf(api).replicas]).toEqual([[1, 2], [], 3]);
});

test('a set of more than 500 pods has all of them', async () => {
  const { api, run } = start();
  api.make(setKind, set(502));
  await run.idle();
  expect([api.all(pods).length, statusOf(api).replicas]).toEqual([502, 502]);
  api.edit(setKind, 'web', (object) => {
    object.spec.replicas = 1;
  });
  await run.idle();
  expect([api.all(pods).length, statusOf(api).replicas]).toEqual([1, 1]);
});

test('a set whose selector is not valid has no pods and disturbs nobody', async () => {
  const { api, run } = start();
  api.make(setKind, { ...set(1, { selector: { matchExpressions: [{ key: 'a', operator: 'Like' }] } }), metadata: { name: 'odd' } });
  api.make(setKind, set(1));
  await run.idle();
  api.make(pods, { metadata: { name: 'orphan', labels: { a: 'b' } }, spec: template.spec });
  await run.idle();
  expect([api.all(pods).length, run.failures]).toEqual([2, []]);
});

test('a restarted controller goes on where the last one stopped', async () => {
  const { api, run: first } = start();
  api.make(setKind, set(3));
  await first.idle();
  await first.stop();
  await api.remove(pods, 'a', api.all(pods)[0].metadata.name);
  const { run: second } = start(api);
  await second.idle();
  expect([api.all(pods).length, statusOf(api).replicas]).toEqual([3, 3]);
});
