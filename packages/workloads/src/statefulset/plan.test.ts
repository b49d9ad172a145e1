import { atOnce } from '@plat-dev/lib/slices';
import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { type Revision, revisionData, revisionLabel } from '../revisions/revision.ts';
import type { Template } from '../shared/pod-control.ts';
import type { WorkloadPod } from '../shared/pods.ts';
import { memberOf, memberPod, podNameLabel, type StatefulSetObject } from './members.ts';
import { planStatefulSet, type View } from './plan.ts';

type Spec = NonNullable<StatefulSetObject['spec']>;
const template = (image: string): Template =>
  ({ metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image }] } }) as Template;
const revision = (name: string): Revision => ({ metadata: { name }, revision: 1, data: atOnce(revisionData(template(name))) }) as Revision;
const now = Date.UTC(2024, 0, 1);

/** `new 3s`: revision and state of a member, from the first one; `-` where there is none. */
function pod(ordinal: number, text: string): WorkloadPod[] {
  if (text === '-') return [];
  const [hash, state = ''] = text.split(' ');
  const name = `web-${ordinal}`;
  const isReady = /^(ready|\d+s|ending-ready)$/.test(state);
  const since = new Date(now - (Number.parseInt(state, 10) || 1000) * 1000).toISOString();
  return [
    {
      metadata: {
        name,
        labels: { [revisionLabel]: hash, [podNameLabel(kubernetes)]: name },
        ...(state.startsWith('ending') && { deletionTimestamp: '2024-01-01T00:00:00Z' }),
      },
      status: {
        phase: isReady || state === 'running' ? 'Running' : state === 'failed' ? 'Failed' : state === 'succeeded' ? 'Succeeded' : 'Pending',
        conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: since }],
      },
    } as unknown as WorkloadPod,
  ];
}
interface Case {
  readonly spec?: Partial<Spec>;
  readonly gates?: readonly string[];
  readonly status?: object;
}
const view = (members: string, { spec = {}, gates = ['StatefulSetMinReadySeconds'], status }: Case = {}): View => ({
  set: {
    metadata: { name: 'web', namespace: 'a', uid: 'u' },
    spec: { replicas: 3, template: template('new'), updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } }, ...spec },
    ...(status !== undefined && { status }),
  } as unknown as StatefulSetObject,
  current: revision('old'),
  update: revision('new'),
  pods: members === '' ? [] : members.split(', ').flatMap((text, ordinal) => pod(ordinal, text)),
  now,
  identity: kubernetes,
  feature: (name) => gates.includes(name),
});
/** `create web-0 new`, `delete web-2 old` */
const actions = (members: string, given?: Case): string[] =>
  planStatefulSet(view(members, given)).actions.map((action) =>
    action.type === 'delete'
      ? `delete ${action.pod.metadata.name} ${action.why}`
      : `${action.type} ${action.pod.metadata.name} ${action.pod.metadata.labels?.[revisionLabel]}`,
  );
const parallel: Case = { spec: { podManagementPolicy: 'Parallel' } };

test('names have an ordinal without leading zeros', () => {
  expect(memberOf('web-3')).toEqual({ set: 'web', ordinal: 3 });
  expect(memberOf('web-1-0')).toEqual({ set: 'web-1', ordinal: 0 });
  for (const name of ['web', 'web-', 'web-03', 'web-x', '-1', 'web-9999999999']) expect(memberOf(name)).toBeUndefined();
});

test('ordered members are created one after another, each when those before it are available', () => {
  expect(actions('')).toEqual(['create web-0 new']);
  expect(actions('new pending')).toEqual([]);
  expect(actions('new running')).toEqual([]);
  expect(actions('new ready')).toEqual(['create web-1 new']);
  expect(actions('new ready, -, new ready')).toEqual(['create web-1 new']);
  expect(actions('new ending-ready, -, -')).toEqual([]);
  expect(actions('new 3s', { spec: { minReadySeconds: 5 } })).toEqual([]);
  expect(actions('new 5s', { spec: { minReadySeconds: 5 } })).toEqual(['create web-1 new']);
  expect(actions('new 3s', { spec: { minReadySeconds: 5 }, gates: [] })).toEqual(['create web-1 new']);
  expect(planStatefulSet(view('new 3s', { spec: { minReadySeconds: 5 } })).wait).toBe(2000);
});

test('parallel members wait for no other', () => {
  expect(actions('', parallel)).toEqual(['create web-0 new', 'create web-1 new', 'create web-2 new']);
  expect(actions('new pending, -, new ending', parallel)).toEqual(['create web-1 new']);
  expect(actions('new pending, new ready, new ready, new ready, new ending, new running', parallel)).toEqual([
    'delete web-5 surplus',
    'delete web-3 surplus',
  ]);
});

test('a set may want any number of members: some are created at a time', () => {
  const replicas = 2 ** 31 - 1;
  const many = actions('new ready', { spec: { replicas, podManagementPolicy: 'Parallel' } });
  expect([many.length, many[0], many[499]]).toEqual([500, 'create web-1 new', 'create web-500 new']);
  expect(actions('new ready', { spec: { replicas } })).toEqual(['create web-1 new']);
});

test('members that finished are created again', () => {
  expect(actions('new ready, new failed, new ready')).toEqual(['delete web-1 failed']);
  expect(actions('new succeeded, new ready, new failed', parallel)).toEqual(['delete web-0 succeeded', 'delete web-2 failed']);
  expect(actions('new pending, new failed, new ready')).toEqual([]);
});

