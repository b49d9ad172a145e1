/** The decisions of a rollout, as tables. */

import type { Loose } from '@plat-dev/controllers/testing';
import { atOnce } from '@plat-dev/lib/slices';
import { kubernetes, plat } from '@plat-dev/meta/identity';
import { formatTime } from '@plat-dev/meta/time';
import { expect, test } from 'vitest';
import type { ReplicaSetObject } from '../replicaset/kinds.ts';
import type { Template } from '../shared/pod-control.ts';
import { type DeploymentObject, limitsOf } from './limits.ts';
import { currentAnnotations, lastRevisions, revisionNames, revisionOf } from './revisions.ts';
import { rollbackOf, rollbackTo } from './rollback.ts';
import { beyondHistory, findCurrent, isSameTemplate, sizeOf } from './sets.ts';
import { currentSize, oldSizes, proportionalSizes } from './sizes.ts';
import { hasProgressed, isComplete, nextCheckMs, rolloutStatusOf, statusOf, withCondition, withPause } from './status.ts';

const names = revisionNames(kubernetes);
const now = Date.UTC(2024, 0, 1);

function deployment(replicas: number, maxSurge: number | string, maxUnavailable: number | string, more: Loose = {}): DeploymentObject {
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } };
  return { metadata: { name: 'web', generation: 1 }, spec: { replicas, strategy, progressDeadlineSeconds: 60, ...more } } as Loose;
}
const limits = (replicas: number, surge: number | string, unavailable: number | string) =>
  limitsOf(deployment(replicas, surge, unavailable));

/** A set by its size, available pods and the size with surge that it was made for. */
function set(name: string, size: number, available = size, { most, age = 0, pods = size }: Loose = {}): ReplicaSetObject {
  return {
    metadata: {
      name,
      generation: 1,
      creationTimestamp: formatTime(now - age * 1000),
      ...(most !== undefined && { annotations: { [names.most]: String(most) } }),
    },
    spec: { replicas: size },
    status: { replicas: pods, readyReplicas: available, availableReplicas: available, observedGeneration: 1 },
  } as Loose;
}
const sizesOf = (sizes: Iterable<{ set: ReplicaSetObject; size: number }>): Record<string, number> =>
  Object.fromEntries([...sizes].map(({ set: one, size }) => [one.metadata.name, size]));

test.each([
  [10, '25%', '25%', 3, 2],
  [4, '25%', '25%', 1, 1],
  [3, '25%', '25%', 1, 0],
  [2, 0, '1%', 0, 1],
  [1, 0, '25%', 0, 1],
  [1, '1%', '25%', 1, 0],
  [10, 0, 20, 0, 10],
  [0, '25%', '25%', 0, 0],
  [0, 2, 1, 2, 0],
])('%i replicas, surge %s, unavailable %s: %i more, %i fewer', (replicas, maxSurge, maxUnavailable, surge, unavailable) => {
  expect(limits(replicas, maxSurge, maxUnavailable)).toEqual({ desired: replicas, isRolling: true, surge, unavailable });
});

test('a deployment that recreates its pods has no limits', () => {
  expect(limitsOf({ metadata: {}, spec: { replicas: 3, strategy: { type: 'Recreate' } } } as Loose)).toEqual({
    desired: 3,
    isRolling: false,
    surge: 0,
    unavailable: 0,
  });
});

test.each([
  // size now, pods of all sets → next size
  [10, 3, 0, 0, 10],
  [10, 3, 0, 10, 3],
  [10, 3, 3, 13, 3],
  [10, 3, 3, 11, 5],
  [10, 0, 0, 10, 0],
  [10, 3, 0, 15, 0],
  [5, 1, 8, 8, 5],
  [5, 1, 5, 5, 5],
])('%i replicas, surge %i: a current set of %i among %i pods becomes %i', (replicas, surge, size, pods, next) => {
  expect(currentSize(limits(replicas, surge, 1), size, pods)).toBe(next);
});

