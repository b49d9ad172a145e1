/**
 * Removes what an applier specified last time and does not specify now, with everything below it, unless another manager owns it.
 *
 * An item of a list is removed although another manager owns a field in it, as long as no manager owns the item itself. A field of
 * a message that no manager specifies is removed only when nothing owned is below it.
 */
import { own, setOwn } from '@plat-dev/lib/own';
import { fieldsOf } from './applied.ts';
import { difference, type FieldSet, intersection, isEmpty, isMember, type MutableFieldSet, union } from './fieldset.ts';
import { MOST_ENTRIES } from './interned.ts';
import { isObject, type ListShape, type Shape, shapeOfElement, type Values } from './shape.ts';

/**
 * Removes from `merged` the paths in `last` and not in `owned`, both in the version of the object. Returns `merged`
 * itself when nothing is removed.
 */
export function prune(shape: Shape, merged: Values, last: FieldSet, owned: FieldSet): Values {
  return (strip(shape, merged, last, owned) ?? {}) as Values;
}

function strip(shape: Shape, value: unknown, last: FieldSet, owned: FieldSet | undefined): unknown {
  if (shape.node === 'list') return Array.isArray(value) ? stripList(shape, value, last, owned) : value;
  if (shape.node === 'leaf' || !isObject(value)) return value;
  let result: { [key: string]: unknown } | undefined;
  for (const element in last) {
    if (element.charCodeAt(0) !== LETTER_F) continue;
    const key = element.slice(2);
    const item = own(value, key);
    if (item === undefined) continue;
    const isField = shape.node === 'message' && shape.fields.has(key);
    const next = visit(shapeOfElement(shape, element), item, last[element] as FieldSet, owned?.[element], isField);
    if (next === item) continue;
    result ??= { ...value };
    if (next === undefined) delete result[key];
    else setOwn(result, key, next);
  }
  return result === undefined ? value : orNull(result);
}
/** A collection that became empty is unset. */
function orNull(strippedObject: { [key: string]: unknown }): unknown {
  for (const _ in strippedObject) return strippedObject;
  return null;
}
const LETTER_F = 0x66;

function stripList(shape: ListShape, list: readonly unknown[], last: FieldSet, owned: FieldSet | undefined): unknown {
  let isChanged = false;
  const result: unknown[] = [];
  for (const item of list) {
    const element = shape.element(item, list.length > MOST_ENTRIES);
    const lastChild = last[element];
    const next = lastChild === undefined ? item : visit(shape.item, item, lastChild, owned?.[element], false);
    if (next !== item) isChanged = true;
    if (next !== undefined) result.push(next);
  }
  return !isChanged ? list : result.length === 0 ? null : result;
}

/** Returns the rest of a value that is in `last`, or has paths of it below. Undefined: it is removed. */
function visit(shape: Shape, value: unknown, last: FieldSet, owned: FieldSet | undefined, isField: boolean): unknown {
  // A field of a message is specified, and owned, by any path below it.
  const isNamed = isField || isMember(last);
  const isOwned = owned !== undefined && (isField || isMember(owned));
  if (isNamed && !isOwned && exists(shape, value)) return undefined;
  return strip(shape, value, last, owned);
}
/** An empty list that is merged item by item is in no set. */
function exists(shape: Shape, value: unknown): boolean {
  return !(shape.node === 'list' && Array.isArray(value) && value.length === 0);
}

// ---- the same over several versions ------------------------------------------------------------------------------

/** An object in one version of its kind. */
export interface Versioned {
  readonly apiVersion: string;
  readonly shape: Shape;
  readonly object: Values;
}

/**
 * The rule for sets of several versions: a path is owned when it exists in the version of its owner. `at`
 * gives an object in another version, or undefined when there is none such.
 */
export function pruneAcross(
  merged: Versioned,
  last: { readonly apiVersion: string; readonly fields: FieldSet },
  owned: ReadonlyMap<string, FieldSet>,
  at: (object: Versioned, apiVersion: string) => Versioned | undefined,
): Versioned {
  const first = at(merged, last.apiVersion);
  if (first === undefined) return merged;
  const lastFields = withNamedFields(first.shape, last.fields);
  let pruned: Versioned = { ...first, object: removeItems(first.shape, first.object, lastFields) };
  // Owned items are restored, version by version.
  for (const [apiVersion, fields] of owned) {
    const whole = at(merged, apiVersion);
    const part = at(pruned, apiVersion);
    if (whole === undefined || part === undefined) continue;
    const { shape } = whole;
    const keptFields = union(withNamedFields(shape, fieldsOf(shape, part.object)), withNamedFields(shape, fields));
    const removedFields = difference(withNamedFields(shape, fieldsOf(shape, whole.object)), keptFields);
    pruned = { ...whole, object: removeItems(shape, whole.object, removedFields) };
  }
  // Paths that the applier never specified are restored, too.
  const prunedVersion = at(pruned, last.apiVersion);
  if (prunedVersion === undefined) return merged;
  const before = withNamedFields(first.shape, fieldsOf(first.shape, first.object));
  const after = withNamedFields(first.shape, fieldsOf(first.shape, prunedVersion.object));
  const unnamed = intersection(difference(before, after), lastFields);
  const final: Versioned = { ...first, object: removeItems(first.shape, first.object, unnamed) };
  return at(final, merged.apiVersion) ?? merged;
}

/** The set with every field of a message as a member that has something below it. */
function withNamedFields(shape: Shape, set: FieldSet): FieldSet {
  const result: MutableFieldSet = {};
  for (const element in set) {
    const child = set[element] as FieldSet;
    if (element === '.' || isEmpty(child)) {
      result[element] = child;
      continue;
    }
    const inner = withNamedFields(shapeOfElement(shape, element), child);
    const isField = shape.node === 'message' && shape.fields.has(element.slice(2));
    result[element] = isField && inner['.'] === undefined ? { '.': {}, ...inner } : inner;
  }
  return result;
}

/** The object without the members of a set and everything below them. */
function removeItems(shape: Shape, object: Values, removedFields: FieldSet): Values {
  return (remove(shape, object, removedFields) ?? {}) as Values;
}
function remove(shape: Shape, value: unknown, removedFields: FieldSet): unknown {
  if (shape.node === 'leaf') return value;
  if (Array.isArray(value)) {
    if (shape.node !== 'list') return value;
    const remainingItems = value.flatMap((item) => {
      const node = removedFields[shape.element(item)];
      if (node === undefined) return [item];
      return isMember(node) ? [] : [remove(shape.item, item, node)];
    });
    return remainingItems.length === 0 && value.length > 0 ? null : remainingItems;
  }
  if (!isObject(value)) return value;
  const result: { [key: string]: unknown } = { ...value };
  for (const key of Object.keys(result)) {
    const node = removedFields[`f:${key}`];
    if (node === undefined) continue;
    if (isMember(node)) delete result[key];
    else setOwn(result, key, remove(shapeOfElement(shape, `f:${key}`), result[key], node));
  }
  return isEmpty(value as FieldSet) ? value : orNull(result);
}
