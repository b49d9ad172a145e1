/** Reads protobuf's primitives from bytes that may be hostile: every step is checked, every fault is a DecodeError. */
import { isUtf8 } from 'node:buffer';
import type { Integer } from '@plat-dev/lib/integers';
import { DecodeError } from '../errors.ts';
import { NotUtf8 } from '../not-utf8.ts';

export class ByteReader {
  private readonly bytes: Buffer;
  /** Where the next byte is read. */
  at = 0;
  /** Where the message that is being read ends. */
  end: number;
  /** The high half of the varint that was read last; `varint` returns the low one. */
  high = 0;
  /** Groups that are open: everything in them is skipped. */
  groups = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.end = bytes.length;
  }

  /** The low 32 bits of a varint; the high ones are in `high`. */
  varint(): number {
    const { bytes } = this;
    this.high = 0;
    if (this.at >= this.end) throw truncated();
    let byte = bytes[this.at++] as number;
    if (byte < 0x80) return byte;
    let low = byte & 0x7f;
    for (let shift = 7; shift < 64; shift += 7) {
      if (this.at >= this.end) throw truncated();
      byte = bytes[this.at++] as number;
      const part = byte & 0x7f;
      if (shift < 28) low |= part << shift;
      else if (shift === 28) {
        low |= part << 28;
        this.high = part >>> 4;
      } else this.high |= part << (shift - 32);
      if (byte < 0x80) return low >>> 0;
    }
    throw new DecodeError('proto: integer overflow');
  }
  int32(): number {
    return this.varint() | 0;
  }
  int64(): Integer {
    const low = this.varint();
    const value = (this.high | 0) * 0x1_0000_0000 + low;
    return Number.isSafeInteger(value) ? value : (BigInt(this.high | 0) << 32n) | BigInt(low);
  }
  bool(): boolean {
    return this.varint() !== 0 || this.high !== 0;
  }
  double(): number {
    const at = this.skipBytes(8);
    return this.bytes.readDoubleLE(at);
  }

  /** Reads a length. Returns the offset at which the value ends. */
  block(): number {
    const length = this.varint();
    if (this.high !== 0 || length > 0x7fffffff) throw new DecodeError('proto: negative length found during unmarshaling');
    if (length > this.end - this.at) throw truncated();
    return this.at + length;
  }
  text(): string {
    const end = this.block();
    const text = this.bytes.toString('utf8', this.at, end);
    const start = this.at;
    this.at = end;
    // Bytes that are not UTF-8 become replacement characters, which few texts hold.
    if (text.includes('\ufffd') && !isUtf8(this.bytes.subarray(start, end))) throw new NotUtf8();
    return text;
  }
  /** Bytes that hold JSON. */
  jsonText(): Buffer {
    const bytes = this.slice();
    if (!isUtf8(bytes)) throw new NotUtf8();
    return bytes;
  }
  base64(): string {
    const end = this.block();
    const text = this.bytes.toString('base64', this.at, end);
    this.at = end;
    return text;
  }
  /** Bytes that share memory with the input. */
  slice(): Buffer {
    const end = this.block();
    const bytes = this.bytes.subarray(this.at, end);
    this.at = end;
    return bytes;
  }

  /** Skips the value of an unknown field; of a group, what begins it. */
  skip(wire: number): void {
    if (wire === 0) this.varint();
    else if (wire === 1) this.skipBytes(8);
    else if (wire === 2) this.at = this.block();
    else if (wire === 5) this.skipBytes(4);
    else if (wire === 3) this.groups++;
    else if (wire !== 4) throw new DecodeError(`proto: illegal wireType ${wire}`);
    else if (--this.groups < 0) throw new DecodeError('proto: wiretype end group for non-group');
    if (this.groups > 0 && this.at >= this.end) throw truncated();
  }
  private skipBytes(count: number): number {
    const { at } = this;
    if (count > this.end - at) throw truncated();
    this.at = at + count;
    return at;
  }
}

function truncated(): DecodeError {
  return new DecodeError('unexpected EOF');
}
export function illegalTag(key: number): DecodeError {
  return new DecodeError(`proto: illegal tag ${key >>> 3} (wire type ${key & 7})`);
}