test.each([
  ['all is well: as many as may be missing', [['old', 10, 10]], ['new', 3, 0], { old: 8 }],
  ['the surge is not available yet', [['old', 8, 8]], ['new', 5, 0], {}],
  ['some are', [['old', 8, 8]], ['new', 5, 2], { old: 6 }],
  ['those that are not available go first', [['old', 8, 2]], ['new', 5, 5], { old: 3 }],
  [
    'of all sets, and then of the oldest',
    [
      ['a', 4, 4],
      ['b', 4, 1],
    ],
    ['new', 5, 5],
    { a: 2, b: 1 },
  ],
  ['never more than the current set replaces', [['old', 10, 4]], ['new', 3, 0], { old: 8 }],
  [
    'all when the current one is there',
    [
      ['a', 1, 1],
      ['b', 2, 0],
    ],
    ['new', 10, 10],
    { a: 0, b: 0 },
  ],
  ['a status with more than the size changes nothing', [['old', 8, 10]], ['new', 5, 3], { old: 5 }],
] as const)('old sets, of 10 replicas with surge 3 and 2 unavailable: %s', (_, old, [name, size, available], expected) => {
  const sets = old.map(([one, many, ready], i) => set(one, many, ready, { age: 100 - i }));
  expect(sizesOf(oldSizes(limits(10, 3, 2), set(name, size, available), sets))).toEqual(expected);
});

test.each([
  [
    'grow in proportion',
    30,
    3,
    [
      ['a', 8, 13],
      ['b', 5, 13],
    ],
    { a: 20, b: 13 },
  ],
  [
    'what is left goes to the largest',
    5,
    0,
    [
      ['a', 2, 3],
      ['b', 1, 3],
    ],
    { a: 3, b: 2 },
  ],
  [
    'of the same size the newest first',
    3,
    0,
    [
      ['old', 1, 2],
      ['new', 1, 2],
    ],
    { old: 1, new: 2 },
  ],
  [
    'shrink, of the same size the oldest first',
    3,
    0,
    [
      ['old', 2, 4],
      ['new', 2, 4],
    ],
    { old: 1, new: 2 },
  ],
  [
    'to nothing',
    0,
    3,
    [
      ['a', 8, 13],
      ['b', 5, 13],
    ],
    { a: 0, b: 0 },
  ],
  [
    'stay where the sum is right',
    10,
    3,
    [
      ['a', 8, 13],
      ['b', 5, 13],
    ],
    { a: 8, b: 5 },
  ],
  [
    'without a mark, by the pods that there are',
    20,
    0,
    [
      ['a', 6, undefined],
      ['b', 4, undefined],
    ],
    { a: 12, b: 8 },
  ],
] as const)('sets %s', (_, replicas, surge, sets, expected) => {
  const active = sets.map(([name, size, most], i) => set(name, size, size, { most, age: 100 - i }));
  const sizes = proportionalSizes(limits(replicas, surge, 1), active, 10, names);
  expect(sizesOf(sizes)).toEqual(expected);
  const sum = sizes.reduce((total, { size }) => total + size, 0);
  expect(sum).toBe(replicas === 0 ? 0 : replicas + surge);
});

test('templates are the same whatever the label that replica sets differ by', () => {
  const one = { metadata: { labels: { app: 'web' } }, spec: { containers: [] } } as Loose;
  const hashed = {
    metadata: { creationTimestamp: null, labels: { app: 'web', 'pod-template-hash': 'x' } },
    spec: { containers: [] },
  } as Loose;
  expect([isSameTemplate(one, hashed), isSameTemplate(one, { ...hashed, spec: {} })]).toEqual([true, false]);
  const [young, old] = [set('a', 1, 1, { age: 1 }), set('b', 1, 1, { age: 9 })].map(
    (one) => ({ ...one, spec: { template: hashed } }) as Loose,
  );
  const nameOfCurrent = (sets: ReplicaSetObject[], template?: Template): unknown => atOnce(findCurrent(sets, template))?.metadata.name;
  expect([nameOfCurrent([young, old], one), nameOfCurrent([young])]).toEqual(['b', undefined]);
  // A user may give a deployment many sets with large templates.
  expect([...findCurrent(Array(20).fill(young), undefined)]).toHaveLength(20);
});

const revised = (name: string, revision: string | undefined, size = 0, more: Loose = {}): ReplicaSetObject => {
  const one = set(name, size, size, more);
  return { ...one, metadata: { ...one.metadata, ...(revision !== undefined && { annotations: { [names.revision]: revision } }) } };
};

