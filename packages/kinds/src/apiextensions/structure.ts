/**
 * The structure of objects of a custom version for ownership and apply: a message made from its schema. It does not validate
 * values, it only defines how they are split into fields and items.
 */
import { setOwn } from '@plat-dev/lib/own';
import type { Work } from '@plat-dev/lib/slices';
import { apiRelease, isAtLeast } from '@plat-dev/lib/version';
import {
  anyValue,
  bool,
  double,
  type Field,
  intOrString,
  list,
  type MessageType,
  map,
  message,
  object,
  opt,
  string,
  type Type,
} from '@plat-dev/schema/types';
import { ObjectMeta } from '../meta.ts';
import type { JSONSchemaProps } from './schema/json-schema.ts';
import { EmbeddedMeta } from './values/embedded.ts';
import type { Extensions } from './values/node.ts';

/** `open`: unknown fields are kept everywhere. */
export function* structureOf(schema: JSONSchemaProps, x: Extensions, name: string, open: boolean): Work<MessageType> {
  const { kind: _kind, apiVersion: _apiVersion, metadata: _metadata, ...rest } = schema.properties ?? {};
  const keeps = open || schema[x.preserveUnknownFields] === true;
  const fields = yield* fieldsOf(rest, { x, open: keeps, name });
  return object(name, { metadata: opt(0, ObjectMeta), ...fields }, { unknown: keeps ? 'keep' : 'drop' });
}

interface Place {
  readonly x: Extensions;
  /** For ownership, unknown fields that are kept are kept at all depths. */
  readonly open: boolean;
  readonly name: string;
}

function* fieldsOf(properties: Readonly<Record<string, JSONSchemaProps>>, place: Place): Work<Record<string, Field>> {
  const fields: Record<string, Field> = {};
  for (const [name, schema] of Object.entries(properties)) {
    const type = plainType(schema, place.x) ?? (yield* typeOf(schema, { ...place, name: `${place.name}.${name}` }));
    // A key of a list that an item lacks has its default.
    setOwn(fields, name, schema.default === undefined ? fieldOf(type) : opt(0, type, { default: schema.default }));
  }
  yield;
  return fields;
}

/** Fields of the scalar types, which are the same for all names. */
const plainFields = new Map<Type, Field>([string, double, bool, intOrString, anyValue].map((type) => [type, opt(0, type)]));
const fieldOf = (type: Type): Field => plainFields.get(type) ?? opt(0, type);

function* typeOf(schema: JSONSchemaProps, place: Place): Work<Type> {
  const plain = plainType(schema, place.x);
  if (plain !== undefined) return plain;
  return schema.type === 'object' ? yield* objectType(schema, place) : yield* listType(schema, place);
}

/** Undefined for objects and lists. */
function plainType(schema: JSONSchemaProps, x: Extensions): Type | undefined {
  switch (schema[x.intOrString] === true ? '' : schema.type) {
    case 'object':
    case 'array':
      return undefined;
    case 'integer':
    case 'number':
      return double;
    case 'boolean':
      return bool;
    case 'string':
      // A format may apply to other types than text, so that any scalar is accepted.
      return schema.format === undefined || schema.format === 'byte' ? string : intOrString;
    default:
      return anyValue;
  }
}

function* objectType(schema: JSONSchemaProps, place: Place): Work<Type> {
  const { x, name } = place;
  const { properties = {}, additionalProperties } = schema;
  const atomic = schema[x.mapType] === 'atomic';
  const embedded = schema[x.embeddedResource] === true;
  if (!embedded && Object.keys(properties).length === 0) {
    const value = typeof additionalProperties === 'object' ? yield* typeOf(additionalProperties, place) : anyValue;
    return map(value, { atomic });
  }
  const open = place.open || schema[x.preserveUnknownFields] === true;
  const fields = yield* fieldsOf(properties, { ...place, open });
  const own = embedded ? { ...fields, apiVersion: opt(0, string), kind: opt(0, string), metadata: opt(0, EmbeddedMeta) } : fields;
  return message(name, own, { atomic, unknown: open ? 'keep' : 'drop' });
}

/** From this release on an item may lack some of its keys. */
const OPTIONAL_KEYS_SINCE = '1.34';

function* listType(schema: JSONSchemaProps, place: Place): Work<Type> {
  const { x } = place;
  const { items } = schema;
  const item = items === undefined || Array.isArray(items) ? anyValue : yield* typeOf(items, place);
  const kind = schema[x.listType];
  if (kind === 'set') return list(item, 'set');
  if (kind !== 'map') return list(item);
  const keyed = list(item, 'map', (schema[x.listMapKeys] ?? []) as string[]);
  return isAtLeast(x.release ?? apiRelease, OPTIONAL_KEYS_SINCE) ? { ...keyed, optionalKeys: true } : keyed;
}
