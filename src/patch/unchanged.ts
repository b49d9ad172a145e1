/** Whether a write would change nothing worth a new version. */
import { equal, equalExcept } from '../lib/equal.ts';
import type { ManagedFields } from './managers.ts';
import type { Values } from './shape.ts';

const withoutMetadata: ReadonlySet<string> = new Set(['metadata']);
const withoutManagers: ReadonlySet<string> = new Set(['managedFields', 'resourceVersion']);

/** Whether two states of an object differ at most in the times of their managers and in the version. */
export function sameApartFromTimes(before: Values, after: Values): boolean {
  const a = (before.metadata ?? {}) as Values;
  const b = (after.metadata ?? {}) as Values;
  return (
    equalExcept(before, after, withoutMetadata) &&
    equalExcept(a, b, withoutManagers) &&
    sameOwners(a.managedFields as ManagedFields | undefined, b.managedFields as ManagedFields | undefined)
  );
}

const withoutTime: ReadonlySet<string> = new Set(['time']);

/** The order of entries depends on their times, so that it does not count either. */
function sameOwners(a: ManagedFields | undefined, b: ManagedFields | undefined): boolean {
  if (a === b || equal(a ?? [], b ?? [])) return true;
  if (a === undefined || b === undefined || a.length !== b.length) return false;
  return a.every((entry) => b.some((other) => equalExcept(entry, other, withoutTime)));
}
