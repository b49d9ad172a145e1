/**
 * The parts of protobuf that etcd's messages need: varints, byte strings and nested messages.
 *
 * A message is written from its last byte to its first, so that the length of a nested message is known when its header
 * is written and nothing is measured or copied twice:
 *
 *   const writer = new Writer(64);
 *   writer.number(3, 10);                  // field 3
 *   const end = writer.position;
 *   writer.text(1, 'key');                 // field 1 of the nested message
 *   writer.nested(2, end);                 // field 2, which holds everything written since `end`
 *   writer.finish();                       // → bytes of fields 2 and 3
 *
 * Numbers are int64 on the wire and JavaScript numbers here; revisions stay exact up to 2^53.
 */
import { bigVarintBytes, varintSize, writeVarint } from '@plat-dev/schema/protobuf/varint';

const VARINT = 0;
const BYTES = 2;
const TWO_32 = 0x1_0000_0000;

export class Writer {
  #buffer: Buffer;
  /** Index of the first byte written so far, counted from the end so that it survives growth. */
  position = 0;

  constructor(capacity: number) {
    this.#buffer = Buffer.allocUnsafe(capacity);
  }

  /** A number of zero or more, or a 64-bit identifier. */
  number(field: number, value: number | bigint): void {
    if (typeof value === 'bigint') this.#bigVarint(value);
    else this.#varint(value);
    this.#varint(field * 8 + VARINT);
  }

  flag(field: number, value: boolean): void {
    if (value) this.number(field, 1);
  }

  bytes(field: number, value: Buffer): void {
    this.raw(value);
    this.nested(field, this.position - value.length);
  }

  /** Bytes without a field: a part of the message that is nested next. */
  raw(value: Buffer): void {
    this.#reserve(value.length);
    this.position += value.length;
    value.copy(this.#buffer, this.#buffer.length - this.position);
  }

  /** ASCII text. */
  text(field: number, value: string): void {
    const since = this.position;
    this.ascii(value);
    this.nested(field, since);
  }

  /** A text of two parts, which need not be joined for it. */
  joined(field: number, first: string, second: string): void {
    const since = this.position;
    this.ascii(second);
    this.ascii(first);
    this.nested(field, since);
  }

  /** Makes everything written since the position `since` one nested message. */
  nested(field: number, since: number): void {
    this.#varint(this.position - since);
    this.#varint(field * 8 + BYTES);
  }

  finish(): Buffer {
    return this.#buffer.subarray(this.#buffer.length - this.position);
  }

  /** ASCII text without a field. */
  ascii(value: string): void {
    this.#reserve(value.length);
    this.position += value.length;
    this.#buffer.write(value, this.#buffer.length - this.position, 'latin1');
  }

  #varint(value: number): void {
    const size = varintSize(value);
    this.#reserve(size);
    this.position += size;
    writeVarint(this.#buffer, this.#buffer.length - this.position, value);
  }

  #bigVarint(value: bigint): void {
    const bytes = bigVarintBytes(value);
    this.#reserve(bytes.length);
    this.position += bytes.length;
    this.#buffer.set(bytes, this.#buffer.length - this.position);
  }

  #reserve(size: number): void {
    if (this.position + size <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.position + size + 32));
    this.#buffer.copy(grown, grown.length - this.position, this.#buffer.length - this.position);
    this.#buffer = grown;
  }
}

/**
 * Iterates over the fields of a message. `next` returns the number of the following field, or 0 at the end; the caller then reads
 * the value or skips it. Throws RangeError on invalid bytes.
 */
export class Reader {
  readonly buffer: Buffer;
  #position: number;
  #end: number;
  #wire = 0;

  constructor(buffer: Buffer, start = 0, end = buffer.length) {
    this.buffer = buffer;
    this.#position = start;
    this.#end = end;
  }

  next(): number {
    if (this.#position >= this.#end) return 0;
    const tag = this.#varint();
    this.#wire = tag & 7;
    return tag >>> 3;
  }

  number(): number {
    return this.#varint();
  }

  flag(): boolean {
    return this.#varint() !== 0;
  }

  /** A 64-bit identifier, exactly. */
  identifier(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asIntN(64, value);
    }
    throw new RangeError('a number of a message from etcd is too long');
  }

  /** Reads a length and skips its bytes; returns where they start. They end at `position`. */
  span(): number {
    const length = this.#varint();
    const start = this.#position;
    if (length < 0 || start + length > this.#end) throw new RangeError('a message from etcd is cut short');
    this.#position = start + length;
    return start;
  }

  get position(): number {
    return this.#position;
  }

  /** A reader of the next nested message. */
  nested(): Reader {
    const start = this.span();
    return new Reader(this.buffer, start, this.#position);
  }

  text(): string {
    const start = this.span();
    return this.buffer.toString('utf8', start, this.#position);
  }

  /** Bytes that may be kept. */
  bytes(): Buffer {
    const start = this.span();
    return keepable(this.buffer, start, this.#position);
  }

  skip(): void {
    if (this.#wire === VARINT) this.#varint();
    else if (this.#wire === BYTES) this.span();
    else if (this.#wire === 1) this.#advance(8);
    else if (this.#wire === 5) this.#advance(4);
    else throw new RangeError(`a message from etcd has a field of the unknown wire type ${this.#wire}`);
  }

  #advance(size: number): void {
    if (this.#position + size > this.#end) throw new RangeError('a message from etcd is cut short');
    this.#position += size;
  }

  #byte(): number {
    if (this.#position >= this.#end) throw new RangeError('a message from etcd is cut short');
    return this.buffer[this.#position++] as number;
  }

  /** Signed 64-bit, exact within 2^53. */
  #varint(): number {
    let byte = this.#byte();
    if (byte < 128) return byte;
    let low = byte & 127;
    let high = 0;
    for (let shift = 7; shift < 70; shift += 7) {
      byte = this.#byte();
      const bits = byte & 127;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >>> 4;
      } else high |= bits << (shift - 32);
      if (byte < 128) return (high | 0) * TWO_32 + (low >>> 0);
    }
    throw new RangeError('a number of a message from etcd is too long');
  }
}

/** A part of a message: copied when it would keep much more memory alive, of the message or of what was read together with it. */
export function keepable(message: Buffer, start: number, end: number): Buffer {
  const view = message.subarray(start, end);
  return (end - start) * 2 >= message.buffer.byteLength ? view : Buffer.from(view);
}
