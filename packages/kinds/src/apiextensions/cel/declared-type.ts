/**
 * The types that a structural schema declares for expressions, with the maximum number of elements and the minimum length in
 * JSON of each value. Values that the schema does not describe are not declared: expressions cannot read them.
 *
 *   { type: object, properties: { x-n: { type: integer } } }          → an object with the field x__dash__n, an int
 *   { type: object, additionalProperties: { type: string } }           → a map of texts
 *   { type: string, format: date-time }                                → a timestamp
 *   { x-…-preserve-unknown-fields: true }, lists and maps of such      → nothing
 */

import type { CelType, Field } from '@plat-dev/cel';
import { own } from '@plat-dev/lib/own';
import type { Work } from '@plat-dev/lib/slices';
import type { extensionNames, JSONSchemaProps } from '../schema/json-schema.ts';
import { celName } from './escaped-names.ts';

type Extensions = ReturnType<typeof extensionNames>;

/** Largest body, from which the sizes of values follow where a schema does not bound them. */
export const MAX_REQUEST_BYTES = 3 * 1024 * 1024;

/** Bytes of the shortest values in JSON, and of the longest of some formats. */
const MIN_STRING = 2;
const MIN_NUMBER = 1;
const MIN_BOOLEAN = 4;
const MIN_DURATION = 3;
const MIN_DATE_TIME = 21;
const DATE = 12;
const MAX_DURATION = 32;
const MAX_DATE_TIME = 32;
/** Bytes that one character may take. */
const MAX_CHARACTER = 4;
/** Longest names of objects. */
const MAX_NAME = 253;

export interface Declared {
  readonly type: CelType;
  /** Bytes of the shortest value in JSON. */
  readonly minSize: number;
  /** Declared types of the properties of an object, by property. */
  readonly fields?: ReadonlyMap<string, Declared>;
  /** Of the items of a list or the values of a map. */
  readonly element?: Declared;
}

/** `root`: the value is an object of the API, whose kind, version and name expressions can always read. */
export function* declaredTypeOf(schema: JSONSchemaProps, x: Extensions, name: string, root = false): Work<Declared | undefined> {
  if (schema[x.intOrString] === true) return { type: { kind: 'dyn', maxSize: textSize(schema) }, minSize: MIN_NUMBER };
  switch (schema.type) {
    case 'object':
      return yield* declaredObject(schema, x, name, root || schema[x.embeddedResource] === true);
    case 'array':
      return yield* declaredList(schema, x, name);
    case 'string':
      return declaredText(schema);
    case 'boolean':
      return boolean;
    case 'number':
      return double;
    case 'integer':
      return int;
    default:
      return undefined;
  }
}
const boolean: Declared = { type: { kind: 'bool' }, minSize: MIN_BOOLEAN };
const double: Declared = { type: { kind: 'double' }, minSize: MIN_NUMBER };
const int: Declared = { type: { kind: 'int' }, minSize: MIN_NUMBER };
const plainText: Declared = { type: { kind: 'string', maxSize: MAX_REQUEST_BYTES - 2 }, minSize: MIN_STRING };
/** Keys of maps count as 0 in estimates, as in a stock server: no schema bounds them. */
const KEY: CelType = { kind: 'string', maxSize: 0 };
const text = (maxSize: number): Declared => ({ type: { kind: 'string', maxSize }, minSize: MIN_STRING });

/** Bytes of the longest text of a schema, without its quotes. */
function textSize({ maxLength }: JSONSchemaProps): number {
  return maxLength === undefined ? MAX_REQUEST_BYTES - 2 : Math.max(0, Number(maxLength)) * MAX_CHARACTER;
}

function declaredText(schema: JSONSchemaProps): Declared {
  const { maxLength, enum: members } = schema;
  switch (schema.format) {
    case 'byte':
      return {
        type: { kind: 'bytes', maxSize: maxLength === undefined ? MAX_REQUEST_BYTES - 2 : Math.max(0, Number(maxLength)) },
        minSize: MIN_STRING,
      };
    case 'duration':
      return { type: { kind: 'duration', maxSize: MAX_DURATION }, minSize: MIN_DURATION };
    case 'date':
      return { type: { kind: 'timestamp', maxSize: DATE }, minSize: DATE };
    case 'date-time':
      return { type: { kind: 'timestamp', maxSize: MAX_DATE_TIME }, minSize: MIN_DATE_TIME };
  }
  if (maxLength === undefined && members !== undefined && members.length > 0)
    return text(Math.max(0, ...members.map((one) => (typeof one === 'string' ? Buffer.byteLength(one) : 0))));
  return maxLength === undefined ? plainText : text(textSize(schema));
}

