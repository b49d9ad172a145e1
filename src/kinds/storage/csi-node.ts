/** Storage drivers that are installed on a node. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { CSINode } from './schema/v1beta1.ts';

export const CSINodeKind = kind<CSINode>({
  group: 'storage',
  kind: 'CSINode',
  plural: 'csinodes',
  scope: 'Cluster',
  versions: { v1: { schema: CSINode } },
  hub: 'v1',
  updateNeedsVersion: true,
  deleteReturnsObject: true,
  columns: [nameColumn, { name: 'Drivers', type: 'integer', description: 'How many drivers are installed on the node.' }, ageColumn],
});
