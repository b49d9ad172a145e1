import { LabelSelector } from '@plat-dev/meta/labels';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { MAX_PLANS } from './decide.ts';
import { fitsNowhere, hostname, testPod, unschedulableTaint, World, zone } from './world.testing.ts';

let world: World;
beforeEach(() => {
  world = new World();
});
const noVictims = (nodes: number, ...reasons: string[]): string =>
  `0/${nodes} nodes are available: ${reasons.join(', ')}. preemption: 0/${nodes} nodes are available: ${nodes} No preemption victims found for incoming pod.`;

describe('nodes', () => {
  test('without any, a pod waits for the first', async () => {
    expect(world.place('a')).toBe('no nodes available to schedule pods');
    world.node('n1');
    await world.clock.advance(1000);
    world.run();
    expect(world.placed.get('default/a')).toBe('n1');
  });
  test('that are unschedulable are left out, unless the pod tolerates that', () => {
    world.node('n1', { unschedulable: true });
    expect(world.place('a')).toBe(fitsNowhere(1, '1 node(s) were unschedulable'));
    expect(world.place('b', { spec: { tolerations: [{ key: unschedulableTaint, operator: 'Exists' }] } })).toBe('n1');
  });
  test('with taints take pods that tolerate them', () => {
    world.node('n1', { taints: [{ key: 'dedicated', value: 'db', effect: 'NoSchedule' }] });
    world.node('n2', { taints: [{ key: 'gone', effect: 'NoExecute' }] });
    expect(world.place('a')).toBe(
      fitsNowhere(2, '1 node(s) had untolerated taint {dedicated: db}', '1 node(s) had untolerated taint {gone: }'),
    );
    expect(world.place('b', { spec: { tolerations: [{ key: 'dedicated', value: 'db' }] } })).toBe('n1');
  });
  test('are selected by labels, affinity and name', () => {
    world.node('n1', { labels: { disk: 'ssd' } });
    world.node('n2');
    const named = (name: string) => ({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] }],
          },
        },
      },
    });
    expect(world.place('a', { spec: { nodeSelector: { disk: 'ssd' } } })).toBe('n1');
    expect(world.place('b', { spec: { nodeSelector: { disk: 'hdd' } } })).toBe(
      fitsNowhere(2, "2 node(s) didn't match Pod's node affinity/selector"),
    );
    expect(world.place('c', { spec: named('n2') })).toBe('n2');
    expect(world.place('d', { spec: named('n3') })).toBe(fitsNowhere(2, "2 node(s) didn't match Pod's node affinity/selector"));
  });
  test('that change are looked at again', async () => {
    world.node('n1');
    expect(world.place('a', { spec: { nodeSelector: { disk: 'ssd' } } })).toContain('node affinity/selector');
    world.node('n1', { labels: { disk: 'ssd' } });
    await world.clock.advance(1000);
    world.run();
    expect(world.placed.get('default/a')).toBe('n1');
  });
});

