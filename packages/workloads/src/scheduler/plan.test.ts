import { atOnce } from '@plat-dev/lib/slices';
import { LabelSelector } from '@plat-dev/meta/labels';
import { expect, test, vi } from 'vitest';
import { MAX_TABLES } from './decide.ts';
import { hostname, type PodOptions, World } from './world.testing.ts';

/** A pod that keeps away pods with each of these labels. */
const apartFrom = (...labels: string[]): PodOptions => ({
  labels: { app: 'loner' },
  spec: {
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: labels.map((label) => ({
          topologyKey: hostname,
          labelSelector: { matchLabels: { [label]: 'yes' } },
        })),
      },
    },
  },
});

test('what a decision looks up is found in steps, one for each class of pods with terms', () => {
  const world = new World();
  world.node('n1');
  for (let i = 0; i < 20; i++) world.pod(`p${i}`, { ...apartFrom(`a${i}`, `b${i}`), node: 'n1' });
  world.pod('new', apartFrom('c', 'd', 'e'));
  expect([...world.scheduler.prepare()].length).toBeGreaterThanOrEqual(20);
  expect([...world.scheduler.prepare()]).toEqual([]);
  world.run();
  expect(world.placed.get('default/new')).toBe('n1');
});

test('terms that come and leave while a decision is prepared count, and no others are looked at again', () => {
  const world = new World();
  for (const node of ['n1', 'n2', 'n3']) world.node(node);
  for (let i = 0; i < 20; i++) world.pod(`p${i}`, { ...apartFrom(`a${i}`), node: 'n1' });
  world.pod('leaves', { ...apartFrom('x'), node: 'n2' });
  world.pod('new', { labels: { x: 'yes', y: 'yes', z: 'yes' } });
  const preparing = world.scheduler.prepare();
  for (let i = 0; i < 20; i++) preparing.next();
  world.pod('comes', { ...apartFrom('y'), node: 'n3' });
  world.pod('other', { ...apartFrom('z'), node: 'n1' });
  world.remove('leaves');
  const matches = vi.spyOn(LabelSelector.prototype, 'matches');
  expect([...preparing].length).toBeLessThan(5);
  world.run();
  expect(matches.mock.calls.length).toBeLessThan(10);
  matches.mockRestore();
  expect(world.placed.get('default/new')).toBe('n2');
});

test('a pod that goes while its decision is prepared leaves no counts behind', () => {
  const world = new World();
  world.node('n1');
  world.pod('new', apartFrom('c', 'd', 'e'));
  const preparing = world.scheduler.prepare();
  preparing.next();
  world.remove('new');
  expect([...preparing]).toEqual([]);
  expect(world.cluster.countTables).toBe(0);
  world.pod('c', { labels: { c: 'yes' } });
  expect([...world.cluster.classes()].map(({ counts }) => counts.size)).toEqual([0]);
});

/** A pod that is spread with pods of a label over some topologies. */
const spreadWith = (label: string, topologies: readonly string[]): PodOptions => ({
  labels: { app: 'loner' },
  spec: {
    topologySpreadConstraints: topologies.map((topologyKey) => ({
      maxSkew: 1,
      topologyKey,
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: { matchLabels: { [label]: 'yes' } },
    })),
  },
});

test('the tables of a pod that goes are forgotten in steps, by all classes that they counted', () => {
  const world = new World();
  world.node('n1', { pods: '1000' });
  for (let i = 0; i < 200; i++) world.pod(`p${i}`, { labels: { c: 'yes', n: `${i}` }, node: 'n1' });
  const tablesOfClasses = (): number => [...world.cluster.classes()].reduce((sum, { counts }) => sum + counts.size, 0);
  expect(world.place('lonely', spreadWith('c', [hostname, 'a', 'b']))).toBe('n1');
  expect(tablesOfClasses()).toBeGreaterThanOrEqual(3 * 200);
  world.remove('lonely');
  expect(world.cluster.countTables).toBe(0);
  expect(tablesOfClasses()).toBe(3 * 200);
  world.pod('next');
  expect([...world.scheduler.prepare()].length).toBeGreaterThanOrEqual((3 * 200) / 64);
  expect(tablesOfClasses()).toBe(0);
});

