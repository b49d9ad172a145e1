/**
 * How ownership and apply see objects of a custom version: a message made from its schema. It need not tell what values are
 * refused, which validation does, only how they are taken apart.
 */
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
} from '../../schema/types.ts';
import { ObjectMeta } from '../meta.ts';
import type { extensionNames, JSONSchemaProps } from './schema/json-schema.ts';
import { EmbeddedMeta } from './values/embedded.ts';

type Extensions = ReturnType<typeof extensionNames>;

/** `open`: unknown fields are kept everywhere. */
export function structureOf(schema: JSONSchemaProps, x: Extensions, name: string, open: boolean): MessageType {
  const { kind: _kind, apiVersion: _apiVersion, metadata: _metadata, ...rest } = schema.properties ?? {};
  const keeps = open || schema[x.preserveUnknownFields] === true;
  const fields = fieldsOf(rest, { x, open: keeps, name });
  return object(name, { metadata: opt(0, ObjectMeta), ...fields }, { unknown: keeps ? 'keep' : 'drop' });
}

interface Place {
  readonly x: Extensions;
  /** Where unknown fields are kept, they are kept at all depths as far as ownership is concerned. */
  readonly open: boolean;
  readonly name: string;
}

function fieldsOf(properties: Readonly<Record<string, JSONSchemaProps>>, place: Place): Record<string, Field> {
  const fields: Record<string, Field> = {};
  for (const [name, schema] of Object.entries(properties)) {
    const type = typeOf(schema, { ...place, name: `${place.name}.${name}` });
    // A key of a list that an item lacks has its default.
    fields[name] = opt(0, type, schema.default === undefined ? undefined : { default: schema.default });
  }
  return fields;
}

function typeOf(schema: JSONSchemaProps, place: Place): Type {
  switch (schema[place.x.intOrString] === true ? '' : schema.type) {
    case 'object':
      return objectType(schema, place);
    case 'array':
      return listType(schema, place);
    case 'integer':
    case 'number':
      return double;
    case 'boolean':
      return bool;
    case 'string':
      // A format tells of more than text, so that any plain value will do.
      return schema.format === undefined || schema.format === 'byte' ? string : intOrString;
    default:
      return anyValue;
  }
}

function objectType(schema: JSONSchemaProps, place: Place): Type {
  const { x, name } = place;
  const { properties = {}, additionalProperties } = schema;
  const atomic = schema[x.mapType] === 'atomic';
  const embedded = schema[x.embeddedResource] === true;
  if (!embedded && Object.keys(properties).length === 0) {
    const value = typeof additionalProperties === 'object' ? typeOf(additionalProperties, place) : anyValue;
    return map(value, { atomic });
  }
  const open = place.open || schema[x.preserveUnknownFields] === true;
  const fields = fieldsOf(properties, { ...place, open });
  const own = embedded ? { ...fields, apiVersion: opt(0, string), kind: opt(0, string), metadata: opt(0, EmbeddedMeta) } : fields;
  return message(name, own, { atomic, unknown: open ? 'keep' : 'drop' });
}

function listType(schema: JSONSchemaProps, place: Place): Type {
  const { x } = place;
  const { items } = schema;
  const item = items === undefined || Array.isArray(items) ? anyValue : typeOf(items, place);
  const kind = schema[x.listType];
  if (kind === 'set') return list(item, 'set');
  return kind === 'map' ? list(item, 'map', (schema[x.listMapKeys] ?? []) as string[]) : list(item);
}
