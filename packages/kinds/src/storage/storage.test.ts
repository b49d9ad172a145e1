import { expect, test } from 'vitest';
import { create, type Loose, testEnv, update } from '../validation/kinds.testing.ts';
import { CSIDriverKind } from './csi-driver.ts';
import { CSINodeKind } from './csi-node.ts';
import { CSIStorageCapacityKind } from './csi-storage-capacity.ts';
import { StorageClassKind } from './storage-class.ts';
import { VolumeAttachmentKind } from './volume-attachment.ts';

const fields = (errors: readonly string[]): string[] => errors.map((text) => text.split(' | ').slice(0, 2).join(' '));

test('a storage class keeps what volumes are made by', () => {
  const old = create(StorageClassKind, { provisioner: 'a.example/b', parameters: { a: 'b' } }).object;
  expect(old).toMatchObject({ reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' });
  const { errors } = update(StorageClassKind, old, (object) =>
    Object.assign(object, { provisioner: 'x', parameters: {}, reclaimPolicy: 'Retain', volumeBindingMode: 'WaitForFirstConsumer' }),
  );
  expect(fields(errors)).toEqual(['parameters Forbidden', 'provisioner Forbidden', 'reclaimPolicy Forbidden', 'volumeBindingMode Invalid']);
});

test('the class that claims get by default is marked in its row', () => {
  const row = (annotations: Loose): Loose =>
    StorageClassKind.cells?.(create(StorageClassKind, { metadata: { annotations }, provisioner: 'p' }).object as never, testEnv)[0];
  expect(row({ 'storageclass.kubernetes.io/is-default-class': 'true' })).toBe('x (default)');
  expect(row({ 'storageclass.kubernetes.io/is-default-class': 'yes' })).toBe('x');
});

test('the same topology twice is refused, in whatever order it is written', () => {
  const term = (...values: string[]): Loose => ({ matchLabelExpressions: [{ key: 'z', values }] });
  const { errors } = create(StorageClassKind, { provisioner: 'p', allowedTopologies: [term('a', 'b'), term('b', 'a')] });
  expect(fields(errors)).toEqual(['allowedTopologies[1].matchLabelExpressions Duplicate']);
});

test('a generation of a driver begins with the first change that counts', () => {
  const old = create(CSIDriverKind, { spec: {} }).object;
  const change = (spec: Loose): Loose =>
    update(CSIDriverKind, old, (object) => Object.assign(object.spec, spec)).object.metadata.generation;
  expect(change({ storageCapacity: true })).toBeUndefined();
  expect(change({ requiresRepublish: true })).toBe(1);
  expect(change({ tokenRequests: [{ audience: 'a' }] })).toBe(1);
});

test('a driver on a node may go, but not change', () => {
  const old = create(CSINodeKind, {
    spec: {
      drivers: [
        { name: 'a', nodeID: '1' },
        { name: 'b', nodeID: '2' },
      ],
    },
  }).object;
  const change = (drivers: Loose): string[] => fields(update(CSINodeKind, old, (object) => Object.assign(object.spec, { drivers })).errors);
  expect(change([{ name: 'a', nodeID: '1' }])).toEqual([]);
  expect(change([{ name: 'a', nodeID: '9' }])).toEqual(['CSINodeDriver Invalid']);
});

test('problems about a new capacity come twice, as clients know them', () => {
  expect(fields(create(CSIStorageCapacityKind, { storageClassName: '', capacity: '-1' }).errors)).toEqual([
    'storageClassName Invalid',
    'capacity Invalid',
    'storageClassName Invalid',
    'capacity Invalid',
  ]);
});

test('whoever reports an attachment changes neither its spec nor its labels', () => {
  const spec = { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'p' } };
  const old = create(VolumeAttachmentKind, { metadata: { labels: { a: 'b' } }, spec, status: { attached: true } }).object;
  expect(old.status).toEqual({ attached: false });
  const { object, errors } = update(
    VolumeAttachmentKind,
    old,
    (attachment) => {
      attachment.metadata.labels = { c: 'd' };
      attachment.spec.nodeName = 'other';
      attachment.status.attached = true;
    },
    'status',
  );
  expect(errors).toEqual([]);
  expect(object).toMatchObject({ metadata: { labels: { a: 'b' } }, spec, status: { attached: true } });
  const wrong = update(VolumeAttachmentKind, old, (attachment) => Object.assign(attachment.spec, { nodeName: 'other' }));
  expect(fields(wrong.errors)).toEqual(['spec Invalid']);
});