test('a released table counts nothing more, whatever comes and goes before it is forgotten', () => {
  const world = new World();
  world.node('n1');
  world.pod('c', { labels: { c: 'yes' }, node: 'n1' });
  world.place('lonely', spreadWith('c', [hostname]));
  const node = world.cluster.nodeOf('n1');
  const [table] = [...world.cluster.classes()].flatMap(({ counts }) => [...counts]);
  expect([table?.at(node), table?.members.size]).toEqual([1, 1]);
  world.remove('lonely');
  world.pod('c2', { labels: { c: 'yes' }, node: 'n1' });
  world.pod('c3', { labels: { c: 'yes', other: 'yes' }, node: 'n1' });
  expect([table?.at(node), table?.members.size]).toEqual([0, 1]);
  world.remove('c');
  world.remove('c2');
  expect([table?.at(node), table?.members.size]).toEqual([0, 0]);
});

test('a pod that goes while its decision is prepared is not spread by the counts of its service', () => {
  const world = new World();
  world.node('n1');
  for (let i = 0; i < 20; i++) world.pod(`p${i}`, { ...apartFrom(`a${i}`), node: 'n1' });
  const service = { metadata: { name: 's', namespace: 'default' }, spec: { selector: { app: 'web' } } };
  world.selecting.services.objects.push(service);
  world.pod('new', { labels: { app: 'web' } });
  const preparing = world.scheduler.prepare();
  preparing.next();
  world.remove('new');
  expect([...preparing]).toEqual([]);
  expect(world.cluster.countTables).toBe(0);
});

/** A pod that would rather not be where pods with another value of the label are, for each of these values. */
const ratherApartFrom = (...values: string[]): PodOptions => ({
  spec: {
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: values.map((value) => ({
          weight: 1,
          podAffinityTerm: {
            topologyKey: hostname,
            labelSelector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: [value] }] },
          },
        })),
      },
    },
  },
});

test('many terms of other pods are looked at in steps before the decision, once for each class, and not by the decision', () => {
  const world = new World();
  for (const node of ['n1', 'n2', 'n3']) world.node(node);
  for (let i = 0; i < 20; i++) {
    const values = Array.from({ length: 50 }, (_, n) => `v${i}-${n}`);
    world.pod(`p${i}`, { ...ratherApartFrom(...values), node: i % 2 === 0 ? 'n1' : 'n3' });
  }
  world.pod('first', { labels: { app: 'new' } });
  const matches = vi.spyOn(LabelSelector.prototype, 'matches');
  expect([...world.scheduler.prepare()].length).toBeGreaterThanOrEqual(Math.floor((20 * 50) / 16));
  expect(matches.mock.calls.length).toBe(20 * 50);
  world.run();
  // Others with the same labels find everything there.
  world.place('second', { labels: { app: 'new' }, cpu: '1m' });
  expect(matches.mock.calls.length).toBe(20 * 50);
  vi.restoreAllMocks();
  expect(['first', 'second'].map((name) => world.placed.get(`default/${name}`))).toEqual(['n2', 'n2']);
});

test('terms of a pod are looked at once for all pods with the same labels', () => {
  const world = new World();
  world.node('n1');
  for (let i = 0; i < 20; i++) world.pod(`p${i}`, { labels: { app: 'x' }, cpu: `${i}m`, node: 'n1' });
  const matches = vi.spyOn(LabelSelector.prototype, 'matches');
  expect(world.place('new', { labels: { app: 'y' }, ...ratherApartFrom('a', 'b', 'c') })).toBe('n1');
  expect(matches.mock.calls.length).toBe(3);
  vi.restoreAllMocks();
});

