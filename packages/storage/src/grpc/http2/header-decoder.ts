/** Headers of HTTP/2 responses, as they are compressed (RFC 7541): by number in two tables, or as text. */
import { decodeHuffman } from './huffman.ts';
import { STATIC_TABLE } from './static-table.ts';

type Header = readonly [name: string, value: string];

/** Maximum size of the dynamic table, the default of the protocol: headers in it count their texts and 32 bytes. */
export const TABLE_BYTES = 4_096;
const ENTRY_BYTES = 32;
const LARGEST_NUMBER = 2 ** 28;

export class HeaderDecoder {
  /** The newest first. */
  #dynamic: Header[] = [];
  #size = 0;
  #mostBytes = TABLE_BYTES;
  #block: Buffer = Buffer.alloc(0);
  #at = 0;

  /** Calls `take` with every header of a block, in order. Throws RangeError; the connection cannot be used any further then. */
  decode(block: Buffer, take: (name: string, value: string) => void): void {
    this.#block = block;
    this.#at = 0;
    while (this.#at < block.length) {
      const byte = block[this.#at] as number;
      if (byte >= 0x80) {
        const [name, value] = this.#header(this.#number(7));
        take(name, value);
      } else if (byte >= 0x40) {
        const header = this.#literal(6);
        this.#add(header);
        take(header[0], header[1]);
      } else if (byte >= 0x20) {
        this.#resize(this.#number(5));
      } else {
        const header = this.#literal(4);
        take(header[0], header[1]);
      }
    }
  }

  #literal(bits: number): Header {
    const index = this.#number(bits);
    const name = index === 0 ? this.#text() : this.#header(index)[0];
    return [name, this.#text()];
  }

  #header(index: number): Header {
    const header = index <= STATIC_TABLE.length ? STATIC_TABLE[index - 1] : this.#dynamic[index - STATIC_TABLE.length - 1];
    if (header === undefined) throw new RangeError(`there is no header with the number ${index}`);
    return header;
  }

  #add(header: Header): void {
    this.#dynamic.unshift(header);
    this.#size += sizeOf(header);
    this.#evict();
  }
  #resize(mostBytes: number): void {
    if (mostBytes > TABLE_BYTES) throw new RangeError(`a table of ${mostBytes} bytes for headers is larger than ${TABLE_BYTES}`);
    this.#mostBytes = mostBytes;
    this.#evict();
  }
  #evict(): void {
    while (this.#size > this.#mostBytes) this.#size -= sizeOf(this.#dynamic.pop() as Header);
  }

  /** A number in the last bits of a byte, and in the bytes after it if it does not fit. */
  #number(bits: number): number {
    const most = 2 ** bits - 1;
    let value = this.#byte() & most;
    if (value < most) return value;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#byte();
      value += (byte & 127) * factor;
      if (value > LARGEST_NUMBER) throw new RangeError('a number of a header is too large');
      if (byte < 128) return value;
    }
  }

  #text(): string {
    const coded = ((this.#block[this.#at] ?? 0) & 0x80) !== 0;
    const length = this.#number(7);
    const from = this.#at;
    if (from + length > this.#block.length) throw new RangeError('a header is cut short');
    this.#at = from + length;
    return coded ? decodeHuffman(this.#block, from, this.#at) : this.#block.toString('latin1', from, this.#at);
  }

  #byte(): number {
    const byte = this.#block[this.#at++];
    if (byte === undefined) throw new RangeError('a header is cut short');
    return byte;
  }
}

export const sizeOf = ([name, value]: Header): number => name.length + value.length + ENTRY_BYTES;
