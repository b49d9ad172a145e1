/** JSON text as bytes in one buffer, which grows. */
import { type Placed, PresentFields } from '../fields/present-fields.ts';

/** The text of an object exceeds the limit of the caller: encoding was aborted. */
export class TextTooLong extends Error {}

/** Writes a value of one type. */
export type ValueEncoder = (writer: JsonWriter, value: unknown) => void;

/** How the field of a message is written. */
export interface FieldPlan extends Placed {
  /** `"name":` */
  readonly label: Uint8Array;
  readonly encode: ValueEncoder;
  /** The text of an empty field, with its name; undefined leaves the field out. */
  readonly emptyText: Uint8Array | undefined;
  /** The scalar that counts as empty. */
  readonly zero: unknown;
  /** Whether an empty list or map counts as empty. */
  readonly collection: boolean;
}

/** Writes the rest of a list or an object. */
export type Gap = () => void;

/** Size of the buffer between two texts, and the size from which on it is not reused: one large object needed it. */
const USUAL_SIZE = 64 * 1024;
const MAX_REUSED_SIZE = 1024 * 1024;

const quoteMark = 0x22;
export const comma = 0x2c;
export const colon = 0x3a;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;
export const openBracket = 0x5b;
export const closeBracket = 0x5d;
const backslash = 0x5c;

export class JsonWriter {
  private buffer: Buffer = Buffer.allocUnsafeSlow(USUAL_SIZE);
  private position = 0;
  /** Limit of the position, which is checked when the buffer is full. */
  private longest = Number.POSITIVE_INFINITY;
  /** Beyond this position, entries of lists and objects are left to a later step. */
  private stepEnd = Number.POSITIVE_INFINITY;
  /** What the current step has written: texts, and gaps that a later step fills. */
  private pieces: (Buffer | Gap)[] = [];
  /** Whether an `always` list that is empty is written as [] instead of null. */
  showsEmpty = false;
  readonly present = new PresentFields<FieldPlan>();

  // ---- texts -----------------------------------------------------------------------------------------------------

  /** The text that `write` writes. */
  textOf(write: Gap): string {
    this.begin(0, Number.POSITIVE_INFINITY);
    write();
    const text = this.buffer.toString('utf8', 0, this.position);
    this.release();
    return text;
  }
  /**
   * Writes into a block of memory, after `start`. Returns where the text ends there, or bytes of its own with `room` before it if it
   * has outgrown the block. Throws TextTooLong.
   */
  writeInto(block: Buffer, start: number, room: number, most: number, write: Gap): number | Buffer {
    const own = this.buffer;
    this.buffer = block;
    this.begin(start + room, start + room + most);
    try {
      write();
      const end = this.position;
      if (this.buffer === block) return end;
      const bytes = Buffer.allocUnsafeSlow(end - start);
      this.buffer.copy(bytes, room, start + room, end);
      return bytes;
    } finally {
      this.buffer = own;
    }
  }
  /** What `write` writes in one step of about so many bytes, and the gaps that it leaves. */
  stepOf(bytes: number, write: Gap): readonly (Buffer | Gap)[] {
    this.begin(0, Number.POSITIVE_INFINITY);
    this.stepEnd = bytes;
    this.pieces = [];
    try {
      write();
      this.endPiece();
      return this.pieces;
    } finally {
      this.stepEnd = Number.POSITIVE_INFINITY;
      this.release();
    }
  }
  private begin(position: number, longest: number): void {
    this.position = position;
    this.longest = longest;
    this.present.top = 0;
  }
  private release(): void {
    if (this.buffer.length > MAX_REUSED_SIZE) this.buffer = Buffer.allocUnsafeSlow(USUAL_SIZE);
  }

  // ---- steps -----------------------------------------------------------------------------------------------------

