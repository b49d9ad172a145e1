/**
 * Validates a value by a schema. Errors have the messages and the order of a stock server:
 *
 *   spec.n: Invalid value: 12: spec.n in body should be less than or equal to 9
 */

import { equal } from '@plat-dev/lib/equal';
import { type Integer, isNumeric } from '@plat-dev/lib/integers';
import { jsonText } from '@plat-dev/lib/json-text';
import { own } from '@plat-dev/lib/own';
import type { FieldErrors } from '@plat-dev/meta/field';
import { FieldErrors as Errors, Path, quoted, show } from '@plat-dev/meta/field';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import type { JSONSchemaProps } from '../schema/json-schema.ts';
import { spend, spendOn } from './effort.ts';
import { hasFormat, numberCheck } from './formats.ts';
import { itemsByKeys, keyText } from './item-keys.ts';
import type { Extensions } from './node.ts';
import { boundFor, isAtLeast, isAtMost, isMultiple, isOneOf, patternOf } from './scalar-checks.ts';
import { fitsOf } from './schema-match.ts';
import { formatOf, typeFault } from './types.ts';
import { weightOf } from './weight.ts';

interface Check {
  readonly x: Extensions;
  /** Path of the value in the object; empty for the object itself. */
  readonly at: Path | undefined;
  readonly errors: FieldErrors;
  /** The value before, where errors of what is as it was are let through; undefined where no old value belongs to it. */
  readonly old: JsonValue | undefined;
  /** Whether a part is known not to be as it was: then the whole is not either. */
  changed: boolean;
}

/** `at` is the path of the value; the messages name only the path within it. With `old`, what is as it was has no errors. */
export function validateValue(
  value: JsonValue,
  schema: JSONSchemaProps,
  x: Extensions,
  at: Path | undefined,
  errors: FieldErrors,
  old?: JsonValue,
): void {
  const valueErrors = new Errors();
  validate(value, schema, '', { x, at, errors: valueErrors, old, changed: false });
  addDistinct(valueErrors, errors);
}

/** Several parts of a schema may report the same error. */
function addDistinct(newErrors: FieldErrors, errors: FieldErrors): void {
  const reported = new Set<string>();
  for (const error of newErrors.list) {
    const text = `${error.field}: ${error.message}`;
    if (!reported.has(text)) errors.list.push(error);
    reported.add(text);
  }
}

function pathOf({ at }: Check, name: string): Path {
  const own = name.startsWith('.') ? name.slice(1) : name;
  if (at === undefined) return Path.of(own);
  return own === '' ? at : at.child(own);
}

/** The cost of validating a value with messages: some microseconds instead of the nanoseconds of `fits.ts`. */
const STEPS_OF_WORDS = 24;
/** From so many entries of a list or object, only those that do not match are validated with messages. */
const MANY = 16;

function validate(value: JsonValue, schema: JSONSchemaProps, name: string, check: Check): void {
  if (check.errors.full) return;
  spend(STEPS_OF_WORDS + (schema.required?.length ?? 0));
  const { list } = check.errors;
  const errorsBefore = list.length;
  validateKnown(value, schema, name, check);
  if (list.length === errorsBefore || check.old === undefined || check.changed) return;
  if (equal(value, check.old)) list.length = errorsBefore;
  else check.changed = true;
}
/** A part of the value, with the old value that belongs to it. */
function validatePart(value: JsonValue, schema: JSONSchemaProps, name: string, check: Check, old: JsonValue | undefined): void {
  const part: Check = { ...check, old, changed: false };
  validate(value, schema, name, part);
  check.changed ||= part.changed;
}

function validateKnown(value: JsonValue, schema: JSONSchemaProps, name: string, check: Check): void {
  const fault = typeFault(value, schema, check.x);
  if (fault !== undefined) wrongType(check, name, fault.actual, fault.expectedType);
  if (value !== null) validateCombinations(value, schema, name, check);
  if (typeof value === 'string') validateText(value, schema, name, check);
  if (isNumeric(value)) validateNumber(value, schema, name, check);
  if (Array.isArray(value)) validateItems(value, schema, name, check);
  if (schema.enum !== undefined && !isOneOf(value, schema.enum)) {
    check.errors.notSupported(pathOf(check, name), value ?? '', supportedOf(schema.enum));
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) validateFields(value, schema, name, check);
}

