import type { Loose } from '@plat-dev/controllers/testing';
import { formatTime } from '@plat-dev/meta/time';
import { expect, test } from 'vitest';
import type { WorkloadPod } from '../shared/pods.ts';
import { podsToDelete, type SurplusOptions } from './surplus-pods.ts';

const now = Date.UTC(2024, 0, 2);
const COST = 'example/cost';
const options: SurplusOptions = { now, minReadySeconds: 0, costAnnotation: COST };

interface Shape {
  readonly node?: string;
  readonly phase?: string;
  readonly ready?: number;
  readonly cost?: string;
  readonly restarts?: number;
  readonly age?: number;
  readonly uid?: string;
}
/** A running pod; `ready` and `age` are seconds before now. */
function pod(name: string, { node = 'n', phase = 'Running', ready, cost, restarts = 0, age = 1000, uid = name }: Shape = {}): WorkloadPod {
  const conditions = ready === undefined ? [] : [{ type: 'Ready', status: 'True', lastTransitionTime: formatTime(now - ready * 1000) }];
  return {
    metadata: {
      name,
      uid,
      creationTimestamp: formatTime(now - age * 1000),
      ...(cost !== undefined && { annotations: { [COST]: cost } }),
    },
    spec: { nodeName: node },
    status: { phase, conditions, containerStatuses: [{ restartCount: restarts }] },
  } as Loose;
}
const chosen = (pods: WorkloadPod[], count = 1, more: Partial<SurplusOptions> = {}, related: WorkloadPod[] = []): unknown[] =>
  podsToDelete(pods, related, count, { ...options, ...more }).map(({ metadata }) => metadata.name);

/** The first pod of each pair goes, whatever their order. */
const pairs: readonly (readonly [string, WorkloadPod, WorkloadPod])[] = [
  ['without a node', pod('x', { node: '', ready: 100 }), pod('y', { phase: 'Pending' })],
  ['pending', pod('x', { phase: 'Pending' }), pod('y', { phase: 'Unknown' })],
  ['unknown', pod('x', { phase: 'Unknown' }), pod('y')],
  ['not ready', pod('x', { cost: '5' }), pod('y', { ready: 1, cost: '-5' })],
  ['the lower cost', pod('x', { ready: 100, cost: '-1' }), pod('y', { ready: 1 })],
  ['ready for a shorter time', pod('x', { ready: 10 }), pod('y', { ready: 1000 })],
  [
    'ready since an unknown time',
    { ...pod('x'), status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } } as Loose,
    pod('y', { ready: 1 }),
  ],
  ['more restarts', pod('x', { ready: 10, restarts: 2 }), pod('y', { ready: 10, restarts: 1 })],
  ['younger', pod('x', { age: 10 }), pod('y', { age: 1000 })],
  ['about as old, by uid', pod('x', { age: 1001, uid: 'a' }), pod('y', { age: 1000, uid: 'b' })],
];
test.each(pairs)('%s goes first', (_, first, second) => {
  expect([chosen([first, second]), chosen([second, first])]).toEqual([['x'], ['x']]);
});

test('a cost counts only where the feature is on, and only if it is a number of 32 bits', () => {
  const young = pod('young', { ready: 10 });
  const cheap = (cost: string): WorkloadPod => pod('cheap', { ready: 100_000, cost });
  expect(chosen([young, cheap('-1')])).toEqual(['cheap']);
  expect(chosen([young, cheap('-1')], 1, { costAnnotation: undefined })).toEqual(['young']);
  for (const cost of ['-01', '-1.5', '-2147483649', 'x']) expect(chosen([young, cheap(cost)])).toEqual(['young']);
});

test('pods that share their node with others of the same deployment go first', () => {
  const [a, b, c] = [pod('a', { node: 'n1', ready: 5000 }), pod('b', { node: 'n2', ready: 10 }), pod('c', { node: 'n1', ready: 5000 })];
  expect(chosen([a, b], 1, {}, [a, b, c])).toEqual(['a']);
  const finished = { ...c, status: { phase: 'Failed' } } as Loose;
  expect(chosen([a, b], 1, {}, [a, b, finished])).toEqual(['b']);
});

test('pods that are not available yet go before those that are', () => {
  const [old, young] = [pod('old', { ready: 20, cost: '-5' }), pod('young', { ready: 5 })];
  expect([chosen([old, young]), chosen([old, young], 1, { minReadySeconds: 10 })]).toEqual([['old'], ['young']]);
});

test('times are compared by orders of magnitude, or as they are', () => {
  const [older, younger] = [pod('a', { ready: 1001 }), pod('b', { ready: 1000 })];
  expect([chosen([older, younger]), chosen([older, younger], 1, { exactTimes: true })]).toEqual([['a'], ['b']]);
});

test('all of them, in any order', () => {
  expect(chosen([pod('a'), pod('b')], 2).sort()).toEqual(['a', 'b']);
});