describe('resources', () => {
  test('that are missing are named, all of them', () => {
    world.node('n1', { cpu: '1', memory: '1Gi' });
    world.node('n2', { cpu: '8', memory: '1Gi' });
    expect(world.place('a', { cpu: '2', memory: '2Gi' })).toBe(noVictims(2, '1 Insufficient cpu', '2 Insufficient memory'));
  });
  test('are used by pods with a node, also by those of other schedulers', () => {
    world.node('n1', { cpu: '2' });
    world.pod('other', { cpu: '1500m', node: 'n1', spec: { schedulerName: 'mine' } });
    expect(world.place('a', { cpu: '1' })).toContain('1 Insufficient cpu');
    expect(world.place('b', { cpu: '500m' })).toBe('n1');
  });
  test('of a pod that is over are free', async () => {
    world.node('n1', { cpu: '1' });
    world.pod('old', { cpu: '1', node: 'n1' });
    expect(world.place('a', { cpu: '1' })).toContain('1 Insufficient cpu');
    world.update({ ...world.object('old'), status: { phase: 'Succeeded' } });
    await world.clock.advance(1000);
    world.run();
    expect(world.placed.get('default/a')).toBe('n1');
  });
  test('include the number of pods, and those of other names', () => {
    world.node('n1', { pods: '1', more: { 'example.com/gpu': '1' } });
    const gpu = { containers: [{ name: 'c', resources: { requests: { 'example.com/gpu': '2' } } }] };
    expect(world.place('a', { spec: gpu })).toBe(noVictims(1, '1 Insufficient example.com/gpu'));
    expect(world.place('b')).toBe('n1');
    expect(world.place('c')).toBe(noVictims(1, '1 Too many pods'));
  });
  test('of a node that grows help those that wait', async () => {
    world.node('n1', { cpu: '1' });
    expect(world.place('a', { cpu: '2' })).toContain('Insufficient cpu');
    world.node('n1', { cpu: '2' });
    await world.clock.advance(1000);
    world.run();
    expect(world.placed.get('default/a')).toBe('n1');
  });
});

test('a host port has one user on each address and protocol', () => {
  world.node('n1');
  const port = (hostPort: number, more: object = {}) => ({
    containers: [{ name: 'c', ports: [{ containerPort: 80, hostPort, ...more }] }],
  });
  expect(world.place('a', { spec: port(80, { hostIP: '10.0.0.1' }) })).toBe('n1');
  expect(world.place('b', { spec: port(80, { hostIP: '10.0.0.2' }) })).toBe('n1');
  expect(world.place('c', { spec: port(80, { protocol: 'UDP' }) })).toBe('n1');
  expect(world.place('d', { spec: port(81) })).toBe('n1');
  const message = "1 node(s) didn't have free ports for the requested pod ports";
  expect(world.place('e', { spec: port(80) })).toContain(message);
  expect(world.place('f', { spec: port(80, { hostIP: '10.0.0.1' }) })).toContain(message);
  expect(world.place('g', { spec: port(80, { protocol: 'UDP', hostIP: '10.0.0.9' }) })).toContain(message);
  world.remove('a');
  world.remove('e');
  expect(world.place('h', { spec: port(80, { hostIP: '10.0.0.1' }) })).toBe('n1');
});

test('a disk that pods name has one user on a node, or several that only read', () => {
  world.node('n1');
  const disk = (readOnly: boolean) => ({ volumes: [{ name: 'v', gcePersistentDisk: { pdName: 'd', readOnly } }] });
  expect(world.place('a', { spec: disk(true) })).toBe('n1');
  expect(world.place('b', { spec: disk(true) })).toBe('n1');
  expect(world.place('c', { spec: disk(false) })).toContain('1 node(s) had no available disk');
});

