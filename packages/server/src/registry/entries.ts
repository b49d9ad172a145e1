/** Limits the entries of every list and map of an object, far above realistic sizes: validation rules look at each entry. */

import type { ApiObject } from '@plat-dev/kinds/kind';
import { own } from '@plat-dev/lib/own';
import { type ApiError, invalid, requestTooLarge } from '@plat-dev/meta/errors';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import type { Resource } from './catalog.ts';

export const MAX_ENTRIES = 20_000;
/** A field set names each entry of a map, and the map itself. */
const MAX_FIELDS = MAX_ENTRIES + 16;

/**
 * Lists and maps of built-in kinds whose entries are expensive: selectors are compiled and matched against other
 * objects, resources are counted, webhooks are called. Their limits are lower, and still far above realistic sizes.
 */
export const COSTLY: ReadonlyMap<string, number> = new Map([
  // Each is looked at for every other pod, or for every node.
  ['preferredDuringSchedulingIgnoredDuringExecution', 200],
  ['requiredDuringSchedulingIgnoredDuringExecution', 200],
  ['topologySpreadConstraints', 200],
  ['nodeSelectorTerms', 1_000],
  ['tolerations', 1_000],
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
  const errors = faultsOf(object, costlyOf(resource));
  if (!errors.empty && (old === undefined || faultsOf(old, costlyOf(resource)).empty)) throw tooMany(resource, object, errors);
}
/** The same for a body that is not decoded yet. `readStored` gives the object that it changes, which is read only if it matters. */
export async function inspectEntries(resource: Resource, value: unknown, readStored: () => Promise<ApiObject | undefined>): Promise<void> {
  const errors = faultsOf(value, costlyOf(resource));
  if (errors.empty) return;
  const old = await readStored();
  if (old === undefined || faultsOf(old, costlyOf(resource)).empty) throw tooMany(resource, value, errors);
}
/** The same for a body that is not stored: a patch, or options. */
export function checkWidth(value: unknown): void {
  if (!faultsOf(value, none).empty)
    throw requestTooLarge(`Request entity too large: a list or an object of the body has more than ${MAX_ENTRIES} entries`);
}
const costlyOf = ({ custom }: Resource): ReadonlyMap<string, number> => (custom ? none : COSTLY);
const tooMany = ({ groupKind }: Resource, object: unknown, { list }: FieldErrors): ApiError => invalid(groupKind, nameOf(object), list);
/** The object may not be validated yet. */
function nameOf(object: unknown): string {
  const name = (object as { metadata?: { name?: unknown } | null } | null)?.metadata?.name;
  return typeof name === 'string' ? name : '';
}

function faultsOf(object: unknown, costly: ReadonlyMap<string, number>): FieldErrors {
  const faults: Fault[] = [];
  if (isContainer(object)) walk(object, MAX_ENTRIES, MAX_ENTRIES, costly, faults);
  const errors = new FieldErrors();
  for (const { steps, count, most } of faults) errors.tooMany(pathOf(steps), count, most);
  return errors;
}

interface Fault {
  /** Where the list or map is, innermost step first: paths are made for faults alone. */
  readonly steps: (string | number)[];
  readonly count: number;
  readonly most: number;
}
function pathOf(steps: readonly (string | number)[]): Path {
  let path: Path | undefined;
  for (const step of [...steps].reverse()) {
    if (path === undefined) path = Path.of(String(step));
    else path = typeof step === 'number' ? path.index(step) : path.child(step);
  }
  return path ?? Path.of('');
}

/** `most`: the limit of this list or map; `below`: of those in it. */
function walk(value: object, most: number, below: number, costly: ReadonlyMap<string, number>, faults: Fault[]): void {
  if (Array.isArray(value)) {
    const count = value.length;
    if (count > most) {
      faults.push({ steps: [], count, most });
      return;
    }
    for (let i = 0; i < count; i++) {
      const inner: unknown = value[i];
      if (!isContainer(inner)) continue;
      const faultsBefore = faults.length;
      walk(inner, below, below, costly, faults);
      if (faults.length > faultsBefore) within(faults, i, faultsBefore);
    }
    return;
  }
  const keys = Object.keys(value);
  if (keys.length > most) {
    faults.push({ steps: [], count: keys.length, most });
    return;
  }
  for (const key of keys) {
    const inner = own(value as Record<string, unknown>, key);
    if (!isContainer(inner)) continue;
    const inside = key === 'managedFields' ? MAX_FIELDS : below;
    const faultsBefore = faults.length;
    walk(inner, costly.get(key) ?? inside, inside, costly, faults);
    if (faults.length > faultsBefore) within(faults, key, faultsBefore);
  }
}
/** Faults from a place on are below this step. */
function within(faults: readonly Fault[], step: string | number, from: number): void {
  for (let i = from; i < faults.length; i++) (faults[i] as Fault).steps.push(step);
}
const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;
