import { kubernetes, plat } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { revisionLabel } from '../revisions/revision.ts';
import type { Template } from '../shared/pod-control.ts';
import type { WorkloadPod } from '../shared/pods.ts';
import { type DaemonSetObject, daemonPod, daemonTolerations, isUpdated, nodeOf } from './daemon-pod.ts';
import { DaemonState } from './daemon-state.ts';
import { type Rules, viewNode } from './node-view.ts';
import { type NodeObject, Placement } from './placement.ts';
import { Retries } from './retries.ts';
import { rollingChanges, rollingLimits } from './rolling.ts';

const now = Date.UTC(2024, 0, 1);
const set = (spec: object = {}, annotations?: Record<string, string>): DaemonSetObject =>
  ({
    metadata: { name: 'agent', namespace: 'a', uid: 'u', generation: 1, ...(annotations !== undefined && { annotations }) },
    spec: { selector: { matchLabels: { app: 'x' } }, template: { metadata: { labels: { app: 'x' } }, spec: { containers: [] } }, ...spec },
  }) as unknown as DaemonSetObject;
const rules = (more: Partial<Rules> = {}): Rules => ({ set: set(), hash: 'new', surges: false, now, ...more });
const template = (spec: object): Template => ({ metadata: {}, spec: { containers: [], ...spec } }) as unknown as Template;
const node = (name: string, more: { labels?: Record<string, string>; taints?: object[] } = {}): NodeObject =>
  ({ metadata: { name, labels: more.labels ?? {} }, spec: { taints: more.taints } }) as unknown as NodeObject;

/** `p1 new ready`: name, revision and state. */
function pod(text: string, on = 'n'): WorkloadPod {
  const [name, hash, state = ''] = text.split(' ');
  const isReady = state === 'ready' || /^\d+s$/.test(state);
  const lastTransitionTime = new Date(now - (Number.parseInt(state, 10) || 100) * 1000).toISOString();
  return {
    metadata: {
      name,
      creationTimestamp: '2024-01-01T00:00:00Z',
      labels: { [revisionLabel]: hash },
      ...(state === 'ending' && { deletionTimestamp: '2024-01-01T00:00:00Z' }),
    },
    spec: state === 'unbound' ? {} : { nodeName: on },
    status: {
      phase: state === 'failed' ? 'Failed' : 'Running',
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime }],
    },
  } as unknown as WorkloadPod;
}
const run = { run: true, stay: true };
const names = (pods: readonly WorkloadPod[]): unknown[] => pods.map(({ metadata }) => metadata.name);

test('nodes fit by name, labels, affinity and taints', () => {
  const fitOf = (spec: object, given: NodeObject): unknown => new Placement(template(spec), kubernetes).of(given);
  const [fits, stays, unfit] = [run, { run: false, stay: true }, { run: false, stay: false }];
  expect(fitOf({}, node('n'))).toEqual(fits);
  expect([fitOf({ nodeName: 'n' }, node('n')), fitOf({ nodeName: 'm' }, node('n'))]).toEqual([fits, unfit]);
  const byLabel = { nodeSelector: { disk: 'ssd' } };
  expect([fitOf(byLabel, node('n')), fitOf(byLabel, node('n', { labels: { disk: 'ssd' } }))]).toEqual([unfit, fits]);
  const nodeSelectorTerms = [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }];
  const byAffinity = { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } };
  expect([fitOf(byAffinity, node('n')), fitOf(byAffinity, node('n', { labels: { zone: 'a' } }))]).toEqual([unfit, fits]);
  const tainted = (key: string, effect: string): NodeObject => node('n', { taints: [{ key, effect }] });
  expect(fitOf({}, tainted('x', 'PreferNoSchedule'))).toEqual(fits);
  expect(fitOf({}, tainted('x', 'NoSchedule'))).toEqual(stays);
  expect(fitOf({}, tainted('x', 'NoExecute'))).toEqual(unfit);
  expect(fitOf({ tolerations: [{ key: 'x', operator: 'Exists' }] }, tainted('x', 'NoExecute'))).toEqual(fits);
  for (const [name, effect] of [
    ['not-ready', 'NoExecute'],
    ['unreachable', 'NoExecute'],
    ['unschedulable', 'NoSchedule'],
    ['disk-pressure', 'NoSchedule'],
  ])
    expect(fitOf({}, tainted(`node.kubernetes.io/${name}`, effect as string))).toEqual(fits);
  const withoutNetwork = tainted('node.kubernetes.io/network-unavailable', 'NoSchedule');
  expect([fitOf({}, withoutNetwork), fitOf({ hostNetwork: true }, withoutNetwork)]).toEqual([stays, fits]);
});