describe('affinity between pods', () => {
  const term = (app: string, topologyKey = zone, more: object = {}) => ({ labelSelector: { matchLabels: { app } }, topologyKey, ...more });
  const near = (...terms: object[]) => ({ affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } } });
  const far = (...terms: object[]) => ({ affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } } });
  beforeEach(() => {
    world.node('a1', { labels: { [zone]: 'a' } });
    world.node('b1', { labels: { [zone]: 'b' } });
    world.node('b2', { labels: { [zone]: 'b' } });
  });
  test('brings pods into the domain of others', () => {
    world.pod('db', { labels: { app: 'db' }, node: 'a1' });
    for (let i = 0; i < 5; i++) expect(world.place(`web-${i}`, { spec: near(term('db')) })).toBe('a1');
    expect(world.place('lost', { spec: near(term('none')) })).toBe(fitsNowhere(3, "3 node(s) didn't match pod affinity rules"));
  });
  test('wakes a pod when the other has come', async () => {
    expect(world.place('web', { spec: near(term('db')) })).toContain("didn't match pod affinity rules");
    world.pod('other', { labels: { app: 'other' }, node: 'b1' });
    await world.clock.advance(60_000);
    world.run();
    expect(world.placed.has('default/web')).toBe(false);
    world.pod('db', { labels: { app: 'db' }, node: 'b1' });
    world.run();
    expect(['b1', 'b2']).toContain(world.placed.get('default/web'));
  });
  test('lets the first of those that want to be together go anywhere', () => {
    const first = world.place('a', { labels: { app: 'x' }, spec: near(term('x', hostname)) });
    expect(['a1', 'b1', 'b2']).toContain(first);
    expect(world.place('b', { labels: { app: 'x' }, spec: near(term('x', hostname)) })).toBe(first);
  });
  test('is about the own namespace, named ones, or selected ones', () => {
    world.scheduler.namespaceChanged('prod', { tier: 'gold' });
    world.pod('db', { namespace: 'prod', labels: { app: 'db' }, node: 'a1' });
    expect(world.place('own', { spec: near(term('db')) })).toContain("didn't match pod affinity rules");
    expect(world.place('named', { spec: near(term('db', zone, { namespaces: ['prod'] })) })).toBe('a1');
    const selected = (tier: string) => near(term('db', zone, { namespaceSelector: { matchLabels: { tier } } }));
    expect(world.place('selected', { spec: selected('gold') })).toBe('a1');
    expect(world.place('all', { spec: near(term('db', zone, { namespaceSelector: {} })) })).toBe('a1');
    expect(world.place('other', { spec: selected('silver') })).toContain("didn't match pod affinity rules");
  });
  test('wakes a pod when a namespace gets the label', async () => {
    world.pod('db', { namespace: 'prod', labels: { app: 'db' }, node: 'a1' });
    const spec = near(term('db', zone, { namespaceSelector: { matchLabels: { tier: 'gold' } } }));
    expect(world.place('web', { spec })).toContain("didn't match pod affinity rules");
    world.scheduler.namespaceChanged('prod', { tier: 'gold' });
    await world.clock.advance(1000);
    world.run();
    expect(world.placed.get('default/web')).toBe('a1');
  });
  test('keeps pods apart, whoever of the two asks it', () => {
    expect(world.place('1', { labels: { app: 'x' }, spec: far(term('x')) })).toBeDefined();
    expect(world.place('2', { labels: { app: 'x' }, spec: far(term('x')) })).toBeDefined();
    expect(new Set([...world.placed.values()].map((name) => name[0]))).toEqual(new Set(['a', 'b']));
    expect(world.place('3', { labels: { app: 'x' }, spec: far(term('x')) })).toContain("3 node(s) didn't match pod anti-affinity rules");
    expect(world.place('4', { labels: { app: 'x' } })).toContain("3 node(s) didn't satisfy existing pods anti-affinity rules");
    expect(world.place('5', { labels: { app: 'y' } })).toMatch(/^[ab][12]$/);
  });
  test('ends with the pod that had it', async () => {
    world.pod('1', { labels: { app: 'x' }, node: 'a1', spec: far(term('x')) });
    world.pod('2', { labels: { app: 'x' }, node: 'b1', spec: far(term('x')) });
    expect(world.place('3', { labels: { app: 'x' } })).toContain('existing pods anti-affinity');
    world.remove('1');
    await world.clock.advance(1000);
    world.run();
    expect(world.placed.get('default/3')).toBe('a1');
  });
  test('follows labels of pods that change', async () => {
    world.pod('1', { labels: { app: 'x' }, node: 'a1', spec: far(term('x')) });
    world.pod('2', { labels: { app: 'x' }, node: 'b1', spec: far(term('y', hostname)) });
    expect(world.place('3', { labels: { app: 'x' }, spec: far(term('x')) })).toContain('anti-affinity');
    world.update({ ...world.object('2'), metadata: { ...world.object('2').metadata, labels: { app: 'z' } } });
    await world.clock.advance(1000);
    world.run();
    expect(world.placed.get('default/3')).toMatch(/^b/);
  });
});

