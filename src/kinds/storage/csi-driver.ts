/** Storage drivers of the cluster. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { CSIDriver } from './schema/v1beta1.ts';

export const CSIDriverKind = kind<CSIDriver>({
  group: 'storage',
  kind: 'CSIDriver',
  plural: 'csidrivers',
  scope: 'Cluster',
  versions: { v1: { schema: CSIDriver } },
  hub: 'v1',
  updateNeedsVersion: true,
  deleteReturnsObject: true,
  columns: [
    nameColumn,
    {
      name: 'AttachRequired',
      type: 'boolean',
      description: 'Whether volumes of the driver must be attached to a node before they are mounted.',
    },
    { name: 'PodInfoOnMount', type: 'boolean', description: 'Whether the driver is told about the pod when it mounts a volume.' },
    {
      name: 'StorageCapacity',
      type: 'boolean',
      description: 'Whether pods are placed with regard to the capacity that the driver reports.',
    },
    { name: 'TokenRequests', type: 'string', description: 'The audiences of service account tokens that the driver wants.' },
    { name: 'RequiresRepublish', type: 'boolean', description: 'Whether volumes are published again and again while they are mounted.' },
    { name: 'Modes', type: 'string', description: 'The kinds of volumes that the driver supports.' },
    ageColumn,
  ],
});
