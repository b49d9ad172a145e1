import type { Controller } from '@plat-dev/controllers/runtime/controller';
import { FakeApi, type Loose, runControllers, type TestRun } from '@plat-dev/controllers/testing';
import { FakeClock } from '@plat-dev/lib/clock';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Fleet } from './fleet.ts';

const nodes = { group: '', version: 'v1', name: 'nodes', kind: 'Node', namespaced: false } as const;
/** Pods of a node that needs a block of the largest size, of which there are 128. */
const MANY_PODS = '60000';

let api: FakeApi;
let run: TestRun;
let fleet: Fleet;
const start = async (most?: number): Promise<void> => {
  const controller: Controller = {
    name: 'fleet',
    user: 'nodes',
    start: (context) => {
      fleet = new Fleet(context, most);
      fleet.follow({ up: () => {}, down: () => {}, gone: () => {} });
    },
  };
  run = runControllers(api, [controller]);
  await run.idle();
};
beforeEach(() => {
  api = new FakeApi([nodes], new FakeClock());
});
afterEach(async () => {
  await run.stop();
  expect(run.failures).toEqual([]);
});
const names = (): string[] => api.all(nodes).map(({ metadata }: Loose) => metadata.name);

test('pools have at most so many nodes together, and get the rest when others go', async () => {
  await start(10);
  fleet.setPool({ name: 'a', count: 6 });
  fleet.setPool({ name: 'b', count: 6 });
  fleet.setPool({ name: 'c', count: 1 });
  await run.idle();
  expect(names().sort()).toEqual(['a-0', 'a-1', 'a-2', 'a-3', 'a-4', 'a-5', 'b-0', 'b-1', 'b-2', 'b-3']);
  expect(['a', 'b', 'c'].map((name) => fleet.shortageOf(name))).toEqual([
    undefined,
    '2 nodes are left out: a server simulates at most 10',
    '1 node is left out: a server simulates at most 10',
  ]);
  expect(fleet.members.counts('b')).toEqual({ nodes: 4, ready: 4 });
  fleet.setPool({ name: 'a', count: 4 });
  await run.idle();
  expect(names().sort()).toEqual(['a-0', 'a-1', 'a-2', 'a-3', 'b-0', 'b-1', 'b-2', 'b-3', 'b-4', 'b-5']);
  expect([fleet.shortageOf('b'), fleet.shortageOf('c')]).toEqual([undefined, '1 node is left out: a server simulates at most 10']);
  expect([fleet.members.counts('a').nodes, fleet.members.counts('b').nodes]).toEqual([4, 6]);
});

test('a node for whose pods no addresses are left waits for them, and nothing is tried meanwhile', async () => {
  await start();
  fleet.setPool({ name: 'big', count: 130, capacity: { pods: MANY_PODS } });
  await run.idle();
  expect(names()).toHaveLength(128);
  expect(fleet.shortageOf('big')).toBe('2 nodes are left out: no addresses are left for their pods');
  const { length } = api.calls;
  await run.pass(60_000);
  expect(api.calls).toHaveLength(length);
  fleet.setPool({ name: 'big', count: 129, capacity: { pods: MANY_PODS } });
  await run.idle();
  expect([names().length, fleet.shortageOf('big')]).toEqual([128, '1 node is left out: no addresses are left for their pods']);
});

test('what a pool says about labels cannot make its nodes those of another pool', async () => {
  await start();
  fleet.setPool({ name: 'a', count: 1, labels: { 'simulation.kubernetes.io/pool': 'b', tier: 'x' } });
  await run.idle();
  expect(api.get(nodes, '', 'a-0').metadata.labels).toMatchObject({ 'simulation.kubernetes.io/pool': 'a', tier: 'x' });
});
