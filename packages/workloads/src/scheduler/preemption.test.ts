import { beforeEach, describe, expect, test } from 'vitest';
import type { Budget } from './preemption.ts';
import { World } from './world.testing.ts';

let world: World;
beforeEach(() => {
  world = new World();
});
const nominated = (): string | undefined => world.reports.at(-1)?.nominated;

/** Deletes the victims of the last preemption, and lets the pod's delay pass. */
async function victimsGo(): Promise<void> {
  for (const { name, namespace } of world.evicted.at(-1)?.victims ?? []) world.remove(name, namespace);
  await world.clock.advance(10_000);
  world.run();
}

test('a pod displaces one of lower priority and waits until it has gone', async () => {
  world.node('n1', { cpu: '1' });
  world.pod('low', { cpu: '1', node: 'n1' });
  expect(world.place('high', { cpu: '1', priority: 10 })).toBe('0/1 nodes are available: 1 Insufficient cpu.');
  expect(world.victims()).toEqual(['low']);
  expect(nominated()).toBe('n1');
  await victimsGo();
  expect(world.placed.get('default/high')).toBe('n1');
});

test('pods of the same priority, and of a higher one, stay', () => {
  world.node('n1', { cpu: '1' });
  world.node('n2', { taints: [{ key: 'x', effect: 'NoSchedule' }] });
  world.pod('same', { cpu: '1', node: 'n1', priority: 10 });
  expect(world.place('a', { cpu: '1', priority: 10 })).toBe(
    '0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint {x: }. preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.',
  );
});

test('a pod that must not displace others does not', () => {
  world.node('n1', { cpu: '1' });
  world.pod('low', { cpu: '1', node: 'n1' });
  expect(world.place('high', { cpu: '1', priority: 10, spec: { preemptionPolicy: 'Never' } })).toBe(
    '0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never.',
  );
  expect(world.evicted).toEqual([]);
});

test('where it does not help, nothing is displaced', () => {
  world.node('n1', { cpu: '1' });
  world.pod('low', { cpu: '1', node: 'n1' });
  expect(world.place('huge', { cpu: '2', priority: 10 })).toBe(
    '0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Insufficient cpu.',
  );
  expect(world.evicted).toEqual([]);
});

describe('victims', () => {
  test('are as few as possible, and the least important', () => {
    world.node('n1', { cpu: '4' });
    world.pod('a', { cpu: '1', node: 'n1', priority: 3 });
    world.pod('b', { cpu: '1', node: 'n1', priority: 1 });
    world.pod('c', { cpu: '1', node: 'n1', priority: 2 });
    world.pod('d', { cpu: '1', node: 'n1', priority: 2, startTime: '2024-01-01T00:00:00Z' });
    world.place('high', { cpu: '2', priority: 10 });
    // Of equal priority the one that runs longer stays.
    expect(world.victims()).toEqual(['b', 'c']);
  });
  test('are those that no budget protects, if others are enough', () => {
    world.node('n1', { cpu: '2' });
    world.node('n2', { cpu: '2' });
    for (const node of ['n1', 'n2']) world.pod(`db-${node}`, { cpu: '1', node, labels: { app: 'db' }, priority: 1 });
    for (const node of ['n1', 'n2']) world.pod(`web-${node}`, { cpu: '1', node, labels: { app: 'web' }, priority: 2 });
    world.budgets.push({
      metadata: { name: 'db', namespace: 'default' },
      spec: { selector: { matchLabels: { app: 'db' } } },
      status: { disruptionsAllowed: 0 },
    } as unknown as Budget);
    world.place('high', { cpu: '1', priority: 10 });
    // The protected pod has the lower priority, and stays.
    expect(world.victims()).toEqual([expect.stringMatching(/^web-/)]);
    world.place('higher', { cpu: '2', priority: 10 });
    expect(world.evicted.at(-1)?.violations).toBe(1);
  });
  test('whose disruption a budget knows already do not count against it', () => {
    world.node('n1', { cpu: '1' });
    world.pod('db', { cpu: '1', node: 'n1', labels: { app: 'db' } });
    world.budgets.push({
      metadata: { name: 'db', namespace: 'default' },
      spec: { selector: { matchLabels: { app: 'db' } } },
      status: { disruptionsAllowed: 0, disruptedPods: { db: '2024-01-01T00:00:00Z' } },
    } as unknown as Budget);
    world.place('high', { cpu: '1', priority: 10 });
    expect(world.evicted.at(-1)?.violations).toBe(0);
  });
  test('free a host port', () => {
    world.node('n1');
    const spec = { containers: [{ name: 'c', ports: [{ containerPort: 80, hostPort: 80 }] }] };
    world.pod('low', { node: 'n1', spec });
    world.pod('other', { node: 'n1' });
    world.place('high', { priority: 10, spec });
    expect(world.victims()).toEqual(['low']);
  });
});

