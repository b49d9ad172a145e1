import type { Loose } from '@plat-dev/controllers/testing';
import { FakeApi } from '@plat-dev/controllers/testing';
import { turnsOf } from '@plat-dev/lib/slices.testing';
import { afterEach, expect, test } from 'vitest';
import { held, imageOf, kinds, ns, SetsWorld, template } from '../sets.testing.ts';
import { statefulSetController } from './controller.ts';

let world: SetsWorld;
afterEach(() => world.run.stop());

async function start(spec: Loose = {}, gates: readonly string[] = ['StatefulSetMinReadySeconds']): Promise<SetsWorld> {
  world = new SetsWorld([statefulSetController((name) => gates.includes(name))]);
  world.api.put(kinds.statefulSets, {
    metadata: { name: 'web', namespace: ns, generation: 1, uid: 'web-uid' },
    spec: {
      replicas: 3,
      serviceName: 'peers',
      selector: { matchLabels: { app: 'web' } },
      template: template('one'),
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      revisionHistoryLimit: 2,
      ...spec,
    },
  });
  await world.idle();
  return world;
}
const set = (): Loose => world.get(kinds.statefulSets, 'web');
const scale = (replicas: number): Promise<void> => world.change(kinds.statefulSets, 'web', ({ spec }) => (spec.replicas = replicas));
const image = (name: string, more: Loose = {}): Promise<void> =>
  world.change(kinds.statefulSets, 'web', ({ spec }) => (spec.template = template(name, more)));
/** All pods become ready, and those that end are gone, until nothing changes. */
async function settle(): Promise<void> {
  for (let i = 0; i < 100; i++) {
    const pod = world.pods().find(({ metadata, status }) => metadata.deletionTimestamp !== undefined || status?.phase !== 'Running');
    if (pod === undefined) return;
    if (pod.metadata.deletionTimestamp !== undefined) await world.end(pod.metadata.name);
    else await world.ready(pod.metadata.name);
  }
  throw new Error('the set does not settle');
}
const images = (): string[] => world.pods().map(imageOf);

test('members are created in order, and the status counts them', async () => {
  await start();
  expect(world.names()).toEqual(['web-0']);
  expect(set().status).toMatchObject({ observedGeneration: 1, replicas: 1, readyReplicas: 0, currentReplicas: 1, updatedReplicas: 1 });
  await world.phase('web-0', 'Running', false);
  expect(world.names()).toEqual(['web-0']);
  await world.ready('web-0');
  await world.ready('web-1');
  expect(world.names()).toEqual(['web-0', 'web-1', 'web-2']);
  await world.ready('web-2');
  const [revision] = world.revisions();
  expect(set().status).toEqual({
    observedGeneration: 1,
    replicas: 3,
    readyReplicas: 3,
    availableReplicas: 3,
    currentReplicas: 3,
    updatedReplicas: 3,
    currentRevision: revision.metadata.name,
    updateRevision: revision.metadata.name,
    collisionCount: 0,
  });
  expect(revision).toMatchObject({ revision: 1, data: { spec: { template: { $patch: 'replace', ...template('one') } } } });
  expect(revision.metadata.labels).toEqual({ app: 'web', 'controller.kubernetes.io/hash': revision.metadata.name.slice('web-'.length) });
  expect(world.get(kinds.pods, 'web-2').metadata.labels['controller-revision-hash']).toBe(revision.metadata.name);
  expect(world.events()).toContain('Normal SuccessfulCreate create Pod web-0 in StatefulSet web successful');
  expect(world.run.failures).toEqual([]);
});

test('the revision of a large template is made in many turns', async () => {
  await start({ replicas: 0 });
  const hostAliases = Array.from({ length: 10_000 }, (_, i) => ({ ip: '10.0.0.1', hostnames: [`h${i}`] }));
  let changed: Promise<void> | undefined;
  const turns = await turnsOf(async () => {
    const created = new Promise<void>((resolve) => {
      world.api.before = (method, path) => {
        if (method === 'POST' && path.endsWith('/controllerrevisions')) resolve();
      };
    });
    changed = image('one', { spec: { hostAliases } });
    await created;
  });
  await changed;
  expect(turns).toBeGreaterThan(70);
});

test('nothing is written when nothing has changed', async () => {
  await start();
  await settle();
  const before = world.api.calls.length;
  world.api.put(kinds.pods, { ...world.get(kinds.pods, 'web-1') });
  await world.idle();
  expect(world.api.calls.slice(before)).toEqual([]);
});

