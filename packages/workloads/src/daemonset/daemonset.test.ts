import { FakeApi, type Loose } from '@plat-dev/controllers/testing';
import { afterEach, expect, test } from 'vitest';
import { held, imageOf, kinds, ns, SetsWorld, template } from '../sets.testing.ts';
import { daemonSetController } from './controller.ts';
import { nodeOf } from './daemon-pod.ts';

let world: SetsWorld;
afterEach(() => world.run.stop());

const putNode = async (name: string, more: Loose = {}): Promise<void> => {
  const before = world.get(kinds.nodes, name) ?? { metadata: {} };
  world.api.put(kinds.nodes, {
    ...before,
    metadata: { ...before.metadata, name, labels: more.labels ?? {} },
    spec: { taints: more.taints ?? [] },
  });
  await world.idle();
};
function putSet(spec: Loose = {}): void {
  world.api.put(kinds.daemonSets, {
    metadata: { name: 'agent', namespace: ns, generation: 1, uid: 'agent-uid' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: template('one'),
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
      revisionHistoryLimit: 1,
      ...spec,
    },
  });
}
async function start(nodes: readonly string[], spec: Loose = {}): Promise<void> {
  world = new SetsWorld([daemonSetController(() => true)]);
  for (const name of nodes) world.api.put(kinds.nodes, { metadata: { name, labels: {} }, spec: {} });
  putSet(spec);
  await world.idle();
}
const set = (): Loose => world.get(kinds.daemonSets, 'agent');
const image = (name: string): Promise<void> => world.change(kinds.daemonSets, 'agent', ({ spec }) => (spec.template = template(name)));
/** The scheduler binds all pods, and the nodes run them. */
async function settle(): Promise<void> {
  for (let i = 0; i < 100; i++) {
    const pod = world.pods().find(({ metadata, status }) => metadata.deletionTimestamp !== undefined || status?.phase === undefined);
    if (pod === undefined) return;
    if (pod.metadata.deletionTimestamp !== undefined) await world.end(pod.metadata.name);
    else await bind(pod);
  }
  throw new Error('the set does not settle');
}
async function bind(pod: Loose): Promise<void> {
  world.api.put(kinds.pods, { ...pod, spec: { ...pod.spec, nodeName: nodeOf(pod) } });
  await world.ready(pod.metadata.name);
}
/** `n1 one`: node and image of all pods. */
const placed = (): string[] =>
  world
    .pods()
    .map((pod) => `${nodeOf(pod)} ${imageOf(pod)}${pod.metadata.deletionTimestamp === undefined ? '' : ' ending'}`)
    .sort();

test('every node that fits has a pod, and the status counts them', async () => {
  await start(['n1', 'n2']);
  expect(placed()).toEqual(['n1 one', 'n2 one']);
  expect(set().status).toMatchObject({
    observedGeneration: 1,
    desiredNumberScheduled: 2,
    currentNumberScheduled: 2,
    numberReady: 0,
    numberUnavailable: 2,
  });
  await settle();
  await putNode('n3');
  await putNode('n4', { taints: [{ key: 'x', effect: 'NoSchedule' }] });
  expect(placed()).toEqual(['n1 one', 'n2 one', 'n3 one']);
  await settle();
  expect(set().status).toEqual({
    observedGeneration: 1,
    desiredNumberScheduled: 3,
    currentNumberScheduled: 3,
    numberMisscheduled: 0,
    updatedNumberScheduled: 3,
    numberReady: 3,
    numberAvailable: 3,
    numberUnavailable: 0,
  });
  const [revision] = world.revisions();
  const [pod] = world.pods();
  const hash = pod.metadata.labels['controller-revision-hash'];
  expect(revision).toMatchObject({
    revision: 1,
    metadata: { name: `agent-${hash}`, labels: { app: 'web', 'controller-revision-hash': hash } },
  });
  expect(world.events()).toContain(`Normal SuccessfulCreate Created pod: ${pod.metadata.name}`);
  expect(world.run.failures).toEqual([]);
});

test('nothing is written for the heartbeat of a node', async () => {
  await start(['n1', 'n2']);
  await settle();
  const before = world.api.calls.length;
  world.api.put(kinds.nodes, { ...world.get(kinds.nodes, 'n1'), status: { conditions: [{ type: 'Ready', status: 'True' }] } });
  await world.idle();
  expect(world.api.calls.slice(before)).toEqual([]);
});

