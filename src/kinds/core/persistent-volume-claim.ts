/** Claims to persistent volumes. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { status } from '../subresources.ts';
import { PersistentVolumeClaim } from './schema/persistent-volume-claims.ts';

export const PersistentVolumeClaimKind = kind<PersistentVolumeClaim>({
  group: '',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  short: ['pvc'],
  scope: 'Namespaced',
  versions: { v1: { schema: PersistentVolumeClaim } },
  hub: 'v1',
  deleteReturnsObject: true,
  subresources: { status: status() },
  columns: [
    nameColumn,
    { name: 'Status', type: 'string', description: 'Whether the claim is waiting, bound or lost.' },
    { name: 'Volume', type: 'string', description: 'The volume that the claim is bound to.' },
    { name: 'Capacity', type: 'string', description: 'How much storage the claim has been given.' },
    { name: 'Access Modes', type: 'string', description: 'In which ways the volume can be mounted.' },
    { name: 'StorageClass', type: 'string', description: 'The storage class that the claim asks for.' },
    ageColumn,
    { name: 'VolumeMode', type: 'string', priority: 1, description: 'Whether the volume is used as a file system or as a block device.' },
  ],
});
