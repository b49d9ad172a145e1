import { expect, test } from 'vitest';
import { ReplicationControllerKind } from '../core/replication-controller.ts';
import type { Kind } from '../kind.ts';
import { create, type Loose, testEnv, update, withFeatures } from '../validation/kinds.testing.ts';
import { ControllerRevisionKind } from './controller-revision.ts';
import { DaemonSetKind } from './daemon-set.ts';
import { DeploymentKind } from './deployment.ts';
import { ReplicaSetKind } from './replica-set.ts';
import { StatefulSetKind } from './stateful-set.ts';

const template = { metadata: { labels: { app: 'shop' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
const selector = { matchLabels: { app: 'shop' } };
const body = (fields: Loose = {}): Loose => ({ metadata: { name: 'w' }, spec: { selector, template, ...fields } });
const causes = (kind: Kind, fields: Loose): string[] => create(kind, body(fields)).errors;
const like = (texts: string[]): Loose[] => texts.map((text) => expect.stringContaining(text));
const mismatch =
  'spec.template.metadata.labels | Invalid | Invalid value: map[string]string{"app":"shop"}: `selector` does not match template `labels`';

test('deployments: defaults', () => {
  const { object, errors } = create(DeploymentKind, body());
  expect(errors).toEqual([]);
  expect(object.spec).toMatchObject({
    replicas: 1,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
  });
});

test.each<[string, Loose, string[]]>([
  ['no selector', { selector: undefined }, ['spec.selector | Required | Required value', mismatch]],
  ['an empty selector', { selector: {} }, ['empty selector is invalid for deployment']],
  ['a selector of others', { selector: { matchLabels: { app: 'other' } } }, [mismatch]],
  [
    'a selector that cannot be',
    { selector: { matchLabels: { app: 'bad value!' } } },
    [
      'spec.selector.matchLabels | Invalid',
      'spec.selector | Invalid | Invalid value: v1.LabelSelector{MatchLabels:map[string]string{"app":"bad value!"}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: invalid label selector',
    ],
  ],
  [
    'recreate with steps',
    { strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } },
    ["spec.strategy.rollingUpdate | Forbidden | Forbidden: may not be specified when strategy `type` is 'Recreate'"],
  ],
  [
    'no steps',
    { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } },
    [
      'spec.strategy.rollingUpdate.maxUnavailable | Invalid | Invalid value: intstr.IntOrString{Type:0, IntVal:0, StrVal:""}: may not be 0 when `maxSurge` is 0',
    ],
  ],
  [
    'steps that cannot be',
    { strategy: { rollingUpdate: { maxSurge: '-5%', maxUnavailable: '120%' } } },
    [
      'maxSurge | Invalid',
      'maxUnavailable | Invalid | Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"120%"}: must not be greater than 100%',
    ],
  ],
  ['another strategy', { strategy: { type: 'BlueGreen' } }, ['spec.strategy | NotSupported']],
  [
    'negative numbers',
    { replicas: -1, minReadySeconds: -2, revisionHistoryLimit: -3, progressDeadlineSeconds: -4 },
    [
      'spec.replicas',
      'spec.minReadySeconds',
      'spec.revisionHistoryLimit',
      'spec.progressDeadlineSeconds',
      'must be greater than minReadySeconds',
    ],
  ],
  [
    'pods that end',
    { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never', activeDeadlineSeconds: 1 } } },
    ['spec.template.spec.restartPolicy | NotSupported', 'activeDeadlineSeconds in ReplicaSet is not Supported'],
  ],
  [
    'disks that several write',
    { replicas: 2, template: { ...template, spec: { ...template.spec, volumes: [{ name: 'd', gcePersistentDisk: { pdName: 'p' } }] } } },
    ['spec.template.spec.volumes[0].gcePersistentDisk.readOnly | Invalid'],
  ],
])('deployments: %s', (_name, fields, texts) => {
  expect(causes(DeploymentKind, fields)).toEqual(like(texts));
});

test('selectors stay, and annotations of a deployment are a new generation', () => {
  for (const kind of [DeploymentKind, ReplicaSetKind, DaemonSetKind]) {
    const { object } = create(kind, body());
    const { errors } = update(kind, object, ({ spec }) => {
      spec.selector.matchLabels.more = 'y';
      spec.template.metadata.labels.more = 'y';
    });
    expect(errors).toEqual(
      like(['spec.selector | Invalid | Invalid value: v1.LabelSelector{MatchLabels:map[string]string{"app":"shop", "more":"y"}']),
    );
  }
  const { object } = create(DeploymentKind, body());
  const annotate = ({ metadata }: Loose) => {
    metadata.annotations = { a: 'b' };
  };
  expect(update(DeploymentKind, object, annotate).object.metadata.generation).toBe(2);
  expect(update(ReplicaSetKind, create(ReplicaSetKind, body()).object, annotate).object.metadata.generation).toBe(1);
});

test('counts of a status fit together, and the spec stays', () => {
  const { object } = create(DeploymentKind, body());
  const report = (status: Loose) =>
    update(DeploymentKind, object, (deployment) => Object.assign(deployment, { status, spec: { replicas: 9 } }), 'status');
  expect(report({ replicas: 2, readyReplicas: 1, availableReplicas: 3, collisionCount: -1 }).errors).toEqual([
    'status.collisionCount | Invalid | Invalid value: -1: must be greater than or equal to 0',
    'status.availableReplicas | Invalid | Invalid value: 3: cannot be greater than status.replicas',
    'status.availableReplicas | Invalid | Invalid value: 3: cannot be greater than readyReplicas',
  ]);
  expect(report({ replicas: 2 }).object.spec).toEqual(object.spec);
  object.status = { collisionCount: 2 };
  expect(report({ collisionCount: 1 }).errors).toEqual(['status.collisionCount | Invalid | Invalid value: 1: cannot be decremented']);
});

test('replication controllers take selector and labels from their template, and report errors twice', () => {
  const { object } = create(ReplicationControllerKind, { spec: { template } });
  expect(object.spec.selector).toEqual({ app: 'shop' });
  expect(object.metadata.labels).toEqual({ app: 'shop' });
  const { errors } = update(ReplicationControllerKind, object, ({ spec }) => {
    spec.selector = { app: 'q' };
  });
  expect(errors).toEqual([mismatch, mismatch]);
  expect(create(ReplicationControllerKind, { spec: {} }).errors).toEqual([
    'spec.selector | Required | Required value',
    'spec.template | Required | Required value',
  ]);
});

test('stateful sets: defaults, and what is dropped', () => {
  const claim = { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } };
  const fields = {
    volumeClaimTemplates: [claim],
    updateStrategy: { rollingUpdate: { maxUnavailable: 2 } },
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' },
  };
  const { object } = create(StatefulSetKind, body(fields));
  expect(object.spec).toMatchObject({
    podManagementPolicy: 'OrderedReady',
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
  });
  expect(object.spec.updateStrategy.rollingUpdate.maxUnavailable).toBeUndefined();
  expect(object.spec.persistentVolumeClaimRetentionPolicy).toBeUndefined();
  expect(object.spec.volumeClaimTemplates[0]).toMatchObject({
    kind: 'PersistentVolumeClaim',
    apiVersion: 'v1',
    spec: { volumeMode: 'Filesystem' },
    status: { phase: 'Pending' },
  });
  const rich = create(StatefulSetKind, body(fields), withFeatures('MaxUnavailableStatefulSet', 'StatefulSetAutoDeletePVC')).object;
  expect(rich.spec.persistentVolumeClaimRetentionPolicy).toEqual({ whenDeleted: 'Delete', whenScaled: 'Retain' });
});

test.each<[string, Loose, string[]]>([
  ['nothing', { selector: undefined, template: {} }, ['spec.selector | Required', 'map[string]string(nil)']],
  [
    'words',
    { podManagementPolicy: 'Sorted', updateStrategy: { type: 'Fast' } },
    ["must be 'OrderedReady' or 'Parallel'", "must be 'RollingUpdate' or 'OnDelete'"],
  ],
  [
    'steps on delete',
    { updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } } },
    ["only allowed for updateStrategy 'RollingUpdate'"],
  ],
  [
    'partition',
    { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: -1 } } },
    ['spec.updateStrategy.rollingUpdate.partition | Invalid'],
  ],
])('stateful sets: %s', (_name, fields, texts) => {
  expect(causes(StatefulSetKind, fields)).toEqual(like(texts));
});

