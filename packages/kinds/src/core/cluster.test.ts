/** Nodes, volumes, claims, quotas and limit ranges. */
import { describe, expect, test } from 'vitest';
import { create, defaulted, type Loose, testEnv, update } from '../validation/kinds.testing.ts';
import { LimitRangeKind } from './limit-range.ts';
import { NodeKind } from './node.ts';
import { PersistentVolumeKind } from './persistent-volume.ts';
import { PersistentVolumeClaimKind } from './persistent-volume-claim.ts';
import { ResourceQuotaKind } from './resource-quota.ts';

const fields = (errors: readonly string[]): string[] => errors.map((text) => text.split(' | ').slice(0, 2).join(' '));

describe('nodes', () => {
  test('the single range of pods leads the list', () => {
    const specOf = (spec: Loose): Loose => defaulted(NodeKind, { spec }).spec;
    expect(specOf({ podCIDR: '10.0.0.0/24' })).toMatchObject({ podCIDRs: ['10.0.0.0/24'] });
    expect(specOf({ podCIDRs: ['10.0.0.0/24', 'fd00::/64'] })).toMatchObject({ podCIDR: '10.0.0.0/24' });
    expect(specOf({ podCIDR: '10.1.0.0/24', podCIDRs: ['10.0.0.0/24'] })).toMatchObject({ podCIDRs: ['10.1.0.0/24'] });
  });
  test('what can be used is what is there, unless it is said', () => {
    expect(defaulted(NodeKind, { status: { capacity: { cpu: '4' } } }).status.allocatable).toEqual({ cpu: '4' });
    expect(defaulted(NodeKind, { status: { capacity: { cpu: '4' }, allocatable: { cpu: '3' } } }).status.allocatable).toEqual({ cpu: '3' });
  });
  test('ranges and the provider are set once', () => {
    const old = create(NodeKind, {}).object;
    const set = update(NodeKind, old, (node) => Object.assign(node.spec, { podCIDR: '10.0.0.0/24', providerID: 'a' }));
    expect(set.errors).toEqual([]);
    const again = update(NodeKind, set.object, (node) => Object.assign(node.spec, { podCIDR: '10.1.0.0/24', providerID: 'b' }));
    expect(fields(again.errors)).toEqual(['spec.podCIDRs Forbidden', 'spec.providerID Forbidden']);
  });
  test('errors of taints are reported twice on update, and taints must differ in key or effect', () => {
    const taints = [
      { key: 'a', effect: 'NoSchedule' },
      { key: 'a', effect: 'NoExecute' },
      { key: 'a', effect: 'NoSchedule' },
    ];
    expect(fields(create(NodeKind, { spec: { taints } }).errors)).toEqual(['metadata.taints[2] Duplicate']);
    const { errors } = update(NodeKind, create(NodeKind, {}).object, (node) => Object.assign(node.spec, { taints }));
    expect(fields(errors)).toEqual(['metadata.taints[2] Duplicate', 'metadata.taints[2] Duplicate']);
  });
  test('a row shows state and roles', () => {
    const row = (body: Loose): Loose => NodeKind.cells?.(create(NodeKind, body).object as never, testEnv);
    const labels = { 'node-role.kubernetes.io/worker': '', 'kubernetes.io/role': 'extra', 'node-role.kubernetes.io/': '' };
    const ready = { conditions: [{ type: 'Ready', status: 'True' }] };
    expect(row({ metadata: { labels }, spec: { unschedulable: true }, status: ready }).slice(1, 3)).toEqual([
      'Ready,SchedulingDisabled',
      'extra,worker',
    ]);
    expect(row({}).slice(1)).toEqual(['Unknown', '<none>', '27h', '', '<none>', '<none>', '<unknown>', '<unknown>', '<unknown>']);
  });
});

const volume = (spec: Loose): Loose => ({ spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], ...spec } });

