/**
 * Whether a value matches a schema, as fast as possible: without messages, up to the first error. Almost all objects match, so
 * that `validate.ts`, which makes the messages of all errors, is called only after a mismatch.
 */

import { type Integer, isInteger, isNumeric } from '@plat-dev/lib/integers';
import { own } from '@plat-dev/lib/own';
import type { Work } from '@plat-dev/lib/slices';
import type { JsonValue } from '@plat-dev/schema/types';
import type { JSONSchemaProps } from '../schema/json-schema.ts';
import { eachPart } from '../schema/parts.ts';
import { spend, spendOn } from './effort.ts';
import { formatCheck, numberCheck } from './formats.ts';
import type { Extensions, Values } from './node.ts';
import type { Pattern } from './pattern.ts';
import { boundFor, isAtLeast, isAtMost, isMultiple, isOneOf, patternOf } from './scalar-checks.ts';
import { formatOf, typeFault, typesOf } from './types.ts';

type Fits<T = JsonValue> = (value: T) => boolean;

/** Compiled once for each part of a schema: the search for keywords uses the parts, too. */
const compiled = new WeakMap<JSONSchemaProps, Fits>();

/** Compiles the parts of a schema one after another, so that `fitsOf` finds them. */
export function* compiledFits(schema: JSONSchemaProps, x: Extensions): Work<void> {
  const parts: JSONSchemaProps[] = [];
  eachPart(schema, (part) => {
    if (plainFits(part, x) === undefined) parts.push(part);
  });
  // Each of the two takes long where a schema has thousands of fields.
  yield;
  for (const part of parts) yield* compiledFits(part, x);
  fitsOf(schema, x);
  yield;
}

export function fitsOf(schema: JSONSchemaProps, x: Extensions): Fits {
  const plain = plainFits(schema, x);
  if (plain !== undefined) return plain;
  let fits = compiled.get(schema);
  if (fits === undefined) {
    fits = compile(schema, x);
    compiled.set(schema, fits);
  }
  return fits;
}

/** Most fields have only a type, and schemas may name thousands of them: all fields of one type share a compiled check. */
const plainTypes: Readonly<Record<string, Fits>> = {
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  integer: isInteger,
  number: isNumeric,
};
function plainFits(schema: JSONSchemaProps, x: Extensions): Fits | undefined {
  const { type } = schema;
  const fits = type === undefined ? undefined : own(plainTypes, type);
  if (fits === undefined || schema[x.intOrString] === true) return undefined;
  for (const keyword in schema) if (!silent.has(keyword)) return undefined;
  return fits;
}
/** Keywords that require nothing of a value except its type. */
const silent: ReadonlySet<string> = new Set(['type', 'description', 'title', 'default', 'example', 'externalDocs']);

function compile(schema: JSONSchemaProps, x: Extensions): Fits {
  const type = typeCheck(schema, x);
  const text = all<string>(textChecks(schema, x));
  const number = all<Integer>(numberChecks(schema, x));
  const list = all<readonly JsonValue[]>(listChecks(schema, x));
  const object = asksOfObjects(schema) ? all<Values>(objectChecks(schema, x)) : anything;
  const { enum: members } = schema;
  const whole = all<JsonValue>([
    ...(members === undefined ? [] : [(value: JsonValue) => isOneOf(value, members)]),
    ...combinations(schema, x),
  ]);
  const nullFits = members === undefined && typeFault(null, schema, x) === undefined;
  return (value) => {
    if (value === null) return nullFits;
    if (!type(value) || !whole(value)) return false;
    if (typeof value === 'string') return text(value);
    if (isNumeric(value)) return number(value);
    if (typeof value !== 'object') return true;
    return Array.isArray(value) ? list(value) : object(value);
  };
}

const anything = (): boolean => true;

function all<T>(checks: readonly Fits<T>[]): Fits<T> {
  const [first, second] = checks;
  if (first === undefined) return anything;
  if (second === undefined) return first;
  return (value) => {
    for (const check of checks) if (!check(value)) return false;
    return true;
  };
}

function typeCheck(schema: JSONSchemaProps, x: Extensions): Fits {
  const types = typesOf(schema, x);
  if (types.length === 0 && formatOf(schema, x) === undefined) return anything;
  switch (types.join()) {
    case 'object':
      return (value) => typeof value === 'object' && !Array.isArray(value);
    case 'array':
      return Array.isArray;
    case 'string':
      return (value) => typeof value === 'string';
    case 'boolean':
      return (value) => typeof value === 'boolean';
    case 'number':
      return isNumeric;
    case 'integer':
      return isInteger;
    case 'integer,string':
      return (value) => typeof value === 'string' || isInteger(value);
    default:
      return (value) => typeFault(value, schema, x) === undefined;
  }
}