test('tolerations are added once, by the names of the identity', () => {
  const own = { key: 'node.plat.dev/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 };
  const tolerations = daemonTolerations(template({ tolerations: [own, { key: 'x' }] }), plat);
  expect(tolerations.map(({ key, effect }) => `${key} ${effect}`)).toEqual([
    'node.plat.dev/unreachable NoExecute',
    'x undefined',
    'node.plat.dev/not-ready NoExecute',
    'node.plat.dev/disk-pressure NoSchedule',
    'node.plat.dev/memory-pressure NoSchedule',
    'node.plat.dev/pid-pressure NoSchedule',
    'node.plat.dev/unschedulable NoSchedule',
  ]);
  // It holds as long as the taint does.
  expect(tolerations[0]).not.toHaveProperty('tolerationSeconds');
});

test('the affinity of a pod names its node', () => {
  const nodeSelectorTerms = [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }];
  const affinity = { podAffinity: {}, nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
  const given = set(
    { template: { metadata: { labels: { app: 'x' } }, spec: { affinity } } },
    { 'deprecated.daemonset.template.generation': '3' },
  );
  const made = daemonPod(given, 'n1', 'abc', []);
  expect(made.spec?.affinity).toEqual({
    podAffinity: {},
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }],
      },
    },
  });
  expect(made.metadata.labels).toEqual({ app: 'x', 'pod-template-generation': '3', 'controller-revision-hash': 'abc' });
  expect([
    nodeOf(made),
    nodeOf({ ...made, spec: { ...made.spec, nodeName: 'n2' } } as WorkloadPod),
    nodeOf({ metadata: {} } as WorkloadPod),
  ]).toEqual(['n1', 'n2', '']);
  expect([isUpdated(made, given, 'abc'), isUpdated(made, given, 'x'), isUpdated(made, set(), 'x')]).toEqual([true, true, false]);
});

test('a node without a pod wants one, once the last is gone', () => {
  expect(viewNode([], run, rules())).toMatchObject({ isDesired: true, isCurrent: false, wantsPod: true });
  expect(viewNode([pod('p new ending')], run, rules())).toMatchObject({ isCurrent: true, wantsPod: false, surplus: [], newPod: undefined });
  expect(viewNode([], { run: false, stay: true }, rules())).toMatchObject({ isDesired: false, wantsPod: false });
});

test('pods that do not belong there go', () => {
  const two = [pod('b new ready'), pod('a new ready')];
  expect(names(viewNode(two, run, rules()).surplus)).toEqual(['b']);
  expect(names(viewNode([pod('a new unbound'), pod('b new ready')], run, rules()).surplus)).toEqual(['a']);
  const misplaced = viewNode(two, { run: false, stay: false }, rules());
  expect([misplaced.isMisscheduled, names(misplaced.surplus)]).toEqual([true, ['a', 'b']]);
  expect(names(viewNode([pod('a new ready')], { run: false, stay: true }, rules()).surplus)).toEqual([]);
  // The node is gone.
  expect(names(viewNode([pod('a new ready'), pod('b new unbound')], undefined, rules()).surplus)).toEqual(['b']);
  const failed = viewNode([pod('a new failed'), pod('b new ready')], run, rules());
  expect([names(failed.finished), names(failed.surplus)]).toEqual([['a'], []]);
});

test('while surging an old and a new pod stay until the new one is available', () => {
  const surplus = (...pods: string[]): unknown[] =>
    names(
      viewNode(
        pods.map((text) => pod(text)),
        run,
        rules({ surges: true, set: set({ minReadySeconds: 10 }) }),
      ).surplus,
    );
  expect(surplus('a old ready', 'b new running')).toEqual([]);
  expect(surplus('a old ready', 'b new 5s')).toEqual([]);
  expect(surplus('a old ready', 'b new 10s')).toEqual(['a']);
  expect(surplus('a old running', 'b new running')).toEqual(['a']);
  expect(surplus('a old ready', 'b new running', 'c new running', 'd old ready')).toEqual(['c', 'd']);
});

test('a pod counts as available when it has been ready for long enough', () => {
  const view = viewNode([pod('a new 4s')], run, rules({ set: set({ minReadySeconds: 10 }) }));
  expect(view).toMatchObject({ isReady: true, isAvailable: false, isUpdated: true, availableAt: now + 6000 });
});

const views = (...nodes: string[][]): [string, ReturnType<typeof viewNode>][] =>
  nodes.map((pods, i) => [
    `n${i}`,
    viewNode(
      pods.map((text) => pod(text)),
      run,
      rules(),
    ),
  ]);
const rolling = (limits: { maxUnavailable: number; maxSurge: number }, ...nodes: string[][]): unknown[] => {
  const { create, remove } = rollingChanges(views(...nodes), limits);
  return [create, names(remove)];
};

