import { atOnce, type Work } from '@plat-dev/lib/slices';
import { DecodeError, maxContainers, tooManyContainers } from '../errors.ts';
import { parsedJson } from '../json/parse.ts';
import { NotUtf8, type TextPlace } from '../not-utf8.ts';
import type { Infer, JsonValue, MessageType } from '../types.ts';
import { type BinaryField, type BinaryFields, jsonMessage, type Message, messageOf, noBytes } from './messages.ts';
import { ByteReader, illegalTag } from './reader.ts';

/** Reads an object from its bytes, without an envelope. Throws DecodeError. */
export function decodeProtobuf<T extends MessageType>(type: T, bytes: Buffer): Infer<T> {
  return atOnce(decodedFields(type, bytes, bytes.length)) as Infer<T>;
}
/** The same for bytes that may be many: it yields after each `step` of them. */
export function decodedProtobuf<T extends MessageType>(type: T, bytes: Buffer, step: number = BYTES_A_STEP): Work<Infer<T>> {
  return decodedFields(type, bytes, step) as Work<Infer<T>>;
}
function* decodedFields(type: MessageType, bytes: Buffer, step: number): Work<unknown> {
  const reading = new Reading(type, bytes);
  while (!reading.read(reading.at + step)) {
    if (reading.json === undefined) yield;
    else reading.putJson(yield* parsedJson(reading.json));
  }
  return reading.value();
}

/** Bytes after which the work may be interrupted. */
export const BYTES_A_STEP = 16 * 1024;
/** JSON text of more bytes than this is parsed by the caller of `Reading.read`, which may pause. */
const JSON_AT_ONCE = 16 * 1024;
/** The bound on messages in messages. */
const MOST_NESTED = 400;

/** A message that is being read. */
interface Frame {
  /** Undefined: its fields are those of the message around it. */
  readonly message: Message | undefined;
  /** Undefined: it is a list of numbers without their tags. */
  readonly fields: BinaryFields | undefined;
  readonly slots: unknown[];
  /** The field of the message around it whose value it is. */
  readonly field: BinaryField | undefined;
  /** Where the message around it ends. */
  readonly outerEnd: number;
}

/** Reads an object with a list of open messages instead of the stack, so that it can stop after any field. */
class Reading {
  private readonly source: ByteReader;
  /** The messages around the current one, outermost first. */
  private readonly outer: Frame[] = [];
  private frame: Frame;
  private messages = 0;
  /** The field that is being read. */
  private field: BinaryField | undefined;
  /** JSON text whose value must be given to `putJson` before reading goes on. */
  json: Buffer | undefined;

  constructor(type: MessageType, bytes: Buffer) {
    this.source = new ByteReader(bytes);
    const message = messageOf(type);
    const slots = message.open(undefined);
    this.frame = { message, fields: message.fields, slots, field: undefined, outerEnd: bytes.length };
  }

  get at(): number {
    return this.source.at;
  }
  /** Reads the fields that begin before `until`, at least one. Returns whether all is read; if not, `json` may be the reason. */
  read(until: number): boolean {
    const { source } = this;
    try {
      for (;;) {
        if (source.at < source.end) this.readField(this.frame);
        else if (this.outer.length > 0) this.close();
        else return true;
        if (this.json !== undefined || (source.at >= until && source.at < source.end)) return false;
      }
    } catch (error) {
      throw error instanceof NotUtf8 ? new NotUtf8(this.place()) : error;
    }
  }
  /** The object, when all is read. */
  value(): unknown {
    return (this.frame.message as Message).close(this.frame.slots, undefined);
  }

  private readField(frame: Frame): void {
    const { source } = this;
    if (frame.fields === undefined) {
      put(frame.field as BinaryField, frame.slots, (frame.field as BinaryField).read?.(source));
      return;
    }
    const key = source.varint();
    const tag = key >>> 3;
    const wire = key & 7;
    if (tag === 0 || source.high !== 0) throw illegalTag(key);
    const field = source.groups > 0 ? undefined : frame.fields.get(tag);
    if (field === undefined) {
      source.skip(wire);
      return;
    }
    this.field = field;
    if (wire === 2 && (field.inline ?? field.message) !== undefined) this.open(frame, field);
    else if (wire === field.wire && field.read !== undefined) put(field, frame.slots, field.read(source));
    else if (wire === 2 && field.wire === 0 && field.isList) this.open(frame, field);
    else throw new DecodeError(`proto: wrong wireType = ${wire} for field ${field.name}`);
  }

  /** Enters a message, or a list of numbers, by its length. */
  private open(frame: Frame, field: BinaryField): void {
    const { source } = this;
    const { message, inline } = field;
    const end = source.block();
    if (this.outer.push(frame) > MOST_NESTED) throw new DecodeError('exceeded max depth');
    if (++this.messages > maxContainers) throw tooManyContainers();
    const slots = message === undefined ? frame.slots : message.open(field.isList ? undefined : frame.slots[field.slot]);
    this.frame = { message, fields: message === undefined ? inline : message.fields, slots, field, outerEnd: source.end };
    source.end = end;
  }
  private close(): void {
    const { message, slots, field, outerEnd } = this.frame;
    this.source.end = outerEnd;
    this.frame = this.outer.pop() as Frame;
    this.field = field;
    if (message === undefined) return;
    if (message === jsonMessage && ((slots[1] as Buffer | undefined) ?? noBytes).length > JSON_AT_ONCE) this.json = slots[1] as Buffer;
    else put(field as BinaryField, this.frame.slots, message.close(slots, this.frame.slots[(field as BinaryField).slot]));
  }
  /** The value of `json`. */
  putJson(value: JsonValue): void {
    put(this.field as BinaryField, this.frame.slots, value ?? undefined);
    this.json = undefined;
  }

  /** Where the field that is being read belongs in the object. */
  private place(): TextPlace {
    let path = '';
    let isKey = false;
    const frames = [...this.outer, this.frame];
    frames.forEach(({ slots }, i) => {
      const field = (i + 1 < frames.length ? frames[i + 1]?.field : this.field) as BinaryField;
      const name = field.as === 'field' ? field.name : field.as === 'value' ? slots[0] : '';
      path += path === '' || name === '' ? name : `.${name}`;
      if (field.isList) path += `[${(slots[field.slot] as unknown[] | undefined)?.length ?? 0}]`;
      isKey = field.as === 'key';
    });
    return { path, isKey };
  }
}

function put(field: BinaryField, slots: unknown[], value: unknown): void {
  if (!field.isList) slots[field.slot] = value;
  else if (slots[field.slot] === undefined) slots[field.slot] = [value ?? null];
  else (slots[field.slot] as unknown[]).push(value ?? null);
}
