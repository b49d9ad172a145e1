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

test('plans with many tables of counts are kept as long as there are not too many tables', () => {
  const world = new World();
  world.node('n1');
  for (let i = 0; i < 30; i++) world.place(`p${i}`, apartFrom(...Array.from({ length: 200 }, (_, n) => `l${i}-${n}`)));
  expect(world.cluster.countTables).toBeGreaterThan(MAX_TABLES / 2);
  expect(world.cluster.countTables).toBeLessThanOrEqual(MAX_TABLES + 200);
});
