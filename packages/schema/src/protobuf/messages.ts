/** How the bytes of each type become values: the fields of a message by their tags, and the small messages of scalars. */
import type { Integer } from '@plat-dev/lib/integers';
import { own, setOwn } from '@plat-dev/lib/own';
import { canonicalQuantity, QuantityError } from '@plat-dev/lib/quantity';
import { formatDuration, formatMicroTime, formatTime } from '@plat-dev/lib/time';
import { DecodeError } from '../errors.ts';
import { placeholderMakerOf, zeroMakerOf } from '../fields/zero-values.ts';
import { parseJson } from '../json/parse.ts';
import { isInherited } from '../json/plain.ts';
import {
  type Field,
  type ListType,
  type MapType,
  type MessageType,
  type NamedField,
  type ResolvedType,
  resolve,
  type ScalarName,
  type ScalarType,
  string,
  type UnionType,
} from '../types.ts';
import type { ByteReader } from './reader.ts';

type Values = Record<string, unknown>;

/** Reads a value that is not a message. */
type Read = (source: ByteReader) => unknown;

export interface BinaryField {
  readonly name: string;
  readonly wire: number;
  /** The place of the value among those of its message. */
  readonly slot: number;
  /** Whether each value is one more item of a list. */
  readonly isList: boolean;
  /** Undefined for a message. */
  readonly read: Read | undefined;
  readonly message: Message | undefined;
  /** The fields of an inline message, which fill places of the message around it. */
  readonly inline: BinaryFields | undefined;
  /** What it is in the object: a field, the key or the value of an entry of a map, or nothing that has a name. */
  readonly as: 'field' | 'key' | 'value' | 'part';
}
export type BinaryFields = ReadonlyMap<number, BinaryField>;
const noFields: BinaryFields = new Map();

/** How the bytes of a message become a value. */
export interface Message {
  /** Called before `fields` is read. Returns the places of its values; `earlier` is the previous value of the same field. */
  open(earlier: unknown): unknown[];
  readonly fields: BinaryFields;
  close(slots: unknown[], earlier: unknown): unknown;
}

interface OutputField {
  readonly name: string;
  /** Whether the name could reach the prototype. */
  readonly risky: boolean;
  /** Makes the value of an absent `always` field. */
  readonly zero: () => unknown;
  /** Whether the value is left out. */
  readonly omits: (value: unknown) => boolean;
}

const messages = new WeakMap<MessageType, Message>();

export function messageOf(type: MessageType): Message {
  const cachedMessage = messages.get(type);
  if (cachedMessage !== undefined) return cachedMessage;
  const message = new TypedMessage(type);
  messages.set(type, message);
  return message;
}
/** A message of the schema. It is planned on first use, so that a schema may contain itself. */
class TypedMessage implements Message {
  private readonly type: MessageType;
  private output: readonly OutputField[] | undefined;
  private empty: readonly undefined[] = [];
  fields: BinaryFields = noFields;

  constructor(type: MessageType) {
    this.type = type;
  }
  open(earlier: unknown): unknown[] {
    this.output ??= this.plan();
    return earlier === undefined ? this.empty.slice() : this.output.map(({ name }) => own(earlier as Values, name));
  }
  close(slots: unknown[]): unknown {
    return assemble(this.output as readonly OutputField[], slots);
  }
  private plan(): OutputField[] {
    const { ordered } = this.type;
    this.fields = planFields(this.type, new Map(ordered.map((field, i) => [field.name, i])));
    this.empty = ordered.map(() => undefined);
    return ordered.map(planOutput);
  }
}

function assemble(output: readonly OutputField[], slots: unknown[]): Values {
  const out: Values = {};
  for (let i = 0; i < output.length; i++) {
    const field = output[i] as OutputField;
    let value = slots[i];
    if (value === undefined || field.omits(value)) {
      value = field.zero();
      if (value === undefined) continue;
    }
    if (field.risky) setOwn(out, field.name, value);
    else out[field.name] = value;
  }
  return out;
}

function planFields(type: MessageType, slots: ReadonlyMap<string, number>): BinaryFields {
  const fields = new Map<number, BinaryField>();
  for (const [key, field] of Object.entries(type.fields as Record<string, Field>)) {
    if (field.only === 'json') continue;
    const name = field.json ?? key;
    const resolved = resolve(field.type);
    if (field.inline === true) {
      const inline = planFields(resolved as MessageType, slots);
      fields.set(field.tag, { name, wire: 2, slot: -1, isList: false, read: undefined, message: undefined, inline, as: 'part' });
      continue;
    }
    // A field of the binary form alone has no place: it is read and dropped.
    fields.set(field.tag, fieldOf('field', name, slots.get(name) ?? slots.size, resolved));
  }
  return fields;
}

function planOutput(field: NamedField): OutputField {
  const resolved = resolve(field.type);
  const pointer = field.nullable === true;
  const zero = zeroMakerOf(field.type);
  const always = field.always && !pointer;
  let omits: OutputField['omits'] = () => false;
  // A map that was read has an entry.
  if (!pointer && resolved.node === 'list') omits = (value) => (value as unknown[]).length === 0;
  else if (!pointer && resolved.node === 'scalar') {
    const empty = resolved.name === 'bytes' ? '' : zero();
    if (!always || resolved.name === 'bytes') omits = (value) => value === empty;
  }
  return { name: field.name, risky: isInherited(field.name), zero: always ? zero : () => undefined, omits };
}