describe('topology spread by keys of labels', () => {
  test('counts pods with the same value only', () => {
    world.node('a1', { labels: { [zone]: 'a' } });
    world.node('b1', { labels: { [zone]: 'b' } });
    const constraint = { maxSkew: 1, topologyKey: zone, whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { app: 'x' } } };
    const place = (name: string, version: string, nodes: object) =>
      world.place(name, {
        labels: { app: 'x', version },
        spec: { ...nodes, topologySpreadConstraints: [{ ...constraint, matchLabelKeys: ['version', 'none'] }] },
      });
    const onA = { nodeSelector: { [hostname]: 'a1' } };
    expect(place('x-1', 'one', onA)).toBe('a1');
    expect(place('x-2', 'two', onA)).toBe('a1');
    expect(place('x-3', 'two', {})).toBe('b1');
  });
});

describe('topology spread', () => {
  const spread = (more: object = {}) => ({
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: zone, whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { app: 'x' } }, ...more },
    ],
  });
  const zones = (): Record<string, number> => {
    const found: Record<string, number> = {};
    for (const node of world.placed.values()) found[node[0] as string] = (found[node[0] as string] ?? 0) + 1;
    return found;
  };
  test('keeps the difference between domains', () => {
    world.node('a1', { labels: { [zone]: 'a' }, pods: '3' });
    world.node('b1', { labels: { [zone]: 'b' }, pods: '3' });
    world.node('c1', { labels: { [zone]: 'c' }, pods: '1' });
    for (let i = 0; i < 5; i++) expect(world.place(`x-${i}`, { labels: { app: 'x' }, spec: spread() })).toMatch(/^[abc]1$/);
    expect(zones()).toEqual({ a: 2, b: 2, c: 1 });
    expect(world.place('x-5', { labels: { app: 'x' }, spec: spread() })).toBe(
      "0/3 nodes are available: 1 Too many pods, 2 node(s) didn't match pod topology spread constraints. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.",
    );
  });
  test('counts nothing on nodes that the pod may not use', () => {
    world.node('a1', { labels: { [zone]: 'a', use: 'yes' } });
    world.node('b1', { labels: { [zone]: 'b' } });
    for (let i = 0; i < 3; i++)
      expect(world.place(`x-${i}`, { labels: { app: 'x' }, spec: { ...spread(), nodeSelector: { use: 'yes' } } })).toBe('a1');
  });
  test('does not count pods that are going, nor those of other namespaces', () => {
    world.node('a1', { labels: { [zone]: 'a' } });
    world.node('b1', { labels: { [zone]: 'b' }, pods: '0' });
    world.pod('gone', { labels: { app: 'x' }, node: 'a1', deletionTimestamp: '2024-01-01T00:00:00Z' });
    world.pod('other', { namespace: 'other', labels: { app: 'x' }, node: 'a1' });
    expect(world.place('x', { labels: { app: 'x' }, spec: spread() })).toBe('a1');
    expect(world.place('y', { labels: { app: 'x' }, spec: spread() })).toContain('topology spread constraints');
  });
  test('needs the label on nodes', () => {
    world.node('n1');
    expect(world.place('x', { labels: { app: 'x' }, spec: spread() })).toBe(
      fitsNowhere(1, "1 node(s) didn't match pod topology spread constraints (missing required label)"),
    );
  });
  test('with fewer domains than asked for, every domain takes as many as the skew', () => {
    world.node('a1', { labels: { [zone]: 'a' } });
    world.node('b1', { labels: { [zone]: 'b' } });
    const spec = spread({ minDomains: 3 });
    expect([0, 1].map((i) => world.place(`x-${i}`, { labels: { app: 'x' }, spec })).sort()).toEqual(['a1', 'b1']);
    expect(world.place('x-2', { labels: { app: 'x' }, spec })).toContain("2 node(s) didn't match pod topology spread constraints");
    world.node('c1', { labels: { [zone]: 'c' } });
    expect(world.place('x-3', { labels: { app: 'x' }, spec })).toBe('c1');
  });
  test('wakes a pod when another domain got its pod, or a node left', async () => {
    world.node('a1', { labels: { [zone]: 'a' } });
    world.node('b1', { labels: { [zone]: 'b' }, pods: '0' });
    world.place('x-0', { labels: { app: 'x' }, spec: spread() });
    expect(world.place('x-1', { labels: { app: 'x' }, spec: spread() })).toContain('topology spread constraints');
    world.pod('x-2', { labels: { app: 'x' }, node: 'b1' });
    await world.clock.advance(1000);
    world.run();
    expect(world.placed.get('default/x-1')).toBe('a1');
    expect(world.place('x-3', { labels: { app: 'x' }, spec: spread() })).toContain('topology spread constraints');
    world.scheduler.nodeGone('b1');
    await world.clock.advance(1000);
    world.run();
    expect(world.placed.get('default/x-3')).toBe('a1');
  });
});

