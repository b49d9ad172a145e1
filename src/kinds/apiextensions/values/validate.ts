/**
 * Whether a value fits a schema. Complaints are worded, and come in the order, as clients of custom objects know them:
 *
 *   spec.n: Invalid value: 12: spec.n in body should be less than or equal to 9
 */
import { equal } from '../../../lib/equal.ts';
import type { FieldErrors } from '../../../meta/field.ts';
import { FieldErrors as Errors, Path, quoted, show } from '../../../meta/field.ts';
import type { JsonObject, JsonValue } from '../../../schema/types.ts';
import type { JSONSchemaProps } from '../schema/json-schema.ts';
import { spend } from './effort.ts';
import { hasFormat } from './formats.ts';
import type { Extensions } from './node.ts';
import { compilePattern, type Pattern, PatternError } from './pattern.ts';
import { formatOf, typeFault } from './types.ts';
import { weightOf } from './weight.ts';

interface Check {
  readonly x: Extensions;
  /** Where the value stands in the object that is told of; empty for the object itself. */
  readonly at: Path | undefined;
  readonly errors: FieldErrors;
}

/** `at` is where the value stands; the words of complaints name only what lies within it. */
export function validateValue(value: JsonValue, schema: JSONSchemaProps, x: Extensions, at: Path | undefined, errors: FieldErrors): void {
  const found = new Errors();
  validate(value, schema, '', { x, at, errors: found });
  // Several parts of a schema may find the same fault.
  const told = new Set<string>();
  for (const error of found.list) {
    const text = `${error.field}: ${error.message}`;
    if (!told.has(text)) errors.list.push(error);
    told.add(text);
  }
}

function pathOf({ at }: Check, name: string): Path {
  const own = name.startsWith('.') ? name.slice(1) : name;
  if (at === undefined) return Path.of(own);
  return own === '' ? at : at.child(own);
}

function validate(value: JsonValue, schema: JSONSchemaProps, name: string, check: Check): void {
  spend(1 + (schema.required?.length ?? 0));
  const fault = typeFault(value, schema, check.x);
  if (fault !== undefined) wrongType(check, name, fault.actual, fault.wanted);
  if (value !== null) validateCombinations(value, schema, name, check);
  if (typeof value === 'string') validateText(value, schema, name, check);
  if (typeof value === 'number') validateNumber(value, schema, name, check);
  if (Array.isArray(value)) validateItems(value, schema, name, check);
  if (schema.enum !== undefined && !isOneOf(value, schema.enum)) {
    check.errors.notSupported(pathOf(check, name), value ?? '', supportedOf(schema.enum));
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) validateFields(value, schema, name, check);
}

/** A null is no member of any enumeration. */
export function isOneOf(value: JsonValue, members: readonly JsonValue[]): boolean {
  if (value === null) return false;
  if (members.length > LONG_ENUM && typeof value !== 'object') return scalarsOf(members).has(value);
  spend(members.length);
  return members.some((one) => equal(one, value));
}

/** Members from which an enumeration is looked up rather than compared. */
const LONG_ENUM = 8;
const scalars = new WeakMap<readonly JsonValue[], ReadonlySet<JsonValue>>();
function scalarsOf(members: readonly JsonValue[]): ReadonlySet<JsonValue> {
  let found = scalars.get(members);
  if (found === undefined) {
    found = new Set(members);
    scalars.set(members, found);
  }
  return found;
}

/** Members of an enumeration in words, made once: there may be as many faults as members. */
const supported = new WeakMap<readonly JsonValue[], string>();
function supportedOf(members: readonly JsonValue[]): string {
  let found = supported.get(members);
  if (found === undefined) {
    found = quoted(members.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))));
    supported.set(members, found);
  }
  return found;
}

const invalid = (check: Check, name: string, value: unknown, rule: string): void =>
  check.errors.invalid(pathOf(check, name), value, `${name} in body ${rule}`);
const wrongType = (check: Check, name: string, value: unknown, type: string): void =>
  check.errors.typeInvalid(pathOf(check, name), value, `${name} in body must be of type ${type}: ${show(value)}`);

function validateText(value: string, schema: JSONSchemaProps, name: string, check: Check): void {
  const { maxLength, minLength, pattern } = schema;
  const length = lengthOf(value);
  if (maxLength !== undefined && length > maxLength)
    check.errors.add('FieldValueTooLong', pathOf(check, name), `Too long: may not be longer than ${maxLength}`);
  if (minLength !== undefined && length < minLength) invalid(check, name, value, `should be at least ${minLength} chars long`);
  if (pattern !== undefined && !patternOf(pattern).test(value)) invalid(check, name, value, `should match '${pattern}'`);
  const format = formatOf(schema);
  if (format !== undefined && !hasFormat(format, value)) wrongType(check, name, value, format);
}

/** Characters, not the halves of which some consist. */
export function lengthOf(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length - 1; i++)
    if ((text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      length--;
      i++;
    }
  return length;
}

/** A pattern that is no pattern was refused with the definition; it matches nothing. */
export function patternOf(pattern: string): Pattern {
  try {
    return compilePattern(pattern);
  } catch (error) {
    if (error instanceof PatternError) return nothing;
    throw error;
  }
}
const nothing: Pattern = { test: () => false };