test('only five fields of a stateful set change', () => {
  const { object } = create(StatefulSetKind, body());
  const edit = (fields: Loose) => update(StatefulSetKind, object, ({ spec }) => Object.assign(spec, fields)).errors;
  expect(edit({ replicas: 6, minReadySeconds: 9, updateStrategy: { type: 'OnDelete' } })).toEqual([]);
  expect(edit({ serviceName: 'else' })).toEqual(like(['spec | Forbidden | Forbidden: updates to statefulset spec for fields other than']));
  expect(edit({ replicas: -6 })).toEqual(like(['spec.replicas | Invalid', 'spec.replicas | Invalid']));
});

test('daemon sets count the changes of their template', () => {
  const key = 'deprecated.daemonset.template.generation';
  const { object } = create(DaemonSetKind, body());
  expect(object.metadata.annotations).toEqual({ [key]: '1' });
  expect(object.spec.updateStrategy).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } });
  const next = update(DaemonSetKind, object, ({ spec }) => {
    spec.template.metadata.labels.extra = 'yes';
  }).object;
  expect(next.metadata.annotations[key]).toBe('2');
  const same = update(DaemonSetKind, next, ({ metadata, spec }) => {
    metadata.annotations = { [key]: '40' };
    spec.minReadySeconds = 5;
  }).object;
  expect(same.metadata.annotations[key]).toBe('2');
  expect(
    update(DaemonSetKind, next, ({ metadata }) => {
      metadata.annotations[key] = 'word';
    }).errors,
  ).not.toEqual([]);
});