describe('persistent volumes', () => {
  test('a source may get a secret for growing, and nothing else', () => {
    const csi = { driver: 'd', volumeHandle: 'h' };
    const old = create(PersistentVolumeKind, volume({ csi })).object;
    const change = (more: Loose): string[] => update(PersistentVolumeKind, old, (object) => Object.assign(object.spec.csi, more)).errors;
    expect(change({ controllerExpandSecretRef: { name: 'a', namespace: 'b' } })).toEqual([]);
    expect(fields(change({ volumeHandle: 'other' }))).toEqual(['spec.persistentvolumesource Forbidden']);
  });
  test.each<[string, Loose, string[]]>([
    ['none', {}, ['spec Required']],
    ['two', { hostPath: { path: '/a' }, nfs: { server: 's', path: '/' } }, ['spec.nfs Forbidden']],
    ['a flex volume beside others', { nfs: { server: 's', path: '/' }, flexVolume: { driver: 'd' } }, []],
    ['a disk under its old name', { gcePersistentDisk: { pdName: '' } }, ['spec.persistentDisk.pdName Required']],
    ['cinder without a namespace', { cinder: { volumeID: 'v', secretRef: { name: 'a' } } }, ['spec.cinder.secretRef.namespace Required']],
    [
      'glusterfs elsewhere',
      { glusterfs: { endpoints: 'e', path: 'p', endpointsNamespace: '' } },
      ['spec.glusterfs.endpointsNamespace Invalid'],
    ],
    ['local without a place', { local: { path: '/x' } }, ['spec.nodeAffinity Required']],
    [
      'azure files',
      { azureFile: { secretName: '', shareName: 's', secretNamespace: '' } },
      ['spec.azureFile.secretName Required', 'spec.azureFile.secretNamespace Required'],
    ],
    [
      'csi',
      { csi: { driver: 'd', volumeHandle: 'h', nodePublishSecretRef: { name: 'A' } } },
      ['spec.csi.name Invalid', 'spec.csi.nodePublishSecretRef.namespace Required'],
    ],
  ])('sources: %s', (_what, spec, errors) => {
    expect(fields(create(PersistentVolumeKind, volume(spec)).errors)).toEqual(errors);
  });
  test('options of a mount only where something is mounted', () => {
    const annotations = { 'volume.beta.kubernetes.io/mount-options': 'ro' };
    const errors = (spec: Loose): string[] => create(PersistentVolumeKind, { metadata: { annotations }, ...volume(spec) }).errors;
    expect(errors({ nfs: { server: 's', path: '/' } })).toEqual([]);
    expect(fields(errors({ hostPath: { path: '/' } }))).toEqual(['metadata.annotations.volume.beta.kubernetes.io/mount-options Forbidden']);
  });
});

