import { FakeApi, fakeKinds, type Loose, runControllers, type TestRun } from '@plat-dev/controllers/testing';
import { kubernetes, plat } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import type { WorkloadPod } from '../shared/pods.ts';
import { type JobSettings, jobController } from './controller.ts';
import { collect, countPods, MAX_UNCOUNTED, moveCounted } from './counting.ts';
import { backoffLeft, restartsExceedLimit } from './failures.ts';
import { Indexes } from './indexes.ts';
import { type JobObject, jobNames, newCondition, withCondition } from './job.ts';
import { plan, podOf, templateOf } from './plan.ts';
import { podsToRemove } from './removal.ts';

const names = jobNames(kubernetes);
const time = (second: number): string => new Date(Date.UTC(2024, 0, 1, 0, 0, second)).toISOString().replace('.000', '');
const at = (second: number): number => Date.parse(time(second));

function pod(name: string, phase: string, more: Loose = {}): WorkloadPod {
  const { index, end, finalizer, ...rest } = more;
  return {
    metadata: {
      name,
      namespace: 'a',
      uid: name,
      ...(index !== undefined && { annotations: { [names.index]: String(index) } }),
      ...(finalizer === true && { finalizers: [names.finalizer] }),
      ...rest.metadata,
    },
    spec: { ...rest.spec },
    status: {
      phase,
      ...(end !== undefined && { containerStatuses: [{ state: { terminated: { finishedAt: time(end) } } }] }),
      ...rest.status,
    },
  } as unknown as WorkloadPod;
}
const job = (spec: Loose, status: Loose = {}): JobObject =>
  ({ metadata: { name: 'pi', namespace: 'a', uid: 'u' }, spec, status }) as JobObject;

test('indexes are read and written as ranges', () => {
  const cases: [string, number[], string, number][] = [
    ['', [], '', 0],
    ['', [3, 1, 2], '1-3', 3],
    ['1,3-5', [2], '1-5', 5],
    ['0,1', [], '0,1', 2],
    ['0,1', [4], '0,1,4', 3],
    ['2-8', [20], '2-8,20', 8],
    ['5-2,x,7', [], '7', 1],
    ['90-200', [], '90-98', 9],
  ];
  for (const [text, more, written, count] of cases) {
    const indexes = Indexes.parse(text, 99).with(more);
    expect([indexes.toString(), indexes.count]).toEqual([written, count]);
  }
  expect(Indexes.parse('1,3-5', 99).firstMissing(4, 10, new Set([2]))).toEqual([0, 6, 7, 8]);
  expect(Indexes.parse('0-9', 10).firstMissing(4, 10, new Set())).toEqual([]);
});

test('failed pods are replaced later with every failure since the last success', () => {
  expect(backoffLeft([], at(0))).toBe(0);
  expect(backoffLeft([pod('a', 'Failed', { end: 10 })], at(10))).toBe(0);
  expect(backoffLeft([pod('a', 'Failed', { end: 10 }), pod('b', 'Failed', { end: 10 })], at(10))).toBe(0);
  expect(backoffLeft([pod('a', 'Failed', { end: 5 }), pod('b', 'Failed', { end: 10 })], at(14))).toBe(6000);
  expect(backoffLeft([pod('a', 'Failed', { end: 5 }), pod('b', 'Failed', { end: 7 }), pod('c', 'Failed', { end: 10 })], at(14))).toBe(
    16_000,
  );
  expect(backoffLeft([pod('a', 'Failed', { end: 10 }), pod('b', 'Succeeded', { end: 12 })], at(14))).toBe(0);
  const many = Array.from({ length: 20 }, (_, i) => pod(`p${i}`, 'Failed', { end: i }));
  expect(backoffLeft(many, at(19))).toBe(360_000);
});