test.each<[string, Loose, string[]]>([
  [
    'nothing',
    { selector: undefined, template: {} },
    ['spec.template.metadata.labels | Invalid', 'spec.template.spec.containers | Required'],
  ],
  [
    'both steps',
    { updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } },
    ['may not be set when maxUnavailable is non-zero'],
  ],
  [
    'no steps',
    { updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } },
    ['spec.updateStrategy.rollingUpdate.maxUnavailable | Required'],
  ],
  [
    'another strategy',
    { updateStrategy: { type: 'Never' }, minReadySeconds: -1 },
    ['spec.minReadySeconds', 'spec.updateStrategy | NotSupported'],
  ],
])('daemon sets: %s', (_name, fields, texts) => {
  expect(causes(DaemonSetKind, fields)).toEqual(like(texts));
});

test('controller revisions keep their data', () => {
  const { object } = create(ControllerRevisionKind, { metadata: { name: 'r' }, revision: 3, data: { a: 1 } });
  expect(create(ControllerRevisionKind, { metadata: { name: 'r' }, revision: -1 }).errors).toEqual(
    like(['data | Required | Required value: data is mandatory', 'revision | Invalid']),
  );
  expect(
    update(ControllerRevisionKind, object, (revision) => {
      revision.data = { a: 2 };
    }).errors,
  ).toEqual(like(['data | Invalid']));
});

test('rows show what is wanted and what there is', () => {
  const cells = (kind: Kind, fields: Loose, status: Loose) => {
    const { object } = create(kind, body(fields));
    return kind.cells?.({ ...object, status } as never, testEnv);
  };
  expect(cells(DeploymentKind, { replicas: 4 }, { readyReplicas: 2, updatedReplicas: 3, availableReplicas: 1 })).toEqual([
    'w',
    '2/4',
    3,
    1,
    '27h',
    'web',
    'web:1',
    'app=shop',
  ]);
  expect(cells(ReplicaSetKind, { replicas: 4 }, { replicas: 3, readyReplicas: 2 })).toEqual([
    'w',
    4,
    3,
    2,
    '27h',
    'web',
    'web:1',
    'app=shop',
  ]);
  expect(cells(StatefulSetKind, { replicas: 4 }, { replicas: 3, availableReplicas: 0 })).toEqual(['w', '0/4', '27h', 'web', 'web:1']);
  const status = { desiredNumberScheduled: 4, currentNumberScheduled: 3, numberReady: 2, numberMisscheduled: 0 };
  const nodes = { template: { ...template, spec: { ...template.spec, nodeSelector: { disk: 'ssd', arch: 'arm' } } } };
  expect(cells(DaemonSetKind, nodes, status)).toEqual(['w', 4, 3, 2, 0, 0, 'arch=arm,disk=ssd', '27h', 'web', 'web:1', 'app=shop']);
});