// ---- lists, maps, unions ---------------------------------------------------------------------------------------

function wireOf(type: ResolvedType): number {
  if (type.node === 'list' && !type.boxed) return wireOf(resolve(type.item));
  if (type.node !== 'scalar') return 2;
  if (type.name === 'bool' || type.name === 'int32' || type.name === 'int64') return 0;
  return type.name === 'double' ? 1 : 2;
}

function fieldOf(as: BinaryField['as'], name: string, slot: number, type: ResolvedType): BinaryField {
  const isList = type.node === 'list' && !type.boxed;
  const item = isList ? itemOf(resolve(type.item)) : type;
  const form = item.node === 'scalar' ? scalars[item.name] : valueMessage(item);
  const [read, message] = typeof form === 'function' ? [form, undefined] : [undefined, form];
  return { name, wire: wireOf(type), slot, isList, read, message, inline: undefined, as };
}
/** A list within a list or a map is a message with its items. */
const itemOf = (type: ResolvedType): ResolvedType => (type.node === 'list' ? { ...type, boxed: true } : type);

function valueMessage(type: Exclude<ResolvedType, ScalarType>): Message {
  switch (type.node) {
    case 'message':
      return messageOf(type);
    case 'union':
      return unionMessage(type);
    case 'list':
      return boxMessage(type);
    case 'map':
      return entryMessage(type);
  }
}

function boxMessage(type: ListType): Message {
  const fields = new Map([[1, fieldOf('part', 'items', 0, { ...type, boxed: false })]]);
  return { fields, open: (earlier) => [earlier ?? []], close: (slots) => slots[0] };
}

/** An entry of a map, which it is put into. */
function entryMessage(type: MapType): Message {
  const item = itemOf(resolve(type.value));
  const fields = new Map([
    [1, fieldOf('key', 'key', 0, resolve(string))],
    [2, fieldOf('value', 'value', 1, item)],
  ]);
  const zero = placeholderMakerOf(item);
  return {
    fields,
    open: () => ['', undefined],
    close: (slots, earlier) => {
      const map = (earlier as Values | undefined) ?? {};
      setOwn(map, slots[0] as string, slots[1] ?? zero());
      return map;
    },
  };
}

function unionMessage({ object, other }: UnionType): Message {
  const otherType = resolve(other.type);
  const fields = new Map([
    [object.tag, fieldOf('part', 'object', 0, resolve(object.type))],
    [other.tag, fieldOf('part', 'other', 1, otherType)],
  ]);
  const neither = placeholderMakerOf(otherType);
  return { fields, open: () => [undefined, undefined], close: (slots) => slots[0] ?? slots[1] ?? neither() };
}

// ---- scalars ---------------------------------------------------------------------------------------------------

/** A small message of fixed shape, by the readers of its tags. */
function fixedMessage(shape: Readonly<Record<number, readonly [wire: number, read: Read]>>, make: (slots: unknown[]) => unknown): Message {
  const fields = new Map<number, BinaryField>(
    Object.entries(shape).map(([tag, [wire, read]]) => [
      Number(tag),
      { name: tag, wire, slot: Number(tag), isList: false, read, message: undefined, inline: undefined, as: 'part' },
    ]),
  );
  return { fields, open: () => [], close: make };
}
const int64: Read = (source) => source.int64();
const int32: Read = (source) => source.int32();
const text: Read = (source) => source.text();

const firstSecond = -62_167_219_200;
const lastSecond = 253_402_300_799;

function timeMessage(format: (seconds: number, nanos: number) => string): Message {
  return fixedMessage({ 1: [0, int64], 2: [0, int32] }, (slots) => {
    if (slots.length === 0) return undefined;
    const seconds = (slots[1] as Integer | undefined) ?? 0;
    const nanos = (slots[2] as number | undefined) ?? 0;
    if (seconds < firstSecond || seconds > lastSecond || nanos < 0 || nanos > 999_999_999) throw new DecodeError('time out of range');
    return format(Number(seconds), nanos);
  });
}

export const noBytes = Buffer.alloc(0);
export const jsonMessage = fixedMessage({ 1: [2, (source) => source.jsonText()] }, ([, bytes = noBytes]) =>
  (bytes as Buffer).length === 0 ? undefined : (parseJson(bytes as Buffer) ?? undefined),
);

const scalars: Readonly<Record<ScalarName, Read | Message>> = {
  string: text,
  bool: (source) => source.bool(),
  int32,
  int64,
  double: (source) => source.double(),
  bytes: (source) => source.base64(),
  quantity: fixedMessage({ 1: [2, text] }, ([, quantityText = '0']) => {
    try {
      return canonicalQuantity((quantityText as string).length > 512 ? 'x' : (quantityText as string));
    } catch (error) {
      throw error instanceof QuantityError ? new DecodeError(error.message) : error;
    }
  }),
  time: timeMessage((seconds) => formatTime(seconds * 1000)),
  microTime: timeMessage((seconds, nanos) => formatMicroTime({ seconds, nanos })),
  duration: fixedMessage({ 1: [0, int64] }, ([, nanos = 0]) => formatDuration(nanos as Integer)),
  intOrString: fixedMessage({ 1: [0, int64], 2: [0, int32], 3: [2, text] }, ([, kind, number, string]) =>
    kind === 1 ? (string ?? '') : (number ?? 0),
  ),
  raw: jsonMessage,
  json: jsonMessage,
  fieldsV1: jsonMessage,
};
