/** Validation of rules before their expressions are compiled. */
import type { Work } from '@plat-dev/lib/slices';
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import type { extensionNames, JSONSchemaProps, ValidationRule } from '../schema/json-schema.ts';
import { normalFieldPath } from './field-path.ts';

type Extensions = ReturnType<typeof extensionNames>;

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];
const lineBreak = /[\n\r]/;

/** The rules of a schema, not of those below. */
export function rulesOf(schema: JSONSchemaProps, x: Extensions): readonly ValidationRule[] {
  return (schema[x.validations] ?? none) as readonly ValidationRule[];
}
const none: readonly ValidationRule[] = [];

/** Whether it or anything below it has rules. Most schemas have none, and their declared types are not needed. */
export function* hasRules(schema: JSONSchemaProps, x: Extensions): Work<boolean> {
  if (rulesOf(schema, x).length > 0) return true;
  const { properties, additionalProperties, items } = schema;
  if (items !== undefined && !Array.isArray(items) && (yield* hasRules(items, x))) return true;
  if (typeof additionalProperties === 'object' && (yield* hasRules(additionalProperties, x))) return true;
  if (properties === undefined) return false;
  for (const field of Object.values(properties)) if (!isPlain(field, x) && (yield* hasRules(field, x))) return true;
  yield;
  return false;
}
/** Neither it nor anything below it can have rules. */
export const isPlain = (schema: JSONSchemaProps, x: Extensions): boolean =>
  schema.properties === undefined &&
  schema.additionalProperties === undefined &&
  schema.items === undefined &&
  schema[x.validations] === undefined;

export function validateRuleForms(schema: JSONSchemaProps, at: Path, x: Extensions, errors: FieldErrors): void {
  const rules = rulesOf(schema, x);
  if (rules.length === 0) return;
  const place = at.child(x.validations);
  for (let i = 0; i < rules.length && !errors.full; i++) validateForm(rules[i] as ValidationRule, schema, place.index(i), errors);
}

function validateForm(validationRule: ValidationRule, schema: JSONSchemaProps, at: Path, errors: FieldErrors): void {
  const { message = '', messageExpression = '', reason, fieldPath = '' } = validationRule;
  const rule = validationRule.rule.trim();
  const trimmedMessage = message.trim();
  if (rule === '') errors.required(at.child('rule'), 'rule is not specified');
  else if (message !== '' && trimmedMessage === '') errors.invalid(at.child('message'), message, 'message must be non-empty if specified');
  else if (lineBreak.test(trimmedMessage)) errors.invalid(at.child('message'), message, 'message must not contain line breaks');
  else if (lineBreak.test(rule) && trimmedMessage === '')
    errors.required(at.child('message'), 'message must be specified if rule contains line breaks');
  if (messageExpression !== '' && messageExpression.trim() === '')
    errors.required(at.child('messageExpression'), 'messageExpression must be non-empty if specified');
  if (reason !== undefined && !reasons.includes(reason)) errors.notSupported(at.child('reason'), reason, reasons);
  if (fieldPath === '') return;
  const here = at.child('fieldPath');
  if (fieldPath.trim() === '') errors.invalid(here, fieldPath, 'must be non-empty if specified');
  if (lineBreak.test(fieldPath)) errors.invalid(here, fieldPath, 'must not contain line breaks');
  if (normalFieldPath(fieldPath, schema) === undefined) errors.invalid(here, fieldPath, 'must be a valid path');
}
