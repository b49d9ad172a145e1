/** Storage capacity that drivers report for parts of the cluster. */
import { kind } from '../kind.ts';
import * as v1 from './schema/v1.ts';
import * as v1beta1 from './schema/v1beta1.ts';

export const CSIStorageCapacityKind = kind<v1.CSIStorageCapacity>({
  group: 'storage',
  kind: 'CSIStorageCapacity',
  plural: 'csistoragecapacities',
  scope: 'Namespaced',
  versions: {
    v1: { schema: v1.CSIStorageCapacity },
    v1beta1: {
      schema: v1beta1.CSIStorageCapacity,
      deprecation: { deprecated: '1.24', removed: '1.27', replacement: { group: 'storage', version: 'v1', kind: 'CSIStorageCapacity' } },
    },
  },
  hub: 'v1',
  updateNeedsVersion: true,
});