function validateNumber(value: number, schema: JSONSchemaProps, name: string, check: Check): void {
  const { multipleOf, maximum, minimum, exclusiveMaximum = false, exclusiveMinimum = false } = schema;
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) invalid(check, name, value, `should be a multiple of ${multipleOf}`);
  if (maximum !== undefined) {
    const most = boundFor(value, maximum);
    if (exclusiveMaximum ? value >= most : value > most)
      invalid(check, name, value, `should be less than ${exclusiveMaximum ? '' : 'or equal to '}${most}`);
  }
  if (minimum !== undefined) {
    const least = boundFor(value, minimum);
    if (exclusiveMinimum ? value <= least : value < least)
      invalid(check, name, value, `should be greater than ${exclusiveMinimum ? '' : 'or equal to '}${least}`);
  }
}
/** A whole number is compared with a bound without its fraction, as clients have always known it. */
export const boundFor = (value: number, limit: number): number => (Number.isInteger(value) ? Math.trunc(limit) : limit);
export const isMultiple = (value: number, step: number): boolean => step === 0 || Number.isInteger(Number((value / step).toPrecision(12)));

function validateItems(value: readonly JsonValue[], schema: JSONSchemaProps, name: string, check: Check): void {
  const { items, minItems, maxItems } = schema;
  if (items !== undefined && !Array.isArray(items)) value.forEach((item, i) => void validate(item, items, `${name}[${i}]`, check));
  if (minItems !== undefined && value.length < minItems) invalid(check, name, value.length, `should have at least ${minItems} items`);
  if (maxItems !== undefined && value.length > maxItems) check.errors.tooMany(pathOf(check, name), value.length, maxItems);
}

function validateFields(value: JsonObject, schema: JSONSchemaProps, name: string, check: Check): void {
  const { properties = {}, additionalProperties, required = [], minProperties, maxProperties } = schema;
  const keys = Object.keys(value);
  if (minProperties !== undefined && keys.length < minProperties)
    invalid(check, name, keys.length, `should have at least ${minProperties} properties`);
  if (maxProperties !== undefined && keys.length > maxProperties) check.errors.tooMany(pathOf(check, name), keys.length, maxProperties);
  const named = keys.filter((key) => Object.hasOwn(properties, key));
  const others = additionalProperties === undefined ? [] : keys.filter((key) => !Object.hasOwn(properties, key));
  for (const key of others) {
    if (additionalProperties === false) check.errors.invalid(pathOf(check, name), key, `${name}.${key} in body is a forbidden property`);
    else if (typeof additionalProperties === 'object') validate(value[key] as JsonValue, additionalProperties, `${name}.${key}`, check);
  }
  const within = (key: string): string => (name === '' ? key : `${name}.${key}`);
  for (const key of named) validate(value[key] as JsonValue, properties[key] as JSONSchemaProps, within(key), check);
  for (const key of required) if (!Object.hasOwn(value, key)) check.errors.required(pathOf(check, within(key)));
}

// ---- combinations ------------------------------------------------------------------------------------------------

/** Complaints about a combination as a whole name no field. */
function combination(check: Check, name: string, rule: string): void {
  check.errors.add('FieldValueInvalid', '<nil>', `Invalid value: "": ${JSON.stringify(name)} must ${rule}`);
}

/** The complaints about a value under another schema, told nobody. */
function complaintsOf(value: JsonValue, schema: JSONSchemaProps, name: string, check: Check): FieldErrors {
  const errors = new Errors();
  validate(value, schema, name, { ...check, errors });
  return errors;
}

function validateCombinations(value: JsonValue, schema: JSONSchemaProps, name: string, check: Check): void {
  const { allOf = [], anyOf = [], oneOf = [], not } = schema;
  if (anyOf.length > 0) {
    const found = anyOf.map((one) => complaintsOf(value, one, name, check));
    if (!found.some((errors) => errors.empty)) {
      combination(check, name, 'validate at least one schema (anyOf)');
      tell(nearest(value, anyOf, found, check), check);
    }
  }
  if (oneOf.length > 0) {
    const found = oneOf.map((one) => complaintsOf(value, one, name, check));
    const fitting = found.filter((errors) => errors.empty).length;
    if (fitting === 0) {
      combination(check, name, 'validate one and only one schema (oneOf). Found none valid');
      tell(nearest(value, oneOf, found, check), check);
    } else if (fitting > 1) combination(check, name, `validate one and only one schema (oneOf). Found ${fitting} valid alternatives`);
  }
  if (allOf.length > 0) {
    const found = allOf.map((one) => complaintsOf(value, one, name, check));
    for (const errors of found) tell(errors, check);
    const failing = found.filter((errors) => !errors.empty).length;
    if (failing > 0) combination(check, name, `validate all the schemas (allOf)${failing === found.length ? '. None validated' : ''}`);
  }
  if (not !== undefined && complaintsOf(value, not, name, check).empty) combination(check, name, 'not validate the schema (not)');
}

/** Of alternatives that all fail, the complaints of the one that had most to say of the value; of equals, the first. */
function nearest(value: JsonValue, schemas: readonly JSONSchemaProps[], found: readonly FieldErrors[], { x }: Check): FieldErrors {
  let best = 0;
  for (let i = 1; i < schemas.length; i++)
    if (weightOf(value, schemas[i] as JSONSchemaProps, x) > weightOf(value, schemas[best] as JSONSchemaProps, x)) best = i;
  return found[best] as FieldErrors;
}
function tell(found: FieldErrors, check: Check): void {
  for (const error of found.list) check.errors.list.push(error);
}
