import { FakeApi, fakeKinds, type Loose, runControllers, type TestRun } from '@plat-dev/controllers/testing';
import { kubernetes, plat } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import type { WorkloadPod } from '../shared/pods.ts';
import { nodeLifecycleController } from './controller.ts';
import { toleratedFor } from './eviction.ts';
import { type NodeObject, schedulingTaints, taintNames, unknownConditions, withTaints } from './node.ts';
import { Zones } from './zones.ts';

const names = taintNames(kubernetes);
const start = Date.UTC(2024, 0, 1);
const time = (second: number): string => new Date(start + second * 1000).toISOString().replace('.000', '');
const node = (conditions: Record<string, string>, spec: Loose = {}): NodeObject =>
  ({
    metadata: { name: 'n', creationTimestamp: time(0) },
    spec,
    status: {
      conditions: Object.entries(conditions).map(([type, status]) => ({
        type,
        status,
        lastHeartbeatTime: time(1),
        lastTransitionTime: time(1),
      })),
    },
  }) as unknown as NodeObject;

test('conditions become taints, and taints of others stay', () => {
  const prefix = 'node.kubernetes.io/';
  const keys = (conditions: Record<string, string>, spec: Loose = {}): string[] =>
    schedulingTaints(node(conditions, spec), names).map((key) => key.slice(prefix.length));
  expect(keys({ Ready: 'True' })).toEqual([]);
  expect(keys({ Ready: 'False', MemoryPressure: 'True', DiskPressure: 'Unknown' })).toEqual(['not-ready', 'memory-pressure']);
  expect(keys({ Ready: 'Unknown', PIDPressure: 'True', NetworkUnavailable: 'True' })).toEqual([
    'unreachable',
    'pid-pressure',
    'network-unavailable',
  ]);
  expect(keys({ Ready: 'True', DiskPressure: 'True' }, { unschedulable: true })).toEqual(['disk-pressure', 'unschedulable']);
  expect(keys({}, { taints: [{ key: names.notReady, effect: 'NoSchedule' }] })).toEqual(['not-ready']);
  const own = { key: 'mine', value: 'x', effect: 'NoSchedule' };
  const stale = { key: names.notReady, effect: 'NoSchedule' };
  expect(withTaints(node({ Ready: 'True' }, { taints: [own, stale] }), names, undefined, start)).toEqual([own]);
  expect(withTaints(node({ Ready: 'True' }, { taints: [own] }), names, undefined, start)).toBeUndefined();
  expect(withTaints(node({ Ready: 'False' }, { taints: [own] }), names, names.notReady, start)).toEqual([
    own,
    { key: names.notReady, effect: 'NoSchedule', timeAdded: time(0) },
    { key: names.notReady, effect: 'NoExecute', timeAdded: time(0) },
  ]);
});

test('a node that no longer reports is unknown, in conditions that it never had too', () => {
  const found = unknownConditions(node({ Ready: 'True', Other: 'True' }), start + 60_000);
  expect(found.map(({ type, status, reason }) => [type, status, reason])).toEqual([
    ['Ready', 'Unknown', 'NodeStatusUnknown'],
    ['Other', 'True', undefined],
    ['MemoryPressure', 'Unknown', 'NodeStatusNeverUpdated'],
    ['DiskPressure', 'Unknown', 'NodeStatusNeverUpdated'],
    ['PIDPressure', 'Unknown', 'NodeStatusNeverUpdated'],
  ]);
  expect(found[0]).toMatchObject({ lastHeartbeatTime: time(1), lastTransitionTime: time(60) });
});

test('how long a pod tolerates taints', () => {
  const taints = [
    { key: 'a', effect: 'NoExecute' },
    { key: 'b', value: 'x', effect: 'NoExecute' },
  ] as Loose;
  const stays = (tolerations: Loose[]): number | undefined => toleratedFor({ metadata: {}, spec: { tolerations } } as WorkloadPod, taints);
  expect(stays([])).toBe(0);
  expect(stays([{ key: 'a', operator: 'Exists' }])).toBe(0);
  expect(stays([{ operator: 'Exists' }])).toBeUndefined();
  expect(stays([{ operator: 'Exists', tolerationSeconds: 30 }])).toBe(30_000);
  expect(
    stays([
      { key: 'a', operator: 'Exists', tolerationSeconds: 60 },
      { key: 'b', value: 'x', tolerationSeconds: 20 },
    ]),
  ).toBe(20_000);
  expect(stays([{ operator: 'Exists', tolerationSeconds: -5 }])).toBe(0);
  expect(stays([{ operator: 'Exists', effect: 'NoSchedule' }])).toBe(0);
});

