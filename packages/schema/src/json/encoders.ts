/** How values of each type are written as JSON text. An encoder is compiled once for a type, the first time it is needed. */
import { jsonText } from '@plat-dev/lib/json-text';
import { type ListType, type MapType, type ResolvedType, resolve, type ScalarName, type Type } from '../types.ts';
import { cachedText, setCachedText } from './cached-text.ts';
import { messageEncoder } from './message-encoder.ts';
import { closeBrace, closeBracket, colon, comma, type JsonWriter, openBrace, openBracket, type ValueEncoder } from './writer.ts';

type Values = Record<string, unknown>;

const encoders = new WeakMap<Type, ValueEncoder>();

export function encoderOf(type: Type): ValueEncoder {
  const resolved = resolve(type);
  let encoder = encoders.get(resolved);
  if (encoder === undefined) {
    encoder = compile(resolved);
    encoders.set(resolved, encoder);
  }
  return encoder;
}

function compile(resolved: ResolvedType): ValueEncoder {
  switch (resolved.node) {
    case 'scalar':
      return scalarEncoder(resolved.name);
    case 'list':
      return listEncoder(resolved);
    case 'map':
      return mapEncoder(resolved);
    case 'message':
      return messageEncoder(resolved, encoderOf, encodeOtherFields);
    case 'union': {
      const encodeObject = encoderOf(resolved.object.type);
      const encodeOther = encoderOf(resolved.other.type);
      return (writer, value) =>
        typeof value === 'object' && !Array.isArray(value) ? encodeObject(writer, value) : encodeOther(writer, value);
    }
  }
}

function scalarEncoder(name: ScalarName): ValueEncoder {
  switch (name) {
    case 'string':
    case 'bytes':
    case 'quantity':
    case 'duration':
      return (writer, value) => writer.quoted(value as string);
    case 'time':
    case 'microTime':
      // A map keeps the key of a zero time.
      return (writer, value) => (value === null ? writer.ascii('null') : writer.quoted(value as string));
    case 'bool':
      return (writer, value) => writer.ascii(value === true ? 'true' : 'false');
    case 'int32':
    case 'int64':
      // NaN and infinities are written as by JSON.stringify, so that the text stays JSON.
      return (writer, value) => writer.ascii(typeof value === 'number' && !Number.isFinite(value) ? 'null' : String(value));
    case 'fieldsV1':
      return encodeFieldSet;
    default:
      return encodePlain;
  }
}

function encodeFieldSet(writer: JsonWriter, value: unknown): void {
  const text = cachedText(value as object);
  if (text === undefined) encodePlain(writer, value);
  else if (text !== null) writer.bytes(text);
  else
    setCachedText(
      value as object,
      writer.copyOf(() => encodePlain(writer, value)),
    );
}

/** Any JSON value, as JSON.stringify writes it: field sets, embedded objects. */
function encodePlain(writer: JsonWriter, value: unknown): void {
  if (typeof value === 'string') writer.quoted(value);
  else if (typeof value !== 'object' || value === null) writer.utf8(jsonText(value) ?? 'null');
  else if (Array.isArray(value)) {
    writer.byte(openBracket);
    encodeItems(writer, value, encodePlain, 0);
  } else if (!isEncodedAtOnce(writer, value as Values, encodePlain, false))
    encodeEntries(writer, value as Values, Object.keys(value), encodePlain, openBrace, 0);
}

/** The items of a list from one on, and its end. */
function encodeItems(writer: JsonWriter, list: readonly unknown[], encodeItem: ValueEncoder, from: number): void {
  for (let i = from; i < list.length; i++) {
    if (writer.isStepOver) {
      writer.leave(() => encodeItems(writer, list, encodeItem, i));
      return;
    }
    if (i > 0) writer.byte(comma);
    encodeItem(writer, list[i]);
  }
  writer.byte(closeBracket);
}
function listEncoder(type: ListType): ValueEncoder {
  const encodeItem = encoderOf(type.item);
  return (writer, value) => {
    writer.byte(openBracket);
    encodeItems(writer, value as unknown[], encodeItem, 0);
  };
}

function mapEncoder(type: MapType): ValueEncoder {
  const encodeItem = encoderOf(type.value);
  return (writer, value) => {
    if (!isEncodedAtOnce(writer, value as Values, encodeItem, true))
      encodeEntries(writer, value as Values, Object.keys(value as Values).sort(), encodeItem, openBrace, 0);
  };
}
/**
 * An object as it is. Writes nothing and returns false where its keys have to be listed first: they are not `sorted`, or the step
 * may end among them.
 */
function isEncodedAtOnce(writer: JsonWriter, object: Values, encodeItem: ValueEncoder, sorted: boolean): boolean {
  if (writer.hasSteps) return false;
  const start = writer.mark;
  let separator = openBrace;
  let lastKey = '';
  for (const key in object) {
    if (sorted) {
      if (key < lastKey) {
        writer.backTo(start);
        return false;
      }
      lastKey = key;
    }
    const value = object[key];
    if (value === undefined) continue;
    encodeEntry(writer, separator, key, value, encodeItem);
    separator = comma;
  }
  endObject(writer, separator);
  return true;
}
/** The entries of an object from one on, and its end. */
function encodeEntries(
  writer: JsonWriter,
  object: Values,
  keys: readonly string[],
  encodeItem: ValueEncoder,
  first: number,
  from: number,
): void {
  let separator = first;
  for (let i = from; i < keys.length; i++) {
    if (writer.isStepOver) {
      writer.leave(() => encodeEntries(writer, object, keys, encodeItem, separator, i));
      return;
    }
    const key = keys[i] as string;
    const value = object[key];
    if (value === undefined) continue;
    encodeEntry(writer, separator, key, value, encodeItem);
    separator = comma;
  }
  endObject(writer, separator);
}
/** The fields that a message keeps although its type does not name them, and its end. */
function encodeOtherFields(writer: JsonWriter, object: Values, keys: readonly string[], separator: number): void {
  encodeEntries(writer, object, keys, encodePlain, separator, 0);
}
/** `separator`: what would come before the next field. */
function endObject(writer: JsonWriter, separator: number): void {
  if (separator === openBrace) writer.byte(openBrace);
  writer.byte(closeBrace);
}
function encodeEntry(writer: JsonWriter, separator: number, key: string, value: unknown, encodeItem: ValueEncoder): void {
  writer.byte(separator);
  writer.quoted(key);
  writer.byte(colon);
  encodeItem(writer, value);
}