test('a pod with other labels than were prepared is not decided unprepared: it waits, and others go on', async () => {
  const world = new World();
  world.node('n1');
  world.pod('first', { labels: { app: 'a' } });
  world.pod('second');
  atOnce(world.scheduler.prepare());
  world.pod('first', { labels: { app: 'b' } });
  expect(world.scheduler.next()).toBe(true);
  expect([...world.placed.keys()]).toEqual([]);
  world.run();
  expect([...world.placed.keys()]).toEqual(['default/second']);
  await world.clock.advance(1000);
  world.run();
  expect([...world.placed.keys()]).toEqual(['default/second', 'default/first']);
});

test('pods that wait for others are looked at in steps when one gets a node', async () => {
  const near = (...values: string[]): PodOptions => ({
    spec: {
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: values.map((app) => ({
            topologyKey: hostname,
            labelSelector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: [app] }] },
          })),
        },
      },
    },
  });
  const world = new World();
  world.node('n1');
  for (let i = 0; i < 10; i++) world.place(`p${i}`, { labels: { app: 'z' }, cpu: `${i}m`, ...near(...Array(32).fill('y'), 'z') });
  expect(world.waiting.size.parked).toBe(10);
  const matches = vi.spyOn(LabelSelector.prototype, 'matches');
  world.pod('helps', { labels: { app: 'x' }, node: 'n1' });
  expect(matches.mock.calls.length).toBe(0);
  matches.mockRestore();
  expect([...world.scheduler.prepare()].length).toBeGreaterThanOrEqual(10);
  expect(world.waiting.size.parked).toBe(0);
  await world.clock.advance(1000);
  world.run();
  expect(world.placed.size).toBe(11);
});

test('the pod that was prepared is decided, before a more urgent one that came meanwhile and is not prepared', () => {
  const world = new World();
  world.node('n1');
  world.pod('first', apartFrom('c', 'd'));
  const preparing = world.scheduler.prepare();
  preparing.next();
  world.pod('urgent', { priority: 9 });
  atOnce(preparing);
  expect(world.scheduler.next()).toBe(true);
  expect([...world.placed.keys()]).toEqual(['default/first']);
  world.run();
  expect([...world.placed.keys()]).toEqual(['default/first', 'default/urgent']);
});

test('nothing is decided unprepared when the pod that was prepared has gone: the next one is prepared first', () => {
  const world = new World();
  world.node('n1');
  world.pod('first', apartFrom('c', 'd'));
  world.pod('second');
  atOnce(world.scheduler.prepare());
  world.remove('first');
  expect(world.scheduler.next()).toBe(true);
  expect([...world.placed.keys()]).toEqual([]);
  atOnce(world.scheduler.prepare());
  expect(world.scheduler.next()).toBe(true);
  expect([...world.placed.keys()]).toEqual(['default/second']);
  expect(world.scheduler.next()).toBe(false);
});

test('a decision sees where the pod of the last one went', () => {
  const world = new World();
  world.node('large', { cpu: '64', memory: '64Gi' });
  world.node('small', { cpu: '1', memory: '1Gi' });
  for (const name of ['a', 'b']) {
    world.pod(name, { labels: { app: 'other' }, ...ratherApartFrom('x') });
    atOnce(world.scheduler.prepare());
    world.run();
  }
  expect(['a', 'b'].map((name) => world.placed.get(`default/${name}`))).toEqual(['large', 'small']);
});

test('plans with many tables of counts are kept as long as there are not too many tables', () => {
  const world = new World();
  world.node('n1');
  const topologies = Array.from({ length: 200 }, (_, n) => `topology-${n}`);
  for (let i = 0; i < 30; i++) world.place(`p${i}`, spreadWith(`l${i}`, topologies));
  expect(world.cluster.countTables).toBeGreaterThan(MAX_TABLES / 2);
  expect(world.cluster.countTables).toBeLessThanOrEqual(MAX_TABLES + 200);
});
