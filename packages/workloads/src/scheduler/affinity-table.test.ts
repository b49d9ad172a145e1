/** Pods, nodes and namespaces change at random between the steps of a preparation: the tables say what counting all pods says. */

import { type Random, seededRandom } from '@plat-dev/lib/random';
import type { Work } from '@plat-dev/lib/slices';
import { testSeed } from '@plat-dev/lib/testing/seed.testing';
import { expect, test } from 'vitest';
import { type PodTerm, selects } from './pod-terms.ts';
import type { NodeState, PodClass } from './state.ts';
import { hostname, type PodOptions, World, zone } from './world.testing.ts';

const pick = <T>(random: Random, from: readonly T[]): T => from[random.below(from.length)] as T;
const apps = ['a', 'b', 'c'];
const namespaces = ['default', 'other'];
const topologies = [hostname, zone, 'rack', 'none'];

const some = <T>(random: Random, most: number, make: () => T): T[] => Array.from({ length: random.below(most + 1) }, make);

function randomTerm(random: Random): object {
  const requirement = {
    key: 'app',
    operator: pick(random, ['In', 'NotIn']),
    values: some(random, 1, () => pick(random, apps)).concat('a'),
  };
  return {
    topologyKey: pick(random, topologies),
    labelSelector: { matchExpressions: [requirement] },
    ...(random.below(4) === 0 && { namespaceSelector: { matchLabels: { team: pick(random, apps) } } }),
  };
}
function randomPod(random: Random): PodOptions {
  const required = (most: number) => some(random, most, () => randomTerm(random));
  const preferred = () => some(random, 3, () => ({ weight: 1 + random.below(9), podAffinityTerm: randomTerm(random) }));
  const terms = (most: number) => ({
    requiredDuringSchedulingIgnoredDuringExecution: required(most),
    preferredDuringSchedulingIgnoredDuringExecution: preferred(),
  });
  return {
    namespace: pick(random, namespaces),
    labels: { app: pick(random, apps) },
    ...(random.below(2) === 0 && { spec: { affinity: { podAffinity: terms(2), podAntiAffinity: terms(1) } } }),
  };
}

interface Expected {
  attraction: number;
  averse: boolean;
  keptAway: boolean;
  readonly neighbours: number[];
}
/** What all pods that have a node mean for a pod of the class on this node. */
function counted({ cluster }: World, podClass: PodClass, node: NodeState): Expected {
  const { terms } = podClass;
  const keys = [...new Set(terms.affinity.map(({ topologyKey }) => topologyKey))];
  const expected: Expected = { attraction: 0, averse: false, keptAway: false, neighbours: keys.map(() => 0) };
  for (const otherNode of cluster.nodes()) {
    const shares = (key: string) => node.labelMap.has(key) && node.labelMap.get(key) === otherNode.labelMap.get(key);
    for (const { class: other } of otherNode.pods) {
      const wants = (term: PodTerm) => shares(term.topologyKey) && selects(term, other, cluster.namespaceLabels);
      const isWantedBy = (term: PodTerm) => shares(term.topologyKey) && selects(term, podClass, cluster.namespaceLabels);
      for (const { term, weight } of terms.preferred) if (wants(term)) expected.attraction += weight;
      for (const { term, weight } of other.terms.preferred) if (isWantedBy(term)) expected.attraction += weight;
      expected.attraction += other.terms.affinity.filter(isWantedBy).length;
      expected.averse ||= terms.antiAffinity.some(wants);
      expected.keptAway ||= other.terms.antiAffinity.some(isWantedBy);
      const isNeighbour = terms.affinity.every((term) => selects(term, other, cluster.namespaceLabels));
      keys.forEach((key, i) => {
        if (isNeighbour && shares(key)) (expected.neighbours[i] as number)++;
      });
    }
  }
  return expected;
}
function ofTables({ decider }: World, podClass: PodClass, node: NodeState): Expected {
  const { wishes, reception, neighbourKeys } = decider.planFor(podClass);
  return {
    attraction: (wishes?.attraction.at(node) ?? 0) + reception.attraction.at(node),
    averse: (wishes?.barriers.at(node) ?? 0) > 0,
    keptAway: reception.barriers.at(node) > 0,
    neighbours: neighbourKeys.map((key) => wishes?.neighbours.in(key, node) ?? 0),
  };
}

