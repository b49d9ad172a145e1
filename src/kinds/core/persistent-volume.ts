/** Persistent volumes. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { status } from '../subresources.ts';
import { PersistentVolume } from './schema/persistent-volumes.ts';

export const PersistentVolumeKind = kind<PersistentVolume>({
  group: '',
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
  short: ['pv'],
  scope: 'Cluster',
  versions: { v1: { schema: PersistentVolume } },
  hub: 'v1',
  deleteReturnsObject: true,
  subresources: { status: status() },
  columns: [
    nameColumn,
    { name: 'Capacity', type: 'string', description: 'How much storage the volume has.' },
    { name: 'Access Modes', type: 'string', description: 'In which ways the volume can be mounted.' },
    { name: 'Reclaim Policy', type: 'string', description: 'What happens to the volume when its claim is gone.' },
    { name: 'Status', type: 'string', description: 'Whether the volume is free, bound, released or has failed.' },
    { name: 'Claim', type: 'string', description: 'The claim that the volume is bound to.' },
    { name: 'StorageClass', type: 'string', description: 'The storage class that the volume belongs to.' },
    { name: 'Reason', type: 'string', description: 'A short reason for the state of the volume.' },
    ageColumn,
    { name: 'VolumeMode', type: 'string', priority: 1, description: 'Whether the volume is used as a file system or as a block device.' },
  ],
});