/** The members of an enumeration as text, made once: there may be as many errors as members. */
const supported = new WeakMap<readonly JsonValue[], string>();
function supportedOf(members: readonly JsonValue[]): string {
  let membersText = supported.get(members);
  if (membersText === undefined) {
    membersText = quoted(members.map((one) => (typeof one === 'string' ? one : jsonText(one))));
    supported.set(members, membersText);
  }
  return membersText;
}

const invalid = (check: Check, name: string, value: unknown, rule: string): void =>
  check.errors.invalid(pathOf(check, name), value, `${name} in body ${rule}`);
const wrongType = (check: Check, name: string, value: unknown, type: string): void =>
  check.errors.typeInvalid(pathOf(check, name), value, `${name} in body must be of type ${type}: ${show(value)}`);

function validateText(value: string, schema: JSONSchemaProps, name: string, check: Check): void {
  const { maxLength, minLength, pattern } = schema;
  if (maxLength !== undefined && !isAtMost(value, maxLength))
    check.errors.add('FieldValueTooLong', pathOf(check, name), `Too long: may not be longer than ${maxLength}`);
  if (minLength !== undefined && !isAtLeast(value, minLength)) invalid(check, name, value, `should be at least ${minLength} chars long`);
  if (pattern !== undefined && !patternOf(pattern).test(value)) invalid(check, name, value, `should match '${pattern}'`);
  const format = formatOf(schema, check.x);
  if (format !== undefined && !hasFormat(format, value, check.x.release)) wrongType(check, name, value, format);
}

