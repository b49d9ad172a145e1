import { atOnce } from '@plat-dev/lib/slices';
import { LabelSelector } from '@plat-dev/meta/labels';
import { expect, test, vi } from 'vitest';
import { MAX_TABLES } from './decide.ts';
import { DomainCounts } from './state.ts';
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

test('what a decision looks up is found in steps: for each group of terms, and for each term of the pod', () => {
  const world = new World();
  world.node('n1');
  for (let i = 0; i < 20; i++) world.pod(`p${i}`, { ...apartFrom(`a${i}`, `b${i}`), node: 'n1' });
  world.pod('new', apartFrom('c', 'd', 'e'));
  expect([...world.scheduler.prepare()].length).toBeGreaterThanOrEqual(40 / 16 + 2);
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
  preparing.next();
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

test('the tables of a pod that goes are forgotten in steps, by all classes that they counted', () => {
  const world = new World();
  world.node('n1', { pods: '500' });
  for (let i = 0; i < 200; i++) world.pod(`p${i}`, { labels: { app: `a${i}`, c: 'yes', d: 'yes', e: 'yes' }, node: 'n1' });
  const tablesOfClasses = (): number => [...world.cluster.classes()].reduce((sum, { counts }) => sum + counts.size, 0);
  expect(world.place('lonely', apartFrom('c', 'd', 'e'))).toContain('anti-affinity');
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
  world.place('lonely', apartFrom('c'));
  const [table] = [...world.cluster.classes()].flatMap(({ counts }) => [...counts]).filter(({ total }) => total === 1);
  expect(table?.members.size).toBe(1);
  world.remove('lonely');
  world.pod('c2', { labels: { c: 'yes' }, node: 'n1' });
  world.pod('c3', { labels: { c: 'yes', other: 'yes' }, node: 'n1' });
  expect([table?.total, table?.members.size]).toEqual([0, 1]);
  world.remove('c');
  world.remove('c2');
  expect([table?.total, table?.members.size]).toEqual([0, 0]);
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

test('many terms of other pods are summed up in steps before the decision, which reads none of their tables', () => {
  const world = new World();
  for (const node of ['n1', 'n2', 'n3']) world.node(node);
  for (let i = 0; i < 20; i++) {
    const values = Array.from({ length: 50 }, (_, n) => `v${i}-${n}`);
    world.pod(`p${i}`, { ...ratherApartFrom(...values), node: i % 2 === 0 ? 'n1' : 'n3' });
  }
  world.place('first', { labels: { app: 'new' } });
  world.pod('second', { labels: { app: 'new' } });
  // All is known of the first decision; only the sums are made again.
  expect([...world.scheduler.prepare()].length).toBeGreaterThanOrEqual(Math.floor((20 * 50) / 16));
  const readTables = vi.spyOn(DomainCounts.prototype, 'byDomain', 'get');
  const readNodes = vi.spyOn(DomainCounts.prototype, 'at');
  world.run();
  expect([readTables.mock.calls.length, readNodes.mock.calls.length]).toEqual([0, 0]);
  vi.restoreAllMocks();
  expect(['first', 'second'].map((name) => world.placed.get(`default/${name}`))).toEqual(['n2', 'n2']);
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

test('sums serve one decision: the next one sees where its pod went', () => {
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
  for (let i = 0; i < 30; i++) world.place(`p${i}`, apartFrom(...Array.from({ length: 200 }, (_, n) => `l${i}-${n}`)));
  expect(world.cluster.countTables).toBeGreaterThan(MAX_TABLES / 2);
  expect(world.cluster.countTables).toBeLessThanOrEqual(MAX_TABLES + 200);
});
