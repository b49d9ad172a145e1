/** Leases. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { Lease } from './schema/v1.ts';

export const LeaseKind = kind<Lease>({
  group: 'coordination',
  kind: 'Lease',
  plural: 'leases',
  scope: 'Namespaced',
  versions: { v1: { schema: Lease } },
  hub: 'v1',
  createOnUpdate: true,
  updateNeedsVersion: true,
  columns: [nameColumn, { name: 'Holder', type: 'string', description: 'Who holds the lease.' }, ageColumn],
});