function change(world: World, random: Random, made: string[]): void {
  const action = random.below(100);
  const nodeName = `n${random.below(4)}`;
  if (action < 35) {
    const options = randomPod(random);
    const name = `p${made.length}`;
    made.push(`${options.namespace}/${name}`);
    world.pod(name, { ...options, ...(random.below(3) > 0 && { node: nodeName }) });
  } else if (action < 65) {
    const [namespace, name] = pick(random, made.concat('default/none')).split('/') as [string, string];
    world.remove(name, namespace);
  } else if (action < 80) {
    const [namespace, name] = pick(random, made.concat('default/none')).split('/') as [string, string];
    const pod = world.object(name, namespace);
    if (pod !== undefined) world.update({ ...pod, metadata: { ...pod.metadata, labels: { app: pick(random, apps) } } });
  } else if (action < 90) world.node(nodeName, { labels: { [zone]: pick(random, apps), ...(random.below(2) === 0 && { rack: 'r' }) } });
  else if (action < 95) world.scheduler.namespaceChanged(pick(random, namespaces), { team: pick(random, apps) });
  else world.scheduler.nodeGone(nodeName);
}

test('tables of affinity say what counting all pods says, whatever changes between the steps that make them', () => {
  const random = seededRandom(testSeed);
  const world = new World();
  for (let i = 0; i < 4; i++) world.node(`n${i}`, { labels: { [zone]: pick(random, apps) } });
  for (const name of namespaces) world.scheduler.namespaceChanged(name, { team: pick(random, apps) });
  const made: string[] = [];
  let preparing: Work<void> = world.scheduler.prepare();
  let attracted = 0;
  for (let i = 0; i < 300; i++) {
    change(world, random, made);
    for (let steps = random.below(6); steps > 0; steps--) if (preparing.next().done) preparing = world.scheduler.prepare();
    if (i % 5 > 0) continue;
    for (const podClass of world.cluster.classes()) {
      if (random.below(4) > 0) continue;
      for (const node of world.cluster.nodes()) {
        const expected = counted(world, podClass, node);
        expect(ofTables(world, podClass, node)).toEqual(expected);
        if (expected.attraction !== 0) attracted++;
      }
    }
  }
  expect(attracted).toBeGreaterThan(100);
  for (const key of made) world.remove(key.slice(key.indexOf('/') + 1), key.slice(0, key.indexOf('/')));
  expect([world.cluster.classCount, world.cluster.affinities.tableCount]).toEqual([0, 0]);
});

const near = (topologyKey: string): PodOptions => ({
  labels: { app: 'new' },
  spec: {
    affinity: {
      podAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: { topologyKey, labelSelector: {} } }],
      },
    },
  },
});

test('a table forgets classes that have gone', () => {
  const world = new World();
  world.node('n1');
  world.pod('new', near(hostname));
  const podClass = world.scheduler.get('default/new')?.class as PodClass;
  for (let i = 0; i < 50; i++) {
    world.pod('p', { ...near(hostname), labels: { n: `${i}` }, node: 'n1' });
    const { wishes, reception } = world.decider.planFor(podClass);
    expect([wishes?.size, reception.size]).toEqual([1, 1]);
    world.remove('p');
  }
});

test('a table that is further behind than changes are remembered counts again', () => {
  const world = new World();
  world.node('n1');
  world.pod('new', near(hostname));
  world.pod('p', { labels: { app: 'old' }, node: 'n1' });
  const podClass = world.scheduler.get('default/new')?.class as PodClass;
  const pod = world.scheduler.get('default/p');
  const node = world.cluster.get('n1');
  if (pod === undefined || node === undefined) throw new Error('there is no pod or node');
  expect(ofTables(world, podClass, node).attraction).toBe(1);
  for (let i = 0; i < 10_001; i++) {
    world.cluster.take(pod);
    world.cluster.put(pod, node);
  }
  world.cluster.take(pod);
  expect(ofTables(world, podClass, node).attraction).toBe(0);
  world.cluster.put(pod, node);
  expect(ofTables(world, podClass, node).attraction).toBe(1);
});
