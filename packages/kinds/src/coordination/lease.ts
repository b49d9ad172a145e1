/** Leases. */
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { notNegative } from '../validation/field-checks.ts';
import { metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { Lease } from './schema/v1.ts';

const at = Path.of('spec');

function validate({ spec }: Lease, errors: FieldErrors): void {
  const { leaseDurationSeconds: duration, leaseTransitions } = spec;
  if (duration !== undefined && duration <= 0) errors.invalid(at.child('leaseDurationSeconds'), duration, 'must be greater than 0');
  notNegative(leaseTransitions, at, 'leaseTransitions', errors);
}

export const LeaseKind = kind<Lease>({
  group: 'coordination',
  kind: 'Lease',
  plural: 'leases',
  scope: 'Namespaced',
  versions: { v1: { schema: Lease } },
  hub: 'v1',
  createOnUpdate: true,
  updateNeedsVersion: true,
  strategy: {
    validate,
    validateUpdate(lease, old, errors, env) {
      metadataUpdateAgain(lease, old, errors, env);
      validate(lease, errors);
    },
  },
  columns: [nameColumn, { name: 'Holder', type: 'string', description: 'Who holds the lease.' }, ageColumn],
  cells: (lease, env) => [nameCell(lease), lease.spec.holderIdentity ?? '', ageCell(lease, env)],
});
