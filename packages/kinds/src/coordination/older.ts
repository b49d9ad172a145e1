/** coordination/v1beta1. */
import { type OlderVersions, sameFields } from '../older.ts';
import { LeaseKind } from './lease.ts';

export const olderCoordination: readonly OlderVersions[] = [
  {
    group: 'coordination',
    plural: 'leases',
    versions: {
      v1beta1: sameFields(LeaseKind, 'coordination.v1beta1'),
    },
  },
];
