/**
 * From the normal form to the binary form: fields in tag order, maps in order of their keys' bytes. Fields that are not pointers
 * are written even if they are zero, as in a stock server: an empty text, a false, a message of zeros, an empty message for
 * an absent time. Lists, maps and bytes are written only if they are not empty.
 */
import type { Integer } from '@plat-dev/lib/integers';
import { jsonText } from '@plat-dev/lib/json-text';
import { parseDuration, parseInstant } from '@plat-dev/lib/time';
import { type Field, type MapType, type MessageType, type ResolvedType, resolve, type ScalarName, type UnionType } from '../types.ts';
import { BackwardWriter } from './writer.ts';

/** The bytes of an object, without an envelope. */
export function encodeProtobuf(type: MessageType, object: unknown): Buffer {
  out.reset();
  contentWriterOf(type)(object);
  return out.bytes();
}

const out = new BackwardWriter();
type Values = Record<string, unknown>;
/** Writes a value. */
type Write = (value: unknown) => void;

const varintWire = 0;
const fixedWire = 1;
const lengthWire = 2;

/** Writes the output of `content` as a message, with its length before it. */
function sized(content: Write): Write {
  return (value) => {
    const before = out.length;
    content(value);
    out.varint(out.length - before);
  };
}

// ---- messages --------------------------------------------------------------------------------------------------

const contentWriters = new WeakMap<MessageType, Write>();

/** The fields of a message, without its length. Fields are planned on first use, so that a schema may contain itself. */
function contentWriterOf(type: MessageType): Write {
  const cachedWriter = contentWriters.get(type);
  if (cachedWriter !== undefined) return cachedWriter;
  let fields: Write[] | undefined;
  const write: Write = (object) => {
    fields ??= planFields(type);
    for (let i = 0; i < fields.length; i++) (fields[i] as Write)(object);
  };
  contentWriters.set(type, write);
  return write;
}

/** One writer a field, highest tag first; each takes the whole message. */
function planFields(type: MessageType): Write[] {
  return Object.entries(type.fields as Record<string, Field>)
    .filter(([, field]) => field.only !== 'json')
    .sort(([, a], [, b]) => b.tag - a.tag)
    .map(([key, field]) => fieldWriter(field.json ?? key, field));
}

function fieldWriter(name: string, field: Field): Write {
  const type = resolve(field.type);
  if (field.inline === true) {
    return withTag(field.tag, lengthWire, sized(contentWriterOf(type as MessageType)));
  }
  const write = taggedWriter(field.tag, type);
  // An absent pointer, list or map is not written; any other absent field is written as zero.
  if (field.nullable === true || isOptional(type)) {
    return (object) => {
      const value = (object as Values)[name];
      if (value !== undefined && value !== null) write(value);
    };
  }
  const zero = type.node === 'message' ? noFields : binaryZeros[(type as { name: ScalarName }).name];
  return (object) => write((object as Values)[name] ?? zero);
}
const noFields = Object.freeze({});

function isOptional(type: ResolvedType): boolean {
  return type.node === 'list' || type.node === 'map' || type.node === 'union' || (type.node === 'scalar' && type.name === 'bytes');
}
const binaryZeros: Readonly<Partial<Record<ScalarName, unknown>>> = {
  string: '',
  bool: false,
  int32: 0,
  int64: 0,
  double: 0,
  quantity: '0',
  duration: '0s',
  intOrString: 0,
  time: null,
  microTime: null,
  raw: null,
  json: null,
  fieldsV1: null,
};

function withTag(tag: number, wire: number, write: Write): Write {
  const key = tag * 8 + wire;
  return (value) => {
    write(value);
    out.varint(key);
  };
}

/** A value with its tag before it; of a list, every item. */
function taggedWriter(tag: number, type: ResolvedType): Write {
  if (type.node === 'map') return mapWriter(tag, type);
  if (type.node === 'list' && !type.boxed) {
    const write = taggedWriter(tag, boxedInside(resolve(type.item)));
    return (value) => {
      for (let i = (value as unknown[]).length - 1; i >= 0; i--) write((value as unknown[])[i]);
    };
  }
  return withTag(tag, wireOf(type), valueWriter(type));
}
/** A list in a list has no binary form but a message of its own. */
function boxedInside(type: ResolvedType): ResolvedType {
  return type.node === 'list' ? { ...type, boxed: true } : type;
}