test('restarts count against the limit where pods are restarted in place', () => {
  const restarted = (count: number): WorkloadPod => pod('a', 'Running', { status: { containerStatuses: [{ restartCount: count }] } });
  const policy = (restartPolicy: string, backoffLimit: number): JobObject => job({ backoffLimit, template: { spec: { restartPolicy } } });
  expect(restartsExceedLimit(policy('OnFailure', 3), [restarted(2)])).toBe(false);
  expect(restartsExceedLimit(policy('OnFailure', 3), [restarted(2), restarted(1)])).toBe(true);
  expect(restartsExceedLimit(policy('OnFailure', 0), [restarted(0)])).toBe(false);
  expect(restartsExceedLimit(policy('OnFailure', 0), [restarted(1)])).toBe(true);
  expect(restartsExceedLimit(policy('Never', 0), [restarted(9)])).toBe(false);
});

test('pods that lose least are removed first, and all but one of an index', () => {
  const ready = (second: number): Loose => ({
    status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: time(second) }] },
  });
  const pods = [
    pod('long', 'Running', { spec: { nodeName: 'n' }, ...ready(1) }),
    pod('short', 'Running', { spec: { nodeName: 'n' }, ...ready(9) }),
    pod('unready', 'Running', { spec: { nodeName: 'n' } }),
    pod('pending', 'Pending', { spec: { nodeName: 'n' } }),
    pod('unbound', 'Pending'),
  ];
  expect(podsToRemove(pods, 4).map(({ metadata }) => metadata.name)).toEqual(['unbound', 'pending', 'unready', 'short']);
  const indexed = [
    pod('a', 'Running', { index: 0 }),
    pod('b', 'Pending', { index: 0 }),
    pod('c', 'Running', { index: 7 }),
    pod('d', 'Running'),
  ];
  const removed = podsToRemove(indexed, 0, { names, completions: 3 });
  expect(removed.map(({ metadata }) => metadata.name).sort()).toEqual(['b', 'c', 'd']);
});

test('the number of active pods follows parallelism, completions and what has succeeded', () => {
  const none = Indexes.none;
  const count = (spec: Loose, active: number, succeeded: number): [number, number] => {
    const pods = Array.from({ length: active }, (_, i) => pod(`p${i}`, 'Running'));
    const next = plan(job(spec), pods, { succeeded, failed: 0, indexes: none }, names);
    return [next.create, next.remove.length];
  };
  expect(count({ parallelism: 3, completions: 5 }, 0, 0)).toEqual([3, 0]);
  expect(count({ parallelism: 3, completions: 5 }, 1, 3)).toEqual([1, 0]);
  expect(count({ parallelism: 3, completions: 5 }, 3, 4)).toEqual([0, 2]);
  expect(count({ parallelism: 3, completions: 5 }, 3, 9)).toEqual([0, 3]);
  expect(count({ parallelism: 2 }, 1, 0)).toEqual([1, 0]);
  expect(count({ parallelism: 2 }, 1, 1)).toEqual([0, 0]);
  expect(count({ parallelism: 2, completions: 4, suspend: true }, 2, 0)).toEqual([0, 2]);
  expect(count({ parallelism: 0, completions: 4 }, 2, 0)).toEqual([0, 2]);
  expect(count({ parallelism: 9000, completions: 9000 }, 0, 0)).toEqual([500, 0]);
});

test('a pod of an Indexed job has its index in its name, host name, annotation and environment', () => {
  const containers = [{ name: 'c' }, { name: 'd', env: [{ name: 'JOB_COMPLETION_INDEX', value: 'mine' }] }];
  const object = job({ completionMode: 'Indexed', completions: 3, template: { metadata: { labels: { x: 'y' } }, spec: { containers } } });
  const made = podOf(object, templateOf(object, names, true), names, 2) as Loose;
  expect(made.metadata).toMatchObject({
    generateName: 'pi-2-',
    labels: { x: 'y' },
    annotations: { 'batch.kubernetes.io/job-completion-index': '2' },
    finalizers: ['batch.kubernetes.io/job-tracking'],
    ownerReferences: [{ kind: 'Job', uid: 'u', controller: true, blockOwnerDeletion: true }],
  });
  expect(made.spec.hostname).toBe('pi-2');
  const fieldPath = "metadata.annotations['batch.kubernetes.io/job-completion-index']";
  expect(made.spec.containers.map((one: Loose) => one.env)).toEqual([
    [{ name: 'JOB_COMPLETION_INDEX', valueFrom: { fieldRef: { fieldPath } } }],
    containers[1]?.env,
  ]);
  const long = { ...object, metadata: { ...object.metadata, name: 'x'.repeat(63) } };
  expect(podOf(long, {}, names, 12).metadata.generateName).toHaveLength(58);
});

