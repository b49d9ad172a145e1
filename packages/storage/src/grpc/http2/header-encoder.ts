/**
 * Headers of HTTP/2 requests. Those that every call of a method repeats go into the dynamic table of the server with the first
 * one, and are a number of one byte from then on; the others are sent as text, each time.
 */
import { sizeOf, TABLE_BYTES } from './header-decoder.ts';
import { STATIC_TABLE } from './static-table.ts';

type Header = readonly [name: string, value: string];

const REPEATED = 0x40;
const NOT_REPEATED = 0x00;

export class HeaderEncoder {
  /** Headers in the table of the server, and how many were added before each; none is ever removed. */
  readonly #indexByField = new Map<string, number>();
  #size = 0;
  #mostBytes = TABLE_BYTES;
  #resized = false;
  #block: number[] = [];
  /** The last block of each list of headers: the same until the table changes. A list is that of a method, of which there are few. */
  readonly #blocks = new Map<readonly Header[], { readonly added: number; readonly once: string; readonly block: Buffer }>();

  /** The server wants a smaller table: nothing is added to it any more, and what is there is forgotten. */
  limit(mostBytes: number): void {
    if (mostBytes >= TABLE_BYTES || this.#mostBytes === 0) return;
    this.#mostBytes = 0;
    this.#indexByField.clear();
    this.#blocks.clear();
    this.#resized = true;
  }

  /** `once`: headers whose values may change from call to call. */
  encode(headers: readonly Header[], once: readonly Header[] = []): Buffer {
    const onceText = once.map(([name, value]) => `${name}\0${value}`).join('\0');
    const last = this.#blocks.get(headers);
    if (last !== undefined && last.added === this.#indexByField.size && last.once === onceText) return last.block;
    const sizeBefore = this.#indexByField.size;
    const block = this.#encode(headers, once);
    // A block that adds to the table cannot be sent again.
    if (this.#indexByField.size === sizeBefore && !this.#resized) this.#blocks.set(headers, { added: sizeBefore, once: onceText, block });
    this.#resized = false;
    return block;
  }

  #encode(headers: readonly Header[], once: readonly Header[]): Buffer {
    const block: number[] = [];
    this.#block = block;
    if (this.#resized) block.push(0x20);
    for (const header of headers) this.#repeated(header);
    for (const header of once) this.#literal(header, NOT_REPEATED, 4);
    return Buffer.from(block);
  }

  #repeated(header: Header): void {
    const [name, value] = header;
    const fixed = STATIC_TABLE.findIndex((entry) => entry[0] === name && entry[1] === value);
    if (fixed >= 0) return void this.#number(0x80, 7, fixed + 1);
    const key = `${name}\0${value}`;
    const addedAt = this.#indexByField.get(key);
    if (addedAt !== undefined) return void this.#number(0x80, 7, STATIC_TABLE.length + this.#indexByField.size - addedAt);
    const size = sizeOf(header);
    if (this.#size + size > this.#mostBytes) {
      this.#literal(header, NOT_REPEATED, 4);
      return;
    }
    this.#literal(header, REPEATED, 6);
    this.#size += size;
    this.#indexByField.set(key, this.#indexByField.size);
  }

  #literal([name, value]: Header, flag: number, bits: number): void {
    const index = STATIC_TABLE.findIndex((entry) => entry[0] === name) + 1;
    this.#number(flag, bits, index);
    if (index === 0) this.#text(name);
    this.#text(value);
  }

  #text(text: string): void {
    this.#number(0, 7, text.length);
    for (let at = 0; at < text.length; at++) this.#block.push(text.charCodeAt(at));
  }

  #number(flag: number, bits: number, value: number): void {
    const most = 2 ** bits - 1;
    if (value < most) return void this.#block.push(flag + value);
    this.#block.push(flag + most);
    let rest = value - most;
    for (; rest > 127; rest = Math.floor(rest / 128)) this.#block.push(128 + (rest % 128));
    this.#block.push(rest);
  }
}
