/** A bound on the entries of every list and map of an object, far above what objects of people have: rules look at each entry. */
import type { ApiObject } from '../kinds/kind.ts';
import { invalid } from '../meta/errors.ts';
import { FieldErrors, Path } from '../meta/field.ts';
import type { Resource } from './catalog.ts';

export const MAX_ENTRIES = 20_000;
/** A set of fields names each entry of a map, and the map itself. */
const MAX_FIELDS = MAX_ENTRIES + 16;

/**
 * Throws `invalid` that names the list or map. For objects that are large enough to have one that is too long. An object that
 * was stored without this bound may still be changed.
 */
export function checkEntries(resource: Resource, object: unknown, old?: ApiObject): void {
  const errors = faultsOf(object);
  if (!errors.empty && (old === undefined || faultsOf(old).empty)) throw invalid(resource.groupKind, nameOf(object), errors.list);
}
/** The object may be as a client sent it. */
function nameOf(object: unknown): string {
  const name = (object as { metadata?: { name?: unknown } | null } | null)?.metadata?.name;
  return typeof name === 'string' ? name : '';
}

function faultsOf(object: unknown): FieldErrors {
  const errors = new FieldErrors();
  walk(object, undefined, MAX_ENTRIES, errors);
  return errors;
}

function walk(value: unknown, at: Path | undefined, most: number, errors: FieldErrors): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    if (value.length > most) errors.tooMany(at ?? Path.of(''), value.length, most);
    else for (let i = 0; i < value.length; i++) if (isContainer(value[i])) walk(value[i], at?.index(i), most, errors);
    return;
  }
  const keys = Object.keys(value);
  if (keys.length > most) {
    errors.tooMany(at ?? Path.of(''), keys.length, most);
    return;
  }
  for (const key of keys) {
    const inner = (value as Record<string, unknown>)[key];
    if (!isContainer(inner)) continue;
    walk(inner, at === undefined ? Path.of(key) : at.child(key), key === 'managedFields' ? MAX_FIELDS : most, errors);
  }
}
const isContainer = (value: unknown): boolean => typeof value === 'object' && value !== null;