function textChecks(schema: JSONSchemaProps, x: Extensions): Fits<string>[] {
  const { maxLength, minLength, pattern } = schema;
  const format = schema.format === undefined ? undefined : formatCheck(schema.format, x.release);
  const checks: Fits<string>[] = [];
  if (maxLength !== undefined) checks.push((value) => isAtMost(value, maxLength));
  if (minLength !== undefined) checks.push((value) => isAtLeast(value, minLength));
  if (pattern !== undefined) checks.push(patternCheck(pattern));
  if (format !== undefined) checks.push(format);
  return checks;
}

/** Compiled with the first text. */
function patternCheck(pattern: string): Fits<string> {
  let compiled: Pattern | undefined;
  return (value) => {
    compiled ??= patternOf(pattern);
    return compiled.test(value);
  };
}

function numberChecks(schema: JSONSchemaProps, x: Extensions): Fits<Integer>[] {
  const { multipleOf, maximum, minimum, exclusiveMaximum, exclusiveMinimum } = schema;
  const checks: Fits<Integer>[] = [];
  const inRange = numberCheck(schema, x.release);
  if (inRange !== undefined) checks.push(inRange);
  if (multipleOf !== undefined) checks.push((value) => isMultiple(value, multipleOf));
  if (maximum !== undefined)
    checks.push(exclusiveMaximum ? (value) => value < boundFor(value, maximum) : (value) => value <= boundFor(value, maximum));
  if (minimum !== undefined)
    checks.push(exclusiveMinimum ? (value) => value > boundFor(value, minimum) : (value) => value >= boundFor(value, minimum));
  return checks;
}

function listChecks(schema: JSONSchemaProps, x: Extensions): Fits<readonly JsonValue[]>[] {
  const { minItems, maxItems, items } = schema;
  const checks: Fits<readonly JsonValue[]>[] = [];
  if (minItems !== undefined) checks.push((list) => list.length >= minItems);
  if (maxItems !== undefined) checks.push((list) => list.length <= maxItems);
  if (items !== undefined && !Array.isArray(items)) {
    const item = fitsOf(items, x);
    checks.push((list) => {
      spend(list.length * STEPS_OF_AN_ENTRY);
      for (let i = 0; i < list.length; i++) if (!item(list[i] as JsonValue)) return false;
      return true;
    });
  }
  return checks;
}

/** Branches of combinations mostly have one keyword, and there may be thousands of them. */
const asksOfObjects = ({ required, minProperties, maxProperties, properties, additionalProperties }: JSONSchemaProps): boolean =>
  (required ?? minProperties ?? maxProperties ?? properties ?? additionalProperties) !== undefined;

function objectChecks(schema: JSONSchemaProps, x: Extensions): Fits<Values>[] {
  const { required = [], minProperties, maxProperties, properties = {}, additionalProperties } = schema;
  const checks: Fits<Values>[] = [];
  if (minProperties !== undefined) checks.push((value) => Object.keys(value).length >= minProperties);
  if (maxProperties !== undefined) checks.push((value) => Object.keys(value).length <= maxProperties);
  for (const key of required) checks.push((value) => Object.hasOwn(value, key));
  const fields = new Map(Object.entries(properties).map(([name, field]) => [name, fitsOf(field, x)]));
  const rest =
    additionalProperties === false ? () => false : typeof additionalProperties === 'object' ? fitsOf(additionalProperties, x) : undefined;
  if (fields.size === 0 && rest === undefined) return checks;
  checks.push((value) => {
    let count = 0;
    for (const key in value) {
      count++;
      const field = fields.get(key) ?? rest;
      if (field !== undefined && !field(value[key] as JsonValue)) return false;
    }
    spend(count * STEPS_OF_AN_ENTRY);
    return true;
  });
  return checks;
}
/** The cost of an item of a list or a key of an object. */
const STEPS_OF_AN_ENTRY = 1 / 4;

/** Values are visited once for each part of a combination, and once more for each part within it. */
function counted(fits: Fits): Fits {
  return (value) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) spendOn(value);
    else spend(1);
    return fits(value);
  };
}

function combinations(schema: JSONSchemaProps, x: Extensions): Fits[] {
  if ((schema.allOf ?? schema.anyOf ?? schema.oneOf ?? schema.not) === undefined) return [];
  const compiledParts = (parts: readonly JSONSchemaProps[] | undefined): Fits[] => (parts ?? []).map((part) => counted(fitsOf(part, x)));
  const checks = compiledParts(schema.allOf);
  const anyOf = compiledParts(schema.anyOf);
  const oneOf = compiledParts(schema.oneOf);
  if (anyOf.length > 0) checks.push((value) => anyOf.some((fits) => fits(value)));
  if (oneOf.length > 0) checks.push((value) => oneOf.filter((fits) => fits(value)).length === 1);
  if (schema.not !== undefined) {
    const not = counted(fitsOf(schema.not, x));
    checks.push((value) => !not(value));
  }
  return checks;
}
