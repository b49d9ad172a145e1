/** storage/v1beta1, but for CSIStorageCapacity, which is served, and v1alpha1. */
import { type OlderVersions, sameFields } from '../older.ts';
import { CSIDriverKind } from './csi-driver.ts';
import { CSINodeKind } from './csi-node.ts';
import { CSIStorageCapacityKind } from './csi-storage-capacity.ts';
import { StorageClassKind } from './storage-class.ts';
import { VolumeAttachmentKind } from './volume-attachment.ts';

const beta = 'storage.v1beta1';
const alpha = 'storage.v1alpha1';

export const olderStorage: readonly OlderVersions[] = [
  {
    group: 'storage',
    plural: 'csidrivers',
    versions: { v1beta1: sameFields(CSIDriverKind, beta) },
  },
  {
    group: 'storage',
    plural: 'csinodes',
    versions: { v1beta1: sameFields(CSINodeKind, beta) },
  },
  {
    group: 'storage',
    plural: 'csistoragecapacities',
    versions: {
      v1alpha1: sameFields(CSIStorageCapacityKind, alpha),
    },
  },
  {
    group: 'storage',
    plural: 'storageclasses',
    versions: { v1beta1: sameFields(StorageClassKind, beta) },
  },
  {
    group: 'storage',
    plural: 'volumeattachments',
    versions: {
      v1beta1: sameFields(VolumeAttachmentKind, beta),
      v1alpha1: sameFields(VolumeAttachmentKind, alpha),
    },
  },
];