test('surplus members are deleted from the last one down, each when the one before it is gone', async () => {
  await start({ template: template('one', { metadata: { finalizers: [held] } }) });
  await settle();
  await scale(1);
  expect(world.names()).toEqual(['web-0', 'web-1', 'web-2 (ending)']);
  await world.end('web-2');
  expect(world.names()).toEqual(['web-0', 'web-1 (ending)']);
  await world.end('web-1');
  expect(world.names()).toEqual(['web-0']);
  expect(set().status).toMatchObject({ replicas: 1, readyReplicas: 1, currentReplicas: 1 });
  expect(world.events()).toContain('Normal SuccessfulDelete delete Pod web-2 in StatefulSet web successful');
  await scale(0);
  await world.end('web-0');
  expect(world.names()).toEqual([]);
});

test('an update replaces members from the last one down, and ends with the new revision as the current one', async () => {
  await start();
  await settle();
  const [first] = world.revisions();
  await image('two');
  expect(world.names()).toEqual(['web-0', 'web-1', 'web-2']);
  expect(images()).toEqual(['one', 'one', 'two']);
  const second = world.revisions()[1];
  expect(set().status).toMatchObject({
    currentRevision: first.metadata.name,
    updateRevision: second.metadata.name,
    currentReplicas: 2,
    updatedReplicas: 1,
    readyReplicas: 2,
  });
  await settle();
  expect(images()).toEqual(['two', 'two', 'two']);
  expect(set().status).toMatchObject({ currentRevision: second.metadata.name, currentReplicas: 3, updatedReplicas: 3, readyReplicas: 3 });
});

test('members below the partition stay, and are created again as they were', async () => {
  await start();
  await settle();
  await world.change(kinds.statefulSets, 'web', ({ spec }) => {
    spec.template = template('two');
    spec.updateStrategy.rollingUpdate.partition = 2;
  });
  await settle();
  expect(images()).toEqual(['one', 'one', 'two']);
  await world.remove(kinds.pods, 'web-0');
  await world.remove(kinds.pods, 'web-2');
  await settle();
  expect(images()).toEqual(['one', 'one', 'two']);
  expect(set().status).toMatchObject({ currentReplicas: 2, updatedReplicas: 1 });
  await world.change(kinds.statefulSets, 'web', ({ spec }) => (spec.updateStrategy.rollingUpdate.partition = 0));
  await settle();
  expect(images()).toEqual(['two', 'two', 'two']);
});

test('a broken update stays after a rollback until its pod is deleted', async () => {
  await start();
  await settle();
  await image('broken');
  expect(images()).toEqual(['one', 'one', 'broken']);
  await world.phase('web-2', 'Running', false);
  await image('one');
  expect(images()).toEqual(['one', 'one', 'broken']);
  await world.remove(kinds.pods, 'web-2');
  await settle();
  expect(images()).toEqual(['one', 'one', 'one']);
  expect(world.revisions().map(({ revision, data }) => [revision, imageOf(data.spec.template)])).toEqual([
    [2, 'broken'],
    [3, 'one'],
  ]);
  expect(set().status.currentRevision).toBe(world.revisions()[1].metadata.name);
});

test('with OnDelete members are replaced when they are deleted', async () => {
  await start({ updateStrategy: { type: 'OnDelete' } });
  await settle();
  await image('two');
  expect(images()).toEqual(['one', 'one', 'one']);
  await world.remove(kinds.pods, 'web-1');
  await settle();
  expect(images()).toEqual(['one', 'two', 'one']);
});

test('old revisions are deleted beyond the limit, those of pods never', async () => {
  await start({ updateStrategy: { type: 'OnDelete' } });
  await settle();
  for (const name of ['two', 'three', 'four', 'five']) await image(name);
  const stored = world.revisions().map(({ data }) => imageOf(data.spec.template));
  expect(stored).toEqual(['one', 'three', 'four', 'five']);
});

test('a revision that is deleted is made again, and one that nothing controls is adopted', async () => {
  await start({ replicas: 1 });
  const [{ metadata }] = world.revisions();
  await world.remove(kinds.revisions, metadata.name);
  expect(world.revisions().map(({ metadata: again }) => again.name)).toEqual([metadata.name]);
  const { ownerReferences: _, ...rest } = world.revisions()[0].metadata;
  world.api.put(kinds.revisions, { ...world.revisions()[0], metadata: rest });
  await world.idle();
  expect(world.revisions()[0].metadata.ownerReferences).toMatchObject([{ uid: 'web-uid', controller: true }]);
});

