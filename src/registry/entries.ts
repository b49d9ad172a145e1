/** Limits the entries of every list and map of an object, far above realistic sizes: validation rules look at each entry. */
import type { ApiObject } from '../kinds/kind.ts';
import { invalid } from '../meta/errors.ts';
import { FieldErrors, Path } from '../meta/field.ts';
import type { Resource } from './catalog.ts';

export const MAX_ENTRIES = 20_000;
/** A field set names each entry of a map, and the map itself. */
const MAX_FIELDS = MAX_ENTRIES + 16;

/**
 * Lists and maps of built-in kinds whose entries are expensive: selectors are compiled and matched against other
 * objects, resources are counted, webhooks are called. Their limits are lower, and still far above realistic sizes.
 */
export const COSTLY: ReadonlyMap<string, number> = new Map([
  ['allowedTopologies', 1_000],
  ['clusterRoleSelectors', 1_000],
  ['drivers', 1_000],
  ['limits', 1_000],
  ['requests', 1_000],
  ['webhooks', 1_000],
  ['hard', 5_000],
  ['selector', 5_000],
  ['matchLabels', 5_000],
  ['matchExpressions', 5_000],
]);
const none: ReadonlyMap<string, number> = new Map();

/**
 * Throws `invalid` that names the list or map. For objects that are large enough to exceed a limit. An object that
 * was stored without this limit may still be changed.
 */
export function checkEntries(resource: Resource, object: unknown, old?: ApiObject): void {
  const costly = resource.custom ? none : COSTLY;
  const errors = faultsOf(object, costly);
  if (!errors.empty && (old === undefined || faultsOf(old, costly).empty)) throw invalid(resource.groupKind, nameOf(object), errors.list);
}
/** The object may not be validated yet. */
function nameOf(object: unknown): string {
  const name = (object as { metadata?: { name?: unknown } | null } | null)?.metadata?.name;
  return typeof name === 'string' ? name : '';
}

function faultsOf(object: unknown, costly: ReadonlyMap<string, number>): FieldErrors {
  const errors = new FieldErrors();
  walk(object, undefined, MAX_ENTRIES, MAX_ENTRIES, costly, errors);
  return errors;
}

/** `most`: the limit of this list or map; `below`: of those in it. */
function walk(
  value: unknown,
  at: Path | undefined,
  most: number,
  below: number,
  costly: ReadonlyMap<string, number>,
  errors: FieldErrors,
): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    if (value.length > most) errors.tooMany(at ?? Path.of(''), value.length, most);
    else for (let i = 0; i < value.length; i++) if (isContainer(value[i])) walk(value[i], at?.index(i), below, below, costly, errors);
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
    const inside = key === 'managedFields' ? MAX_FIELDS : below;
    walk(inner, at === undefined ? Path.of(key) : at.child(key), costly.get(key) ?? inside, inside, costly, errors);
  }
}
const isContainer = (value: unknown): boolean => typeof value === 'object' && value !== null;
