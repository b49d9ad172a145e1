/**
 * Whether a value fits a schema. Complaints are worded, and come in the order, as clients of custom objects know them:
 *
 *   spec.n: Invalid value: 12: spec.n in body should be less than or equal to 9
 */
import { equal } from '../../../lib/equal.ts';
import type { FieldErrors } from '../../../meta/field.ts';
import { FieldErrors as Errors, Path, show } from '../../../meta/field.ts';
import type { JsonObject, JsonValue } from '../../../schema/types.ts';
import type { extensionNames, JSONSchemaProps } from '../schema/json-schema.ts';
import { hasFormat } from './formats.ts';
import { compilePattern, PatternError } from './pattern.ts';

type Extensions = ReturnType<typeof extensionNames>;

interface Check {
  readonly x: Extensions;
  /** Where the value stands in the object that is told of; empty for the object itself. */
  readonly at: Path | undefined;
  readonly errors: FieldErrors;
}

/** `at` is where the value stands; the words of complaints name only what lies within it. */
export function validateValue(value: JsonValue, schema: JSONSchemaProps, x: Extensions, at: Path | undefined, errors: FieldErrors): void {
  validate(value, schema, '', { x, at, errors });
}

const pathOf = (check: Check, name: string): Path =>
  check.at === undefined ? Path.of(name) : name === '' ? check.at : check.at.child(name);

function typeOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? 'integer' : 'number';
  return typeof value;
}

function validate(value: JsonValue, schema: JSONSchemaProps, name: string, check: Check): void {
  if (value === null && schema.nullable) return;
  validateType(value, schema, name, check);
  validateCombinations(value, schema, name, check);
  if (typeof value === 'string') validateText(value, schema, name, check);
  if (typeof value === 'number') validateNumber(value, schema, name, check);
  if (Array.isArray(value)) validateItems(value, schema, name, check);
  if (schema.enum !== undefined && !schema.enum.some((one) => equal(one, value))) {
    const supported = schema.enum.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
    check.errors.notSupported(pathOf(check, name), value, supported);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) validateFields(value, schema, name, check);
}

const invalid = (check: Check, name: string, value: unknown, rule: string): void =>
  check.errors.invalid(pathOf(check, name), value, `${name} in body ${rule}`);
const wrongType = (check: Check, name: string, value: unknown, type: string): void =>
  check.errors.typeInvalid(pathOf(check, name), value, `${name} in body must be of type ${type}: ${show(value)}`);

function validateType(value: JsonValue, schema: JSONSchemaProps, name: string, check: Check): void {
  const wanted = schema[check.x.intOrString] === true ? ['integer', 'string'] : schema.type === undefined ? [] : [schema.type];
  const actual = typeOf(value);
  const fits = wanted.length === 0 || wanted.includes(actual) || (actual === 'integer' && wanted.includes('number'));
  if (!fits) wrongType(check, name, actual, wanted.join());
  else if (typeof value === 'string' && schema.format !== undefined && !hasFormat(schema.format, value))
    wrongType(check, name, value, schema.format);
}

function validateText(value: string, schema: JSONSchemaProps, name: string, check: Check): void {
  const { maxLength, minLength, pattern } = schema;
  const length = [...value].length;
  if (maxLength !== undefined && length > maxLength)
    check.errors.add('FieldValueTooLong', pathOf(check, name), `Too long: may not be longer than ${maxLength}`);
  if (minLength !== undefined && length < minLength) invalid(check, name, value, `should be at least ${minLength} chars long`);
  if (pattern !== undefined && !matches(pattern, value)) invalid(check, name, value, `should match '${pattern}'`);
}

/** A pattern that is no pattern was refused with the definition; it matches nothing. */
function matches(pattern: string, value: string): boolean {
  try {
    return compilePattern(pattern).test(value);
  } catch (error) {
    if (error instanceof PatternError) return false;
    throw error;
  }
}

function validateNumber(value: number, schema: JSONSchemaProps, name: string, check: Check): void {
  const { multipleOf, maximum, minimum, exclusiveMaximum = false, exclusiveMinimum = false } = schema;
  // A whole number is compared with a bound without its fraction, as clients have always known it.
  const bound = (limit: number): number => (Number.isInteger(value) ? Math.trunc(limit) : limit);
  if (multipleOf !== undefined && multipleOf !== 0 && !isMultiple(value, multipleOf))
    invalid(check, name, value, `should be a multiple of ${multipleOf}`);
  if (maximum !== undefined) {
    const most = bound(maximum);
    if (exclusiveMaximum ? value >= most : value > most)
      invalid(check, name, value, `should be less than ${exclusiveMaximum ? '' : 'or equal to '}${most}`);
  }
  if (minimum !== undefined) {
    const least = bound(minimum);
    if (exclusiveMinimum ? value <= least : value < least)
      invalid(check, name, value, `should be greater than ${exclusiveMinimum ? '' : 'or equal to '}${least}`);
  }
}
const isMultiple = (value: number, step: number): boolean => Number.isInteger(Number((value / step).toPrecision(12)));

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
  const within = (key: string): string => (name === '' ? key : `${name}.${key}`);
  for (const key of required) if (!Object.hasOwn(value, key)) check.errors.required(pathOf(check, within(key)));
  for (const key of keys) {
    const known = Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
    if (known !== undefined && typeof known === 'object') validate(value[key] as JsonValue, known, within(key), check);
  }
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
      tell(found[0], check);
    }
  }
  if (oneOf.length > 0) {
    const found = oneOf.map((one) => complaintsOf(value, one, name, check));
    const fitting = found.filter((errors) => errors.empty).length;
    if (fitting === 0) {
      combination(check, name, 'validate one and only one schema (oneOf). Found none valid');
      tell(found[0], check);
    } else if (fitting > 1) combination(check, name, `validate one and only one schema (oneOf). Found ${fitting} valid alternatives`);
  }
  if (allOf.length > 0) {
    const found = allOf.map((one) => complaintsOf(value, one, name, check));
    for (const errors of found) tell(errors, check);
    if (found.some((errors) => !errors.empty)) combination(check, name, 'validate all the schemas (allOf)');
  }
  if (not !== undefined && complaintsOf(value, not, name, check).empty) combination(check, name, 'not validate the schema (not)');
}
function tell(found: FieldErrors | undefined, check: Check): void {
  for (const error of found?.list ?? []) check.errors.list.push(error);
}
