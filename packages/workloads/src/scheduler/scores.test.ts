import { seededRandom } from '@plat-dev/lib/random';
import { beforeEach, describe, expect, test } from 'vitest';
import { nodesToCompare } from './decide.ts';
import { scoreNodes } from './scores.ts';
import { hostname, type PodOptions, World, zone } from './world.testing.ts';

let world: World;
beforeEach(() => {
  world = new World();
});
/** What each part gives to a pod that nothing is said about: taints 3 × 100, spread 2 × 100. */
const base = 500;
function scores(options: PodOptions = {}): Record<string, number> {
  world.pod('scored', options);
  const pod = world.scheduler.get('default/scored');
  if (pod === undefined) throw new Error('the pod is known');
  const nodes = [...world.cluster.nodes()];
  const found = scoreNodes(world.cluster, world.decider.planFor(pod.class), nodes);
  return Object.fromEntries(nodes.map(({ name }, i) => [name, (found[i] as number) - base]));
}

describe('resources', () => {
  test('count by what is free of cpu and memory, and by their balance', () => {
    world.node('n1', { cpu: '4', memory: '8Gi' });
    world.node('n2', { cpu: '4', memory: '8Gi' });
    world.pod('used', { cpu: '2', memory: '4Gi', node: 'n1' });
    // n1: (4-3)/4 = 25 and (8-5)/8 = 37 → 31; used 0.75 and 0.625 → 93. n2: 75 and 87 → 81; 0.25 and 0.125 → 93.
    expect(scores({ cpu: '1', memory: '1Gi' })).toEqual({ n1: 31 + 93, n2: 81 + 93 });
  });
  test('of pods without requests count a little', () => {
    world.node('n1', { cpu: '1', memory: '1Gi' });
    // 100m of 1: 90; 200Mi of 1Gi: 80 → 85, and a balance of nothing used.
    expect(scores()).toEqual({ n1: 85 + 100 });
  });
});

test('taints that only ask cost their part of the most', () => {
  const soft = (key: string) => ({ key, effect: 'PreferNoSchedule' });
  world.node('n1', { taints: [soft('a'), soft('b')] });
  world.node('n2', { taints: [soft('a')] });
  world.node('n3');
  const { n1 = 0, n2 = 0, n3 = 0 } = scores();
  expect([n3 - n1, n3 - n2]).toEqual([300, 150]);
});

test('preferred nodes get their part of the highest weight', () => {
  world.node('n1', { labels: { disk: 'ssd', rack: '1' } });
  world.node('n2', { labels: { disk: 'ssd' } });
  world.node('n3');
  const preference = (weight: number, key: string) => ({ weight, preference: { matchExpressions: [{ key, operator: 'Exists' }] } });
  const spec = {
    affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [preference(10, 'disk'), preference(30, 'rack')] } },
  };
  const { n1 = 0, n2 = 0, n3 = 0 } = scores({ spec });
  expect([n1 - n3, n2 - n3]).toEqual([200, 50]);
});

describe('pods', () => {
  const prefer = (kind: 'podAffinity' | 'podAntiAffinity', app: string, weight = 100) => ({
    affinity: {
      [kind]: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight, podAffinityTerm: { topologyKey: hostname, labelSelector: { matchLabels: { app } } } },
        ],
      },
    },
  });
  beforeEach(() => {
    world.node('n1', { cpu: '1000', memory: '1000Gi' });
    world.node('n2', { cpu: '1000', memory: '1000Gi' });
  });
  test('that are preferred attract', () => {
    world.pod('x', { labels: { app: 'x' }, node: 'n1', cpu: '0', memory: '0' });
    const { n1 = 0, n2 = 0 } = scores({ spec: prefer('podAffinity', 'x') });
    expect(n1 - n2).toBe(200);
    expect(world.place('near', { spec: prefer('podAffinity', 'x') })).toBe('n1');
    expect(world.place('far', { spec: prefer('podAntiAffinity', 'x') })).toBe('n2');
  });
  test('that prefer others count for those too', () => {
    world.pod('x', { node: 'n1', cpu: '0', memory: '0', spec: prefer('podAffinity', 'y') });
    expect(world.place('y', { labels: { app: 'y' }, cpu: '0', memory: '0' })).toBe('n1');
    world.remove('y');
    world.remove('x');
    world.pod('z', { node: 'n1', cpu: '0', memory: '0', spec: prefer('podAntiAffinity', 'y') });
    expect(world.place('y', { labels: { app: 'y' }, cpu: '0', memory: '0' })).toBe('n2');
  });
  test('that require others attract them', () => {
    const required = {
      requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: hostname, labelSelector: { matchLabels: { app: 'y' } } }],
    };
    world.pod('x', { node: 'n2', cpu: '0', memory: '0', spec: { affinity: { podAffinity: required } } });
    expect(world.place('y', { labels: { app: 'y' }, cpu: '0', memory: '0' })).toBe('n2');
  });
});