test('nodes that no longer fit lose their pod, those that only take no new ones keep it', async () => {
  await start(['n1', 'n2', 'n3'], { template: template('one', { spec: { nodeSelector: {} } }) });
  await settle();
  await putNode('n1', { taints: [{ key: 'x', effect: 'NoSchedule' }] });
  await putNode('n2', { taints: [{ key: 'x', effect: 'NoExecute' }] });
  expect(placed()).toEqual(['n1 one', 'n3 one']);
  expect(set().status).toMatchObject({ desiredNumberScheduled: 1, currentNumberScheduled: 1, numberMisscheduled: 1 });
  await putNode('n2');
  expect(placed()).toEqual(['n1 one', 'n2 one', 'n3 one']);
  // A pod that was not bound to a node that is gone has no place any more.
  await world.remove(kinds.nodes, 'n2');
  expect(placed()).toEqual(['n1 one', 'n3 one']);
});

test('an update replaces as many pods at a time as may be unavailable', async () => {
  await start(['n1', 'n2', 'n3', 'n4'], {
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '50%', maxSurge: 0 } },
    template: template('one', { metadata: { finalizers: [held] } }),
  });
  await settle();
  await image('two');
  expect(placed().filter((text) => text.endsWith('ending'))).toHaveLength(2);
  expect(set().status).toMatchObject({ updatedNumberScheduled: 0 });
  const [ending] = world.pods().filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  await world.end(ending.metadata.name);
  expect(placed().filter((text) => text.endsWith('two'))).toHaveLength(1);
  expect(placed().filter((text) => text.endsWith('one'))).toHaveLength(2);
  await settle();
  expect(placed()).toEqual(['n1 two', 'n2 two', 'n3 two', 'n4 two']);
  expect(set().status).toMatchObject({ updatedNumberScheduled: 4, numberAvailable: 4 });
});

test('an update with a surge starts new pods before it ends old ones', async () => {
  await start(['n1', 'n2'], {
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    minReadySeconds: 5,
  });
  await settle();
  await world.run.pass(5000);
  await image('two');
  expect(placed()).toEqual(['n1 one', 'n1 two', 'n2 one']);
  await settle();
  expect(placed()).toEqual(['n1 one', 'n1 two', 'n2 one']);
  await world.run.pass(5000);
  expect(placed()).toEqual(['n1 two', 'n2 one', 'n2 two']);
  await settle();
  await world.run.pass(5000);
  expect(placed()).toEqual(['n1 two', 'n2 two']);
});

test('with OnDelete pods are replaced when they are deleted', async () => {
  await start(['n1', 'n2'], { updateStrategy: { type: 'OnDelete' } });
  await settle();
  await image('two');
  expect(placed()).toEqual(['n1 one', 'n2 one']);
  await world.remove(kinds.pods, world.pods()[0].metadata.name);
  expect(placed().filter((text) => text.endsWith('two'))).toHaveLength(1);
  expect(set().status).toMatchObject({ updatedNumberScheduled: 1 });
});

test('revisions are used again after a rollback, and old ones go beyond the limit', async () => {
  await start(['n1']);
  await settle();
  const stored = (): unknown[] => world.revisions().map(({ revision, data }) => [revision, imageOf(data.spec.template)]);
  for (const name of ['two', 'one']) {
    await image(name);
    await settle();
  }
  expect(stored()).toEqual([
    [2, 'two'],
    [3, 'one'],
  ]);
  await image('three');
  await settle();
  expect(stored()).toEqual([
    [3, 'one'],
    [4, 'three'],
  ]);
});

test('revisions of the same template become one, and their pods keep running', async () => {
  await start(['n1']);
  await settle();
  const [revision] = world.revisions();
  const [{ metadata: before }] = world.pods();
  const labels = { ...revision.metadata.labels, 'controller-revision-hash': 'other' };
  world.api.put(kinds.revisions, {
    ...revision,
    metadata: { ...revision.metadata, name: 'agent-other', uid: 'other', labels },
    revision: 9,
  });
  await world.change(kinds.daemonSets, 'agent', () => {});
  const [{ metadata: after }] = world.pods();
  expect(world.revisions().map(({ metadata }) => metadata.name)).toEqual(['agent-other']);
  expect([after.uid, after.labels['controller-revision-hash']]).toEqual([before.uid, 'other']);
});

test('a revision that is deleted is made again, and one that nothing controls is adopted', async () => {
  await start(['n1']);
  await settle();
  const [{ metadata }] = world.revisions();
  await world.remove(kinds.revisions, metadata.name);
  expect(world.revisions().map(({ metadata: again }) => again.name)).toEqual([metadata.name]);
  const { ownerReferences: _, ...rest } = world.revisions()[0].metadata;
  world.api.put(kinds.revisions, { ...world.revisions()[0], metadata: rest });
  await world.idle();
  expect(world.revisions()[0].metadata.ownerReferences).toMatchObject([{ uid: 'agent-uid', controller: true }]);
  expect(placed()).toEqual(['n1 one']);
});

