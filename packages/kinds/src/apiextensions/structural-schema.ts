/**
 * Structural schemas: every field is given a type outside of the combinations (`allOf`, `anyOf`, `oneOf`, `not`), which
 * then only narrow values. Only such a schema defines which fields exist, and so can prune, default and merge them.
 */

import { equal } from '@plat-dev/lib/equal';
import { own } from '@plat-dev/lib/own';
import { FieldErrors, type Path } from '@plat-dev/meta/field';
import { each } from '../validation/each.ts';
import type { extensionNames, JSONSchemaProps } from './schema/json-schema.ts';
import { eachPart } from './schema/parts.ts';
import { compilePattern, PatternError } from './values/pattern.ts';

type Extensions = ReturnType<typeof extensionNames>;
type Level = 'root' | 'item' | 'field';

const unsupported = ['id', '$schema', '$ref', 'additionalItems', 'patternProperties', 'definitions', 'dependencies'] as const;

/** Errors that make the check of the structure impossible. */
export function inexpressible(schema: JSONSchemaProps): string | undefined {
  for (const field of unsupported) if (schema[field] !== undefined) return `OpenAPIV3Schema '${field}' is not supported`;
  if (Array.isArray(schema.items)) return "OpenAPIV3Schema 'items' must be an object, but is an array";
  let fault: string | undefined;
  eachPart(schema, (part) => {
    fault ??= inexpressible(part);
  });
  return fault;
}

/** All errors, in the order of their texts. */
export function validateStructural(schema: JSONSchemaProps, at: Path, x: Extensions, errors: FieldErrors): void {
  const structuralErrors = new FieldErrors();
  const check = new StructureCheck(x, structuralErrors);
  check.structure(schema, 'root', at);
  check.completeness(schema, schema, at, at);
  const text = (error: { field: string; message: string }): string => `${error.field}: ${error.message}`;
  errors.list.push(...structuralErrors.list.sort((a, b) => (text(a) < text(b) ? -1 : 1)));
}

const intOrStringTypes = [{ type: 'integer' }, { type: 'string' }];
const emptyType: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

class StructureCheck {
  private readonly x: Extensions;
  private readonly errors: FieldErrors;
  /** Keywords that parts of combinations may not have, and what they must be instead. */
  private readonly absent: readonly (readonly [string, readonly (keyof JSONSchemaProps)[]])[];

  constructor(x: Extensions, errors: FieldErrors) {
    this.x = x;
    this.errors = errors;
    this.absent = [
      ['empty', ['type', 'title', 'description', x.listMapKeys, x.validations]],
      ['undefined', ['default', 'externalDocs', x.listType, x.mapType]],
      ['false', ['nullable', x.preserveUnknownFields, x.embeddedResource, x.intOrString]],
    ];
  }

  structure(schema: JSONSchemaProps, level: Level, at: Path): void {
    const { errors, x } = this;
    const { type = '', items, properties = {}, additionalProperties } = schema;
    const embedded = schema[x.embeddedResource] === true;
    if (type === 'array' && items === undefined) errors.required(at.child('items'), 'must be specified');
    if (items !== undefined && !Array.isArray(items)) this.structure(items, 'item', at.child('items'));
    const fields = at.child('properties');
    if (schema.properties !== undefined)
      for (const [key, field] of Object.entries(properties)) this.structure(field, 'field', fields.key(key));
    if (additionalProperties !== undefined) {
      if (level === 'root') errors.forbidden(at.child('additionalProperties'), 'must not be used at the root');
      if (embedded) errors.forbidden(at.child('additionalProperties'), `must not be used if ${x.embeddedResource} is set`);
      if (typeof additionalProperties === 'object') this.structure(additionalProperties, 'field', at.child('additionalProperties'));
    }
    this.extensions(schema, at);
    const anyOfIsType = equal(schema.anyOf, intOrStringTypes);
    const firstIsType = equal(schema.allOf?.[0]?.anyOf, intOrStringTypes);
    this.validations(schema, anyOfIsType, firstIsType, at);
    this.type(schema, embedded, level, at);
    this.metadata(schema, embedded, level, fields);
    if (embedded && schema[x.preserveUnknownFields] !== true && Object.keys(properties).length === 0)
      errors.required(at.child('properties'), `must not be empty if ${x.embeddedResource} is true without ${x.preserveUnknownFields}`);
  }

  private extensions(schema: JSONSchemaProps, at: Path): void {
    const { x } = this;
    if (schema[x.intOrString] !== true) return;
    for (const other of [x.preserveUnknownFields, x.embeddedResource])
      if (schema[other] === true) this.errors.invalid(at.child(other), true, `must be false if ${x.intOrString} is true`);
  }