describe('spreading', () => {
  test('that is only preferred evens out domains', () => {
    for (const name of ['a1', 'a2', 'b1']) world.node(name, { labels: { [zone]: name[0] as string } });
    const spec = {
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: zone, whenUnsatisfiable: 'ScheduleAnyway', labelSelector: { matchLabels: { app: 'x' } } },
      ],
    };
    for (let i = 0; i < 6; i++) world.place(`x-${i}`, { labels: { app: 'x' }, spec });
    expect([...world.placed.values()].filter((name) => name === 'b1')).toHaveLength(3);
  });
  test('pods of one controller are spread over nodes without any constraint', () => {
    for (const name of ['n1', 'n2', 'n3']) world.node(name, { cpu: '100', memory: '100Gi' });
    world.pod('large', { cpu: '20', memory: '20Gi', node: 'n1' });
    world.selecting.replicaSets.objects.push({
      metadata: { name: 'web', namespace: 'default' },
      spec: { selector: { matchLabels: { app: 'web' } } },
    } as never);
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' };
    for (let i = 0; i < 6; i++) world.place(`web-${i}`, { labels: { app: 'web' }, owner });
    const counts = ['n1', 'n2', 'n3'].map(
      (name) => [...world.placed].filter(([key, node]) => key !== 'default/large' && node === name).length,
    );
    expect(counts).toEqual([2, 2, 2]);
  });
  test('pods of one service are spread over nodes too', () => {
    for (const name of ['n1', 'n2']) world.node(name, { cpu: '100', memory: '100Gi' });
    world.pod('large', { cpu: '20', memory: '20Gi', node: 'n1' });
    world.selecting.services.objects.push({ metadata: { name: 'web', namespace: 'default' }, spec: { selector: { app: 'web' } } } as never);
    for (let i = 0; i < 4; i++) world.place(`web-${i}`, { labels: { app: 'web' } });
    expect([...world.placed.values()].filter((name) => name === 'n2')).toHaveLength(2);
  });
});

test('images that a node has count by their size and by the nodes that have them', () => {
  const images = [{ names: ['app:latest'], sizeBytes: 1000 * 1024 * 1024 }];
  world.node('n1', { images });
  world.node('n2');
  const { n1 = 0, n2 = 0 } = scores();
  // Half of the nodes have it: half the size counts, of which the first 23 MiB are worth nothing.
  expect(n1 - n2).toBe(Math.floor((100 * (500 - 23)) / (1000 - 23)));
  world.node('n1');
  expect(scores()).toMatchObject({ n1: n2, n2 });
});

describe('many nodes', () => {
  test('are not all compared, and fewer for pods that prefer none', () => {
    const sizes = [1, 99, 100, 500, 1000, 5000, 10_000];
    expect(sizes.map((nodes) => nodesToCompare(nodes, true))).toEqual([1, 99, 100, 230, 420, 500, 500]);
    expect(sizes.map((nodes) => nodesToCompare(nodes, false))).toEqual([1, 99, 100, 100, 100, 100, 100]);
  });
  test('get about the same number of pods all the same', () => {
    for (let i = 0; i < 200; i++) world.node(`n${i}`);
    for (let i = 0; i < 400; i++) world.pod(`p${i}`, { cpu: '1' });
    world.run();
    const counts = [...world.cluster.nodes()].map(({ pods }) => pods.size);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(2);
  });
  test('with a taint that only asks are avoided even where most have it', () => {
    for (let i = 0; i < 300; i++) world.node(`n${i}`, i === 299 ? {} : { taints: [{ key: 'busy', effect: 'PreferNoSchedule' }] });
    expect(world.cluster.softTainted).toBe(299);
    world.node('n1', {});
    world.scheduler.nodeGone('n2');
    expect(world.cluster.softTainted).toBe(297);
  });
  test('of equal score are chosen at random, the same for the same seed', () => {
    const chosen = (seed: number): string => {
      const one = new World(seededRandom(seed));
      for (let i = 0; i < 10; i++) one.node(`n${i}`);
      return one.place('a');
    };
    expect(chosen(7)).toBe(chosen(7));
    expect(new Set(Array.from({ length: 20 }, (_, seed) => chosen(seed))).size).toBeGreaterThan(3);
  });
  test('of all zones are among those that are compared', () => {
    for (let i = 0; i < 300; i++) world.node(`n${i}`, { labels: { [zone]: i < 150 ? 'a' : 'b' } });
    const first = world.cluster.list().slice(0, 100);
    expect(first.filter(({ labels }) => labels[zone] === 'a')).toHaveLength(50);
  });
});