test('an update leaves enough nodes with an available pod', () => {
  const limits = { maxUnavailable: 2, maxSurge: 0 };
  expect(rolling(limits, ['a old ready'], ['b old ready'], ['c old ready'])).toEqual([[], ['a', 'b']]);
  expect(rolling(limits, ['a new running'], ['b old ready'], ['c old ready'])).toEqual([[], ['b']]);
  expect(rolling(limits, ['a new ready'], ['b old ready'], ['c old ready'])).toEqual([[], ['b', 'c']]);
  expect(rolling(limits, [], ['b old ending'], ['c old ready'])).toEqual([[], []]);
  // Pods that are not available are replaced in any case, and count.
  expect(rolling(limits, ['a old running'], ['b old ready'], ['c old ready'])).toEqual([[], ['a', 'b']]);
  expect(rolling(limits, ['a old running'], ['b old running'], ['c old running'], ['d old ready'])).toEqual([[], ['a', 'b', 'c']]);
});

test('a surge adds pods next to old ones, which go when they are available', () => {
  const limits = { maxUnavailable: 0, maxSurge: 1 };
  expect(rolling(limits, ['a old ready'], ['b old ready'])).toEqual([['n0'], []]);
  expect(rolling(limits, ['a old ready', 'x new running'], ['b old ready'])).toEqual([[], []]);
  expect(rolling(limits, ['a old ready', 'x new ready'], ['b old ready'])).toEqual([['n1'], ['a']]);
  expect(rolling(limits, ['a old running'], ['b old ready'])).toEqual([['n0', 'n1'], []]);
});

test('an update leaves nodes alone that are gone or take no new pods', () => {
  const [gone, closed] = [undefined, { run: false, stay: true }].map((fit) => viewNode([pod('a old ready')], fit, rules()));
  const changes = (view: unknown, maxSurge: number): unknown[] => {
    const { create, remove } = rollingChanges([['n', view as ReturnType<typeof viewNode>]], { maxUnavailable: 1, maxSurge });
    return [create, names(remove)];
  };
  expect([changes(gone, 0), changes(gone, 1), changes(closed, 0), changes(closed, 1)]).toEqual([
    [[], []],
    [[], []],
    [[], ['a']],
    [[], []],
  ]);
});

test('limits are numbers or shares of the nodes, rounded up, and never both zero', () => {
  expect(rollingLimits({ maxUnavailable: 2 }, 10)).toEqual({ maxUnavailable: 2, maxSurge: 0 });
  expect(rollingLimits({ maxUnavailable: '25%' }, 10)).toEqual({ maxUnavailable: 3, maxSurge: 0 });
  expect(rollingLimits({ maxUnavailable: 0, maxSurge: '5%' }, 10)).toEqual({ maxUnavailable: 0, maxSurge: 1 });
  expect(rollingLimits({ maxUnavailable: 0 }, 10)).toEqual({ maxUnavailable: 1, maxSurge: 0 });
});

test('a node on which pods fail waits longer each time', () => {
  const retries = new Retries();
  expect([retries.next('n', 0), retries.next('n', 400), retries.next('m', 400)]).toEqual([0, 600, 0]);
  expect([retries.next('n', 1000), retries.next('n', 1000), retries.next('n', 3000), retries.next('n', 3000)]).toEqual([0, 2000, 0, 4000]);
  let at = 3000;
  for (let i = 0; i < 20; i++) at += retries.next('n', at);
  expect(retries.next('n', at)).toBe(15 * 60_000);
  expect([retries.next('n', at + 31 * 60_000), retries.next('n', at + 31 * 60_000)]).toEqual([0, 1000]);
});

test('a change is looked at on its node alone', () => {
  const nodes = Array.from({ length: 1000 }, (_, i) => node(`n${i}`));
  const state = new DaemonState(
    kubernetes,
    nodes,
    nodes.map(({ metadata }) => pod(`p-${metadata.name} new ready`, metadata.name)),
  );
  expect(state.refresh(rules())).toBe(1000);
  expect(state.refresh(rules())).toBe(0);
  expect(state.totals()).toEqual({ desired: 1000, current: 1000, misscheduled: 0, ready: 1000, available: 1000, updated: 1000 });
  state.putPod(pod('p-n5 new running', 'n5'));
  expect([state.refresh(rules()), state.totals().ready]).toEqual([1, 999]);
  expect([state.putNode(node('n7', { labels: { any: 'x' } })), state.refresh(rules())]).toEqual([false, 0]);
  expect([state.putNode(node('n7', { taints: [{ key: 'x', effect: 'NoExecute' }] })), state.refresh(rules())]).toEqual([true, 1]);
  expect(state.totals()).toMatchObject({ desired: 999, misscheduled: 1 });
  expect([state.removeNode('n9'), state.refresh(rules())]).toEqual([true, 1]);
  // Another revision or another spec concerns all.
  expect([state.refresh(rules({ hash: 'x' })), state.totals().updated]).toEqual([1000, 0]);
  const waiting = set({ minReadySeconds: 100 });
  const later = { ...waiting, metadata: { ...waiting.metadata, generation: 2 } };
  expect(state.refresh(rules({ set: later, now: now - 50_000 }))).toBe(1000);
  expect([state.nextAvailable, state.totals().available]).toEqual([now, 0]);
  expect(state.refresh(rules({ set: later, now }))).toBe(999);
});