  /** Whether the rest of a list or an object is left to a later step. */
  get isStepOver(): boolean {
    return this.position > this.stepEnd;
  }
  /** Whether a step may end within a list or an object. */
  get hasSteps(): boolean {
    return this.stepEnd < Number.POSITIVE_INFINITY;
  }
  /** Ends the step: whatever is a list or an object is left to later ones. */
  leave(rest: Gap): void {
    this.endPiece();
    this.pieces.push(rest);
    this.stepEnd = -1;
  }
  private endPiece(): void {
    this.pieces.push(Buffer.from(this.buffer.subarray(0, this.position)));
    this.position = 0;
  }
  /** A copy of what `write` writes, which has no gaps. */
  copyOf(write: Gap): Uint8Array {
    const end = this.stepEnd;
    this.stepEnd = Number.POSITIVE_INFINITY;
    const start = this.position;
    write();
    this.stepEnd = end;
    return Uint8Array.prototype.slice.call(this.buffer, start, this.position);
  }
  get mark(): number {
    return this.position;
  }
  /** Takes back what was written after a mark. */
  backTo(mark: number): void {
    this.position = mark;
  }

  // ---- bytes -----------------------------------------------------------------------------------------------------

  /** Makes room for so many bytes more. */
  private reserve(size: number): void {
    if (this.position + size <= this.buffer.length) return;
    if (this.position > this.longest) {
      this.release();
      throw new TextTooLong();
    }
    const larger = Buffer.allocUnsafeSlow(Math.max(this.buffer.length * 2, this.position + size));
    this.buffer.copy(larger, 0, 0, this.position);
    this.buffer = larger;
  }
  byte(code: number): void {
    if (this.position >= this.buffer.length) this.reserve(1);
    this.buffer[this.position++] = code;
  }
  bytes(text: Uint8Array): void {
    this.reserve(text.length);
    this.buffer.set(text, this.position);
    this.position += text.length;
  }
  /** A separator and the name of a field, with or without its value. */
  label(separator: number, name: Uint8Array): void {
    const length = name.length;
    this.reserve(length + 1);
    const to = this.buffer;
    let at = this.position;
    to[at++] = separator;
    for (let i = 0; i < length; i++) to[at++] = name[i] as number;
    this.position = at;
  }
  /** Text known to be ASCII. */
  ascii(text: string): void {
    const length = text.length;
    this.reserve(length);
    const to = this.buffer;
    let at = this.position;
    for (let i = 0; i < length; i++) to[at++] = codeAt(text, i);
    this.position = at;
  }
  utf8(text: string): void {
    this.reserve(text.length * 3);
    this.position += this.buffer.write(text, this.position, 'utf8');
  }
  quoted(text: string): void {
    const isWritten = text.length > LONG_TEXT ? this.writeLong(text) : this.writeShort(text);
    if (!isWritten) this.utf8(JSON.stringify(text));
  }
  /** Returns whether the text could be written as it is. */
  private writeShort(text: string): boolean {
    const length = text.length;
    this.reserve(length + 2);
    const to = this.buffer;
    let at = this.position;
    to[at++] = quoteMark;
    for (let i = 0; i < length; i++) {
      const code = codeAt(text, i);
      if (code < 0x20 || code === quoteMark || code === backslash || code > 0x7f) return false;
      to[at++] = code;
    }
    to[at++] = quoteMark;
    this.position = at;
    return true;
  }
  private writeLong(text: string): boolean {
    if (!needsNoEscape(text)) return false;
    this.reserve(text.length + 2);
    this.buffer[this.position++] = quoteMark;
    this.position += this.buffer.write(text, this.position, 'latin1');
    this.buffer[this.position++] = quoteMark;
    return true;
  }
}

/**
 * Texts come in many representations (parts of others, joined, interned), and a method that is looked up on more than four
 * of them is no longer compiled into a loop. Called by its full name it needs no lookup.
 */
const codeAt = (text: string, at: number): number => String.prototype.charCodeAt.call(text, at);

/** Beyond this length calls into the engine are cheaper than a loop over characters. */
const LONG_TEXT = 32;
/** Beyond this length one range and two searches are cheaper than a class of several ranges. */
const VERY_LONG_TEXT = 96;
/** Characters that JSON escapes, or that take more than one byte. */
const notPlain = /[^\x20\x21\x23-\x5b\x5d-\x7e]/;
const notPrintable = /[^\x20-\x7e]/;
const needsNoEscape = (text: string): boolean =>
  text.length > VERY_LONG_TEXT ? !notPrintable.test(text) && !text.includes('"') && !text.includes('\\') : !notPlain.test(text);
