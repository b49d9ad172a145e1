/** Validation of the schema of a custom kind, part by part. */
import type { Work } from '@plat-dev/lib/slices';
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { evaluation } from './cel/load-evaluation.ts';
import type { RuleContext } from './cel/rule-checks.ts';
import { hasRules, validateRuleForms } from './cel/rule-form.ts';
import { validateDefaults } from './default-rules.ts';
import { validateListMarkers } from './list-rules.ts';
import type { extensionNames, JSONSchemaProps } from './schema/json-schema.ts';
import { inexpressible, validateStructural } from './structural-schema.ts';

type Extensions = ReturnType<typeof extensionNames>;

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const metaFields = new Set(['metadata', 'kind', 'apiVersion']);
/** Keywords allowed at the root of a kind with a status subresource, so that the schema of the status can be used alone. */
const rootFields = new Set([
  ...['description', 'type', 'format', 'title', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum', 'maxLength', 'minLength'],
  ...['pattern', 'maxItems', 'minItems', 'uniqueItems', 'multipleOf', 'required', 'items', 'properties', 'externalDocs', 'example'],
]);

/** The context of the schema of a version. */
export interface SchemaUse {
  /** The version has a status subresource. */
  readonly hasStatus: boolean;
  /** It differs from the stored schema; expressions of an unchanged one are not checked again. */
  readonly isNew: boolean;
  /** It need not be structural. */
  readonly isLoose: boolean;
  /** Why it may have no defaults. */
  readonly noDefaults: string | undefined;
  readonly rules: RuleContext;
}

/** `at` is the place of the whole schema. May be interrupted between the walks over it. */
export function* validateRootSchema(
  schema: JSONSchemaProps,
  { hasStatus, isNew, isLoose, noDefaults, rules }: SchemaUse,
  at: Path,
  x: Extensions,
  errors: FieldErrors,
): Work<void> {
  const errorsBefore = errors.list.length;
  if (hasStatus) validateRootFields(schema, at, x, errors);
  if (schema.nullable) errors.forbidden(at.child('nullable'), 'nullable cannot be true at the root');
  yield* validateSchema(schema, at, { x, errors, insideMeta: false, noDefaults }, true);
  yield;
  const fault = inexpressible(schema);
  if (fault !== undefined) {
    if (errors.list.length === errorsBefore) errors.invalid(at, '', fault);
    return;
  }
  yield;
  const count = errors.list.length;
  if (!isLoose) validateStructural(schema, at, x, errors);
  yield;
  if (errors.list.length === count) yield* validateDefaults(schema, at, x, errors);
  // Errors of expressions are hard to understand if the schema itself is invalid.
  if (errors.list.length === errorsBefore && isNew && (yield* hasRules(schema, x)))
    yield* (yield* evaluation()).validateRules(schema, at, rules, x, errors);
}

function validateRootFields(schema: JSONSchemaProps, at: Path, x: Extensions, errors: FieldErrors): void {
  if (schema.type !== undefined && schema.type !== 'object')
    errors.invalid(
      at.child('type'),
      schema.type,
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
    );
  const allowed = (field: string): boolean => rootFields.has(field) || field === x.preserveUnknownFields || field === x.validations;
  if (!Object.keys(schema).every(allowed))
    errors.invalid(
      at,
      schema,
      `only ${[...rootFields].join(', ')} and ${x.preserveUnknownFields} fields are allowed at the root of the schema if the status subresource is enabled`,
    );
}

interface Walk {
  readonly x: Extensions;
  readonly errors: FieldErrors;
  /** Within the metadata, kind or version of an object. */
  readonly insideMeta: boolean;
  /** Why there may be no defaults here. */
  readonly noDefaults: string | undefined;
}

function* validateSchema(schema: JSONSchemaProps, at: Path, walk: Walk, root: boolean): Work<void> {
  const { x, errors } = walk;
  validateFields(schema, at, walk);
  if (schema.uniqueItems)
    errors.forbidden(at.child('uniqueItems'), 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic');
  yield* validateObjectParts(schema, at, walk, root);
  const { not, allOf, oneOf, anyOf, definitions = none, items, dependencies = none } = schema;
  if (not !== undefined) yield* validateSchema(not, at.child('not'), walk, false);
  if (allOf !== undefined) yield* validateParts(allOf, at.child('allOf'), walk);
  if (oneOf !== undefined) yield* validateParts(oneOf, at.child('oneOf'), walk);
  if (anyOf !== undefined) yield* validateParts(anyOf, at.child('anyOf'), walk);
  for (const [key, part] of Object.entries(definitions)) yield* validateSchema(part, at.child('definitions').key(key), walk, false);
  if (Array.isArray(items)) yield* validateParts(items, at.child('items'), walk);
  else if (items !== undefined) yield* validateSchema(items, at.child('items'), walk, false);
  for (const [key, part] of Object.entries(dependencies))
    if (!Array.isArray(part)) yield* validateSchema(part, at.child('dependencies').key(key), walk, false);
  if (schema[x.preserveUnknownFields] === false) errors.invalid(at.child(x.preserveUnknownFields), false, 'must be true or undefined');
  validateMapType(schema, at, x, errors);
  validateListMarkers(schema, at, x, errors);
  validateRuleForms(schema, at, x, errors);
}

const none: Readonly<Record<string, never>> = Object.freeze({});
function* validateParts(parts: readonly JSONSchemaProps[], at: Path, walk: Walk): Work<void> {
  for (const [i, part] of parts.entries()) {
    if (walk.errors.full) return;
    yield* validateSchema(part, at.index(i), walk, false);
    yield;
  }
}

/** Keywords that no schema may have, or not here. */
const unsupported = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'] as const;

function validateFields(schema: JSONSchemaProps, at: Path, { x, errors, insideMeta, noDefaults }: Walk): void {
  const { type } = schema;
  if (type !== undefined && !types.includes(type)) errors.notSupported(at.child('type'), type, types);
  if (schema.default !== undefined && noDefaults !== undefined) errors.forbidden(at.child('default'), `must not be set ${noDefaults}`);
  for (const field of unsupported) if (schema[field] !== undefined) errors.forbidden(at.child(field), `${field} is not supported`);
  if (type === 'null') errors.forbidden(at.child('type'), 'type cannot be set to null, use nullable as an alternative');
  if (Array.isArray(schema.items)) errors.forbidden(at.child('items'), 'items must be a schema object and not an array');
  if (insideMeta && schema[x.embeddedResource] === true)
    errors.forbidden(at.child(x.embeddedResource), 'must not be used inside of resource meta');
}

function* validateObjectParts(schema: JSONSchemaProps, at: Path, walk: Walk, root: boolean): Work<void> {
  const { properties, additionalProperties } = schema;
  if (additionalProperties !== undefined) {
    if (Object.keys(properties ?? none).length > 0 && additionalProperties !== true)
      walk.errors.forbidden(at.child('additionalProperties'), 'additionalProperties and properties are mutual exclusive');
    const noDefaults = walk.insideMeta ? 'inside additionalProperties applying to object metadata' : walk.noDefaults;
    if (typeof additionalProperties === 'object')
      yield* validateSchema(additionalProperties, at.child('additionalProperties'), { ...walk, noDefaults }, false);
  }
  if (properties === undefined) return;
  const fields = at.child('properties');
  for (const [key, field] of Object.entries(properties)) {
    const isMeta = (root || schema[walk.x.embeddedResource] === true) && metaFields.has(key);
    const within = isMeta ? { ...walk, insideMeta: true, noDefaults: root ? `in top-level ${key}` : walk.noDefaults } : walk;
    yield* validateSchema(field, fields.key(key), within, false);
    yield;
  }
}

const mapTypes = ['atomic', 'granular'];

function validateMapType(schema: JSONSchemaProps, at: Path, x: Extensions, errors: FieldErrors): void {
  const mapType = schema[x.mapType] as string | undefined;
  if (mapType === undefined) return;
  mustBe('object', x.mapType, schema, at, errors);
  if (!mapTypes.includes(mapType)) errors.notSupported(at.child(x.mapType), mapType, mapTypes);
}

/** A marker belongs to one type. */
function mustBe(type: string, marker: string, schema: JSONSchemaProps, at: Path, errors: FieldErrors): boolean {
  if (schema.type === type) return true;
  const problem = `must be ${type} if ${marker} is specified`;
  if (schema.type === undefined) errors.required(at.child('type'), problem);
  else errors.invalid(at.child('type'), schema.type, problem);
  return false;
}
