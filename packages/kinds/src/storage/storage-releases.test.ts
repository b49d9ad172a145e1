/** Rules of storage that came with later releases. */
import type { ApiRelease } from '@plat-dev/lib/version';
import { expect, test } from 'vitest';
import { PersistentVolumeKind } from '../core/persistent-volume.ts';
import { PersistentVolumeClaimKind } from '../core/persistent-volume-claim.ts';
import { create, inRelease, type Loose, update } from '../validation/kinds.testing.ts';
import { CSIDriverKind } from './csi-driver.ts';
import { CSINodeKind } from './csi-node.ts';
import { StorageClassKind } from './storage-class.ts';

const fields = (errors: readonly string[]): string[] => errors.map((text) => text.split(' | ').slice(0, 2).join(' '));

test('drivers: defaults, and what may change', () => {
  const stored = create(CSIDriverKind, { spec: {} }, inRelease('1.36')).object;
  expect(stored.spec.seLinuxMount).toBe(false);
  expect(create(CSIDriverKind, { spec: {} }, inRelease('1.27')).object.spec).not.toHaveProperty('seLinuxMount');
  const change = (release: ApiRelease, spec: Loose): { object: Loose; errors: string[] } =>
    update(CSIDriverKind, stored, (o) => Object.assign(o.spec, spec), '', inRelease(release));
  expect(fields(change('1.29', { podInfoOnMount: true }).errors)).toEqual(['spec.podInfoOnMount Invalid']);
  expect(change('1.30', { podInfoOnMount: true })).toMatchObject({ errors: [], object: { metadata: { generation: 1 } } });
  expect(fields(change('1.36', { nodeAllocatableUpdatePeriodSeconds: 9 }).errors)).toHaveLength(1);
  expect(fields(change('1.36', { serviceAccountTokenInSecrets: true }).errors)).toEqual(['spec.serviceAccountTokenInSecrets Invalid']);
});
test('how many volumes a node takes may change since 1.35', () => {
  const driver = (count: number): Loose => ({ name: 'a.b', nodeID: 'n', allocatable: { count } });
  const stored = create(CSINodeKind, { spec: { drivers: [driver(1)] } }).object;
  const change = (release: ApiRelease): string[] =>
    update(CSINodeKind, stored, (o) => Object.assign(o.spec, { drivers: [driver(2)] }), '', inRelease(release)).errors;
  expect(fields(change('1.32'))).toEqual(['CSINodeDriver Invalid']);
  expect(fields(change('1.33'))).toEqual(['spec.drivers Invalid']);
  expect(change('1.35')).toEqual([]);
});
test('what a class keeps is invalid rather than forbidden since 1.36', () => {
  const stored = create(StorageClassKind, { provisioner: 'a.b/c', volumeBindingMode: 'Immediate' }).object;
  const change = (release: ApiRelease): string[] =>
    fields(update(StorageClassKind, stored, (o) => Object.assign(o, { provisioner: 'a.b/d' }), '', inRelease(release)).errors);
  expect(change('1.35')).toEqual(['provisioner Forbidden']);
  expect(change('1.36')).toEqual(['provisioner Invalid']);
});