  private type(schema: JSONSchemaProps, embedded: boolean, level: Level, at: Path): void {
    const { errors, x } = this;
    const { type = '' } = schema;
    const here = at.child('type');
    if (embedded && type !== 'object') {
      const problem = `must be object if ${x.embeddedResource} is true`;
      if (type === '') errors.required(here, problem);
      else errors.invalid(here, type, problem);
    } else if (type === '' && schema[x.intOrString] !== true && schema[x.preserveUnknownFields] !== true)
      errors.required(here, emptyType[level]);
    if (level === 'root' && type !== '' && type !== 'object') errors.invalid(here, type, 'must be object at the root');
  }

  /** Kind, version and metadata are the server's; a schema may only narrow the name. */
  private metadata(schema: JSONSchemaProps, embedded: boolean, level: Level, at: Path): void {
    const { properties = {} } = schema;
    const isResource = level === 'root' || embedded;
    for (const key of ['kind', 'apiVersion']) {
      const field = own(properties, key);
      if (isResource && field !== undefined && field.type !== 'string')
        this.errors.invalid(at.key(key).child('type'), field.type ?? '', 'must be string');
    }
    const metadata = Object.hasOwn(properties, 'metadata') ? properties.metadata : undefined;
    if (metadata === undefined) return;
    if (isResource && metadata.type !== 'object')
      this.errors.invalid(at.key('metadata').child('type'), metadata.type ?? '', 'must be object');
    if (level !== 'root') return;
    const { type: _type, default: _default, properties: named = {}, ...rest } = metadata;
    if (Object.keys(rest).length > 0 || !Object.keys(named).every((key) => key === 'name' || key === 'generateName'))
      this.errors.forbidden(
        at.key('metadata'),
        'must not specify anything other than name and generateName, but metadata is implicitly specified',
      );
  }

  /** Keywords that narrow values. */
  private validations(schema: JSONSchemaProps, skipAnyOf: boolean, skipFirstAllOf: boolean, at: Path): void {
    const { anyOf, allOf, oneOf, not, pattern } = schema;
    if (!skipAnyOf && anyOf !== undefined) each(anyOf, at.child('anyOf'), (part, here) => this.nested(part, false, here));
    if (allOf !== undefined) each(allOf, at.child('allOf'), (part, here, i) => this.nested(part, skipFirstAllOf && i === 0, here));
    if (oneOf !== undefined) each(oneOf, at.child('oneOf'), (part, here) => this.nested(part, false, here));
    if (not !== undefined) this.nested(not, false, at.child('not'));
    if (pattern !== undefined) this.pattern(pattern, at.child('pattern'));
  }

  private pattern(pattern: string, at: Path): void {
    try {
      compilePattern(pattern);
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      this.errors.invalid(at, pattern, `must be a valid regular expression, but isn't: ${error.message}`);
    }
  }

  /** A part of a combination, which may not declare fields. */
  private nested(part: JSONSchemaProps, skipAnyOf: boolean, at: Path): void {
    const { errors } = this;
    this.validations(part, skipAnyOf, false, at);
    if (part.items !== undefined && !Array.isArray(part.items)) this.nested(part.items, false, at.child('items'));
    for (const [key, field] of Object.entries(part.properties ?? {})) this.nested(field, false, at.child('properties').key(key));
    for (const [how, fields] of this.absent)
      for (const field of fields) {
        const value = part[field];
        if (value !== undefined && value !== false) errors.forbidden(at.child(String(field)), `must be ${how} to be structural`);
      }
    if (part.additionalProperties !== undefined) errors.forbidden(at.child('additionalProperties'), 'must be undefined to be structural');
    if (Object.hasOwn(part.properties ?? {}, 'metadata'))
      errors.forbidden(at.child('properties').key('metadata'), 'must not be specified in a nested context');
  }

  /** Fields of combinations are also in the structure. `from` is where they are named. */
  completeness(validation: JSONSchemaProps, schema: JSONSchemaProps, at: Path, from: Path): void {
    const { not, allOf, anyOf, oneOf } = validation;
    if (not !== undefined) this.nestedCompleteness(not, schema, at, from.child('not'));
    if (allOf !== undefined) each(allOf, from.child('allOf'), (part, here) => this.nestedCompleteness(part, schema, at, here));
    if (anyOf !== undefined) each(anyOf, from.child('anyOf'), (part, here) => this.nestedCompleteness(part, schema, at, here));
    if (oneOf !== undefined) each(oneOf, from.child('oneOf'), (part, here) => this.nestedCompleteness(part, schema, at, here));
  }

  private nestedCompleteness(part: JSONSchemaProps, schema: JSONSchemaProps | undefined, at: Path, from: Path): void {
    if (schema === undefined) {
      this.errors.required(at, `because it is defined in ${from}`);
      return;
    }
    this.completeness(part, schema, at, from);
    const items = Array.isArray(schema.items) ? undefined : schema.items;
    if (part.items !== undefined && !Array.isArray(part.items))
      this.nestedCompleteness(part.items, items, at.child('items'), from.child('items'));
    for (const [key, field] of Object.entries(part.properties ?? {})) {
      const propertySchema = own(schema.properties, key);
      this.nestedCompleteness(field, propertySchema, at.child('properties').key(key), from.child('properties').key(key));
    }
  }
}
