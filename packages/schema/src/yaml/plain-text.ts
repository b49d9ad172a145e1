/** Texts without quotes. */
import type { Work } from '@plat-dev/lib/slices';
import { newline, space, tab, type YamlCursor } from './cursor.ts';
import { PARTS_A_STEP, TextParts } from './text-parts.ts';

/** The end of the plain text on this line. */
function plainEnd(cursor: YamlCursor): number {
  const { text } = cursor;
  let end = cursor.at;
  for (let i = cursor.at; ; i++) {
    const code = text.charCodeAt(i);
    if (Number.isNaN(code) || code === newline) return end;
    if (code === 0x3a) {
      const next = text.charCodeAt(i + 1);
      // A bracket or comma behind it does not make it the end of a key: `[fe80::]` is an address, as it is for the stock server.
      if (Number.isNaN(next) || next === space || next === tab || next === newline) return end;
    } else if (code === 0x23) {
      const before = text.charCodeAt(i - 1);
      if (before === space || before === tab) return end;
    } else if (cursor.flow && isFlowIndicator(code)) return end;
    if (code !== space && code !== tab) end = i + 1;
  }
}
/** Plain text of one line. */
export function plainLine(cursor: YamlCursor): string {
  const end = plainEnd(cursor);
  const text = cursor.text.slice(cursor.at, end);
  cursor.at = end;
  return text;
}
/** Plain text that may go on in lines indented by `indent` at least. */
export function* plainText(cursor: YamlCursor, indent: number): Work<string> {
  const first = plainLine(cursor);
  let parts: TextParts | undefined;
  let blank = 0;
  let breaks = 0;
  let last = cursor.at;
  let lastLine = cursor.lineStart;
  for (;;) {
    cursor.skipSpaces();
    if (cursor.code() !== newline) break;
    breaks++;
    cursor.nextLine();
    const begin = cursor.at;
    cursor.skipSpaces();
    if (cursor.code() === newline) {
      cursor.at = begin;
      if ((++blank & (PARTS_A_STEP - 1)) === 0) yield;
      continue;
    }
    if (cursor.atEnd || cursor.char() === '#') break;
    if (!cursor.flow && (cursor.column < indent || atMarkerAt(cursor, begin))) break;
    if (!cursor.flow && cursor.text.slice(begin, Math.min(cursor.at, begin + indent)).includes('\t')) {
      cursor.fail('found a tab character that violates indentation');
    }
    const more = plainLine(cursor);
    if (more === '') break;
    if (parts === undefined) {
      parts = new TextParts();
      parts.add(first);
    }
    if (parts.add((breaks === 1 ? ' ' : '\n'.repeat(breaks - 1)) + more)) yield;
    breaks = 0;
    last = cursor.at;
    lastLine = cursor.lineStart;
  }
  cursor.at = last;
  cursor.lineStart = lastLine;
  return parts === undefined ? first : parts.text();
}
function atMarkerAt(cursor: YamlCursor, begin: number): boolean {
  return cursor.at === begin && cursor.atMarker();
}

const isFlowIndicator = (code: number): boolean => code === 0x2c || code === 0x5b || code === 0x5d || code === 0x7b || code === 0x7d;
