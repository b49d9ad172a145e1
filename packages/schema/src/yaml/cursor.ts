/**
 * A place in YAML text. Scans from it (`plain-text.ts`, `quoted-text.ts`, `block-text.ts`) move forward only, so that reading is
 * linear. A scalar may be the whole body: scans that join many parts are work that yields after some.
 */
import type { Work } from '@plat-dev/lib/slices';
import { DecodeError } from '../errors.ts';

export const newline = 0x0a;
export const space = 0x20;
export const tab = 0x09;
const carriageReturn = 0x0d;
/** Characters that are looked at one by one, before a search is begun. */
export const SHORT = 64;

/** Bytes whose line ends are looked at between two pauses. */
const BYTES_A_STEP = 64 * 1024;
/** Limit of empty lines and comments that are skipped at a time. */
export const LINES_A_STEP = 4096;

export class YamlCursor {
  /** With LF line ends alone, once `toLineFeeds` is done. */
  text: string;
  at = 0;
  /** Where the current line begins. */
  lineStart = 0;

  constructor(text: string) {
    this.text = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  }
  /** Turns every line end into LF. */
  *toLineFeeds(): Work<void> {
    if (!this.text.includes('\r')) return;
    const bytes = Buffer.from(this.text);
    let length = 0;
    for (let from = 0; from < bytes.length; from += BYTES_A_STEP) {
      length = withLineFeeds(bytes, from, Math.min(from + BYTES_A_STEP, bytes.length), length);
      yield;
    }
    this.text = bytes.toString('utf8', 0, length);
  }

  get column(): number {
    return this.at - this.lineStart;
  }
  get atEnd(): boolean {
    return this.at >= this.text.length;
  }
  char(ahead = 0): string {
    return this.text[this.at + ahead] ?? '';
  }
  code(ahead = 0): number {
    return this.text.charCodeAt(this.at + ahead);
  }
  /** Whether a blank, the end of the line or of the text follows so many characters ahead. */
  blankAt(ahead: number): boolean {
    const code = this.code(ahead);
    return code === space || code === tab || code === newline || Number.isNaN(code);
  }
  fail(message: string, at = this.at): never {
    let line = 1;
    for (let i = 0; i < at; i++) if (this.text.charCodeAt(i) === newline) line++;
    throw new DecodeError(`yaml: line ${line}: ${message}`);
  }

  nextLine(): void {
    this.at++;
    this.lineStart = this.at;
  }
  /** Skips blanks within the line. */
  skipSpaces(): void {
    const { text, at } = this;
    for (let i = at; i < at + SHORT; i++) {
      const code = text.charCodeAt(i);
      if (code === space || code === tab) continue;
      this.at = i;
      return;
    }
    blanks.lastIndex = at;
    blanks.test(text);
    this.at = blanks.lastIndex;
  }
  /** Whether the rest of the line is empty or a comment. The cursor stands behind blanks or at the line's beginning. */
  lineIsOver(): boolean {
    const code = this.code();
    if (Number.isNaN(code) || code === newline) return true;
    if (code !== 0x23) return false;
    const before = this.text.charCodeAt(this.at - 1);
    return this.at === this.lineStart || before === space || before === tab;
  }
  /**
   * Skips blanks and comments, on this line and later ones. Returns false if it is not done after some thousand lines: the caller
   * yields, and calls again.
   */
  skipToContent(): boolean {
    for (let lines = 0; ; lines++) {
      while (this.code() === newline && lines < LINES_A_STEP) {
        this.nextLine();
        lines++;
      }
      if (lines >= LINES_A_STEP) return false;
      const start = this.at;
      this.skipSpaces();
      if (!this.lineIsOver()) {
        // Blanks that indent must not be tabs; those that only separate may be.
        if (start === this.lineStart && this.text.slice(start, this.at).includes('\t') && !this.flow) {
          this.fail('found a tab character that violates indentation');
        }
        return true;
      }
      this.at = this.lineEnd();
      if (this.at === this.text.length) return true;
      this.nextLine();
    }
  }
  /** Where the line ends. Most comments are short, and a search costs more than a look at some characters. */
  private lineEnd(): number {
    const { text, at } = this;
    for (let i = at; i < at + SHORT; i++) {
      const code = text.charCodeAt(i);
      if (code === newline) return i;
      if (Number.isNaN(code)) return text.length;
    }
    const end = text.indexOf('\n', at);
    return end < 0 ? text.length : end;
  }
  /** Whether brackets are open: then indentation is ignored. */
  flow = false;

  /** `---` or `...` at the beginning of a line. */
  atMarker(): boolean {
    return this.column === 0 && isMarker(this.text, this.at);
  }
}

/** Moves bytes to `length`, each line end as LF. Returns the new length. */
function withLineFeeds(bytes: Buffer, from: number, to: number, length: number): number {
  let end = length;
  for (let i = from; i < to; i++) {
    const byte = bytes[i] as number;
    // The LF behind a CR is the line end of both.
    if (byte === carriageReturn && bytes[i + 1] === newline) continue;
    bytes[end++] = byte === carriageReturn ? newline : byte;
  }
  return end;
}

/** Whether `---` or `...` stands at a place. */
export function isMarker(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code !== 0x2d && code !== 0x2e) return false;
  return (text.startsWith('---', at) || text.startsWith('...', at)) && /^[ \t\n]?$/.test(text.slice(at + 3, at + 4));
}
const blanks = /[ \t]*/y;