test('pods of few nodes are evicted at a time, and of none while all are gone', () => {
  const zones = new Zones();
  const set = (zone: string, ready: number, unready: number): void => {
    for (let i = 0; i < ready + unready; i++) zones.set(`${zone}${i}`, zone, i >= unready);
  };
  set('a', 4, 2);
  expect([zones.take('a0', start), zones.take('a1', start), zones.take('a1', start + 10_000)]).toEqual([0, 10_000, 0]);
  // Most of a small zone: wait. Most of a large one: slowly.
  set('a', 1, 3);
  zones.delete('a4');
  zones.delete('a5');
  expect(zones.take('a0', start + 50_000)).toBe(5000);
  set('b', 20, 40);
  expect([zones.take('b0', start), zones.take('b1', start)]).toEqual([0, 100_000]);
  // A whole zone, while another one lives; then all of them.
  set('c', 0, 2);
  expect(zones.take('c0', start)).toBe(0);
  for (const one of [...Array(4).keys()]) zones.set(`a${one}`, 'a', false);
  for (const one of [...Array(60).keys()]) zones.set(`b${one}`, 'b', false);
  expect(zones.take('c1', start + 20_000)).toBe(5000);
});

// ---- the controller on a fake server ---------------------------------------------------------------------------------

const nodeKind = { group: '', version: 'v1', name: 'nodes', kind: 'Node', namespaced: false };
const eventKind = { group: '', version: 'v1', name: 'events', kind: 'Event', namespaced: true };

interface World {
  readonly api: FakeApi;
  readonly run: TestRun;
  /** The node posts its status. */
  post(name: string, ready?: string): Promise<void>;
  renew(name: string, leaseDurationSeconds?: number): void;
  bind(pod: string, node: string, tolerations?: Loose[]): Promise<void>;
  ready(name: string): string;
  taints(name: string): string[];
  pods(): string[];
  events(): string[];
}
function world(identity = kubernetes): World {
  const leaseKind = { group: `coordination.${identity.groupSuffix}`, version: 'v1', name: 'leases', kind: 'Lease', namespaced: true };
  const api = new FakeApi([nodeKind, eventKind, leaseKind, fakeKinds.pods]);
  const run = runControllers(api, [nodeLifecycleController], identity);
  let beats = 0;
  const conditionOf = (name: string): Loose => api.get(nodeKind, '', name).status.conditions.find(({ type }: Loose) => type === 'Ready');
  return {
    api,
    run,
    async post(name, status = 'True') {
      const before = api.get(nodeKind, '', name) ?? { metadata: { name }, spec: {} };
      const lastHeartbeatTime = new Date(run.clock.now() + beats++).toISOString();
      api.put(nodeKind, { ...before, status: { conditions: [{ type: 'Ready', status, lastHeartbeatTime }] } });
      await run.idle();
    },
    renew(name, leaseDurationSeconds = 40) {
      const namespace = identity.namespaces.nodeLease;
      const renewTime = new Date(run.clock.now()).toISOString();
      api.put(leaseKind, { metadata: { name, namespace }, spec: { renewTime, leaseDurationSeconds } });
    },
    async bind(pod, nodeName, tolerations = []) {
      const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: time(0) }];
      api.put(fakeKinds.pods, {
        metadata: { name: pod, namespace: 'a' },
        spec: { nodeName, tolerations },
        status: { phase: 'Running', conditions },
      });
      await run.idle();
    },
    ready: (name) => conditionOf(name).status,
    taints: (name) => (api.get(nodeKind, '', name).spec.taints ?? []).map(({ key, effect }: Loose) => `${key.split('/')[1]}:${effect}`),
    pods: () => api.all(fakeKinds.pods).map(({ metadata }) => metadata.name),
    events: () => api.all(eventKind).map(({ reason, message }) => `${reason}: ${message}`),
  };
}

