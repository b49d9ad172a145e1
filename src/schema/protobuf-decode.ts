/**
 * From the binary form to the normal form. Unknown fields are skipped; repeated messages of a field are merged,
 * as protobuf requires; of other fields the last value counts.
 */
import { canonicalQuantity, QuantityError } from '../lib/quantity.ts';
import type { Work } from '../lib/slices.ts';
import { formatDuration, formatMicroTime, formatTime } from '../lib/time.ts';
import { DecodeError, maxContainers, tooManyContainers } from './errors.ts';
import { isEmpty } from './json-value.ts';
import { notUtf8 } from './not-utf8.ts';
import { parseJson, parseJsonSteps } from './parse.ts';
import { isInherited, setKey } from './plain.ts';
import { ByteReader, illegalTag, NOT_UTF8 } from './protobuf-reader.ts';
import {
  type Field,
  type Infer,
  type ListType,
  type MapType,
  type MessageType,
  type NamedField,
  type ResolvedType,
  resolve,
  type ScalarName,
  type UnionType,
} from './types.ts';
import { placeholderMakerOf, zeroMakerOf } from './zero.ts';

/** Reads an object from its bytes, without an envelope. Throws DecodeError. */
export function decodeProtobuf<T extends MessageType>(type: T, bytes: Buffer): Infer<T> {
  const source = new Source(bytes);
  const value = readerOf(type)(source, undefined);
  if (source.foreign) throw notUtf8(value, (text) => text === NOT_UTF8);
  return value as Infer<T>;
}

/** The same as work that can be interrupted: for large bodies. Throws DecodeError. */
export function* decodeProtobufSteps<T extends MessageType>(type: T, bytes: Buffer, step: number = READ_AT_ONCE): Work<Infer<T>> {
  const source = new Source(bytes, step);
  const value = yield* stepReaderOf(type)(source, undefined);
  if (source.foreign) throw notUtf8(value, (text) => text === NOT_UTF8);
  return value as Infer<T>;
}

type Values = Record<string, unknown>;
/** Reads a value; `earlier` is the previous value of the same field. */
type Read = (source: Source, earlier: unknown) => unknown;

/** Reads a value in steps. */
type ReadSteps = (source: Source, earlier: unknown) => Work<unknown>;

/** A value of fewer bytes than this is read at once, and after so many bytes the work may be interrupted. */
export const READ_AT_ONCE = 16 * 1024;

/** The bound on messages in messages. */
const maxMessages = 400;

class Source extends ByteReader {
  private depth = 0;
  private messages = 0;
  /** After so many bytes work in steps may be interrupted. */
  readonly step: number;
  /** Where it may be interrupted next. */
  pause: number;

  constructor(bytes: Buffer, step: number = READ_AT_ONCE) {
    super(bytes);
    this.step = step;
    this.pause = step;
  }

  /** Enters a message by its length. Returns the end of the surrounding one, which is passed to `leave`. */
  enter(): number {
    const outer = this.end;
    this.end = this.block();
    if (++this.depth > maxMessages) throw new DecodeError('exceeded max depth');
    if (++this.messages > maxContainers) throw tooManyContainers();
    return outer;
  }
  leave(outer: number): void {
    this.at = this.end;
    this.end = outer;
    this.depth--;
  }
}

// ---- messages --------------------------------------------------------------------------------------------------

interface BinaryField {
  readonly name: string;
  readonly wire: number;
  /** The place of the value among the fields as JSON shows them. */
  readonly slot: number;
  readonly read: Read;
  /** The fields of an inline message, which fill places of the message around it. */
  readonly inline: BinaryFields | undefined;
  /** Reads a large value in steps; undefined: values of this type are read at once. */
  readonly steps: ReadSteps | undefined;
}
type BinaryFields = ReadonlyMap<number, BinaryField>;

interface OutputField {
  readonly name: string;
  /** Whether the name could reach the prototype. */
  readonly risky: boolean;
  /** Makes the value of an absent `always` field. */
  readonly zero: () => unknown;
  /** Whether the value is left out. */
  readonly omits: (value: unknown) => boolean;
}

interface Plan {
  readonly fields: BinaryFields;
  readonly output: OutputField[];
}
const plans = new WeakMap<MessageType, Plan>();
const readers = new WeakMap<MessageType, Read>();

