/** Texts in quotes. */
import type { Work } from '@plat-dev/lib/slices';
import { LINES_A_STEP, newline, SHORT, space, tab, type YamlCursor } from './cursor.ts';
import { TextParts } from './text-parts.ts';

const backslash = 0x5c;
const stopInDouble = /["\\\n]/g;
const stopInSingle = /['\n]/g;
/** Maximum number of characters of an implicit key, including its quotes. */
const LONGEST_KEY = 1024;

/** Quoted text that is short, on one line and without escapes. Undefined for any other, of which nothing is read. */
export function shortQuotedText(cursor: YamlCursor): string | undefined {
  const { text, at } = cursor;
  const quote = text.charCodeAt(at);
  for (let i = at + 1; i <= at + SHORT; i++) {
    const code = text.charCodeAt(i);
    if (code === newline || code === backslash || Number.isNaN(code)) return undefined;
    if (code !== quote) continue;
    if (quote === 0x27 && text.charCodeAt(i + 1) === quote) return undefined;
    cursor.at = i + 1;
    return text.slice(at + 1, i);
  }
  return undefined;
}
/** Text in quotes, from the opening one on. Line ends fold into blanks. */
export function* quotedText(cursor: YamlCursor): Work<string> {
  const quote = cursor.char();
  const start = cursor.at;
  const stop = quote === '"' ? stopInDouble : stopInSingle;
  const out = new TextParts();
  cursor.at++;
  for (;;) {
    const from = cursor.at;
    stop.lastIndex = from;
    if (!stop.test(cursor.text)) cursor.fail('found unexpected end of stream', start);
    cursor.at = stop.lastIndex - 1;
    const char = cursor.char();
    if (char === '\n') {
      // Blanks before a line end do not count, unless they were escaped: then they are part of an earlier piece.
      const piece = cursor.text.slice(from, endOfText(cursor, from));
      if (out.add(piece + (yield* fold(cursor)))) yield;
      continue;
    }
    const piece = cursor.text.slice(from, cursor.at);
    let full: boolean;
    if (char === '\\') {
      if (cursor.char(1) === '\n') {
        full = out.add(piece);
        cursor.at++;
        cursor.nextLine();
        cursor.skipSpaces();
      } else full = out.add(piece + escapedText(cursor));
    } else if (quote === "'" && cursor.char(1) === "'") {
      full = out.add(`${piece}'`);
      cursor.at += 2;
    } else {
      cursor.at++;
      out.add(piece);
      return out.text();
    }
    if (full) yield;
  }
}
/** Where the text from a place to the cursor ends, without the blanks behind it. */
function endOfText(cursor: YamlCursor, from: number): number {
  const { text } = cursor;
  let end = cursor.at;
  while (end > from && (text.charCodeAt(end - 1) === space || text.charCodeAt(end - 1) === tab)) end--;
  return end;
}
/** Skips quoted text that may be a key: on one line, and within the limit of keys. Returns whether it may be one. */
export function skipQuotedKey(cursor: YamlCursor): boolean {
  const quote = cursor.code();
  const most = Math.min(cursor.text.length, cursor.at + LONGEST_KEY);
  for (let i = cursor.at + 1; i < most; i++) {
    const code = cursor.text.charCodeAt(i);
    if (code === newline) return false;
    if (code === backslash && quote === 0x22) i++;
    else if (code === quote) {
      if (quote !== 0x27 || cursor.text.charCodeAt(i + 1) !== quote) {
        cursor.at = i + 1;
        return true;
      }
      i++;
    }
  }
  return false;
}
/** The text of a run of line ends, which fold; blanks after them do not count. */
function* fold(cursor: YamlCursor): Work<string> {
  let breaks = 0;
  while (cursor.code() === newline) {
    if ((++breaks & (LINES_A_STEP - 1)) === 0) yield;
    cursor.nextLine();
    if (cursor.atMarker()) cursor.fail('found unexpected document indicator');
    cursor.skipSpaces();
  }
  return breaks === 1 ? ' ' : '\n'.repeat(breaks - 1);
}
function escapedText(cursor: YamlCursor): string {
  const char = cursor.char(1);
  const simple = simpleEscapes.get(char);
  if (simple !== undefined) {
    cursor.at += 2;
    return simple;
  }
  const length = char === 'x' ? 2 : char === 'u' ? 4 : char === 'U' ? 8 : 0;
  if (length === 0) cursor.fail('found unknown escape character');
  const digits = cursor.text.slice(cursor.at + 2, cursor.at + 2 + length);
  const code = digits.length === length && /^[0-9a-fA-F]+$/.test(digits) ? Number.parseInt(digits, 16) : Number.NaN;
  if (!(code <= 0x10ffff)) cursor.fail('did not find expected hexdecimal number');
  cursor.at += 2 + length;
  return String.fromCodePoint(code);
}

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