test('a node is unknown after forty seconds without a lease or a status, and its pods are evicted', async () => {
  for (const identity of [kubernetes, plat]) {
    const { api, run, post, renew, bind, ready, taints, pods, events } = world(identity);
    for (const name of ['a', 'b', 'c']) await post(name);
    const seconds = (tolerationSeconds: number): Loose[] => [{ operator: 'Exists', tolerationSeconds }];
    await bind('soon', 'a');
    await bind('later', 'a', seconds(30));
    await bind('stays', 'a', [{ operator: 'Exists' }]);
    for (let second = 0; second < 60; second += 10) {
      await run.pass(10_000);
      for (const name of ['b', 'c']) renew(name);
      if (second < 20) renew('a');
    }
    // Renewed at 20 s, so gone at 60 s.
    await run.pass(0);
    expect([ready('a'), ready('b')]).toEqual(['Unknown', 'True']);
    expect(taints('a')).toEqual(['unreachable:NoSchedule', 'unreachable:NoExecute']);
    expect(api.get(fakeKinds.pods, 'a', 'stays').status.conditions[0].status).toBe('False');
    expect(pods()).toEqual(['later', 'stays']);
    expect(events()).toEqual(
      expect.arrayContaining([
        'NodeNotReady: Node a status is now: NodeNotReady',
        'NodeNotReady: Node is not ready',
        'TaintManagerEviction: Marking for deletion Pod a/soon',
      ]),
    );
    await run.pass(29_999);
    for (const name of ['b', 'c']) renew(name);
    expect(pods()).toEqual(['later', 'stays']);
    await run.pass(1);
    expect(pods()).toEqual(['stays']);
    expect(run.failures).toEqual([]);
    await run.stop();
  }
});

test('a lease that lasts longer is believed for longer, until it is cut short', async () => {
  const { run, post, renew, ready } = world();
  for (const name of ['a', 'b']) await post(name);
  for (const name of ['a', 'b']) renew(name, 3600);
  await run.pass(3_599_999);
  expect([ready('a'), ready('b')]).toEqual(['True', 'True']);
  renew('b', 3600);
  await run.pass(1);
  expect([ready('a'), ready('b')]).toEqual(['Unknown', 'True']);
  renew('b', 40);
  await run.pass(39_999);
  expect(ready('b')).toBe('True');
  await run.pass(1);
  expect(ready('b')).toBe('Unknown');
  expect(run.failures).toEqual([]);
  await run.stop();
});

test('a node that returns loses its taints, and pods that waited stay', async () => {
  const { run, post, bind, taints, pods, events } = world();
  for (const name of ['a', 'b', 'c']) await post(name);
  await bind('waits', 'a', [{ operator: 'Exists', tolerationSeconds: 30 }]);
  await post('a', 'False');
  expect(taints('a')).toEqual(['not-ready:NoSchedule', 'not-ready:NoExecute']);
  await run.pass(20_000);
  await post('a');
  expect(taints('a')).toEqual([]);
  expect(events()).toContain('TaintManagerEviction: Cancelling deletion of Pod a/waits');
  for (const name of ['a', 'b', 'c']) await post(name);
  await run.pass(30_000);
  expect(pods()).toEqual(['waits']);
  await run.stop();
});

test('a node that never reports is unknown after a minute, and pods of a single node are not evicted', async () => {
  const { api, run, bind, ready, taints, pods } = world();
  api.put(nodeKind, { metadata: { name: 'a' }, spec: { taints: [{ key: names.notReady, effect: 'NoSchedule' }] }, status: {} });
  await bind('runs', 'a');
  await run.pass(59_999);
  expect(taints('a')).toEqual(['not-ready:NoSchedule']);
  await run.pass(1);
  expect([ready('a'), taints('a'), pods()]).toEqual(['Unknown', ['unreachable:NoSchedule'], ['runs']]);
  await run.stop();
});

test('taints by hand evict too, and a cordon is a taint', async () => {
  const { api, run, post, bind, taints, pods } = world();
  await post('a');
  await bind('one', 'a');
  api.put(nodeKind, { ...api.get(nodeKind, '', 'a'), spec: { unschedulable: true } });
  await run.idle();
  expect([taints('a'), pods()]).toEqual([['unschedulable:NoSchedule'], ['one']]);
  const before = api.get(nodeKind, '', 'a');
  api.put(nodeKind, { ...before, spec: { ...before.spec, taints: [...before.spec.taints, { key: 'x/away', effect: 'NoExecute' }] } });
  await run.idle();
  expect(pods()).toEqual([]);
  await bind('two', 'a');
  expect(pods()).toEqual([]);
  await run.stop();
});
