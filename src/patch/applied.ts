/**
 * What an applier says: its object as it was sent, checked against the schema, and the set of fields it has an opinion
 * about. A null is an opinion; an empty list that is merged item by item is none.
 */
import { own } from '../lib/own.ts';
import { type ListType, type MapType, type MessageType, resolve, type ScalarName, type Type } from '../schema/types.ts';
import type { Skipped } from './compare.ts';
import { compareElements, elementText, emptySet, type FieldSet, isEmpty, leaf, type MutableFieldSet } from './fieldset.ts';
import { anyShape, fieldNamed, isObject, type ListShape, type MessageShape, type Shape, shapeOf, Untyped, type Values } from './shape.ts';

// ---- the set -----------------------------------------------------------------------------------------------------

/** The fields that an object names. Throws Untyped where items of a list cannot be told apart. */
export function fieldsOf(shape: Shape, value: unknown, skipped?: Skipped): FieldSet {
  return below(shape, value, skipped) ?? emptySet;
}

/** Paths at or below a value; undefined when there are none. A leaf answers itself. */
function below(shape: Shape, value: unknown, skipped?: Skipped): FieldSet | undefined {
  switch (shape.node) {
    case 'leaf':
      return leaf;
    case 'list':
      return Array.isArray(value) ? belowList(shape, value) : undefined;
    case 'map':
      return isObject(value) ? belowKeys(() => shape.value, value, undefined) : undefined;
    case 'any':
      return isObject(value) ? belowKeys(() => anyShape, value, undefined) : leaf;
    case 'message':
      return isObject(value) ? belowKeys((key) => shape.fields.get(key)?.shape, value, shape, skipped) : undefined;
  }
}

function belowKeys(
  shapeOfKey: (key: string) => Shape | undefined,
  value: Values,
  message: MessageShape | undefined,
  skipped?: Skipped,
): FieldSet | undefined {
  const entries: [string, FieldSet][] = [];
  for (const key of Object.keys(value)) {
    const item = value[key];
    const skip = skipped?.fields.get(key);
    if (item === undefined || skip === true) continue;
    const declared = shapeOfKey(key);
    const found = below(declared ?? anyShape, item, skip);
    // A field of a message stands for itself only when it holds nothing else; the key of a map always does.
    const alone = item === null || (isObject(item) && Object.keys(item).length === 0);
    if (skip?.self === true) {
      if (found !== undefined && !isEmpty(found)) entries.push([`f:${key}`, found]);
    } else if (alone || found === leaf) entries.push([`f:${key}`, leaf]);
    else if (message === undefined || declared === undefined) entries.push([`f:${key}`, member(found)]);
    else if (found !== undefined) entries.push([`f:${key}`, found]);
  }
  return build(entries);
}

function belowList(shape: ListShape, list: readonly unknown[]): FieldSet | undefined {
  const entries: [string, FieldSet][] = [];
  const seen = new Set<string>();
  for (const item of list) {
    const element = shape.element(item);
    if (seen.has(element)) throw new Untyped(`duplicate entries for key ${elementText(element)}`);
    seen.add(element);
    const found = below(shape.item, item);
    entries.push([element, found === leaf ? leaf : member(found)]);
  }
  return build(entries);
}

function member(node: FieldSet | undefined): FieldSet {
  return node === undefined || isEmpty(node) ? leaf : { '.': leaf, ...node };
}
function build(entries: [string, FieldSet][]): FieldSet | undefined {
  if (entries.length === 0) return undefined;
  const set: MutableFieldSet = {};
  for (const [element, node] of entries.sort((a, b) => compareElements(a[0], b[0]))) set[element] = node;
  return set;
}

// ---- the check ---------------------------------------------------------------------------------------------------

/** Errors beyond this are not listed: the first ones tell enough. */
const MAX_ERRORS = 20;

/** Complaints about an applied object: `.spec.mystery: field not declared in schema`. */
export function checkApplied(type: MessageType, value: unknown): string[] {
  const errors: string[] = [];
  check(type, value, '', errors);
  return errors;
}

function check(type: Type, value: unknown, path: string, errors: string[]): void {
  if (value === null || value === undefined || errors.length >= MAX_ERRORS) return;
  const resolved = resolve(type);
  switch (resolved.node) {
    case 'scalar':
      if (!fits(resolved.name, value)) errors.push(`${path}: ${expected(resolved.name)}, got ${found(value)}`);
      break;
    case 'message':
      checkMessage(resolved, value, path, errors);
      break;
    case 'map':
      checkMap(resolved, value, path, errors);
      break;
    case 'list':
      checkList(resolved, value, path, errors);
      break;
    case 'union':
      check(isObject(value) ? resolved.object.type : resolved.other.type, value, path, errors);
      break;
  }
}

function checkMessage(type: MessageType, value: unknown, path: string, errors: string[]): void {
  if (!isObject(value)) {
    errors.push(`${path}: expected map, got ${found(value)}`);
    return;
  }
  for (const key of Object.keys(value)) {
    const field = fieldNamed(type, key);
    if (field !== undefined) check(field.type, own(value, key), `${path}.${key}`, errors);
    else if (type.unknown === 'drop') errors.push(`${path}.${key}: field not declared in schema`);
  }
}

function checkMap(type: MapType, value: unknown, path: string, errors: string[]): void {
  if (!isObject(value)) errors.push(`${path}: expected map, got ${found(value)}`);
  else for (const key of Object.keys(value)) check(type.value, own(value, key), `${path}.${key}`, errors);
}

function checkList(type: ListType, value: unknown, path: string, errors: string[]): void {
  if (!Array.isArray(value)) {
    errors.push(`${path}: expected list, got ${found(value)}`);
    return;
  }
  const shape = shapeOf(type);
  const seen = new Set<string>();
  value.forEach((item, i) => {
    if (shape.node !== 'list') {
      check(type.item, item, `${path}[${i}]`, errors);
      return;
    }
    try {
      const element = shape.element(item);
      const text = elementText(element);
      if (seen.has(element)) errors.push(`${path}: duplicate entries for key ${text}`);
      seen.add(element);
      check(type.item, item, path + text, errors);
    } catch (error) {
      if (!(error instanceof Untyped)) throw error;
      errors.push(`${path}: element ${i}: ${error.message}`);
    }
  });
}

function fits(name: ScalarName, value: unknown): boolean {
  switch (name) {
    case 'string':
    case 'bytes':
    case 'duration':
      return typeof value === 'string';
    case 'bool':
      return typeof value === 'boolean';
    case 'int32':
    case 'int64':
    case 'double':
      return typeof value === 'number';
    case 'raw':
    case 'json':
    case 'fieldsV1':
      return true;
    default:
      return typeof value !== 'object';
  }
}
function expected(name: ScalarName): string {
  switch (name) {
    case 'string':
    case 'bytes':
    case 'duration':
      return 'expected string';
    case 'bool':
      return 'expected boolean';
    case 'int32':
    case 'int64':
    case 'double':
      return 'expected numeric (int or float)';
    default:
      return 'expected any scalar';
  }
}
function found(value: unknown): string {
  return Array.isArray(value) ? 'list' : isObject(value) ? 'map' : typeof value;
}
