/** Whatever happens to a stateful set and its pods, order is kept on the way, and it ends as its spec says. */

import type { Loose } from '@plat-dev/controllers/testing';
import { type Random, seededRandom } from '@plat-dev/lib/random';
import { testSeed } from '@plat-dev/lib/testing/seed.testing';
import { expect, test } from 'vitest';
import { held, imageOf, kinds, ns, SetsWorld, template } from '../sets.testing.ts';
import { statefulSetController } from './controller.ts';

const RUNS = 5;
const STEPS = 30;

const isReady = ({ metadata, status }: Loose): boolean =>
  metadata.deletionTimestamp === undefined && status?.phase === 'Running' && status.conditions[0].status === 'True';
const ordinal = ({ metadata }: Loose): number => Number(metadata.name.slice('web-'.length));

async function start(order: string): Promise<SetsWorld> {
  const world = new SetsWorld([statefulSetController(() => true)]);
  world.api.put(kinds.statefulSets, {
    metadata: { name: 'web', namespace: ns, generation: 1 },
    spec: {
      replicas: 2,
      serviceName: 'peers',
      selector: { matchLabels: { app: 'web' } },
      template: template('image-0', { metadata: { finalizers: [held] } }),
      podManagementPolicy: order,
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      revisionHistoryLimit: 3,
    },
  });
  await world.idle();
  return world;
}

/** Checks every change of a pod; `byUser` has the pods that a user deletes. */
async function watchOrder(world: SetsWorld, order: string, byUser: Set<string>): Promise<string[]> {
  const faults: string[] = [];
  const ending = new Set<string>();
  await world.onPods((type, pod) => {
    const { name, deletionTimestamp } = pod.metadata;
    const { replicas } = world.get(kinds.statefulSets, 'web').spec;
    const others = world.pods().filter(({ metadata }) => metadata.name !== name);
    const wanted = others.filter((other) => ordinal(other) < replicas);
    if (type === 'ADDED') {
      ending.delete(name);
      if (ordinal(pod) >= replicas) faults.push(`${name} is created beyond ${replicas}`);
      const before = wanted.filter((other) => ordinal(other) < ordinal(pod) && isReady(other));
      if (order === 'OrderedReady' && before.length !== ordinal(pod)) faults.push(`${name} is created before its time`);
    }
    if (type !== 'MODIFIED' || deletionTimestamp === undefined || ending.has(name)) return;
    ending.add(name);
    if (byUser.delete(name) || pod.status?.phase === 'Failed') return;
    if (ordinal(pod) >= replicas) {
      const above = others.filter((other) => ordinal(other) > ordinal(pod));
      if (order === 'OrderedReady' && above.length > 0) faults.push(`${name} is deleted before ${above[0]?.metadata.name}`);
      return;
    }
    // An update: those above are done, and with ordered pods all others are ready.
    const due = order === 'OrderedReady' ? wanted : wanted.filter((other) => ordinal(other) > ordinal(pod));
    if (!due.every(isReady)) faults.push(`${name} is updated while others are not ready`);
  });
  return faults;
}

async function step(world: SetsWorld, random: Random, byUser: Set<string>): Promise<void> {
  const pods = world.pods();
  const pod = pods.length === 0 ? undefined : pods[random.below(pods.length)];
  const { name = '', deletionTimestamp } = pod?.metadata ?? {};
  const choice = random.below(12);
  const change = (edit: (spec: Loose) => void): Promise<void> => world.change(kinds.statefulSets, 'web', ({ spec }) => edit(spec));
  if (choice === 0) await change((spec) => (spec.replicas = random.below(5)));
  else if (choice === 1) await change((spec) => (spec.template.spec.containers[0].image = `image-${random.below(4)}`));
  else if (choice === 2) await change((spec) => (spec.updateStrategy.rollingUpdate.partition = random.below(3)));
  else if (pod === undefined) await world.idle();
  else if (deletionTimestamp !== undefined) await world.end(name);
  else if (choice === 3) await world.phase(name, 'Failed');
  else if (choice === 4) await world.phase(name, 'Running', false);
  else if (choice === 5) {
    byUser.add(name);
    await world.remove(kinds.pods, name);
  } else await world.ready(name);
}

async function settle(world: SetsWorld): Promise<void> {
  for (let i = 0; i < 200; i++) {
    const pod = world.pods().find((one) => !isReady(one));
    if (pod === undefined) return;
    if (pod.metadata.deletionTimestamp !== undefined) await world.end(pod.metadata.name);
    else await world.ready(pod.metadata.name);
  }
  throw new Error('the set does not settle');
}

test.each(['OrderedReady', 'Parallel'])('%s: order is kept, and the set ends as its spec says', async (order) => {
  for (let run = 0; run < RUNS; run++) {
    const random = seededRandom(testSeed + run);
    const world = await start(order);
    const byUser = new Set<string>();
    const faults = await watchOrder(world, order, byUser);
    for (let i = 0; i < STEPS; i++) await step(world, random, byUser);
    await settle(world);
    const { spec, status } = world.get(kinds.statefulSets, 'web');
    const { replicas } = spec;
    const wanted = Array.from({ length: replicas }, (_, i) => `web-${i}`);
    expect([run, faults, world.names()]).toEqual([run, [], wanted]);
    const { partition } = spec.updateStrategy.rollingUpdate;
    const images = world.pods().slice(partition).map(imageOf);
    expect(images).toEqual(images.map(() => imageOf(spec.template)));
    expect([status.replicas, status.readyReplicas ?? 0]).toEqual([replicas, replicas]);
    expect(world.revisions().length).toBeLessThanOrEqual(3 + 2 + replicas);
    expect(world.run.failures).toEqual([]);
    await world.run.stop();
  }
});