describe('pods', () => {
  test('of other schedulers are left alone', () => {
    world.node('n1');
    expect(world.place('a', { spec: { schedulerName: 'mine' } })).toBe('not decided');
  });
  test('with scheduling gates are not looked at before the last of them is gone', () => {
    world.node('n1');
    const spec = (...names: string[]) => ({ schedulingGates: names.map((name) => ({ name })) });
    expect(world.place('a', { spec: spec('x', 'y') })).toBe('not decided');
    expect(world.place('a', { spec: spec('y') })).toBe('not decided');
    expect(world.place('a', { spec: { schedulingGates: [] } })).toBe('n1');
  });
  test('with taints of numbers go where they tolerate them', () => {
    world.node('n1', { taints: [{ key: 'risk', value: '7', effect: 'NoSchedule' }] });
    const spec = (operator: string, value: string) => ({ tolerations: [{ key: 'risk', operator, value }] });
    expect(world.place('a', { spec: spec('Gt', '7') })).toContain('untolerated taint');
    expect(world.place('b', { spec: spec('Lt', '8') })).toBe('n1');
    expect(world.place('c', { spec: spec('Gt', '-10') })).toBe('n1');
    expect(world.place('d', { spec: spec('Gt', 'many') })).toContain('untolerated taint');
  });
  test('that are being deleted are not scheduled', () => {
    world.node('n1');
    expect(world.place('a', { deletionTimestamp: '2024-01-01T00:00:00Z' })).toBe('not decided');
  });
  test('of higher priority are decided first', () => {
    world.node('n1', { cpu: '1' });
    world.pod('low', { cpu: '1' });
    world.pod('high', { cpu: '1', priority: 10, spec: { preemptionPolicy: 'Never' } });
    world.run();
    expect([...world.placed.keys()]).toEqual(['default/high']);
  });
  test('that get tolerations while they wait are decided again', async () => {
    world.node('n1', { taints: [{ key: 'x', effect: 'NoSchedule' }] });
    world.place('a');
    world.update(testPod('a', { spec: { tolerations: [{ operator: 'Exists' }] } }));
    await world.clock.advance(1000);
    world.run();
    expect(world.placed.get('default/a')).toBe('n1');
  });
  test('that another scheduler bound, or that were replaced, are where the server says', () => {
    world.node('n1', { cpu: '1' });
    world.node('n2', { cpu: '1' });
    world.answers = false;
    world.pod('a', { cpu: '1' });
    world.run();
    const other = world.scheduler.get('default/a')?.node?.name === 'n1' ? 'n2' : 'n1';
    world.update(testPod('a', { cpu: '1', node: other }));
    expect(world.cluster.get(other)?.cpu).toBe(1000);
    expect([...world.cluster.nodes()].reduce((sum, { cpu }) => sum + cpu, 0)).toBe(1000);
    world.update({ ...testPod('a', { cpu: '500m', node: other }), metadata: { ...testPod('a').metadata, uid: 'another' } });
    expect(world.cluster.get(other)?.cpu).toBe(500);
  });
  test('whose binding fails wait, and their room is free meanwhile', async () => {
    world.node('n1', { cpu: '1' });
    world.answers = false;
    world.pod('a', { cpu: '1' });
    world.run();
    const pod = world.scheduler.get('default/a');
    if (pod === undefined) throw new Error('the pod is known');
    world.scheduler.bindingFailed(pod, 'refused');
    expect(world.cluster.get('n1')?.cpu).toBe(0);
    expect(world.reports.at(-1)).toEqual({
      pod: 'default/a',
      reason: 'SchedulerError',
      message: 'binding rejected: refused',
      nominated: '',
    });
    world.answers = true;
    world.run();
    expect(world.placed.size).toBe(0);
    await world.clock.advance(1000);
    world.run();
    expect(world.placed.get('default/a')).toBe('n1');
  });
});