function* declaredList(schema: JSONSchemaProps, x: Extensions, name: string): Work<Declared | undefined> {
  const { items, maxItems } = schema;
  if (items === undefined || Array.isArray(items)) return undefined;
  const element = yield* declaredTypeOf(items, x, `${name}.@idx`);
  if (element === undefined) return undefined;
  const maxSize = maxItems === undefined ? Math.floor((MAX_REQUEST_BYTES - 2) / (element.minSize + 1)) : Math.max(0, Number(maxItems));
  const listType = schema[x.listType];
  return {
    type: {
      kind: 'list',
      of: element.type,
      maxSize,
      ...(listType === 'set' && { listType }),
      ...(listType === 'map' && { listType, keys: (schema[x.listMapKeys] ?? []) as string[] }),
    },
    minSize: 2,
    element,
  };
}

function* declaredObject(schema: JSONSchemaProps, x: Extensions, name: string, resource: boolean): Work<Declared | undefined> {
  const { additionalProperties, maxProperties } = schema;
  if (typeof additionalProperties === 'object' && !resource) {
    const element = yield* declaredTypeOf(additionalProperties, x, `${name}.@elem`);
    if (element === undefined) return undefined;
    // A key takes two quotes, a colon and a comma, and two bytes of its own.
    const maxSize =
      maxProperties === undefined ? Math.floor((MAX_REQUEST_BYTES - 2) / (element.minSize + 6)) : Math.max(0, Number(maxProperties));
    return { type: { kind: 'map', key: KEY, of: element.type, maxSize }, minSize: 2, element };
  }
  // A schema that declares kind, version and metadata completely is used as it is.
  const spelledOut = resource && namesItself(schema);
  const required = new Set(schema.required);
  const fields = new Map<string, Declared>();
  const types = new Map<string, Field>();
  let minSize = 2;
  for (const [property, field] of Object.entries(schema.properties ?? {})) {
    const declared = resource && !(spelledOut && property === 'metadata') ? metaField(property, field) : undefined;
    const fieldType = declared ?? (yield* declaredTypeOf(field, x, `${name}.${property}`));
    if (fieldType === undefined) continue;
    fields.set(property, fieldType);
    addField(types, property, fieldType);
    // A property with a default need not be sent.
    if (required.has(property) && field.default === undefined) minSize += Buffer.byteLength(property) + fieldType.minSize + 4;
  }
  if (resource)
    for (const property of ['apiVersion', 'kind', 'metadata'])
      if (!fields.has(property)) {
        const fieldType = metaField(property, {}) as Declared;
        fields.set(property, fieldType);
        addField(types, property, fieldType);
      }
  yield;
  return { type: { kind: 'object', name, fields: types }, minSize, fields };
}

function addField(types: Map<string, Field>, property: string, { type }: Declared): void {
  const name = celName(property);
  if (name !== undefined) types.set(name, { property, type });
}

/** Whether a schema declares kind, version, name and generateName itself: only then do other fields of its metadata count. */
function namesItself({ properties = {} }: JSONSchemaProps): boolean {
  const typeOf = (of: Readonly<Record<string, JSONSchemaProps>>, name: string): string | undefined => own(of, name)?.type;
  if (typeOf(properties, 'kind') !== 'string' || typeOf(properties, 'apiVersion') !== 'string') return false;
  const metadata = properties.metadata?.properties;
  if (typeOf(properties, 'metadata') !== 'object' || metadata === undefined) return false;
  return typeOf(metadata, 'name') === 'string' && typeOf(metadata, 'generateName') === 'string';
}

/** Kind, version and metadata of an object of the API, of which only the name can be read unless the schema spells out all. */
function metaField(property: string, schema: JSONSchemaProps): Declared | undefined {
  if (property === 'apiVersion' || property === 'kind') return plainText;
  if (property !== 'metadata') return undefined;
  const bounded = (field: string, most: number): Declared => {
    const declared = own(schema.properties, field);
    return text(Math.min(Number(declared?.maxLength ?? most), most) * MAX_CHARACTER);
  };
  const fields = new Map<string, Declared>([
    ['name', bounded('name', MAX_NAME)],
    ['generateName', bounded('generateName', MAX_NAME - 1)],
  ]);
  const types = new Map<string, Field>();
  for (const [name, declared] of fields) addField(types, name, declared);
  return { type: { kind: 'object', name: 'metadata', fields: types }, minSize: 2, fields };
}