test('with tracking a pod is counted once, also if it is gone or was counted before', () => {
  const status = { succeeded: 2, failed: 1, uncountedTerminatedPods: { succeeded: ['gone', 'held'], failed: ['bad'] } };
  const pods = [
    pod('held', 'Succeeded', { finalizer: true }),
    pod('new', 'Succeeded', { finalizer: true }),
    pod('counted', 'Succeeded'),
    pod('going', 'Running', { finalizer: true, metadata: { deletionTimestamp: time(1) } }),
    pod('runs', 'Running', { finalizer: true }),
  ];
  const counted = { job: job({ completions: 9 }, status), pods, names, tracked: true };
  expect(countPods(counted)).toMatchObject({ succeeded: 5, failed: 3 });
  const first = collect(counted, status, false);
  expect(first.status).toEqual({ succeeded: 3, failed: 2, uncountedTerminatedPods: { succeeded: ['held', 'new'], failed: ['going'] } });
  expect(first.release.map(({ metadata }) => metadata.name)).toEqual(['held', 'new', 'going']);
  const last = moveCounted(first.status, (uid) => uid === 'new');
  expect(last).toEqual({ succeeded: 4, failed: 3, uncountedTerminatedPods: { succeeded: ['new'] } });
  expect(collect(counted, status, true).release).toHaveLength(4);
  expect(countPods({ ...counted, tracked: false })).toMatchObject({ succeeded: 3, failed: 0 });
});

test('a status holds a limited number of pods that are not counted yet', () => {
  const pods = Array.from({ length: MAX_UNCOUNTED + 5 }, (_, i) => pod(`p${i}`, 'Succeeded', { finalizer: true }));
  const found = collect({ job: job({ completions: 1000 }), pods, names, tracked: true }, {}, false);
  expect([found.release.length, found.more]).toEqual([MAX_UNCOUNTED, true]);
});

test('a condition that does not hold is not added, and keeps its time while its status stays', () => {
  const holds = newCondition('Suspended', 'True', 'JobSuspended', 'x', at(1));
  expect(withCondition([], newCondition('Suspended', 'False', 'JobResumed', 'x', at(1)))).toBeUndefined();
  expect(withCondition([holds], { ...holds, lastTransitionTime: time(2) })).toBeUndefined();
  expect(withCondition([holds], newCondition('Suspended', 'False', 'JobResumed', 'x', at(2)))).toMatchObject([
    { status: 'False', lastTransitionTime: time(2) },
  ]);
});

// ---- the controller on a fake server ---------------------------------------------------------------------------------

const jobKind = { group: 'batch', version: 'v1', name: 'jobs', kind: 'Job', namespaced: true };
const eventKind = { group: '', version: 'v1', name: 'events', kind: 'Event', namespaced: true };

interface World {
  readonly api: FakeApi;
  readonly run: TestRun;
  put(spec: Loose, metadata?: Loose): Promise<void>;
  job(): Loose;
  pods(): Loose[];
  /** Sets the phase of pods, all that are not finished by default. */
  end(phase: string, which?: (pod: Loose) => boolean): Promise<void>;
  events(): string[];
}

