/**
 * The applied configuration: the object as sent, checked against the schema, and the set of fields it
 * specifies. A null specifies a field; an empty list that is merged item by item does not.
 */
import { isNumeric } from '@plat-dev/lib/integers';
import { type ListType, type MessageType, resolve, type ScalarName, type Type } from '@plat-dev/schema/types';
import type { Skipped } from './compare.ts';
import { emptySet, type FieldSet, isEmpty, leaf } from './fieldset.ts';
import { fieldOf, Gathered, Items } from './gather.ts';
import { MOST_ENTRIES } from './interned.ts';
import { elementText } from './path-element.ts';
import {
  anyShape,
  checkLength,
  fieldNamed,
  isObject,
  keyElement,
  type ListShape,
  type MessageShape,
  type Shape,
  shapeOf,
  Untyped,
  type Values,
} from './shape.ts';

// ---- the set -----------------------------------------------------------------------------------------------------

/** The fields that an object specifies. Throws Untyped if items of a list cannot be distinguished. */
export function fieldsOf(shape: Shape, value: unknown, skipped?: Skipped): FieldSet {
  gathered.top = 0;
  return below(shape, value, false, skipped) ?? emptySet;
}
const gathered = new Gathered();

/**
 * Paths below a value, and its own if it is a `member`; undefined when there are none below. An atomic value gives
 * a leaf.
 */
function below(shape: Shape, value: unknown, member: boolean, skipped?: Skipped): FieldSet | undefined {
  switch (shape.node) {
    case 'leaf':
      return leaf;
    case 'list':
      return Array.isArray(value) ? belowItems(shape, value, member) : undefined;
    case 'map':
      return isObject(value) ? belowKeys(shape.value, value, member) : undefined;
    case 'any':
      return isObject(value) ? belowKeys(anyShape, value, member) : leaf;
    case 'message':
      return isObject(value) ? belowFields(shape, value, member, skipped) : undefined;
  }
}

function belowFields(shape: MessageShape, value: Values, member: boolean, skipped: Skipped | undefined): FieldSet | undefined {
  const base = gathered.top;
  for (const key in value) {
    const item = value[key];
    const skip = skipped?.fields.get(key);
    const field = fieldOf(shape, key);
    if (item === undefined || skip === true || field === undefined) continue;
    // A field is a member itself only when it has nothing below it; one that the schema does not name always is.
    const isDeclared = shape.fields.has(key);
    const fieldsBelow = below(field.shape, item, !isDeclared, skip);
    if (skip?.self === true) {
      if (fieldsBelow !== undefined && !isEmpty(fieldsBelow)) gathered.add(base, field, fieldsBelow);
    } else if (fieldsBelow === leaf || isBare(item)) gathered.add(base, field, leaf);
    else if (fieldsBelow !== undefined || !isDeclared) gathered.add(base, field, fieldsBelow ?? leaf);
  }
  return gathered.build(base, member);
}
function isBare(value: unknown): boolean {
  return value === null || (isObject(value) && isEmpty(value as FieldSet));
}

/** The key of a map is always a member itself. */
function belowKeys(shape: Shape, value: Values, member: boolean): FieldSet | undefined {
  let items: Items | undefined;
  for (const key in value) {
    const item = value[key];
    if (item === undefined) continue;
    items ??= new Items();
    items.addKey(key, (isBare(item) ? undefined : below(shape, item, true)) ?? leaf);
  }
  return items?.build(member);
}
function belowItems(shape: ListShape, list: readonly unknown[], member: boolean): FieldSet | undefined {
  let items: Items | undefined;
  for (const item of list) {
    items ??= new Items();
    items.add(shape.element(item, list.length > MOST_ENTRIES), below(shape.item, item, true) ?? leaf);
  }
  return items?.build(member);
}

// ---- the check ---------------------------------------------------------------------------------------------------

/** Errors beyond this are not listed: the first ones are enough. */
const MAX_ERRORS = 20;

/** Errors of an applied object: `.spec.mystery: field not declared in schema`. */
export function checkApplied(type: MessageType, value: unknown): string[] {
  const errors: string[] = [];
  check(type.structure ?? type, value, undefined, errors);
  return errors;
}

/** The current path; its text is made only for an error. */
interface Place {
  readonly above: Place | undefined;
  /** An element of a path, or an index. */
  readonly element: string | number;
}
function textOf(place: Place | undefined): string {
  if (place === undefined) return '';
  const { above, element } = place;
  return textOf(above) + (typeof element === 'number' ? `[${element}]` : elementText(element));
}
function report(errors: string[], place: Place | undefined, problem: string): void {
  errors.push(`${textOf(place)}: ${problem}`);
}

function check(type: Type, value: unknown, place: Place | undefined, errors: string[]): void {
  if (value === null || value === undefined || errors.length >= MAX_ERRORS) return;
  const resolvedType = resolve(type);
  switch (resolvedType.node) {
    case 'scalar':
      if (!fits(resolvedType.name, value)) report(errors, place, `${expected(resolvedType.name)}, got ${valueKind(value)}`);
      break;
    case 'message':
      if (isObject(value)) checkMessage(resolvedType, value, place, errors);
      else report(errors, place, `expected map, got ${valueKind(value)}`);
      break;
    case 'map':
      if (!isObject(value)) report(errors, place, `expected map, got ${valueKind(value)}`);
      else for (const key in value) check(resolvedType.value, value[key], { above: place, element: keyElement(key) }, errors);
      break;
    case 'list':
      if (Array.isArray(value)) checkList(resolvedType, value, place, errors);
      else report(errors, place, `expected list, got ${valueKind(value)}`);
      break;
    case 'union':
      check(isObject(value) ? resolvedType.object.type : resolvedType.other.type, value, place, errors);
      break;
  }
}

function checkMessage(type: MessageType, value: Values, place: Place | undefined, errors: string[]): void {
  const declaredType = type.structure ?? type;
  for (const key in value) {
    const field = fieldNamed(declaredType, key);
    if (field !== undefined) check(field.type, value[key], { above: place, element: keyElement(key) }, errors);
    else if (declaredType.unknown === 'drop') report(errors, { above: place, element: keyElement(key) }, 'field not declared in schema');
  }
}

function checkList(type: ListType, list: readonly unknown[], place: Place | undefined, errors: string[]): void {
  const shape = shapeOf(type);
  if (shape.node === 'list') checkLength(list);
  const seenKeys = new Set<string>();
  list.forEach((item, i) => {
    if (errors.length >= MAX_ERRORS) return;
    let element: string | number = i;
    if (shape.node === 'list') {
      try {
        element = shape.element(item, list.length > MOST_ENTRIES);
      } catch (error) {
        if (!(error instanceof Untyped)) throw error;
        report(errors, place, `element ${i}: ${error.message}`);
        return;
      }
      if (seenKeys.has(element)) report(errors, place, `duplicate entries for key ${elementText(element)}`);
      seenKeys.add(element);
    }
    check(type.item, item, { above: place, element }, errors);
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
      return isNumeric(value);
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
function valueKind(value: unknown): string {
  return Array.isArray(value) ? 'list' : isObject(value) ? 'map' : typeof value;
}