/** Messages are planned on first use, so that a schema may contain itself. */
function planOf(type: MessageType): Plan {
  const known = plans.get(type);
  if (known !== undefined) return known;
  const fields = planFields(type, new Map(type.ordered.map((field, i) => [field.name, i])));
  const plan = { fields, output: type.ordered.map(planOutput) };
  plans.set(type, plan);
  return plan;
}

function readerOf(type: MessageType): Read {
  const known = readers.get(type);
  if (known !== undefined) return known;
  let plan: Plan | undefined;
  const read: Read = (source, earlier) => {
    plan ??= planOf(type);
    const slots = slotsOf(plan.output, earlier);
    readFields(source, plan.fields, slots, source.end);
    return assemble(plan.output, slots);
  };
  readers.set(type, read);
  return read;
}
function stepReaderOf(type: MessageType): ReadSteps {
  return function* (source, earlier) {
    const { fields, output } = planOf(type);
    const slots = slotsOf(output, earlier);
    yield* readFieldsSteps(source, fields, slots);
    return assemble(output, slots);
  };
}
function slotsOf(output: OutputField[], earlier: unknown): unknown[] {
  const slots: unknown[] = new Array(output.length).fill(undefined);
  if (earlier !== undefined) for (let i = 0; i < output.length; i++) slots[i] = (earlier as Values)[(output[i] as OutputField).name];
  return slots;
}

/** As `readFields`: values of many bytes are read in steps themselves, all others one at a time. */
function* readFieldsSteps(source: Source, fields: BinaryFields, slots: unknown[]): Work<void> {
  while (source.at < source.end) {
    if (source.at >= source.pause) {
      source.pause = source.at + source.step;
      yield;
    }
    const start = source.at;
    const key = source.varint();
    const field = (key & 7) === 2 && source.high === 0 ? fields.get(key >>> 3) : undefined;
    const large = field?.wire === 2 && (field.inline ?? field.steps) !== undefined && source.block() - source.at > source.step;
    source.at = start;
    if (!large) {
      readFields(source, fields, slots, start + 1);
      continue;
    }
    source.varint();
    if (field?.inline !== undefined) {
      const outer = source.enter();
      yield* readFieldsSteps(source, field.inline, slots);
      source.leave(outer);
    } else if (field?.steps !== undefined) slots[field.slot] = yield* field.steps(source, slots[field.slot]);
  }
}

/** Reads the fields that begin before `until`. */
function readFields(source: Source, fields: BinaryFields, slots: unknown[], until: number): void {
  while (source.at < until) {
    const key = source.varint();
    const tag = key >>> 3;
    const wire = key & 7;
    if (tag === 0 || source.high !== 0) throw illegalTag(key);
    const field = fields.get(tag);
    if (field === undefined) {
      if (wire === 4) throw new DecodeError('proto: wiretype end group for non-group');
      source.skip(wire);
    } else if (field.inline !== undefined && wire === 2) {
      readMessage(source, field.inline, slots);
    } else if (wire === field.wire) {
      slots[field.slot] = field.read(source, slots[field.slot]);
    } else if (wire === 2 && field.wire === 0 && Array.isArray(slots[field.slot] ?? [])) {
      readPacked(source, field, slots);
    } else {
      throw new DecodeError(`proto: wrong wireType = ${wire} for field ${field.name}`);
    }
  }
}

/** Reads the fields of a message with its length before it. */
function readMessage(source: Source, fields: BinaryFields, slots: unknown[]): void {
  const outer = source.enter();
  readFields(source, fields, slots, source.end);
  source.leave(outer);
}

/** Reads a packed list of numbers. */
function readPacked(source: Source, field: BinaryField, slots: unknown[]): void {
  const outer = source.enter();
  while (source.at < source.end) {
    const value = field.read(source, slots[field.slot]);
    if (!Array.isArray(value)) throw new DecodeError(`proto: wrong wireType = 2 for field ${field.name}`);
    slots[field.slot] = value;
  }
  source.leave(outer);
}