describe('claims', () => {
  const claim = (spec: Loose = {}): Loose => ({
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } }, storageClassName: 'fast', ...spec },
  });
  const bound = (): Loose => {
    const { object } = create(PersistentVolumeClaimKind, claim({ volumeName: 'v' }));
    object.status.phase = 'Bound';
    return object;
  };
  test('grow once they are bound, and never shrink', () => {
    const resize = (old: Loose, storage: string): string[] =>
      fields(update(PersistentVolumeClaimKind, old, (object) => Object.assign(object.spec.resources.requests, { storage })).errors);
    expect(resize(bound(), '3Gi')).toEqual([]);
    expect(resize(bound(), '1Gi')).toEqual(['spec.resources.requests.storage Forbidden']);
    expect(resize(create(PersistentVolumeClaimKind, claim()).object, '3Gi')).toEqual(['spec Forbidden']);
  });
  test('take a volume once', () => {
    const choose = (old: Loose): string[] =>
      fields(update(PersistentVolumeClaimKind, old, (object) => Object.assign(object.spec, { volumeName: 'w' })).errors);
    expect(choose(create(PersistentVolumeClaimKind, claim()).object)).toEqual([]);
    expect(choose(bound())).toEqual(['spec Forbidden']);
  });
  test('a class may move from the annotation to the field', () => {
    const annotations = { 'volume.beta.kubernetes.io/storage-class': 'fast' };
    const old = create(PersistentVolumeClaimKind, { metadata: { annotations }, ...claim({ storageClassName: undefined }) }).object;
    const move = (storageClassName: string): string[] =>
      update(PersistentVolumeClaimKind, old, (object) => Object.assign(object.spec, { storageClassName })).errors;
    expect(move('fast')).toEqual([]);
    expect(fields(move('slow'))).toEqual(['spec Forbidden']);
  });
  test('what a volume begins with stands in both fields; the older one drops what it does not know', () => {
    const specOf = (spec: Loose): Loose => create(PersistentVolumeClaimKind, claim(spec)).object.spec;
    const source = { kind: 'PersistentVolumeClaim', name: 'a' };
    expect(specOf({ dataSource: source })).toMatchObject({ dataSourceRef: source });
    const other = { apiGroup: 'x.example', kind: 'Thing', name: 'a' };
    expect(specOf({ dataSourceRef: other })).toMatchObject({ dataSource: other });
    expect(specOf({ dataSource: other })).not.toHaveProperty('dataSource');
  });
});

describe('quotas', () => {
  const errors = (spec: Loose): string[] => create(ResourceQuotaKind, { spec }).errors;
  test.each<[string, Loose, string[]]>([
    ['storage is asked for by claims', { hard: { storage: '1' } }, ['spec.hard[storage] Invalid']],
    ['which have a name of their own', { hard: { 'requests.storage': '1', 'x.storageclass.storage.k8s.io/requests.storage': '1' } }, []],
    ['huge pages', { hard: { 'hugepages-2Mi': '1', 'requests.hugepages-2Mi': '1' } }, []],
    ['what pods of a scope cannot use', { hard: { services: '1' }, scopes: ['Terminating'] }, ['spec.scopes Invalid']],
    [
      'opposites in a selector',
      {
        scopeSelector: {
          matchExpressions: [
            { scopeName: 'BestEffort', operator: 'Exists' },
            { scopeName: 'NotBestEffort', operator: 'Exists' },
          ],
        },
      },
      ['spec.scopeSelector.matchExpressions Invalid'],
    ],
  ])('%s', (_what, spec, wrong) => {
    expect(fields(errors(spec))).toEqual(wrong);
  });
  test('a row tells requests from limits', () => {
    const { object } = create(ResourceQuotaKind, {});
    object.status = { hard: { pods: '4', 'limits.cpu': '2', 'requests.cpu': '1' }, used: { pods: '1' } };
    expect(ResourceQuotaKind.cells?.(object as never, testEnv)).toEqual([
      'x',
      '27h',
      'pods: 1/4, requests.cpu: 0/1',
      'limits.cpu: 0/2',
      '27h',
    ]);
  });
});

test('limits of containers follow from each other', () => {
  const item = { type: 'Container', max: { cpu: '2', memory: '1Gi' }, min: { cpu: '1', 'ephemeral-storage': '1' }, default: { cpu: '2' } };
  expect(defaulted(LimitRangeKind, { spec: { limits: [item, { type: 'Pod', max: { cpu: '1' } }] } }).spec.limits).toEqual([
    {
      ...item,
      default: { cpu: '2', memory: '1Gi' },
      defaultRequest: { cpu: '2', memory: '1Gi', 'ephemeral-storage': '1' },
    },
    { type: 'Pod', max: { cpu: '1' } },
  ]);
  const gpu = { type: 'Container', default: { 'a.example/gpu': '2' }, defaultRequest: { 'a.example/gpu': '1' } };
  expect(fields(create(LimitRangeKind, { spec: { limits: [gpu] } }).errors)).toEqual([
    'spec.limits[0].defaultRequest[a.example/gpu] Invalid',
  ]);
});
