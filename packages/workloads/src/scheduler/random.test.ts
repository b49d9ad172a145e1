/** Pods and nodes come, change and go at random: what is counted is what is there, and no decision breaks a limit. */

import { type Random, seededRandom } from '@plat-dev/lib/random';
import { testSeed } from '@plat-dev/lib/testing/seed.testing';
import { expect, test } from 'vitest';
import { hostname, type NodeOptions, type PodOptions, World, zone } from './world.testing.ts';

const apps = ['a', 'b', 'c'];
const zones = ['x', 'y', 'z'];
const pick = <T>(random: Random, from: readonly T[]): T => from[random.below(from.length)] as T;
const chance = (random: Random, percent: number): boolean => random.below(100) < percent;

interface Known {
  readonly options: PodOptions;
  readonly far: string | undefined;
  readonly spread: boolean;
}

function randomPod(random: Random): Known {
  const app = pick(random, apps);
  const far = chance(random, 15) ? pick(random, apps) : undefined;
  const spread = chance(random, 20);
  const spec = {
    ...(far !== undefined && {
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: hostname, labelSelector: { matchLabels: { app: far } } }],
        },
      },
    }),
    ...(spread && {
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: zone, whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { app } } },
      ],
    }),
    ...(chance(random, 20) && { tolerations: [{ operator: 'Exists' }] }),
  };
  return { options: { labels: { app }, cpu: `${1 + random.below(8)}00m`, priority: random.below(3), spec }, far, spread };
}
const randomNode = (random: Random): NodeOptions => ({
  cpu: `${1 + random.below(3)}`,
  labels: { [zone]: pick(random, zones) },
  ...(chance(random, 15) && { taints: [{ key: 'closed', effect: 'NoSchedule' }] }),
});

class Checked extends World {
  readonly known = new Map<string, Known>();
  readonly names = new Map<string, NodeOptions>();

  /** Sums and tables are those of the pods that are there. */
  check(): void {
    const here = new Map<string, number>();
    for (const name of this.placed.values()) here.set(name, (here.get(name) ?? 0) + 1);
    const wrong = [...this.cluster.nodes()].filter(
      ({ name, pods, cpu }) =>
        pods.size !== (here.get(name) ?? 0) || cpu !== [...pods].reduce((sum, pod) => sum + pod.class.requests.cpu, 0),
    );
    expect(wrong).toEqual([]);
  }
  /** A pod that has just got a node may be there. */
  decided(key: string): void {
    const name = this.placed.get(key);
    const node = this.cluster.get(name ?? '');
    const pod = this.known.get(key);
    if (node === undefined || pod === undefined) return;
    expect(node.cpu).toBeLessThanOrEqual(node.allocatable.cpu);
    const neighbours = [...node.pods].filter((other) => other.key !== key);
    const app = pod.options.labels?.app;
    const averse = neighbours.filter(
      (other) => (pod.far !== undefined && other.class.labels?.app === pod.far) || this.known.get(other.key)?.far === app,
    );
    expect(averse).toEqual([]);
    if (node.taints.length > 0) expect(pod.options.spec?.tolerations).toBeDefined();
    if (pod.spread) {
      const counts = new Map<string, number>();
      for (const one of this.cluster.nodes()) {
        const at = one.labels[zone] as string;
        const here = [...one.pods].filter((other) => other.class.labels?.app === app && !other.class.terminating).length;
        counts.set(at, (counts.get(at) ?? 0) + here);
      }
      expect((counts.get(node.labels[zone] as string) ?? 0) - Math.min(...counts.values())).toBeLessThanOrEqual(1);
    }
  }
}

/** Decides one after another, and checks each. */
function runChecked(world: Checked): void {
  for (;;) {
    const before = new Set(world.placed.keys());
    if (!world.scheduler.next()) return;
    for (const key of world.placed.keys()) if (!before.has(key)) world.decided(key);
  }
}

test('limits hold after every decision, whatever comes and goes', async () => {
  const random = seededRandom(testSeed);
  const world = new Checked(seededRandom(testSeed));
  let made = 0;
  for (let i = 0; i < 600; i++) {
    const action = random.below(100);
    if (action < 50) {
      const name = `p${made++}`;
      const pod = randomPod(random);
      world.known.set(`default/${name}`, pod);
      world.pod(name, pod.options);
    } else if (action < 70) {
      if (world.known.size === 0) continue;
      const key = pick(random, [...world.known.keys()]);
      world.known.delete(key);
      world.remove(key.slice('default/'.length));
    } else if (action < 85) {
      const name = `n${random.below(8)}`;
      const options = randomNode(random);
      world.names.set(name, options);
      world.node(name, options);
    } else if (action < 90) {
      const name = `n${random.below(8)}`;
      // The pods of a node that goes are deleted, as the pod collector does.
      for (const [key, at] of [...world.placed]) {
        if (at !== name) continue;
        world.known.delete(key);
        world.remove(key.slice('default/'.length));
      }
      world.names.delete(name);
      world.scheduler.nodeGone(name);
    } else {
      for (const { name, namespace } of world.evicted.splice(0).flatMap(({ victims }) => [...victims])) {
        world.known.delete(`${namespace}/${name}`);
        world.remove(name, namespace);
      }
      await world.clock.advance(random.below(12_000));
    }
    runChecked(world);
    world.check();
  }
  expect(world.placed.size).toBeGreaterThan(10);
  expect(made).toBeGreaterThan(100);

  // With room for all, all get a node.
  for (const key of [...world.known.keys()]) {
    if (world.known.get(key)?.far === undefined && world.known.get(key)?.spread === false) continue;
    world.known.delete(key);
    world.remove(key.slice('default/'.length));
  }
  world.evicted.length = 0;
  for (const at of zones) world.node(`large-${at}`, { cpu: '1000', labels: { [zone]: at } });
  await world.clock.advance(20_000);
  runChecked(world);
  world.check();
  expect([...world.known.keys()].filter((key) => !world.placed.has(key))).toEqual([]);

  // With nothing left, nothing is kept.
  for (const key of [...world.known.keys()]) world.remove(key.slice('default/'.length));
  for (const { name } of [...world.cluster.nodes()]) world.scheduler.nodeGone(name);
  expect(world.cluster.classCount).toBe(0);
  expect(world.cluster.countTables).toBe(0);
  expect(world.waiting.size).toEqual({ active: 0, backoff: 0, parked: 0 });
});
