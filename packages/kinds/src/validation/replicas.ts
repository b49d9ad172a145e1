/** Validation of the counts of pods in the status of a workload. */
import type { Integer } from '@plat-dev/lib/integers';
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { notNegative } from './field-checks.ts';

/** The counts of a status. */
type Counts<K extends string, T = number> = { readonly [field in K]?: T };

export function validateCounts<K extends string>(status: Counts<K, Integer>, fields: readonly K[], at: Path, errors: FieldErrors): void {
  for (const field of fields) notNegative(status[field], at, field, errors);
}

/** The count of pods with a property is at most the count of all pods. */
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

/** The count of collisions only increases. */
export function validateGrowing(count: number | undefined, old: number | undefined, at: Path, errors: FieldErrors): void {
  if (old !== undefined && (count === undefined || count < old))
    errors.invalid(at.child('collisionCount'), count ?? 0, 'cannot be decremented');
}