function wireOf(type: ResolvedType): number {
  if (type.node !== 'scalar') return lengthWire;
  if (type.name === 'bool' || type.name === 'int32' || type.name === 'int64') return varintWire;
  return type.name === 'double' ? fixedWire : lengthWire;
}

function valueWriter(type: ResolvedType): Write {
  switch (type.node) {
    case 'scalar':
      return scalarWriters[type.name];
    case 'message': {
      const write = sized(contentWriterOf(type));
      return (value) => write(value ?? noFields);
    }
    case 'union':
      return sized(unionWriter(type));
    case 'list':
      return sized(taggedWriter(1, { ...type, boxed: false }));
    case 'map':
      throw new TypeError('a map can only be a field');
  }
}

// ---- maps and unions -------------------------------------------------------------------------------------------

function mapWriter(tag: number, type: MapType): Write {
  const item = boxedInside(resolve(type.value));
  const writeItem = withTag(2, wireOf(item), valueWriter(item));
  const key = tag * 8 + lengthWire;
  return (value) => {
    const keys = Object.keys(value as Values).sort(byBytes);
    for (let i = keys.length - 1; i >= 0; i--) {
      const name = keys[i] as string;
      const before = out.length;
      writeItem((value as Values)[name]);
      out.text(name);
      out.varint(0x0a);
      out.varint(out.length - before);
      out.varint(key);
    }
  };
}
/** Order of UTF-8 bytes. The engine compares UTF-16, which differs only where a surrogate meets a later character. */
export function byBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    const surrogateX = x >= 0xd800 && x <= 0xdfff;
    const surrogateY = y >= 0xd800 && y <= 0xdfff;
    return surrogateX === surrogateY ? x - y : surrogateX ? 1 : -1;
  }
  return a.length - b.length;
}

function unionWriter({ object, other }: UnionType): Write {
  const otherType = resolve(other.type);
  const isBool = otherType.node === 'scalar';
  const arms = [
    {
      tag: object.tag,
      write: taggedWriter(object.tag, resolve(object.type)),
      of: (value: unknown) => (isObject(value) ? value : undefined),
    },
    {
      tag: other.tag,
      write: taggedWriter(other.tag, otherType),
      of: (value: unknown) => (isObject(value) ? (isBool ? true : undefined) : value),
    },
  ].sort((a, b) => b.tag - a.tag);
  return (value) => {
    for (const arm of arms) {
      const armValue = arm.of(value);
      if (armValue !== undefined && armValue !== null) arm.write(armValue);
    }
  };
}
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

// ---- scalars ---------------------------------------------------------------------------------------------------

/** A message that holds JSON text as its field 1. */
const jsonHolder = sized((value) => {
  if (value === null || value === undefined) return;
  out.text(jsonText(value));
  out.varint(0x0a);
});

const scalarWriters: Readonly<Record<ScalarName, Write>> = {
  string: (value) => out.text(value as string),
  bool: (value) => out.varint(value === true ? 1 : 0),
  int32: (value) => out.int(value as number),
  int64: (value) => out.int(value as Integer),
  double: (value) => out.double(value as number),
  bytes: (value) => out.base64(value as string),
  quantity: sized((value) => {
    out.text(value as string);
    out.varint(0x0a);
  }),
  time: timeWriter(false),
  microTime: timeWriter(true),
  duration: sized((value) => {
    out.bigint(parseDuration(value as string));
    out.varint(0x08);
  }),
  intOrString: sized((value) => {
    const isText = typeof value === 'string';
    out.text(isText ? value : '');
    out.varint(0x1a);
    out.int(isText ? 0 : (value as number));
    out.varint(0x10);
    out.varint(isText ? 1 : 0);
    out.varint(0x08);
  }),
  raw: jsonHolder,
  json: jsonHolder,
  fieldsV1: jsonHolder,
};

/** Seconds since 1970 and nanoseconds; an empty message is an absent time. */
function timeWriter(micro: boolean): Write {
  return sized((value) => {
    if (value === null || value === undefined) return;
    const { seconds, nanos } = parseInstant(value as string);
    out.varint(micro ? nanos - (nanos % 1000) : 0);
    out.varint(0x10);
    out.int(seconds);
    out.varint(0x08);
  });
}
