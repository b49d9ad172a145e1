/**
 * Writes protobuf from its end to its beginning: the length of a message is known when its content is written, so that nothing is
 * measured before or moved afterwards. Callers write the last field first, and the value before its tag.
 */
import type { Integer } from '@plat-dev/lib/integers';
import { bigVarintBytes, varintSize, writeVarint } from './varint.ts';

const usualSize = 64 * 1024;
/** A buffer that one large object made larger than this is not kept. */
const keptSize = 1024 * 1024;
/** Beyond this length one call into the engine is cheaper than a loop over characters. */
const longText = 48;

export class BackwardWriter {
  private buffer = Buffer.allocUnsafeSlow(usualSize);
  /** Where the written bytes begin. */
  private start = usualSize;

  /** Discards the written bytes. */
  reset(): void {
    if (this.buffer.length > keptSize) this.buffer = Buffer.allocUnsafeSlow(usualSize);
    this.start = this.buffer.length;
  }
  /** A copy of the written bytes. */
  bytes(): Buffer {
    const out = Buffer.allocUnsafe(this.length);
    this.buffer.copy(out, 0, this.start);
    return out;
  }
  /** How many bytes were written so far: the difference of two such figures is a message's length. */
  get length(): number {
    return this.buffer.length - this.start;
  }

  private reserve(size: number): void {
    if (this.start >= size) return;
    const written = this.length;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.buffer.length * 2, written + size));
    this.buffer.copy(larger, larger.length - written, this.start);
    this.start = larger.length - written;
    this.buffer = larger;
  }

  /** A length, a tag, or any whole number from 0 to 2^32 - 1. */
  varint(value: number): void {
    this.reserve(5);
    if (value < 0x80) {
      this.buffer[--this.start] = value;
      return;
    }
    this.start -= varintSize(value);
    writeVarint(this.buffer, this.start, value);
  }
  /** A whole number of up to 64 bits; a negative one takes ten bytes. */
  int(value: Integer): void {
    if (typeof value === 'number' && value >= 0 && value <= 0xffffffff) this.varint(value);
    else this.bigint(BigInt(value));
  }
  bigint(value: bigint): void {
    this.reserve(10);
    const bytes = bigVarintBytes(value);
    this.start -= bytes.length;
    this.buffer.set(bytes, this.start);
  }
  double(value: number): void {
    this.reserve(8);
    this.start -= 8;
    this.buffer.writeDoubleLE(value, this.start);
  }

  /** Text with its length before it. */
  text(value: string): void {
    const length = value.length;
    if (length <= longText) {
      this.reserve(length + 1);
      const buffer = this.buffer;
      const at = this.start - length;
      let i = 0;
      for (; i < length; i++) {
        const code = value.charCodeAt(i);
        if (code > 0x7f) break;
        buffer[at + i] = code;
      }
      if (i === length) {
        buffer[at - 1] = length;
        this.start = at - 1;
        return;
      }
    }
    const size = Buffer.byteLength(value);
    this.reserve(size);
    this.start -= size;
    this.buffer.write(value, this.start, size, 'utf8');
    this.varint(size);
  }
  /** Bytes, given as Base64 text, with their length before them. */
  base64(value: string): void {
    const bytes = Buffer.from(value, 'base64');
    this.reserve(bytes.length);
    this.start -= bytes.length;
    bytes.copy(this.buffer, this.start);
    this.varint(bytes.length);
  }
}