test('surplus members go from the last one down, when all others are available', () => {
  const one = { spec: { replicas: 1 } };
  expect(actions('new ready, new ready, new ready', one)).toEqual(['delete web-2 surplus']);
  expect(actions('new ready, new ready, new ending', one)).toEqual([]);
  expect(actions('new pending, new ready, new ready', one)).toEqual([]);
  // A sick one waits for a sick one below it, and the lowest may go.
  expect(actions('new ready, new running, new running', one)).toEqual([]);
  expect(actions('new ready, new ready, new running', one)).toEqual(['delete web-2 surplus']);
  expect(actions('new ready, new running, new ready', one)).toEqual(['delete web-2 surplus']);
  expect(actions('new ready, new running, -', one)).toEqual(['delete web-1 surplus']);
});

test('an update goes from the last member down to the partition, one at a time', () => {
  expect(actions('old ready, old ready, old ready')).toEqual(['delete web-2 old']);
  expect(actions('old ready, old ready, new pending')).toEqual([]);
  expect(actions('old ready, old ready, new ready')).toEqual(['delete web-1 old']);
  const partition = { spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } } } as Case;
  expect(actions('old ready, old ready, old ready', partition)).toEqual(['delete web-2 old']);
  expect(actions('old ready, old ready, new ready', partition)).toEqual([]);
  expect(actions('old ready, -, new ready', partition)).toEqual(['create web-1 old']);
  expect(actions('old ready, old ready, -', partition)).toEqual(['create web-2 new']);
  const onDelete = { spec: { updateStrategy: { type: 'OnDelete' } } } as Case;
  expect(actions('old ready, old ready, old ready', onDelete)).toEqual([]);
  expect(actions('old ready, -, old ready', onDelete)).toEqual(['create web-1 new']);
  // A broken ordered update stays until its pod is deleted; a parallel one goes on from the last member.
  expect(actions('old ready, old ready, old running')).toEqual([]);
  expect(actions('old ready, old ready, old running', parallel)).toEqual(['delete web-2 old']);
  expect(actions('old ready, old ready, new running', parallel)).toEqual([]);
});

test('without the fields of an update, the members that were current are created as they were', () => {
  const spec = { updateStrategy: { type: 'RollingUpdate' } } as Partial<Spec>;
  expect(actions('old ready', { spec, status: { currentReplicas: 2 } })).toEqual(['create web-1 old']);
  expect(actions('old ready, old ready', { spec, status: { currentReplicas: 2 } })).toEqual(['create web-2 new']);
});

test('with its feature, maxUnavailable members are updated at a time', () => {
  const limited = (maxUnavailable: number | string): Case => ({
    spec: {
      replicas: 5,
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1, maxUnavailable } },
    },
    gates: ['MaxUnavailableStatefulSet'],
  });
  const five = 'old ready, old ready, old ready, old ready, old ready';
  expect(actions(five, limited(2))).toEqual(['delete web-4 old', 'delete web-3 old']);
  expect(actions(five, limited('50%'))).toEqual(['delete web-4 old', 'delete web-3 old']);
  expect(actions(five, limited('1%'))).toEqual(['delete web-4 old']);
  expect(actions('old ready, old ready, old ready, new pending, new ready', limited(2))).toEqual(['delete web-2 old']);
  expect(actions('old ready, old ready, new pending, new pending, new ready', limited(2))).toEqual([]);
  expect(actions(five, limited(5))).toHaveLength(4);
  expect(actions(five, { ...limited(2), gates: [] })).toEqual(['delete web-4 old']);
});

test('a set that is being deleted is left alone', () => {
  const given = view('old ready, old failed');
  expect(planStatefulSet({ ...given, set: { ...given.set, metadata: { ...given.set.metadata, deletionTimestamp: 'x' } } }).actions).toEqual(
    [],
  );
});

test('a member has its name in its label, host name and claims', () => {
  const set = {
    metadata: { name: 'web', namespace: 'a', uid: 'u' },
    spec: {
      serviceName: 'peers',
      selector: { matchLabels: { app: 'web' } },
      volumeClaimTemplates: [{ metadata: { name: 'data', labels: { x: 'y' } }, spec: { accessModes: ['ReadWriteOnce'] } }],
    },
  } as unknown as StatefulSetObject;
  const given = template('i');
  const volumes = [
    { name: 'data', emptyDir: {} },
    { name: 'tmp', emptyDir: {} },
  ];
  const made = memberPod(set, { ...given, spec: { ...given.spec, volumes } } as Template, 2, 'web-x', kubernetes);
  expect(made.metadata).toMatchObject({
    name: 'web-2',
    namespace: 'a',
    labels: { app: 'web', 'statefulset.kubernetes.io/pod-name': 'web-2', 'controller-revision-hash': 'web-x' },
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'u', controller: true, blockOwnerDeletion: true }],
  });
  expect(made.spec).toMatchObject({
    hostname: 'web-2',
    subdomain: 'peers',
    volumes: [
      { name: 'data', persistentVolumeClaim: { claimName: 'data-web-2' } },
      { name: 'tmp', emptyDir: {} },
    ],
  });
});

test('members begin with the ordinal of the set', () => {
  const from = (start: number, more: Partial<Spec> = {}): Case => ({ spec: { replicas: 2, ordinals: { start }, ...more } });
  expect(actions('', { spec: { ...from(3).spec, podManagementPolicy: 'Parallel' } })).toEqual(['create web-3 new', 'create web-4 new']);
  expect(actions('-, -, -, new ready, new ready', from(3))).toEqual([]);
  // Members below the first ordinal go, once those that are wanted are there.
  expect(actions('new ready, new ready, new ready', from(1))).toEqual(['delete web-0 surplus']);
  // A partition counts from the first member.
  const partitioned = from(3, { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } });
  expect(actions('-, -, -, old ready, old ready', partitioned)).toEqual(['delete web-4 old']);
  expect(actions('-, -, -, -, new ready', partitioned)).toEqual(['create web-3 old']);
});
