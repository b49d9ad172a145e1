/** The types of built-in messages for expressions, as the published schemas describe their JSON. */
import { BOOL, BYTES, type CelType, DOUBLE, DYN, type Field, INT, listOf, mapOf, STRING, TIMESTAMP } from '@plat-dev/cel';
import { type MessageType, type ResolvedType, resolve, type ScalarName, type Type } from '@plat-dev/schema/types';
import { celName } from '../apiextensions/cel/escaped-names.ts';

const scalars: Readonly<Record<ScalarName, CelType>> = {
  string: STRING,
  bool: BOOL,
  int32: INT,
  int64: INT,
  double: DOUBLE,
  bytes: BYTES,
  // A number or a text.
  quantity: DYN,
  intOrString: DYN,
  time: TIMESTAMP,
  microTime: TIMESTAMP,
  duration: STRING,
  raw: DYN,
  json: DYN,
  fieldsV1: DYN,
};

/** A message that holds itself is known at run time only where it does. */
export const messageType = (message: MessageType): CelType => typeOf(message, new Set());

function typeOf(type: Type, above: Set<ResolvedType>): CelType {
  const resolved = resolve(type);
  switch (resolved.node) {
    case 'scalar':
      return scalars[resolved.name];
    case 'list':
      return listOf(typeOf(resolved.item, above));
    case 'map':
      return mapOf(STRING, typeOf(resolved.value, above));
    case 'union':
      return DYN;
    case 'message':
      return objectType(resolved, above);
  }
}

function objectType(message: MessageType, above: Set<ResolvedType>): CelType {
  if (message.unknown === 'keep' || above.has(message)) return DYN;
  above.add(message);
  const fields = new Map<string, Field>();
  for (const { name: property, type, only } of message.ordered) {
    const name = only === 'binary' ? undefined : celName(property);
    if (name !== undefined) fields.set(name, { property, type: typeOf(type, above) });
  }
  above.delete(message);
  // Kind and version stand in the JSON of every object.
  if (message.object) for (const property of ['kind', 'apiVersion']) fields.set(property, { property, type: STRING });
  return { kind: 'object', name: message.name, fields };
}
