/**
 * The small part of DER (X.690) that certificates and certificate requests need: writing any of it, reading it strictly.
 *
 *   sequence(integer(1), utf8('a'))   → 30 06 02 01 01 0c 01 61
 *   read(that).children()             → [integer, utf8]
 */
export const Tag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8: 0x0c,
  printable: 0x13,
  teletex: 0x14,
  ia5: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  bmp: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const;

function lengthOf(size: number): Buffer {
  if (size < 0x80) return Buffer.from([size]);
  const bytes: number[] = [];
  for (let remainder = size; remainder > 0; remainder = Math.floor(remainder / 256)) bytes.unshift(remainder % 256);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}

export function element(tag: number, ...contents: readonly Buffer[]): Buffer {
  const size = contents.reduce((sum, content) => sum + content.length, 0);
  return Buffer.concat([Buffer.from([tag]), lengthOf(size), ...contents]);
}
export const sequence = (...items: readonly Buffer[]): Buffer => element(Tag.sequence, ...items);
export const set = (...items: readonly Buffer[]): Buffer => element(Tag.set, ...items);
export const boolean = (value: boolean): Buffer => element(Tag.boolean, Buffer.from([value ? 0xff : 0]));
export const utf8 = (text: string): Buffer => element(Tag.utf8, Buffer.from(text, 'utf8'));
export const octets = (content: Buffer): Buffer => element(Tag.octetString, content);
export const bits = (content: Buffer, unused = 0): Buffer => element(Tag.bitString, Buffer.from([unused]), content);
/** `[n]` around whole elements. */
export const explicit = (n: number, ...items: readonly Buffer[]): Buffer => element(0xa0 | n, ...items);
/** `[n]` in place of the element's own tag. */
export const implicit = (n: number, content: Buffer): Buffer => element(0x80 | n, content);

/** A number that is not negative, or the bytes of one, most significant first. */
export function integer(value: number | Buffer): Buffer {
  let bytes = value;
  if (typeof bytes === 'number') {
    const hex = bytes.toString(16);
    bytes = Buffer.from(hex.length % 2 === 1 ? `0${hex}` : hex, 'hex');
  }
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const significant = bytes.subarray(start);
  return element(Tag.integer, (significant[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), significant]) : significant);
}

export function oid(text: string): Buffer {
  const [first = 0, second = 0, ...furtherArcs] = text.split('.').map(Number);
  const bytes: number[] = [];
  for (const arc of [first * 40 + second, ...furtherArcs]) {
    const groups = [arc % 128];
    for (let more = Math.floor(arc / 128); more > 0; more = Math.floor(more / 128)) groups.unshift((more % 128) | 0x80);
    bytes.push(...groups);
  }
  return element(Tag.oid, Buffer.from(bytes));
}

/** Two-digit years until 2049, four-digit years from then on, as X.509 requires. */
export function time(millis: number): Buffer {
  const text = new Date(millis).toISOString().replace(/[-:T]|\.\d+/g, '');
  return Number(text.slice(0, 4)) < 2050
    ? element(Tag.utcTime, Buffer.from(text.slice(2), 'latin1'))
    : element(Tag.generalizedTime, Buffer.from(text, 'latin1'));
}

export class DerError extends Error {}

const textTags: readonly number[] = [Tag.utf8, Tag.printable, Tag.ia5, Tag.teletex, Tag.bmp];

/** One element within a buffer. Nothing is copied. */
export class Element {
  readonly tag: number;
  /** The element with its head. */
  readonly raw: Buffer;
  readonly content: Buffer;

  constructor(tag: number, raw: Buffer, content: Buffer) {
    this.tag = tag;
    this.raw = raw;
    this.content = content;
  }
  children(): Element[] {
    const items: Element[] = [];
    for (let at = 0; at < this.content.length; ) {
      const item = readAt(this.content, at);
      items.push(item);
      at += item.raw.length;
    }
    return items;
  }
  /** The element itself, if it has this tag. */
  as(tag: number): Element {
    if (this.tag !== tag) throw new DerError('unexpected element');
    return this;
  }
  oid(): string {
    const arcs: number[] = [];
    let arc = 0;
    for (const byte of this.as(Tag.oid).content) {
      arc = arc * 128 + (byte & 0x7f);
      if (!Number.isSafeInteger(arc)) throw new DerError('object identifier too large');
      if (byte < 0x80) {
        arcs.push(arc);
        arc = 0;
      }
    }
    const head = arcs.shift() ?? 0;
    const first = Math.min(Math.floor(head / 40), 2);
    return [first, head - first * 40, ...arcs].join('.');
  }
  /** Whether the element has one of the string types of names. */
  get isText(): boolean {
    return textTags.includes(this.tag);
  }
  /** The text of any of the string types of names. */
  text(): string {
    if (this.tag === Tag.bmp) {
      const units = Buffer.from(this.content.subarray(0, this.content.length & ~1));
      return units.swap16().toString('utf16le');
    }
    if (this.tag === Tag.teletex) return this.content.toString('latin1');
    if (this.tag === Tag.utf8 || this.tag === Tag.printable || this.tag === Tag.ia5) return this.content.toString('utf8');
    throw new DerError('not a text');
  }
  /** The bytes of a bit string whose last byte is full. */
  bitBytes(): Buffer {
    const content = this.as(Tag.bitString).content;
    if (content.length === 0 || content[0] !== 0) throw new DerError('bit string of odd length');
    return content.subarray(1);
  }
}

function readAt(buffer: Buffer, at: number): Element {
  const tag = buffer[at];
  const first = buffer[at + 1];
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) throw new DerError('truncated or unusual element');
  let size = first;
  let head = 2;
  if (first >= 0x80) {
    const count = first & 0x7f;
    if (count === 0 || count > 4 || at + 2 + count > buffer.length) throw new DerError('bad length');
    size = buffer.readUIntBE(at + 2, count);
    if (size < 0x80) throw new DerError('length not in its shortest form');
    head += count;
  }
  const end = at + head + size;
  if (end > buffer.length) throw new DerError('element longer than its surroundings');
  return new Element(tag, buffer.subarray(at, end), buffer.subarray(at + head, end));
}

/** The one element that a buffer holds. Bytes after it are refused. */
export function read(buffer: Buffer): Element {
  const item = readAt(buffer, 0);
  if (item.raw.length !== buffer.length) throw new DerError('trailing bytes');
  return item;
}