test('a name of a revision that another template has makes another hash', async () => {
  await start({ replicas: 1 });
  const [{ metadata }] = world.revisions();
  await world.run.stop();
  world = new SetsWorld([statefulSetController(() => true)]);
  world.api.put(kinds.revisions, {
    metadata: { name: metadata.name, namespace: ns },
    revision: 7,
    data: { spec: { template: { other: true } } },
  });
  world.api.put(kinds.statefulSets, {
    metadata: { name: 'web', namespace: ns, generation: 1 },
    spec: { replicas: 1, selector: { matchLabels: { app: 'web' } }, template: template('one'), updateStrategy: { type: 'RollingUpdate' } },
  });
  await world.idle();
  expect(set().status.collisionCount).toBe(1);
  expect(set().status.updateRevision).not.toBe(metadata.name);
  expect(world.get(kinds.pods, 'web-0').metadata.labels['controller-revision-hash']).toBe(set().status.updateRevision);
});

test('parallel members are created and deleted at once', async () => {
  await start({ podManagementPolicy: 'Parallel', template: template('one', { metadata: { finalizers: [held] } }) });
  expect(world.names()).toEqual(['web-0', 'web-1', 'web-2']);
  await scale(1);
  expect(world.names()).toEqual(['web-0', 'web-1 (ending)', 'web-2 (ending)']);
  await scale(2);
  await world.end('web-1');
  expect(world.names()).toEqual(['web-0', 'web-1', 'web-2 (ending)']);
});

test('a failed member is deleted and created again', async () => {
  await start();
  await settle();
  const { uid } = world.get(kinds.pods, 'web-1').metadata;
  await world.phase('web-1', 'Failed');
  expect(world.names()).toEqual(['web-0', 'web-1', 'web-2']);
  expect(world.get(kinds.pods, 'web-1').metadata.uid).not.toBe(uid);
  expect(world.events()).toContain('Warning RecreatingFailedPod StatefulSet a/web is recreating failed Pod web-1');
});

test('a refused pod is an event and is tried again', async () => {
  world = new SetsWorld([statefulSetController(() => true)]);
  world.api.before = (method, path) => {
    if (method === 'POST' && path.endsWith('/pods')) FakeApi.refuse(403, 'Forbidden', 'exceeded quota');
  };
  world.api.put(kinds.statefulSets, {
    metadata: { name: 'web', namespace: ns, generation: 1 },
    spec: { replicas: 1, selector: { matchLabels: { app: 'web' } }, template: template('one') },
  });
  await world.idle();
  expect(world.events()).toEqual(['Warning FailedCreate create Pod web-0 in StatefulSet web failed error: exceeded quota']);
  expect(set().status).toMatchObject({ observedGeneration: 1, replicas: 0 });
  world.api.before = () => {};
  await world.run.pass(1000);
  expect(world.names()).toEqual(['web-0']);
});

test('pods have to be ready for minReadySeconds before the next one is created', async () => {
  await start({ minReadySeconds: 10 });
  await world.ready('web-0');
  expect(set().status).toMatchObject({ readyReplicas: 1, availableReplicas: 0 });
  await world.run.pass(9_999);
  expect(world.names()).toEqual(['web-0']);
  await world.run.pass(1);
  expect(world.names()).toEqual(['web-0', 'web-1']);
  expect(set().status).toMatchObject({ readyReplicas: 1, availableReplicas: 1 });
});

const withClaims = {
  volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'] } }],
};
test('claims are created before the pods, and stay', async () => {
  await start(withClaims);
  await settle();
  await scale(1);
  await settle();
  const claims = world.api.all(kinds.claims);
  expect(claims.map(({ metadata }) => metadata.name)).toEqual(['data-web-0', 'data-web-1', 'data-web-2']);
  expect(claims[0]).toMatchObject({ metadata: { labels: { app: 'web' } }, spec: { accessModes: ['ReadWriteOnce'] } });
  expect(world.get(kinds.pods, 'web-0').spec.volumes).toEqual([{ name: 'data', persistentVolumeClaim: { claimName: 'data-web-0' } }]);
  expect(world.events()).toContain('Normal SuccessfulCreate create Claim data-web-0 Pod web-0 in StatefulSet web success');
  expect(world.run.failures).toEqual([]);
});