const volume = (spec: Loose = {}): Loose => ({
  metadata: { name: 'v' },
  spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], csi: { driver: 'a.b', volumeHandle: 'h' }, ...spec },
});
test('a volume says since when it is in its phase', () => {
  const env = inRelease('1.31');
  expect(create(PersistentVolumeKind, volume(), inRelease('1.28')).object.status.lastPhaseTransitionTime).toBeUndefined();
  const stored = create(PersistentVolumeKind, volume(), env).object;
  const first = stored.status.lastPhaseTransitionTime;
  expect(first).toBe('2024-01-02T03:04:05Z');
  const write = (status: Loose): Loose =>
    update(PersistentVolumeKind, stored, (o) => Object.assign(o, { status }), 'status', env).object.status;
  stored.status.lastPhaseTransitionTime = '2023-01-01T00:00:00Z';
  expect(write({ phase: 'Pending' }).lastPhaseTransitionTime).toBe('2023-01-01T00:00:00Z');
  expect(write({ phase: 'Bound' }).lastPhaseTransitionTime).toBe(first);
  expect(write({ phase: 'Bound', lastPhaseTransitionTime: '2023-05-05T00:00:00Z' }).lastPhaseTransitionTime).toBe('2023-05-05T00:00:00Z');
});
test('labels of nodes may get their newer names since 1.27', () => {
  const affinity = (key: string): Loose => ({
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: ['a'] }] }] },
  });
  const stored = create(PersistentVolumeKind, volume({ nodeAffinity: affinity('failure-domain.beta.kubernetes.io/zone') })).object;
  const change = (key: string, ...env: [ApiRelease, ...string[]]): string[] =>
    update(PersistentVolumeKind, stored, (o) => Object.assign(o.spec, { nodeAffinity: affinity(key) }), '', inRelease(...env)).errors;
  expect(change('topology.kubernetes.io/zone', '1.26')).toHaveLength(1);
  expect(change('topology.kubernetes.io/zone', '1.27')).toEqual([]);
  expect(change('topology.kubernetes.io/region', '1.27')).toHaveLength(1);
  expect(change('any', '1.36', 'MutablePVNodeAffinity')).toEqual([]);
});
test('warnings of volumes', () => {
  const old = volume({ csi: undefined, rbd: { image: 'i', monitors: ['m'] }, persistentVolumeReclaimPolicy: 'Recycle' });
  expect(create(PersistentVolumeKind, old, inRelease('1.27')).warnings).toEqual([]);
  expect(create(PersistentVolumeKind, old, inRelease('1.30')).warnings).toHaveLength(2);
});

const claim = (spec: Loose = {}): Loose => ({
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
});
test('a claim without a class may get one later since 1.26', () => {
  const stored = create(PersistentVolumeClaimKind, claim()).object;
  const change = (release: ApiRelease): string[] =>
    fields(
      update(PersistentVolumeClaimKind, stored, (o) => Object.assign(o.spec, { storageClassName: 'c' }), '', inRelease(release)).errors,
    );
  expect(change('1.25')).toEqual(['spec Forbidden']);
  expect(change('1.26')).toEqual([]);
});
test('classes of attributes', () => {
  const env = inRelease('1.34');
  const stored = create(PersistentVolumeClaimKind, claim({ volumeAttributesClassName: 'gold' }), env).object;
  const change = (volumeAttributesClassName: string | undefined, status: Loose, release: ApiRelease = '1.34'): string[] =>
    fields(
      update(
        PersistentVolumeClaimKind,
        { ...stored, status },
        (o) => Object.assign(o.spec, { volumeAttributesClassName }),
        '',
        inRelease(release),
      ).errors,
    );
  const at = 'spec.volumeAttributesClassName Forbidden';
  expect(change('silver', { phase: 'Pending' })).toEqual(['spec Forbidden']);
  expect(change('silver', { phase: 'Bound' })).toEqual([]);
  expect(change(undefined, { phase: 'Bound' })).toEqual([]);
  expect(change(undefined, { phase: 'Bound', currentVolumeAttributesClassName: 'gold' })).toEqual([at]);
  expect(change('', { phase: 'Bound', currentVolumeAttributesClassName: 'gold' })).toEqual([at]);
  expect(change('silver', { phase: 'Bound' }, '1.33')).toEqual([at]);
});
test('states of a resize have other names since 1.28', () => {
  const stored = create(PersistentVolumeClaimKind, claim()).object;
  const write = (allocatedResourceStatuses: Loose, ...env: [ApiRelease, ...string[]]): string[] =>
    fields(
      update(PersistentVolumeClaimKind, stored, (o) => Object.assign(o.status, { allocatedResourceStatuses }), 'status', inRelease(...env))
        .errors,
    );
  expect(write({ storage: 'NodeResizeInfeasible' }, '1.34')).toEqual([]);
  expect(write({ storage: 'NodeResizeFailed' }, '1.34')).toHaveLength(1);
  expect(write({ storage: 'NodeResizeFailed' }, '1.30', 'RecoverVolumeExpansionFailure')).toEqual([]);
  expect(write({ 'example.com/iops': 'NodeResizePending', cpu: 'NodeResizePending' }, '1.34')).toHaveLength(1);
});
