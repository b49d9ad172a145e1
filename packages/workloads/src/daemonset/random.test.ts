/** Whatever happens to nodes, pods and a daemon set, its limits hold on the way, and every node that fits has one pod in the end. */

import type { Loose } from '@plat-dev/controllers/testing';
import { type Random, seededRandom } from '@plat-dev/lib/random';
import { testSeed } from '@plat-dev/lib/testing/seed.testing';
import { expect, test } from 'vitest';
import { held, imageOf, kinds, ns, SetsWorld, template } from '../sets.testing.ts';
import { daemonSetController } from './controller.ts';
import { nodeOf } from './daemon-pod.ts';

const RUNS = 4;
const STEPS = 30;
const NODES = 5;

const isReady = ({ metadata, status }: Loose): boolean =>
  metadata.deletionTimestamp === undefined && status?.phase === 'Running' && status.conditions[0].status === 'True';
const putNode = (world: SetsWorld, i: number, taints: Loose[] = []): void =>
  void world.api.put(kinds.nodes, { metadata: { name: `n${i}`, labels: {} }, spec: { taints } });
const fitting = (world: SetsWorld): string[] =>
  world.api
    .all(kinds.nodes)
    .filter(({ spec }) => spec.taints.length === 0)
    .map(({ metadata }) => metadata.name);

async function start(rollingUpdate: Loose): Promise<SetsWorld> {
  const world = new SetsWorld([daemonSetController(() => true)]);
  for (let i = 0; i < NODES; i++) putNode(world, i);
  world.api.put(kinds.daemonSets, {
    metadata: { name: 'agent', namespace: ns, generation: 1 },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: template('image-0', { metadata: { finalizers: [held] } }),
      updateStrategy: { type: 'RollingUpdate', rollingUpdate },
      revisionHistoryLimit: 2,
    },
  });
  await world.idle();
  return world;
}

/** Checks every change of a pod: pods of a node, and ready pods that the controller takes away. */
async function watchLimits(world: SetsWorld, limits: { pods: number; unavailable: number }, byUser: Set<string>): Promise<string[]> {
  const faults: string[] = [];
  const ending = new Set<string>();
  await world.onPods((type, pod) => {
    const node = nodeOf(pod);
    const active = world.pods().filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const here = active.filter((other) => nodeOf(other) === node);
    if (type === 'ADDED' && here.length > limits.pods) faults.push(`${here.length} pods on ${node}`);
    const { name, deletionTimestamp } = pod.metadata;
    if (type !== 'MODIFIED' || deletionTimestamp === undefined || ending.has(name)) return;
    ending.add(name);
    const nodes = fitting(world);
    const wasReady = pod.status?.phase === 'Running' && pod.status.conditions[0].status === 'True';
    if (byUser.delete(name) || !wasReady || !nodes.includes(node)) return;
    // Taken from a node that should have one: a pod of the same node takes its place, or few enough are without.
    if (here.some(isReady)) return;
    const without = nodes.filter((one) => !active.some((other) => nodeOf(other) === one && isReady(other))).length;
    if (without > limits.unavailable) faults.push(`${without} nodes without a ready pod`);
  });
  return faults;
}

async function step(world: SetsWorld, random: Random, byUser: Set<string>): Promise<void> {
  const pods = world.pods();
  const pod = pods.length === 0 ? undefined : pods[random.below(pods.length)];
  const { name = '', deletionTimestamp } = pod?.metadata ?? {};
  const choice = random.below(14);
  const i = random.below(NODES);
  if (choice === 0) {
    const number = random.below(4);
    await world.change(kinds.daemonSets, 'agent', ({ spec }) => (spec.template.spec.containers[0].image = `image-${number}`));
  } else if (choice === 1 && world.get(kinds.nodes, `n${i}`) !== undefined) await world.remove(kinds.nodes, `n${i}`);
  else if (choice <= 3) {
    putNode(world, i, choice === 2 ? [{ key: 'x', effect: random.below(2) === 0 ? 'NoSchedule' : 'NoExecute' }] : []);
    await world.idle();
  } else if (pod === undefined) await world.idle();
  else if (deletionTimestamp !== undefined) await world.end(name);
  else if (choice === 4) await world.phase(name, 'Failed');
  else if (choice === 5) await world.phase(name, 'Running', false);
  else if (choice === 6) {
    byUser.add(name);
    await world.remove(kinds.pods, name);
  } else await ready(world, pod);
}
async function ready(world: SetsWorld, pod: Loose): Promise<void> {
  world.api.put(kinds.pods, { ...pod, spec: { ...pod.spec, nodeName: nodeOf(pod) } });
  await world.ready(pod.metadata.name);
}

/** All nodes are there and fit, and pods become ready, until nothing changes. */
async function settle(world: SetsWorld): Promise<void> {
  for (let i = 0; i < NODES; i++) putNode(world, i);
  await world.idle();
  for (let i = 0; i < 200; i++) {
    // Pods that failed wait until they are replaced.
    await world.run.pass(60_000);
    const pod = world.pods().find((one) => !isReady(one));
    if (pod === undefined) return;
    if (pod.metadata.deletionTimestamp !== undefined) await world.end(pod.metadata.name);
    else await ready(world, pod);
  }
  throw new Error('the set does not settle');
}

test.each([
  ['one at a time', { maxUnavailable: 1, maxSurge: 0 }, { pods: 1, unavailable: 1 }],
  ['with a share', { maxUnavailable: '40%', maxSurge: 0 }, { pods: 1, unavailable: 2 }],
  ['with a surge', { maxUnavailable: 0, maxSurge: 2 }, { pods: 2, unavailable: 0 }],
])('%s: limits hold, and every node has one pod in the end', async (_, rollingUpdate, limits) => {
  for (let run = 0; run < RUNS; run++) {
    const random = seededRandom(testSeed + run);
    const world = await start(rollingUpdate);
    const byUser = new Set<string>();
    const faults = await watchLimits(world, limits, byUser);
    for (let i = 0; i < STEPS; i++) await step(world, random, byUser);
    await settle(world);
    const { spec, status } = world.get(kinds.daemonSets, 'agent');
    const wanted = Array.from({ length: NODES }, (_unused, i) => `n${i} ${imageOf(spec.template)}`);
    const placed = world
      .pods()
      .map((pod) => `${nodeOf(pod)} ${imageOf(pod)}`)
      .sort();
    expect([run, faults, placed]).toEqual([run, [], wanted]);
    expect(status).toMatchObject({
      desiredNumberScheduled: NODES,
      numberAvailable: NODES,
      updatedNumberScheduled: NODES,
      numberMisscheduled: 0,
    });
    expect(world.revisions().length).toBeLessThanOrEqual(3);
    expect(world.run.failures).toEqual([]);
    await world.run.stop();
  }
});