test('a member waits until its claim that is being deleted is gone', async () => {
  await start({ ...withClaims, replicas: 1 });
  await settle();
  world.api.put(kinds.claims, {
    ...world.get(kinds.claims, 'data-web-0'),
    metadata: { ...world.get(kinds.claims, 'data-web-0').metadata, finalizers: ['test/used'] },
  });
  await world.remove(kinds.claims, 'data-web-0');
  await world.remove(kinds.pods, 'web-0');
  expect(world.names()).toEqual([]);
  const path = `/api/v1/namespaces/${ns}/persistentvolumeclaims/data-web-0`;
  await world.api.request({ method: 'PATCH', path, body: JSON.stringify({ metadata: { finalizers: [] } }) });
  await world.idle();
  expect(world.names()).toEqual(['web-0']);
  expect(world.get(kinds.claims, 'data-web-0').metadata.deletionTimestamp).toBeUndefined();
});

test('with its feature, the retention policy decides who owns the claims', async () => {
  const persistentVolumeClaimRetentionPolicy = { whenDeleted: 'Delete', whenScaled: 'Delete' };
  await start(
    { ...withClaims, replicas: 2, persistentVolumeClaimRetentionPolicy, template: template('one', { metadata: { finalizers: [held] } }) },
    ['StatefulSetAutoDeletePVC'],
  );
  await settle();
  const owners = (name: string): string[] =>
    (world.get(kinds.claims, name).metadata.ownerReferences ?? []).map(({ kind, name: owner }: Loose) => `${kind}/${owner}`);
  expect([owners('data-web-0'), owners('data-web-1')]).toEqual([['StatefulSet/web'], ['StatefulSet/web']]);
  await scale(1);
  expect([owners('data-web-0'), owners('data-web-1')]).toEqual([['StatefulSet/web'], ['Pod/web-1']]);
  await world.end('web-1');
  // The claim goes with the pod that is gone: a new one must not use it.
  await scale(2);
  expect(world.names()).toEqual(['web-0']);
  await world.remove(kinds.claims, 'data-web-1');
  expect(world.names()).toEqual(['web-0', 'web-1']);
  await world.change(kinds.statefulSets, 'web', ({ spec }) => (spec.persistentVolumeClaimRetentionPolicy.whenDeleted = 'Retain'));
  expect(owners('data-web-0')).toEqual([]);
});

test('pods of its name that nothing controls are adopted, others released', async () => {
  world = new SetsWorld([statefulSetController(() => true)]);
  const pod = (name: string, labels: Loose, more: Loose = {}): void => {
    world.api.put(kinds.pods, { metadata: { name, namespace: ns, labels, ...more }, spec: {}, status: {} });
  };
  pod('web-0', { app: 'web' });
  pod('web-x', { app: 'web' });
  pod('other-1', { app: 'web' });
  world.api.put(kinds.statefulSets, {
    metadata: { name: 'web', namespace: ns, generation: 1, uid: 'web-uid' },
    spec: { replicas: 1, selector: { matchLabels: { app: 'web' } }, template: template('one'), podManagementPolicy: 'Parallel' },
  });
  await world.idle();
  const ownersOf = (name: string): unknown[] => (world.get(kinds.pods, name).metadata.ownerReferences ?? []).map(({ uid }: Loose) => uid);
  expect([ownersOf('web-0'), ownersOf('web-x'), ownersOf('other-1')]).toEqual([['web-uid'], [], []]);
  expect(world.get(kinds.pods, 'web-0').metadata.labels['statefulset.kubernetes.io/pod-name']).toBe('web-0');
  const adopted = structuredClone(world.get(kinds.pods, 'web-0'));
  adopted.metadata.labels.app = 'else';
  world.api.put(kinds.pods, adopted);
  await world.idle();
  expect(ownersOf('web-0')).toEqual([]);
  // The name is free again only when the pod is gone.
  await world.remove(kinds.pods, 'web-0');
  expect(ownersOf('web-0')).toEqual(['web-uid']);
});

test('a set that is being deleted only counts', async () => {
  await start({ template: template('one') });
  await settle();
  await world.change(kinds.statefulSets, 'web', ({ metadata }) => {
    metadata.finalizers = ['foregroundDeletion'];
    metadata.deletionTimestamp = '2024-01-01T00:00:00Z';
  });
  await world.remove(kinds.pods, 'web-1');
  expect(world.names()).toEqual(['web-0', 'web-2']);
  expect(set().status).toMatchObject({ replicas: 2, readyReplicas: 2 });
});
