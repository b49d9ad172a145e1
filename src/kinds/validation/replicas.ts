/** Counts that controllers report of the pods of a workload. */
import type { FieldErrors, Path } from '../../meta/field.ts';
import { notNegative } from './field-checks.ts';

/** A status, as far as it counts. */
type Counts<K extends string> = { readonly [field in K]?: number };

export function validateCounts<K extends string>(status: Counts<K>, fields: readonly K[], at: Path, errors: FieldErrors): void {
  for (const field of fields) notNegative(status[field], at, field, errors);
}

/** Pods that are something cannot be more than there are. */
export function validateShares<K extends string>(
  status: Counts<K | 'replicas' | 'readyReplicas' | 'availableReplicas'>,
  fields: readonly K[],
  at: Path,
  errors: FieldErrors,
): void {
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  for (const field of fields) {
    const count = (status as Counts<K>)[field] ?? 0;
    if (count > replicas) errors.invalid(at.child(field), count, 'cannot be greater than status.replicas');
  }
  if (availableReplicas > readyReplicas)
    errors.invalid(at.child('availableReplicas'), availableReplicas, 'cannot be greater than readyReplicas');
}

/** A count of collisions only grows. */
export function validateGrowing(count: number | undefined, old: number | undefined, at: Path, errors: FieldErrors): void {
  if (old !== undefined && (count === undefined || count < old))
    errors.invalid(at.child('collisionCount'), count ?? 0, 'cannot be decremented');
}