test('beyond the history limit the lowest revisions go, but none with pods', () => {
  const sets = [revised('c', '10'), revised('a', '2'), revised('b', '9', 1), revised('d', '11'), revised('e', '1', 0, { pods: 1 })];
  const gone = (limit: number | undefined, list = sets): unknown[] =>
    beyondHistory(list, limit, (one) => revisionOf(one, names)).map(({ metadata }) => metadata.name);
  expect([gone(5), gone(3), gone(1), gone(0), gone(undefined), gone(2 ** 31 - 1)]).toEqual([
    [],
    ['a'],
    ['a', 'c'],
    ['a', 'c', 'd'],
    [],
    [],
  ]);
  const going = { ...revised('x', '1'), metadata: { name: 'x', deletionTimestamp: formatTime(now) } } as Loose;
  expect(gone(1, [going, revised('y', '2')])).toEqual([]);
  const ahead = { ...revised('x', '1'), metadata: { ...revised('x', '1').metadata, generation: 2 } };
  expect([gone(0, [ahead]), sizeOf(ahead)]).toEqual([[], 0]);
});

test('revisions are annotations of the identity', () => {
  expect(revisionNames(plat).revision).toBe('deployment.plat.dev/revision');
  expect(lastRevisions([revised('a', '2'), revised('b', '10'), revised('c', 'x'), revised('d', undefined)], names)).toEqual([10n, 2n]);
  expect(lastRevisions([], names)).toEqual([0n, 0n]);
  // Numbers of 64 bits are exact.
  expect(lastRevisions([revised('a', '3546343826724305832'), revised('b', '9223372036854775808')], names)).toEqual([
    3546343826724305832n,
    0n,
  ]);
});

