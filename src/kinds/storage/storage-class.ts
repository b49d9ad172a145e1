/** Storage classes. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { StorageClass } from './schema/v1beta1.ts';

export const StorageClassKind = kind<StorageClass>({
  group: 'storage',
  kind: 'StorageClass',
  plural: 'storageclasses',
  short: ['sc'],
  scope: 'Cluster',
  versions: { v1: { schema: StorageClass } },
  hub: 'v1',
  deleteReturnsObject: true,
  columns: [
    nameColumn,
    { name: 'Provisioner', type: 'string', description: 'The provisioner that makes volumes of the class.' },
    { name: 'ReclaimPolicy', type: 'string', description: 'What happens to a volume of the class when its claim is gone.' },
    { name: 'VolumeBindingMode', type: 'string', description: 'When volumes of the class are made and bound.' },
    { name: 'AllowVolumeExpansion', type: 'string', description: 'Whether claims of the class may grow.' },
    ageColumn,
  ],
});
