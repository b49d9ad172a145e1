/** Storage capacity that drivers report for parts of the cluster. */
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { validateLabelSelector } from '@plat-dev/meta/labels';
import { negativeProblem } from '@plat-dev/meta/names';
import { type KindEnv, kind } from '../kind.ts';
import { immutable, subdomain } from '../validation/field-checks.ts';
import { selectorText } from '../validation/go-text.ts';
import { metadataAgain, metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { amount } from '../validation/resources.ts';
import * as v1 from './schema/v1.ts';
import * as v1beta1 from './schema/v1beta1.ts';

function validate(capacity: v1.CSIStorageCapacity, errors: FieldErrors): void {
  validateLabelSelector(capacity.nodeTopology, Path.of('nodeTopology'), errors);
  subdomain(capacity.storageClassName, Path.of('storageClassName'), errors);
  if (capacity.capacity !== undefined && amount(capacity.capacity).sign < 0)
    errors.invalid(Path.of('capacity'), capacity.capacity, negativeProblem);
}

/** The topology and the class are immutable; the reported capacity may change. */
function validateUpdate(capacity: v1.CSIStorageCapacity, old: v1.CSIStorageCapacity, errors: FieldErrors, env: KindEnv): void {
  metadataAgain(capacity, { namespaced: true }, errors, env);
  validate(capacity, errors);
  metadataUpdateAgain(capacity, old, errors, env);
  immutable(capacity.nodeTopology, old.nodeTopology, Path.of('nodeTopology'), errors, () => selectorText(capacity.nodeTopology));
  immutable(capacity.storageClassName, old.storageClassName, Path.of('storageClassName'), errors);
}

export const CSIStorageCapacityKind = kind<v1.CSIStorageCapacity>({
  group: 'storage',
  kind: 'CSIStorageCapacity',
  plural: 'csistoragecapacities',
  scope: 'Namespaced',
  versions: {
    v1: { schema: v1.CSIStorageCapacity },
    v1beta1: {
      schema: v1beta1.CSIStorageCapacity,
    },
  },
  hub: 'v1',
  updateNeedsVersion: true,
  strategy: {
    validate: (capacity, errors, env) => {
      const errorsBefore = errors.list.length;
      validate(capacity, errors);
      // Stock servers up to 1.27 validate a new object twice, and clients see their errors twice.
      if (errors.list.length > errorsBefore && !env.since('1.28')) validate(capacity, errors);
    },
    validateUpdate,
  },
});