test('a failed pod is replaced, after longer and longer waits', async () => {
  await start(['n1']);
  const fail = async (): Promise<void> => {
    const [pod] = world.pods();
    world.api.put(kinds.pods, { ...pod, spec: { ...pod.spec, nodeName: 'n1' } });
    await world.phase(pod.metadata.name, 'Failed');
  };
  const [first] = world.pods();
  await fail();
  const [second] = world.pods();
  expect(second.metadata.name).not.toBe(first.metadata.name);
  expect(world.events()).toContain(
    `Warning FailedDaemonPod Found failed daemon pod a/${first.metadata.name} on node n1, will try to kill it`,
  );
  await fail();
  await world.run.pass(999);
  expect(world.pods()[0].metadata.name).toBe(second.metadata.name);
  await world.run.pass(1);
  const [third] = world.pods();
  expect(third.metadata.name).not.toBe(second.metadata.name);
  await fail();
  await world.run.pass(1999);
  expect(world.pods()[0].metadata.name).toBe(third.metadata.name);
  await world.run.pass(1);
  expect(world.pods()[0].metadata.name).not.toBe(third.metadata.name);
});

test('pods that nothing controls are adopted, and those it does not select released', async () => {
  world = new SetsWorld([daemonSetController(() => true)]);
  world.api.put(kinds.nodes, { metadata: { name: 'n1', labels: {} }, spec: {} });
  const orphan = (name: string): void => {
    world.api.put(kinds.pods, {
      metadata: { name, namespace: ns, labels: { app: 'web' } },
      spec: { nodeName: 'n1', containers: [{ image: name }] },
    });
  };
  orphan('first');
  putSet({ updateStrategy: { type: 'OnDelete' } });
  await world.idle();
  const owners = (name: string): unknown[] => (world.get(kinds.pods, name).metadata.ownerReferences ?? []).map(({ uid }: Loose) => uid);
  expect([placed(), owners('first')]).toEqual([['n1 first'], ['agent-uid']]);
  // A second one on the node is adopted and deleted.
  orphan('second');
  await world.idle();
  expect(placed()).toEqual(['n1 first']);
  const pod = structuredClone(world.get(kinds.pods, 'first'));
  pod.metadata.labels = { app: 'else' };
  world.api.put(kinds.pods, pod);
  await world.idle();
  expect([owners('first'), placed()]).toEqual([[], ['n1 first', 'n1 one']]);
});

test('refused pods are an event, and the others are created', async () => {
  world = new SetsWorld([daemonSetController(() => true)]);
  let left = 1;
  world.api.before = (method, path) => {
    if (method === 'POST' && path.endsWith('/pods') && left-- <= 0) FakeApi.refuse(403, 'Forbidden', 'exceeded quota');
  };
  for (const name of ['n1', 'n2', 'n3']) world.api.put(kinds.nodes, { metadata: { name, labels: {} }, spec: {} });
  putSet();
  await world.idle();
  expect(placed()).toHaveLength(1);
  expect(set().status).toMatchObject({ desiredNumberScheduled: 3, currentNumberScheduled: 1 });
  expect(world.events()).toContain('Warning FailedCreate Error creating: exceeded quota');
  world.api.before = () => {};
  await world.run.pass(60_000);
  expect(placed()).toHaveLength(3);
});

test('a name of a revision that another template has makes another hash', async () => {
  await start(['n1']);
  const [{ metadata }] = world.revisions();
  await world.run.stop();
  world = new SetsWorld([daemonSetController(() => true)]);
  world.api.put(kinds.nodes, { metadata: { name: 'n1', labels: {} }, spec: {} });
  world.api.put(kinds.revisions, { metadata: { name: metadata.name, namespace: ns }, revision: 1, data: {} });
  putSet();
  await world.idle();
  expect([set().status.collisionCount, placed()]).toEqual([1, ['n1 one']]);
});

test('a set that selects everything, or is being deleted, creates nothing', async () => {
  await start(['n1'], { selector: {} });
  expect(placed()).toEqual([]);
  expect(world.events()).toEqual(['Warning SelectingAll This daemon set is selecting all pods. A non-empty selector is required.']);
  putSet();
  world.api.put(kinds.daemonSets, {
    ...set(),
    metadata: { ...set().metadata, deletionTimestamp: '2024-01-01T00:00:00Z', finalizers: ['x'] },
  });
  await world.idle();
  expect(placed()).toEqual([]);
});
