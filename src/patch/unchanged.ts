/** Whether a write changes nothing that needs a new version. */
import { own } from '../lib/own.ts';
import type { ManagedFields } from './managers.ts';
import type { Values } from './shape.ts';

const withoutMetadata: ReadonlySet<string> = new Set(['metadata']);
const withoutManagers: ReadonlySet<string> = new Set(['managedFields', 'resourceVersion']);
const withoutTime: ReadonlySet<string> = new Set(['time']);
const nothing: ReadonlySet<string> = new Set();

/**
 * Whether two states of an object differ at most in the times of their managers and in the version. An empty list counts as
 * none: the stored form does not distinguish them.
 */
export function sameApartFromTimes(before: Values, after: Values): boolean {
  const a = (before.metadata ?? {}) as Values;
  const b = (after.metadata ?? {}) as Values;
  return (
    sameFields(before, after, withoutMetadata) &&
    sameFields(a, b, withoutManagers) &&
    sameOwners(a.managedFields as ManagedFields | undefined, b.managedFields as ManagedFields | undefined)
  );
}

function sameFields(a: Values, b: Values, except: ReadonlySet<string>): boolean {
  for (const key in a) if (!except.has(key) && !same(a[key], own(b, key))) return false;
  for (const key in b) if (!except.has(key) && own(a, key) === undefined && !same(undefined, b[key])) return false;
  return true;
}
function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) || Array.isArray(b)) {
    const left = Array.isArray(a) ? a : [];
    const right = Array.isArray(b) ? b : [];
    if (!(isNone(a) || Array.isArray(a)) || !(isNone(b) || Array.isArray(b)) || left.length !== right.length) return false;
    return left.every((item, i) => same(item, right[i]));
  }
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  return sameFields(a as Values, b as Values, nothing);
}
function isNone(value: unknown): boolean {
  return value === undefined || value === null;
}

/** The order of entries depends on their times, so that it is ignored too. */
function sameOwners(a: ManagedFields = [], b: ManagedFields = []): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  return a.every(
    (entry, i) =>
      sameFields(entry as Values, b[i] as Values, withoutTime) ||
      b.some((other) => sameFields(entry as Values, other as Values, withoutTime)),
  );
}