function validateNumber(value: Integer, schema: JSONSchemaProps, name: string, check: Check): void {
  const { multipleOf, maximum, minimum, exclusiveMaximum = false, exclusiveMinimum = false, format, type } = schema;
  if (numberCheck(schema, check.x.release)?.(value) === false) {
    const formatText = format === undefined || format === '' ? '(default format)' : `with format ${format}`;
    check.errors.add('FieldValueInvalid', '<nil>', `Invalid value: "": Checked value must be of type ${type} ${formatText} in ${name}`);
  }
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
function validateItems(value: readonly JsonValue[], schema: JSONSchemaProps, name: string, check: Check): void {
  const { items, minItems, maxItems } = schema;
  if (items !== undefined && !Array.isArray(items)) {
    const fits = value.length > MANY ? fitsOf(items, check.x) : undefined;
    const oldItem = oldItems(schema, check);
    for (let i = 0; i < value.length && !check.errors.full; i++) {
      const item = value[i] as JsonValue;
      if (fits?.(item) !== true) validatePart(item, items, `${name}[${i}]`, check, oldItem?.(item));
    }
  }
  if (minItems !== undefined && value.length < minItems) invalid(check, name, value.length, `should have at least ${minItems} items`);
  if (maxItems !== undefined && value.length > maxItems) check.errors.tooMany(pathOf(check, name), value.length, maxItems);
}

function validateFields(value: JsonObject, schema: JSONSchemaProps, name: string, check: Check): void {
  const { properties = {}, additionalProperties, required = [], minProperties, maxProperties } = schema;
  spendOn(value);
  const keys = Object.keys(value);
  const many = keys.length > MANY;
  if (minProperties !== undefined && keys.length < minProperties)
    invalid(check, name, keys.length, `should have at least ${minProperties} properties`);
  if (maxProperties !== undefined && keys.length > maxProperties) check.errors.tooMany(pathOf(check, name), keys.length, maxProperties);
  const knownKeys = keys.filter((key) => Object.hasOwn(properties, key));
  const others = additionalProperties === undefined ? [] : keys.filter((key) => !Object.hasOwn(properties, key));
  for (const key of others) {
    if (check.errors.full) return;
    if (additionalProperties === false) check.errors.invalid(pathOf(check, name), key, `${name}.${key} in body is a forbidden property`);
    else if (typeof additionalProperties === 'object' && !(many && fitsOf(additionalProperties, check.x)(own(value, key) as JsonValue)))
      validatePart(own(value, key) as JsonValue, additionalProperties, `${name}.${key}`, check, oldField(key, name, check));
  }
  const within = (key: string): string => (name === '' ? key : `${name}.${key}`);
  for (const key of knownKeys) {
    if (check.errors.full) return;
    const field = own(properties, key) as JSONSchemaProps;
    if (!(many && fitsOf(field, check.x)(own(value, key) as JsonValue)))
      validatePart(own(value, key) as JsonValue, field, within(key), check, oldField(key, name, check));
  }
  for (const key of required) if (!Object.hasOwn(value, key)) check.errors.required(pathOf(check, within(key)));
}

/** Version and kind of the object are those of the request, whatever is stored. */
function oldField(key: string, name: string, { old }: Check): JsonValue | undefined {
  if (typeof old !== 'object' || old === null || Array.isArray(old) || (name === '' && (key === 'apiVersion' || key === 'kind')))
    return undefined;
  return own(old as JsonObject, key);
}
/** Finds the old item for one of a list whose items have keys; undefined for other lists. */
function oldItems(schema: JSONSchemaProps, { x, old }: Check): ((item: JsonValue) => JsonValue | undefined) | undefined {
  if (!Array.isArray(old) || schema[x.listType] !== 'map') return undefined;
  const keys = (schema[x.listMapKeys] ?? []) as readonly string[];
  const byKeys = itemsByKeys(old, keys);
  return (item) => {
    const key = keyText(item, keys);
    return key === undefined ? undefined : (byKeys.get(key) as JsonValue | undefined);
  };
}

// ---- combinations ------------------------------------------------------------------------------------------------

/** Errors of a combination as a whole name no field. */
function combination(check: Check, name: string, rule: string): void {
  check.errors.add('FieldValueInvalid', '<nil>', `Invalid value: "": ${JSON.stringify(name)} must ${rule}`);
}

/** The errors of a value under another schema, which are not reported. */
function problemsOf(value: JsonValue, schema: JSONSchemaProps, name: string, check: Check): FieldErrors {
  const errors = new Errors();
  validate(value, schema, name, { ...check, errors, old: undefined, changed: false });
  if (errors.list.length < 2) return errors;
  const distinct = new Errors();
  addDistinct(errors, distinct);
  return distinct;
}

function validateCombinations(value: JsonValue, schema: JSONSchemaProps, name: string, check: Check): void {
  const { allOf = [], anyOf = [], oneOf = [], not } = schema;
  if (anyOf.length > 0) {
    const errorsOfEach = anyOf.map((one) => problemsOf(value, one, name, check));
    if (!errorsOfEach.some((errors) => errors.empty)) {
      combination(check, name, 'validate at least one schema (anyOf)');
      report(nearest(value, anyOf, errorsOfEach, check), check);
    }
  }
  if (oneOf.length > 0) {
    const errorsOfEach = oneOf.map((one) => problemsOf(value, one, name, check));
    const fitting = errorsOfEach.filter((errors) => errors.empty).length;
    if (fitting === 0) {
      combination(check, name, 'validate one and only one schema (oneOf). Found none valid');
      report(nearest(value, oneOf, errorsOfEach, check), check);
    } else if (fitting > 1) combination(check, name, `validate one and only one schema (oneOf). Found ${fitting} valid alternatives`);
  }
  if (allOf.length > 0) {
    const errorsOfEach = allOf.map((one) => problemsOf(value, one, name, check));
    for (const errors of errorsOfEach) report(errors, check);
    const failing = errorsOfEach.filter((errors) => !errors.empty).length;
    if (failing > 0)
      combination(check, name, `validate all the schemas (allOf)${failing === errorsOfEach.length ? '. None validated' : ''}`);
  }
  if (not !== undefined && problemsOf(value, not, name, check).empty) combination(check, name, 'not validate the schema (not)');
}

/** Of alternatives that all fail, the errors of the one with the highest weight; of equals, the first. */
function nearest(value: JsonValue, schemas: readonly JSONSchemaProps[], errorsOfEach: readonly FieldErrors[], { x }: Check): FieldErrors {
  let best = 0;
  let most = -1;
  schemas.forEach((schema, i) => {
    const weight = weightOf(value, schema, x);
    if (weight <= most) return;
    most = weight;
    best = i;
  });
  return errorsOfEach[best] as FieldErrors;
}
function report(valueErrors: FieldErrors, check: Check): void {
  check.errors.addAll(valueErrors);
}
