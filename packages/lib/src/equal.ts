import { own } from './own.ts';

/** Whether two JSON-like values are the same, whatever the order of their keys. An undefined field counts as absent. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!equal(a[i], b[i])) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  for (const key in left) if (left[key] !== undefined && !equal(left[key], own(right, key))) return false;
  for (const key in right) if (right[key] !== undefined && own(left, key) === undefined) return false;
  return true;
}

/** The same, without some top-level fields. */
export function equalExcept(a: object, b: object, skip: ReadonlySet<string>): boolean {
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  for (const key in left) if (!skip.has(key) && left[key] !== undefined && !equal(left[key], own(right, key))) return false;
  for (const key in right) if (!skip.has(key) && right[key] !== undefined && own(left, key) === undefined) return false;
  return true;
}