function assemble(output: OutputField[], slots: unknown[]): Values {
  const out: Values = {};
  for (let i = 0; i < output.length; i++) {
    const field = output[i] as OutputField;
    let value = slots[i];
    if (value === undefined || field.omits(value)) {
      value = field.zero();
      if (value === undefined) continue;
    }
    if (field.risky) setKey(out, field.name, value);
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
      fields.set(field.tag, {
        name,
        wire: 2,
        slot: -1,
        read: () => undefined,
        inline: planFields(resolved as MessageType, slots),
        steps: undefined,
      });
      continue;
    }
    // A field of the binary form alone has no place: it is read and dropped.
    const slot = slots.get(name) ?? slots.size;
    const read = fieldReader(resolved);
    fields.set(field.tag, { name, wire: wireOf(resolved), slot, read, inline: undefined, steps: fieldStepReader(resolved) });
  }
  return fields;
}

function planOutput(field: NamedField): OutputField {
  const resolved = resolve(field.type);
  const pointer = field.nullable === true;
  const zero = zeroMakerOf(field.type);
  const always = field.always && !pointer;
  let omits: OutputField['omits'] = () => false;
  if (!pointer && (resolved.node === 'list' || resolved.node === 'map')) omits = isEmpty;
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

/** A field's value: of a list, one more item. */
function fieldReader(type: ResolvedType): Read {
  if (type.node === 'list' && !type.boxed) {
    const item = resolve(type.item);
    const read = valueReader(item.node === 'list' ? { ...item, boxed: true } : item);
    return (source, earlier) => {
      const list = (earlier as unknown[] | undefined) ?? [];
      list.push(read(source, undefined) ?? null);
      return list;
    };
  }
  return type.node === 'map' ? mapReader(type) : valueReader(type);
}

/** Reads large values of those types that can be large in many parts: messages, lists of them, and JSON. */
function fieldStepReader(type: ResolvedType): ReadSteps | undefined {
  if (type.node === 'scalar') return type.name === 'fieldsV1' || type.name === 'json' || type.name === 'raw' ? jsonStepReader : undefined;
  if (type.node === 'message') {
    const read = stepReaderOf(type);
    return function* (source, earlier) {
      const outer = source.enter();
      const value = yield* read(source, earlier);
      source.leave(outer);
      return value;
    };
  }
  if (type.node !== 'list' || type.boxed) return undefined;
  const item = resolve(type.item);
  const read = item.node === 'message' ? fieldStepReader(item) : undefined;
  if (read === undefined) return undefined;
  return function* (source, earlier) {
    const list = (earlier as unknown[] | undefined) ?? [];
    list.push((yield* read(source, undefined)) ?? null);
    return list;
  };
}

function valueReader(type: ResolvedType): Read {
  switch (type.node) {
    case 'scalar':
      return scalarReaders[type.name];
    case 'message': {
      const read = readerOf(type);
      return (source, earlier) => {
        const outer = source.enter();
        const value = read(source, earlier);
        source.leave(outer);
        return value;
      };
    }
    case 'union':
      return unionReader(type);
    case 'list':
      return boxReader(type);
    case 'map':
      throw new TypeError('a map can only be a field');
  }
}

function boxReader(type: ListType): Read {
  const holder = new Map([
    [
      1,
      {
        name: 'items',
        wire: wireOf(resolve(type.item)),
        slot: 0,
        read: fieldReader({ ...type, boxed: false }),
        inline: undefined,
        steps: undefined,
      },
    ],
  ]);
  return (source, earlier) => {
    const slots = [earlier ?? []];
    readMessage(source, holder, slots);
    return slots[0];
  };
}

function mapReader(type: MapType): Read {
  const given = resolve(type.value);
  const item: ResolvedType = given.node === 'list' ? { ...given, boxed: true } : given;
  const entry = new Map<number, BinaryField>([
    [1, { name: 'key', wire: 2, slot: 0, read: scalarReaders.string, inline: undefined, steps: undefined }],
    [2, { name: 'value', wire: wireOf(item), slot: 1, read: valueReader(item), inline: undefined, steps: undefined }],
  ]);
  const zero = placeholderMakerOf(item);
  return (source, earlier) => {
    const map = (earlier as Values | undefined) ?? {};
    const slots: unknown[] = ['', undefined];
    readMessage(source, entry, slots);
    setKey(map, slots[0] as string, slots[1] ?? zero());
    return map;
  };
}

function unionReader({ object, other }: UnionType): Read {
  const otherType = resolve(other.type);
  const arms = new Map<number, BinaryField>([
    [object.tag, { name: 'object', wire: 2, slot: 0, read: fieldReader(resolve(object.type)), inline: undefined, steps: undefined }],
    [other.tag, { name: 'other', wire: wireOf(otherType), slot: 1, read: fieldReader(otherType), inline: undefined, steps: undefined }],
  ]);
  const neither = placeholderMakerOf(otherType);
  return (source) => {
    const slots: unknown[] = [undefined, undefined];
    readMessage(source, arms, slots);
    return slots[0] ?? slots[1] ?? neither();
  };
}

// ---- scalars ---------------------------------------------------------------------------------------------------

/** Reads the fields of a small message of fixed shape by their tags. */
function fixedMessage<T>(
  shape: Readonly<Record<number, { wire: number; read: Read }>>,
  make: (slots: unknown[]) => T,
): (source: Source) => T {
  const fields = new Map<number, BinaryField>(
    Object.entries(shape).map(([tag, { wire, read }]) => [
      Number(tag),
      { name: tag, wire, slot: Number(tag), read, inline: undefined, steps: undefined },
    ]),
  );
  return (source) => {
    const slots: unknown[] = [];
    readMessage(source, fields, slots);
    return make(slots);
  };
}
const int64: Read = (source) => source.int64();
const int32: Read = (source) => source.int32();
const text: Read = (source) => source.text();

const firstSecond = -62_167_219_200;
const lastSecond = 253_402_300_799;

function timeReader(format: (seconds: number, nanos: number) => string): (source: Source) => string | undefined {
  return fixedMessage({ 1: { wire: 0, read: int64 }, 2: { wire: 0, read: int32 } }, (slots) => {
    if (slots.length === 0) return undefined;
    const seconds = (slots[1] as number | undefined) ?? 0;
    const nanos = (slots[2] as number | undefined) ?? 0;
    if (seconds < firstSecond || seconds > lastSecond || nanos < 0 || nanos > 999_999_999) throw new DecodeError('time out of range');
    return format(seconds, nanos);
  });
}

const jsonText = fixedMessage(
  { 1: { wire: 2, read: (source) => source.jsonText() } },
  (slots) => slots[1] as Buffer | typeof NOT_UTF8 | undefined,
);
const jsonReader: Read = (source) => {
  const bytes = jsonText(source);
  if (bytes === NOT_UTF8) return bytes;
  return bytes === undefined || bytes.length === 0 ? undefined : (parseJson(bytes as Buffer) ?? undefined);
};
const jsonStepReader: ReadSteps = function* (source) {
  const bytes = jsonText(source);
  if (bytes === NOT_UTF8) return bytes;
  return bytes === undefined || bytes.length === 0 ? undefined : ((yield* parseJsonSteps(bytes as Buffer)) ?? undefined);
};

const scalarReaders: Readonly<Record<ScalarName, Read>> = {
  string: text,
  bool: (source) => source.bool(),
  int32,
  int64,
  double: (source) => source.double(),
  bytes: (source) => source.base64(),
  quantity: fixedMessage({ 1: { wire: 2, read: text } }, (slots) => {
    const given = (slots[1] as string | undefined) ?? '0';
    if (given === NOT_UTF8) return given;
    try {
      return canonicalQuantity(given.length > 512 ? 'x' : given);
    } catch (error) {
      throw error instanceof QuantityError ? new DecodeError(error.message) : error;
    }
  }),
  time: timeReader((seconds) => formatTime(seconds * 1000)),
  microTime: timeReader((seconds, nanos) => formatMicroTime({ seconds, nanos })),
  duration: fixedMessage({ 1: { wire: 0, read: (source) => source.bigint() } }, (slots) =>
    formatDuration((slots[1] as bigint | undefined) ?? 0n),
  ),
  intOrString: fixedMessage(
    { 1: { wire: 0, read: int64 }, 2: { wire: 0, read: int32 }, 3: { wire: 2, read: text } },
    ([, kind, number, string]) => (kind === 1 ? (string ?? '') : (number ?? 0)),
  ),
  raw: jsonReader,
  json: jsonReader,
  fieldsV1: jsonReader,
};