function world(settings: Partial<JobSettings> = {}, identity = kubernetes): World {
  const api = new FakeApi([jobKind, eventKind, fakeKinds.pods]);
  const run = runControllers(api, [jobController({ tracking: false, readyPods: true, ...settings })], identity);
  const mine = jobNames(identity);
  return {
    api,
    run,
    async put(spec, metadata = {}) {
      const annotations = settings.tracking === true ? { [mine.tracking]: '' } : {};
      api.put(jobKind, {
        metadata: { name: 'pi', namespace: 'a', uid: 'u', annotations, ...metadata },
        status: api.get(jobKind, 'a', 'pi')?.status ?? {},
        spec: {
          parallelism: 1,
          backoffLimit: 6,
          selector: { matchLabels: { 'controller-uid': 'u' } },
          template: {
            metadata: { labels: { 'controller-uid': 'u', 'job-name': 'pi' } },
            spec: { restartPolicy: 'Never', containers: [{ name: 'c' }] },
          },
          ...spec,
        },
      });
      await run.idle();
    },
    job: () => api.get(jobKind, 'a', 'pi'),
    pods: () => api.all(fakeKinds.pods),
    async end(phase, which = ({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed') {
      const terminated = { finishedAt: new Date(run.clock.now()).toISOString().replace('.000', '') };
      for (const object of api.all(fakeKinds.pods).filter(which))
        api.put(fakeKinds.pods, { ...object, status: { phase, containerStatuses: [{ state: { terminated } }] } });
      await run.idle();
    },
    events: () => api.all(eventKind).map(({ reason, message, count }) => `${reason}: ${message}${count > 1 ? ` x${count}` : ''}`),
  };
}

for (const tracking of [false, true]) {
  const title = tracking ? 'with finalizers' : 'without finalizers';
  test(`a job runs its pods until enough have succeeded, ${title}`, async () => {
    for (const identity of [kubernetes, plat]) {
      const { run, put, job: now, pods, end, events } = world({ tracking }, identity);
      await put({ parallelism: 2, completions: 3 });
      expect(now().status).toMatchObject({ active: 2, ready: 0, startTime: time(0) });
      expect(pods().map(({ metadata }) => metadata.finalizers)).toEqual(
        Array(2).fill(tracking ? [jobNames(identity).finalizer] : undefined),
      );
      await run.pass(5000);
      await end('Succeeded');
      expect(now().status).toMatchObject({ active: 1, succeeded: 2 });
      await end('Succeeded');
      expect(now().status).toEqual({
        startTime: time(0),
        completionTime: time(5),
        succeeded: 3,
        ready: 0,
        ...(tracking && { uncountedTerminatedPods: {} }),
        conditions: [{ type: 'Complete', status: 'True', lastProbeTime: time(5), lastTransitionTime: time(5) }],
      });
      expect(pods().every(({ metadata }) => (metadata.finalizers ?? []).length === 0)).toBe(true);
      expect(events().filter((one) => one.startsWith('SuccessfulCreate'))).toHaveLength(3);
      expect(events()).toContain('Completed: Job completed');
      expect(run.failures).toEqual([]);
      await run.stop();
    }
  });

  test(`a job gives up after its limit of failures, retries once at once and then with a delay, ${title}`, async () => {
    const { run, put, job: now, pods, end, events } = world({ tracking });
    await put({ completions: 1, backoffLimit: 2 });
    await end('Failed');
    expect([pods().length, now().status.failed, now().status.active]).toEqual([2, 1, 1]);
    await run.pass(1000);
    await end('Failed');
    expect([pods().length, now().status.failed, now().status.active]).toEqual([2, 2, undefined]);
    await run.pass(9999);
    expect(pods()).toHaveLength(2);
    await run.pass(1);
    expect(pods()).toHaveLength(3);
    await end('Failed');
    expect(now().status).toMatchObject({
      failed: 3,
      conditions: [{ type: 'Failed', reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' }],
    });
    expect(events()).toContain('BackoffLimitExceeded: Job has reached the specified backoff limit');
    await run.pass(400_000);
    expect(pods()).toHaveLength(3);
    await run.stop();
  });

  test(`a job that is longer active than its deadline fails, and its pods are deleted, ${title}`, async () => {
    const { run, put, job: now, pods } = world({ tracking });
    await put({ parallelism: 2, completions: 2, activeDeadlineSeconds: 30 });
    await run.pass(29_999);
    expect(pods()).toHaveLength(2);
    await run.pass(1);
    expect(pods()).toHaveLength(0);
    expect(now().status).toMatchObject({ failed: 2, conditions: [{ type: 'Failed', reason: 'DeadlineExceeded' }] });
    expect(now().status.active).toBeUndefined();
    await run.stop();
  });

  test(`a suspended job has no pods, and starts again when it is resumed, ${title}`, async () => {
    const { run, put, job: now, pods, end, events } = world({ tracking });
    await put({ parallelism: 2, completions: 2, activeDeadlineSeconds: 60 });
    await run.pass(50_000);
    await put({ parallelism: 2, completions: 2, activeDeadlineSeconds: 60, suspend: true });
    expect([pods().length, now().status.active, now().status.failed]).toEqual([0, undefined, undefined]);
    expect(now().status.conditions).toMatchObject([{ type: 'Suspended', status: 'True', reason: 'JobSuspended' }]);
    await run.pass(50_000);
    await put({ parallelism: 2, completions: 2, activeDeadlineSeconds: 60 });
    expect(now().status).toMatchObject({
      active: 2,
      startTime: time(100),
      conditions: [{ type: 'Suspended', status: 'False', reason: 'JobResumed' }],
    });
    await end('Succeeded');
    expect(now().status).toMatchObject({ succeeded: 2, conditions: [{ type: 'Suspended' }, { type: 'Complete', status: 'True' }] });
    expect(events()).toEqual(expect.arrayContaining(['Suspended: Job suspended', 'Resumed: Job resumed']));
    await run.stop();
  });

  test(`each index of an Indexed job succeeds once, ${title}`, async () => {
    const { run, put, job: now, pods, end } = world({ tracking });
    await put({ parallelism: 2, completions: 4, completionMode: 'Indexed' });
    const indexes = (): string[] =>
      pods()
        .filter(({ status }) => status === undefined)
        .map(({ metadata }) => metadata.annotations[names.index])
        .sort();
    expect(indexes()).toEqual(['0', '1']);
    await end('Succeeded', ({ metadata }) => metadata.annotations[names.index] === '1');
    expect([now().status.completedIndexes, indexes()]).toEqual(['1', ['0', '2']]);
    await end('Failed', ({ metadata }) => metadata.annotations[names.index] === '0');
    await run.pass(10_000);
    expect(indexes()).toEqual(['0', '2']);
    await end('Succeeded');
    await end('Succeeded');
    expect(now().status).toMatchObject({ succeeded: 4, failed: 1, completedIndexes: '0-3', conditions: [{ type: 'Complete' }] });
    await run.stop();
  });
}

test('a work queue is complete when one pod has succeeded and all have ended', async () => {
  const { run, put, job: now, pods, end } = world();
  await put({ parallelism: 3 });
  const [first] = pods();
  await end('Succeeded', ({ metadata }) => metadata.name === first.metadata.name);
  expect([pods().length, now().status.active, now().status.conditions]).toEqual([3, 2, undefined]);
  await end('Failed');
  expect(now().status).toMatchObject({ succeeded: 1, failed: 2, conditions: [{ type: 'Complete' }] });
  await run.stop();
});

test('a tracked pod that is deleted counts as failed, and goes when it is counted', async () => {
  const { api, run, put, job: now, pods } = world({ tracking: true });
  await put({ completions: 1 });
  await api.remove(fakeKinds.pods, 'a', pods()[0].metadata.name);
  await run.idle();
  expect([now().status.failed, pods().length]).toEqual([1, 1]);
  await run.stop();
});

test('pods of a job that is gone, or is no longer tracked, lose the finalizer', async () => {
  const { api, run, put, pods } = world({ tracking: true });
  await put({ completions: 1 });
  await api.remove(jobKind, 'a', 'pi');
  await run.idle();
  expect(pods().map(({ metadata }) => metadata.finalizers)).toEqual([[]]);
  await run.stop();
  const off = world();
  off.api.put(fakeKinds.pods, {
    metadata: {
      name: 'old',
      namespace: 'a',
      labels: { 'controller-uid': 'u' },
      finalizers: [names.finalizer],
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'pi', uid: 'u', controller: true }],
    },
  });
  await off.put({ completions: 1 }, { annotations: { [names.tracking]: '' } });
  expect(off.job().metadata.annotations).toEqual({});
  expect(off.pods().map(({ metadata }) => metadata.finalizers)).toEqual([[]]);
  await off.run.stop();
});

test('a job adopts pods that match, and releases those that do not', async () => {
  const { api, run, put, job: now, pods } = world({ tracking: true });
  api.put(fakeKinds.pods, { metadata: { name: 'mine', namespace: 'a', labels: { 'controller-uid': 'u' } }, status: { phase: 'Running' } });
  await put({ completions: 1 });
  expect(pods().map(({ metadata }) => [metadata.name, metadata.ownerReferences[0].uid, metadata.finalizers])).toEqual([
    ['mine', 'u', [names.finalizer]],
  ]);
  api.put(fakeKinds.pods, { ...pods()[0], metadata: { ...pods()[0].metadata, labels: {} } });
  await run.idle();
  expect(api.get(fakeKinds.pods, 'a', 'mine').metadata.ownerReferences).toEqual([]);
  expect([pods().length, now().status.active]).toEqual([2, 1]);
  await run.stop();
});

test('a refused pod is an event, and is tried again', async () => {
  const { api, run, put, job: now, events } = world();
  let refused = 0;
  api.before = (method, path) => {
    if (method === 'POST' && path.endsWith('/pods') && refused++ < 2) FakeApi.refuse(403, 'Forbidden', 'exceeded quota');
  };
  await put({ completions: 1 });
  expect([now().status.active, events()]).toEqual([undefined, ['FailedCreate: Error creating: exceeded quota x2']]);
  await run.pass(1999);
  expect(now().status.active).toBeUndefined();
  await run.pass(1);
  expect(now().status.active).toBe(1);
  await run.stop();
});

test('nothing is written when nothing changes', async () => {
  const { api, run, put, pods } = world({ tracking: true });
  await put({ completions: 1 });
  const before = api.calls.length;
  api.put(fakeKinds.pods, { ...pods()[0], status: { phase: 'Running' } });
  await run.idle();
  expect(api.calls.slice(before)).toEqual([]);
  await run.stop();
});

test('a job says what it will end with before it ends, in releases that demand it', async () => {
  const { run, put, job: now, end } = world({ tracking: true, tracksAll: true, announcesEnd: true });
  await put({ completions: 1 });
  await end('Succeeded');
  const reached = { status: 'True', reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' };
  expect(now().status.conditions).toMatchObject([
    { type: 'SuccessCriteriaMet', ...reached },
    { type: 'Complete', ...reached },
  ]);
  await run.stop();
  const failing = world({ tracking: true, tracksAll: true, announcesEnd: true });
  await failing.put({ completions: 1, backoffLimit: 0 });
  await failing.end('Failed');
  expect(failing.job().status).toMatchObject({
    failed: 1,
    ready: 0,
    conditions: [
      { type: 'FailureTarget', status: 'True', reason: 'BackoffLimitExceeded' },
      { type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded' },
    ],
  });
  await failing.run.stop();
});

test('a job of another manager is left alone', async () => {
  const { run, put, pods } = world({ managers: true });
  await put({ completions: 1, managedBy: 'example.com/mine' });
  expect(pods()).toHaveLength(0);
  await run.stop();
  const own = world({ managers: true });
  await own.put({ completions: 1, managedBy: 'kubernetes.io/job-controller' });
  expect(own.pods()).toHaveLength(1);
  await own.run.stop();
});