test('the failure of one pod is that of others of its class, until something changes', () => {
  world.node('n1', { cpu: '1' });
  world.pod('a', { cpu: '2' });
  world.pod('b', { cpu: '2' });
  const failures: object[] = [];
  const decide = world.decider.decide.bind(world.decider);
  world.decider.decide = (pod) => {
    const decision = decide(pod);
    failures.push(decision);
    return decision;
  };
  world.run();
  expect(failures[1]).toBe(failures[0]);
  world.node('n2', { cpu: '1' });
  expect(world.place('c', { cpu: '2' })).toContain('0/2 nodes');
});

test('counts are kept for so many classes at most, and made again for others', () => {
  world.node('a1', { labels: { [zone]: 'a' }, pods: '1000' });
  world.node('b1', { labels: { [zone]: 'b' }, pods: '1000' });
  const place = (round: number, i: number): string =>
    world.place(`p${round}-${i}`, {
      labels: { app: `x${i}` },
      spec: {
        topologySpreadConstraints: [
          { maxSkew: 1, topologyKey: zone, whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { app: `x${i}` } } },
        ],
      },
    });
  const rounds = [0, 1].map((round) => Array.from({ length: MAX_PLANS + 20 }, (_, i) => place(round, i)));
  expect(world.cluster.countTables).toBe(MAX_PLANS);
  // The second of each went to the other zone.
  expect(rounds[1]).toEqual(rounds[0]?.map((name) => (name === 'a1' ? 'b1' : 'a1')));
});

test('nothing is kept of what is gone', () => {
  world.node('n1');
  const spec = {
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: zone, labelSelector: {} }] } },
  };
  for (let i = 0; i < 300; i++) {
    world.place('a', { labels: { number: String(i) }, spec });
    world.remove('a');
  }
  world.scheduler.nodeGone('n1');
  expect(world.cluster.classCount).toBe(0);
  expect(world.cluster.countTables).toBe(0);
  expect([...world.cluster.nodes()]).toEqual([]);
  expect(world.cluster.slotCount).toBe(1);
});

test('terms of affinity are compared with a pod once, however many topologies they name', () => {
  const labels = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, 'v']));
  world.node('n1', { labels });
  const required = Object.keys(labels).map((topologyKey) => ({ topologyKey, labelSelector: { matchLabels: { app: 'x' } } }));
  const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
  world.place('first', { labels: { app: 'x' } });
  const matches = vi.spyOn(LabelSelector.prototype, 'matches');
  expect(world.place('second', { labels: { app: 'x' }, spec: { affinity } })).toBe('n1');
  // Each of the 50 with the classes of both pods, and not again for each of the 50 topologies.
  expect(matches.mock.calls.length).toBeLessThan(500);
  matches.mockRestore();
});