describe('the node', () => {
  test.each([
    ['with the lower highest priority', { n1: [5], n2: [3, 3] }, 'n2'],
    ['with the lower sum of priorities', { n1: [3, 3], n2: [3, 1] }, 'n2'],
    ['with fewer victims', { n1: [3, -(2 ** 31)], n2: [3] }, 'n2'],
  ])('is the one %s', (_name, priorities, expected) => {
    for (const [node, all] of Object.entries(priorities)) {
      world.node(node, { cpu: '2' });
      for (const [i, priority] of all.entries()) world.pod(`${node}-${i}`, { cpu: all.length === 1 ? '2' : '1', node, priority });
    }
    world.place('high', { cpu: '2', priority: 10 });
    expect(nominated()).toBe(expected);
  });
  test('is the one whose victims started last', () => {
    for (const [i, node] of ['n1', 'n2', 'n3'].entries()) {
      world.node(node, { cpu: '1' });
      world.pod(`on-${node}`, { cpu: '1', node, startTime: `2024-01-0${[2, 3, 1][i]}T00:00:00Z` });
    }
    world.place('high', { cpu: '1', priority: 10 });
    expect(nominated()).toBe('n2');
  });
});

describe('a nomination', () => {
  test('reserves the room for pods of lower priority', async () => {
    world.node('n1', { cpu: '2' });
    world.pod('low', { cpu: '2', node: 'n1' });
    world.place('high', { cpu: '2', priority: 10 });
    for (const { name, namespace } of world.evicted.at(-1)?.victims ?? []) world.remove(name, namespace);
    // The room is free by now, and the pod that made it waits for its delay.
    expect(world.place('thief', { cpu: '1', priority: 5 })).toContain('1 Insufficient cpu');
    await world.clock.advance(1000);
    world.run();
    expect(world.placed.get('default/high')).toBe('n1');
  });
  test('is lost to a pod of higher priority', () => {
    world.node('n1', { cpu: '1' });
    world.pod('low', { cpu: '1', node: 'n1' });
    world.place('high', { cpu: '1', priority: 10 });
    world.place('higher', { cpu: '1', priority: 20 });
    expect(world.reports.filter(({ pod }) => pod === 'default/high').at(-1)?.nominated).toBe('');
    expect(nominated()).toBe('n1');
    expect([...(world.cluster.get('n1')?.nominated ?? [])].map(({ name }) => name)).toEqual(['higher']);
  });
  test('does not displace more pods while victims terminate', async () => {
    world.node('n1', { cpu: '1' });
    world.node('n2', { cpu: '1' });
    world.pod('low-1', { cpu: '1', node: 'n1' });
    world.pod('low-2', { cpu: '1', node: 'n2' });
    world.place('high', { cpu: '1', priority: 10 });
    const [victim] = world.victims();
    const { metadata } = world.object(victim as string);
    world.update({ ...world.object(victim as string), metadata: { ...metadata, deletionTimestamp: '2024-01-01T00:00:00Z' } });
    world.node('n3', { cpu: '0' });
    await world.clock.advance(1000);
    world.run();
    expect(world.reports.at(-1)?.message).toContain('preemption: not eligible due to a terminating pod on the nominated node.');
    expect(nominated()).toBeUndefined();
    expect(world.evicted).toHaveLength(1);
    await victimsGo();
    expect(world.placed.get('default/high')).toBe(victim === 'low-1' ? 'n1' : 'n2');
  });
  test('is known after a restart', () => {
    world.node('n1', { cpu: '1' });
    world.pod('high', { cpu: '1', priority: 10, nominated: 'n1' });
    world.pod('low', { cpu: '1', priority: 5 });
    expect([...(world.cluster.get('n1')?.nominated ?? [])].map(({ name }) => name)).toEqual(['high']);
    world.run();
    expect(world.placed.get('default/high')).toBe('n1');
  });
  test('ends with its node', () => {
    world.node('n1', { cpu: '1' });
    world.pod('low', { cpu: '1', node: 'n1' });
    world.place('high', { cpu: '1', priority: 10 });
    world.scheduler.nodeGone('n1');
    expect(world.scheduler.get('default/high')?.nominated).toBeUndefined();
  });
});

test('trying out changes nothing', () => {
  world.node('n1', { cpu: '2' });
  world.pod('a', { cpu: '1', node: 'n1' });
  world.pod('b', { cpu: '1', node: 'n1' });
  world.place('high', { cpu: '1', priority: 10 });
  const node = world.cluster.get('n1');
  expect(node?.cpu).toBe(2000);
  expect([...(node?.pods ?? [])].map(({ name }) => name).sort()).toEqual(['a', 'b']);
});