test('the current set gets the annotations of the deployment and the next revision, and remembers its last one', () => {
  const { revision, history, desired } = names;
  const mine = { note: 'x', [revision]: '7', 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
  expect(currentAnnotations(mine, {}, 3n, names)).toEqual({ note: 'x', [revision]: '3' });
  expect(currentAnnotations(mine, { [revision]: '3', [desired]: '2' }, 3n, names)).toEqual({ note: 'x', [revision]: '3', [desired]: '2' });
  expect(currentAnnotations({}, { [revision]: '1' }, 3n, names)).toEqual({ [revision]: '3', [history]: '1' });
  expect(currentAnnotations({}, { [revision]: '3', [history]: '1' }, 10n, names)).toEqual({ [revision]: '10', [history]: '1,3' });
  expect(currentAnnotations({}, { [revision]: 'odd' }, 3n, names)).toEqual({ [revision]: 'odd' });
});

test('the text of earlier revisions is at most 2000 characters long', () => {
  const long = Array.from({ length: 1000 }, (_, i) => String(i % 10)).join(',');
  const kept = currentAnnotations({}, { [names.revision]: '4321', [names.history]: long }, 9999n, names)[names.history] ?? '';
  expect([kept.length <= 2000, kept.length > 1990, kept.endsWith(',9,4321')]).toEqual([true, true, true]);
});

const state = (one: DeploymentObject, sets: ReplicaSetObject[], at = now): Parameters<typeof statusOf>[0] => ({
  deployment: one,
  limits: limitsOf(one),
  sets,
  current: sets.at(-1),
  conditions: one.status?.conditions ?? [],
  collisionCount: undefined,
  now: at,
});
const brief = (status: ReturnType<typeof statusOf>): Record<string, string> =>
  Object.fromEntries((status.conditions ?? []).map(({ type, status: holds, reason }) => [type, `${holds} ${reason}`]));

test('counts are those of all sets, and too few available pods are a condition', () => {
  const one = deployment(4, 1, 1);
  const few = statusOf(state(one, [set('old', 2, 1), set('new', 3, 1, { pods: 2 })]));
  expect(few).toMatchObject({
    observedGeneration: 1,
    replicas: 4,
    updatedReplicas: 2,
    readyReplicas: 2,
    availableReplicas: 2,
    unavailableReplicas: 3,
  });
  expect(brief(few)).toEqual({ Available: 'False MinimumReplicasUnavailable' });
  expect(brief(statusOf(state(one, [set('new', 4, 3)])))).toEqual({ Available: 'True MinimumReplicasAvailable' });
  expect(statusOf(state(deployment(0, 1, 1), [])).conditions).toHaveLength(1);
  expect(Object.keys(statusOf(state(deployment(0, 1, 1), [])))).toEqual(['observedGeneration', 'conditions']);
});

test('a rollout progresses, is complete, or is late', () => {
  const progressing = (reason: string, holds = 'True', age = 0): Loose => ({
    type: 'Progressing',
    status: holds,
    reason,
    message: '',
    lastUpdateTime: formatTime(now - age * 1000),
    lastTransitionTime: formatTime(now - 500_000),
  });
  const was = (counts: Loose, condition: Loose): DeploymentObject => ({
    ...deployment(2, 1, 0),
    status: { ...counts, conditions: [condition] } as Loose,
  });
  const of = (one: DeploymentObject, sets: ReplicaSetObject[]): unknown => brief(rolloutStatusOf(state(one, sets))).Progressing;
  const half = [set('new', 2, 1)];
  const same = { replicas: 2, updatedReplicas: 2, readyReplicas: 1, availableReplicas: 1 };
  expect(of(was({ ...same, readyReplicas: 0, availableReplicas: 0 }, progressing('NewReplicaSetCreated')), half)).toBe(
    'True ReplicaSetUpdated',
  );
  expect(of(was(same, progressing('NewReplicaSetCreated', 'True', 60)), half)).toBe('True NewReplicaSetCreated');
  expect(of(was(same, progressing('NewReplicaSetCreated', 'True', 61)), half)).toBe('False ProgressDeadlineExceeded');
  expect(of(was(same, progressing('ProgressDeadlineExceeded', 'False')), half)).toBe('False ProgressDeadlineExceeded');
  expect(of(was(same, progressing('ReplicaSetUpdated')), [set('new', 2, 2)])).toBe('True NewReplicaSetAvailable');
  // Pods that are lost after the rollout are no lack of progress.
  expect(of(was(same, progressing('NewReplicaSetAvailable', 'True', 999)), half)).toBe('True NewReplicaSetAvailable');
  const late = rolloutStatusOf(state(was(same, progressing('ReplicaSetUpdated', 'True', 61)), half));
  expect(late.conditions?.find(({ type }) => type === 'Progressing')).toEqual({
    type: 'Progressing',
    status: 'False',
    reason: 'ProgressDeadlineExceeded',
    message: 'ReplicaSet "new" has timed out progressing.',
    lastUpdateTime: formatTime(now),
    lastTransitionTime: formatTime(now),
  });
  const renewed = rolloutStatusOf(state(was({ ...same, readyReplicas: 0 }, progressing('ReplicaSetUpdated', 'True', 30)), half));
  expect(renewed.conditions?.find(({ type }) => type === 'Progressing')).toMatchObject({
    lastUpdateTime: formatTime(now),
    lastTransitionTime: formatTime(now - 500_000),
  });
  const endless = {
    ...was(same, progressing('ReplicaSetUpdated', 'True', 999)),
    spec: { ...deployment(2, 1, 0).spec, progressDeadlineSeconds: 2 ** 31 - 1 },
  };
  expect(of(endless as Loose, half)).toBeUndefined();
  expect(nextCheckMs(deployment(2, 1, 0), { conditions: [progressing('ReplicaSetUpdated', 'True', 20)] }, now)).toBe(40_001);
  for (const reason of ['ProgressDeadlineExceeded', 'NewReplicaSetAvailable'])
    expect(nextCheckMs(deployment(2, 1, 0), { conditions: [progressing(reason)] }, now)).toBeUndefined();
  expect([isComplete(deployment(2, 1, 0), same), hasProgressed(same, same)]).toEqual([false, false]);
  expect([hasProgressed({ replicas: 5, updatedReplicas: 2 }, { replicas: 4, updatedReplicas: 2 }), hasProgressed({}, {})]).toEqual([
    true,
    false,
  ]);
});

test('a failure of a replica set is one of the deployment, first that of the current one', () => {
  const failing = (name: string, reason: string): ReplicaSetObject => {
    const condition = { type: 'ReplicaFailure', status: 'True', reason, message: 'quota', lastTransitionTime: formatTime(now - 5000) };
    const one = set(name, 1, 0);
    return { ...one, status: { ...one.status, conditions: [condition] } as Loose };
  };
  const one = deployment(2, 1, 0);
  const found = rolloutStatusOf(state(one, [failing('old', 'FailedDelete'), failing('new', 'FailedCreate')]));
  expect(found.conditions?.at(-1)).toEqual({
    type: 'ReplicaFailure',
    status: 'True',
    reason: 'FailedCreate',
    message: 'quota',
    lastUpdateTime: formatTime(now - 5000),
    lastTransitionTime: formatTime(now - 5000),
  });
  expect(brief(rolloutStatusOf(state({ ...one, status: found }, [failing('old', 'FailedDelete'), set('new', 1)])))).toMatchObject({
    ReplicaFailure: 'True FailedDelete',
  });
  expect(brief(rolloutStatusOf(state({ ...one, status: found }, [set('new', 1)]))).ReplicaFailure).toBeUndefined();
});

test('a pause does not count as lack of progress, and hides no failure', () => {
  const at = (paused: boolean, reason?: string): unknown => {
    const conditions =
      reason === undefined ? [] : withCondition([], { type: 'Progressing', status: 'True', reason, message: '' }, now - 1000);
    const one = { ...deployment(1, 1, 0, { paused }), status: { conditions } };
    return brief({ conditions: withPause(one as Loose, now) }).Progressing;
  };
  expect([at(true), at(true, 'ReplicaSetUpdated'), at(true, 'DeploymentPaused'), at(true, 'ProgressDeadlineExceeded')]).toEqual([
    'Unknown DeploymentPaused',
    'Unknown DeploymentPaused',
    'True DeploymentPaused',
    'True ProgressDeadlineExceeded',
  ]);
  expect([at(false), at(false, 'DeploymentPaused'), at(false, 'ReplicaSetUpdated')]).toEqual([
    undefined,
    'Unknown DeploymentResumed',
    'True ReplicaSetUpdated',
  ]);
});

test('a rollback by annotation takes the template and the annotations of a revision, and clears the request', () => {
  const request = 'deprecated.deployment.rollback.to';
  const old = {
    ...revised('old', '1'),
    spec: { template: { metadata: { labels: { a: 'b', 'pod-template-hash': 'h' } }, spec: { v: 1 } } },
  } as Loose;
  old.metadata.annotations.cause = 'create';
  const last = { ...revised('new', '2'), spec: { template: { metadata: { labels: { a: 'b' } }, spec: { v: 2 } } } } as Loose;
  const one = (revision: string): DeploymentObject =>
    ({
      metadata: { name: 'web', annotations: { [request]: revision, [names.revision]: '2', cause: 'edit' } },
      spec: { template: { metadata: { labels: { a: 'b' } }, spec: { v: 2 } } },
    }) as Loose;
  expect([rollbackOf(one('3')), rollbackOf(one('x')), rollbackOf(deployment(1, 1, 1))]).toEqual([3n, undefined, undefined]);
  for (const revision of [0n, 1n]) {
    const done = rollbackTo(one(String(revision)), [old, last], revision, names);
    expect([done.type, done.reason, done.message]).toEqual(['Normal', 'DeploymentRollback', 'Rolled back deployment "web" to revision 1']);
    expect(done.deployment.metadata.annotations).toEqual({ [names.revision]: '2', cause: 'create' });
    expect(done.deployment.spec?.template).toEqual({ metadata: { labels: { a: 'b' } }, spec: { v: 1 } });
  }
  const reasons = [
    rollbackTo(one('2'), [old, last], 2n, names),
    rollbackTo(one('5'), [old, last], 5n, names),
    rollbackTo(one('0'), [], 0n, names),
  ];
  expect(reasons.map(({ type, reason }) => [type, reason])).toEqual([
    ['Warning', 'DeploymentRollbackTemplateUnchanged'],
    ['Warning', 'DeploymentRollbackRevisionNotFound'],
    ['Warning', 'DeploymentRollbackRevisionNotFound'],
  ]);
  expect(reasons.every(({ deployment: { metadata } }) => metadata.annotations?.[request] === undefined)).toBe(true);
});
