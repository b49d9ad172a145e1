/**
 * A place in YAML text, and the scanning of scalars from it. Every scan moves forward only, so that reading is linear. A scalar
 * may be the whole body: scans that join many parts are work that yields after some.
 */
import type { Work } from '@plat-dev/lib/slices';
import { DecodeError } from '../errors.ts';

const newline = 0x0a;
const space = 0x20;
const tab = 0x09;
const carriageReturn = 0x0d;
const backslash = 0x5c;
/** Characters that are looked at one by one, before a search is begun. */
const SHORT = 64;

/** Bytes whose line ends are looked at between two pauses. */
const BYTES_A_STEP = 64 * 1024;
/** Limit of empty lines and comments that are skipped at a time. */
const LINES_A_STEP = 4096;
/** Parts of a text after which its scan yields. */
const PARTS_A_STEP = 512;

/** Builds a text: its parts are joined some at a time, as it may have millions of them. */
class Parts {
  private readonly joined: string[] = [];
  private latest: string[] = [];

  /** Whether to yield, after so many parts. */
  add(part: string): boolean {
    if (this.latest.push(part) < PARTS_A_STEP) return false;
    this.joined.push(this.latest.join(''));
    this.latest = [];
    return true;
  }
  text(): string {
    return this.joined.length === 0 ? this.latest.join('') : this.joined.join('') + this.latest.join('');
  }
}

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

  private nextLine(): void {
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

  // ---- scalars ---------------------------------------------------------------------------------------------------

  /** The end of the plain text on this line. */
  private plainEnd(): number {
    const { text } = this;
    let end = this.at;
    for (let i = this.at; ; i++) {
      const code = text.charCodeAt(i);
      if (Number.isNaN(code) || code === newline) return end;
      if (code === 0x3a) {
        const next = text.charCodeAt(i + 1);
        // A bracket or comma behind it does not make it the end of a key: `[fe80::]` is an address, as it is for the stock server.
        if (Number.isNaN(next) || next === space || next === tab || next === newline) return end;
      } else if (code === 0x23) {
        const before = text.charCodeAt(i - 1);
        if (before === space || before === tab) return end;
      } else if (this.flow && isFlowIndicator(code)) return end;
      if (code !== space && code !== tab) end = i + 1;
    }
  }
  /** Plain text of one line. */
  plainLine(): string {
    const end = this.plainEnd();
    const text = this.text.slice(this.at, end);
    this.at = end;
    return text;
  }
  /** Plain text that may go on in lines indented by `indent` at least. */
  *plain(indent: number): Work<string> {
    const first = this.plainLine();
    let parts: Parts | undefined;
    let blank = 0;
    let breaks = 0;
    let last = this.at;
    let lastLine = this.lineStart;
    for (;;) {
      this.skipSpaces();
      if (this.code() !== newline) break;
      breaks++;
      this.nextLine();
      const begin = this.at;
      this.skipSpaces();
      if (this.code() === newline) {
        this.at = begin;
        if ((++blank & (PARTS_A_STEP - 1)) === 0) yield;
        continue;
      }
      if (this.atEnd || this.char() === '#') break;
      if (!this.flow && (this.column < indent || this.atMarkerAt(begin))) break;
      if (!this.flow && this.text.slice(begin, Math.min(this.at, begin + indent)).includes('\t')) {
        this.fail('found a tab character that violates indentation');
      }
      const more = this.plainLine();
      if (more === '') break;
      if (parts === undefined) {
        parts = new Parts();
        parts.add(first);
      }
      if (parts.add((breaks === 1 ? ' ' : '\n'.repeat(breaks - 1)) + more)) yield;
      breaks = 0;
      last = this.at;
      lastLine = this.lineStart;
    }
    this.at = last;
    this.lineStart = lastLine;
    return parts === undefined ? first : parts.text();
  }
  private atMarkerAt(begin: number): boolean {
    return this.at === begin && this.atMarker();
  }

  /** Quoted text that is short, on one line and without escapes. Undefined for any other, of which nothing is read. */
  shortQuoted(): string | undefined {
    const { text, at } = this;
    const quote = text.charCodeAt(at);
    for (let i = at + 1; i <= at + SHORT; i++) {
      const code = text.charCodeAt(i);
      if (code === newline || code === backslash || Number.isNaN(code)) return undefined;
      if (code !== quote) continue;
      if (quote === 0x27 && text.charCodeAt(i + 1) === quote) return undefined;
      this.at = i + 1;
      return text.slice(at + 1, i);
    }
    return undefined;
  }
  /** Text in quotes, from the opening one on. Line ends fold into blanks. */
  *quoted(): Work<string> {
    const quote = this.char();
    const start = this.at;
    const stop = quote === '"' ? stopInDouble : stopInSingle;
    const out = new Parts();
    this.at++;
    for (;;) {
      const from = this.at;
      stop.lastIndex = from;
      if (!stop.test(this.text)) this.fail('found unexpected end of stream', start);
      this.at = stop.lastIndex - 1;
      const char = this.char();
      if (char === '\n') {
        // Blanks before a line end do not count, unless they were escaped: then they are part of an earlier piece.
        const piece = this.text.slice(from, this.endOfText(from));
        if (out.add(piece + (yield* this.fold()))) yield;
        continue;
      }
      const piece = this.text.slice(from, this.at);
      let full: boolean;
      if (char === '\\') {
        if (this.char(1) === '\n') {
          full = out.add(piece);
          this.at++;
          this.nextLine();
          this.skipSpaces();
        } else full = out.add(piece + this.escape());
      } else if (quote === "'" && this.char(1) === "'") {
        full = out.add(`${piece}'`);
        this.at += 2;
      } else {
        this.at++;
        out.add(piece);
        return out.text();
      }
      if (full) yield;
    }
  }
  /** Where the text from a place to the cursor ends, without the blanks behind it. */
  private endOfText(from: number): number {
    const { text } = this;
    let end = this.at;
    while (end > from && (text.charCodeAt(end - 1) === space || text.charCodeAt(end - 1) === tab)) end--;
    return end;
  }
  /** Skips quoted text that may be a key: on one line, and within the limit of keys. Returns whether it may be one. */
  skipQuotedKey(): boolean {
    const quote = this.code();
    const most = Math.min(this.text.length, this.at + LONGEST_KEY);
    for (let i = this.at + 1; i < most; i++) {
      const code = this.text.charCodeAt(i);
      if (code === newline) return false;
      if (code === backslash && quote === 0x22) i++;
      else if (code === quote) {
        if (quote !== 0x27 || this.text.charCodeAt(i + 1) !== quote) {
          this.at = i + 1;
          return true;
        }
        i++;
      }
    }
    return false;
  }
  /** The text of a run of line ends, which fold; blanks after them do not count. */
  private *fold(): Work<string> {
    let breaks = 0;
    while (this.code() === newline) {
      if ((++breaks & (LINES_A_STEP - 1)) === 0) yield;
      this.nextLine();
      if (this.atMarker()) this.fail('found unexpected document indicator');
      this.skipSpaces();
    }
    return breaks === 1 ? ' ' : '\n'.repeat(breaks - 1);
  }
  private escape(): string {
    const char = this.char(1);
    const simple = simpleEscapes.get(char);
    if (simple !== undefined) {
      this.at += 2;
      return simple;
    }
    const length = char === 'x' ? 2 : char === 'u' ? 4 : char === 'U' ? 8 : 0;
    if (length === 0) this.fail('found unknown escape character');
    const digits = this.text.slice(this.at + 2, this.at + 2 + length);
    const code = digits.length === length && /^[0-9a-fA-F]+$/.test(digits) ? Number.parseInt(digits, 16) : Number.NaN;
    if (!(code <= 0x10ffff)) this.fail('did not find expected hexdecimal number');
    this.at += 2 + length;
    return String.fromCodePoint(code);
  }

  /** A literal or folded block, from its `|` or `>` on. Its lines are indented by more than `parent`. */
  *block(parent: number): Work<string> {
    const folded = this.char() === '>';
    const header = /^[|>](?:([1-9])?([-+])?|([-+])([1-9]))(?=[ \t\n]|$)/.exec(this.text.slice(this.at, this.at + 4));
    if (header === null) this.fail('did not find expected comment or line break');
    this.at += header[0].length;
    this.skipSpaces();
    if (!this.lineIsOver()) this.fail('did not find expected comment or line break');
    const end = this.text.indexOf('\n', this.at);
    this.at = end < 0 ? this.text.length : end;
    const given = header[1] ?? header[4];
    const indent = given === undefined ? yield* this.blockIndent(parent) : Math.max(parent, 0) + Number(given);
    const body = new BlockText(folded);
    const trailing = yield* this.blockLines(indent, body);
    const text = body.text();
    const chomp = header[2] ?? header[3];
    if (chomp === '-') return text;
    const ending = body.empty ? '' : '\n';
    return chomp === '+' ? text + ending + '\n'.repeat(trailing) : text + ending;
  }
  /** The indentation of the first line that holds something; of blanks alone, the longest line's. */
  private *blockIndent(parent: number): Work<number> {
    const least = parent + 1;
    let blanks = 0;
    let lines = 0;
    for (let i = this.at; this.text.charCodeAt(i) === newline; ) {
      if ((++lines & (LINES_A_STEP - 1)) === 0) yield;
      let end = i + 1;
      while (this.text.charCodeAt(end) === space) end++;
      const indent = end - i - 1;
      const code = this.text.charCodeAt(end);
      if (code !== newline && !Number.isNaN(code)) {
        if (indent >= least) return indent;
        break;
      }
      blanks = Math.max(blanks, indent);
      i = end;
    }
    return Math.max(blanks, least);
  }
  /** Reads the lines of a block. Returns how many empty ones it ends with. */
  private *blockLines(indent: number, body: BlockText): Work<number> {
    let trailing = 0;
    let count = 0;
    while (this.code() === newline) {
      let start = this.at + 1;
      const lineStart = start;
      while (start < lineStart + indent && this.text.charCodeAt(start) === space) start++;
      const end = this.text.indexOf('\n', start);
      const stop = end < 0 ? this.text.length : end;
      if (indent === 0 && isMarker(this.text, lineStart)) break;
      if (start === this.text.length) break;
      if (start - lineStart < indent) {
        // A line with less indentation ends the block, unless it is empty.
        if (start !== stop) break;
        trailing++;
      } else if (start === stop) trailing++;
      else {
        body.add(trailing, this.text.slice(start, stop));
        trailing = 0;
      }
      if ((++count & (PARTS_A_STEP - 1)) === 0) yield;
      this.lineStart = lineStart;
      this.at = stop;
    }
    return trailing;
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

function isMarker(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code !== 0x2d && code !== 0x2e) return false;
  return (text.startsWith('---', at) || text.startsWith('...', at)) && /^[ \t\n]?$/.test(text.slice(at + 3, at + 4));
}
const blanks = /[ \t]*/y;
const stopInDouble = /["\\\n]/g;
const stopInSingle = /['\n]/g;
/** Maximum number of characters of an implicit key, including its quotes. */
const LONGEST_KEY = 1024;
const isFlowIndicator = (code: number): boolean => code === 0x2c || code === 0x5b || code === 0x5d || code === 0x7b || code === 0x7d;

const simpleEscapes = new Map<string, string>([
  ['0', '\0'],
  ['a', '\x07'],
  ['b', '\b'],
  ['t', '\t'],
  ['\t', '\t'],
  ['n', '\n'],
  ['v', '\v'],
  ['f', '\f'],
  ['r', '\r'],
  ['e', '\x1b'],
  [' ', ' '],
  ['"', '"'],
  ['/', '/'],
  ['\\', '\\'],
  ['N', '\x85'],
  ['_', '\xa0'],
  ['L', '\u2028'],
  ['P', '\u2029'],
]);

/** Builds the text of a block: literal, or folded. */
class BlockText {
  private readonly folded: boolean;
  private readonly parts = new Parts();
  /** Whether the line before begins with a blank: such lines, and those next to them, keep their line ends. */
  private indented = false;
  empty = true;

  constructor(folded: boolean) {
    this.folded = folded;
  }
  /** A line that is not empty, and how many empty ones stand before it. */
  add(blank: number, line: string): void {
    const starts = line[0] === ' ' || line[0] === '\t';
    this.parts.add(this.between(blank, starts) + line);
    this.empty = false;
    this.indented = starts;
  }
  private between(blank: number, starts: boolean): string {
    if (this.empty) return '\n'.repeat(blank);
    if (!this.folded || this.indented || starts) return '\n'.repeat(blank + 1);
    return blank === 0 ? ' ' : '\n'.repeat(blank);
  }
  text(): string {
    return this.parts.text();
  }
}
