/** Texts in lines of their own: literal blocks (`|`) and folded ones (`>`). */
import type { Work } from '@plat-dev/lib/slices';
import { isMarker, LINES_A_STEP, newline, space, type YamlCursor } from './cursor.ts';
import { PARTS_A_STEP, TextParts } from './text-parts.ts';

/** A literal or folded block, from its `|` or `>` on. Its lines are indented by more than `parent`. */
export function* blockText(cursor: YamlCursor, parent: number): Work<string> {
  const folded = cursor.char() === '>';
  const header = /^[|>](?:([1-9])?([-+])?|([-+])([1-9]))(?=[ \t\n]|$)/.exec(cursor.text.slice(cursor.at, cursor.at + 4));
  if (header === null) cursor.fail('did not find expected comment or line break');
  cursor.at += header[0].length;
  cursor.skipSpaces();
  if (!cursor.lineIsOver()) cursor.fail('did not find expected comment or line break');
  const end = cursor.text.indexOf('\n', cursor.at);
  cursor.at = end < 0 ? cursor.text.length : end;
  const indentDigit = header[1] ?? header[4];
  const indent = indentDigit === undefined ? yield* blockIndent(cursor, parent) : Math.max(parent, 0) + Number(indentDigit);
  const body = new BlockLines(folded);
  const trailing = yield* blockLines(cursor, indent, body);
  const text = body.text();
  const chomp = header[2] ?? header[3];
  if (chomp === '-') return text;
  const ending = body.empty ? '' : '\n';
  return chomp === '+' ? text + ending + '\n'.repeat(trailing) : text + ending;
}
/** The indentation of the first line that holds something; of blanks alone, the longest line's. */
function* blockIndent(cursor: YamlCursor, parent: number): Work<number> {
  const least = parent + 1;
  let blanks = 0;
  let lines = 0;
  for (let i = cursor.at; cursor.text.charCodeAt(i) === newline; ) {
    if ((++lines & (LINES_A_STEP - 1)) === 0) yield;
    let end = i + 1;
    while (cursor.text.charCodeAt(end) === space) end++;
    const indent = end - i - 1;
    const code = cursor.text.charCodeAt(end);
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
function* blockLines(cursor: YamlCursor, indent: number, body: BlockLines): Work<number> {
  let trailing = 0;
  let count = 0;
  while (cursor.code() === newline) {
    let start = cursor.at + 1;
    const lineStart = start;
    while (start < lineStart + indent && cursor.text.charCodeAt(start) === space) start++;
    const end = cursor.text.indexOf('\n', start);
    const stop = end < 0 ? cursor.text.length : end;
    if (indent === 0 && isMarker(cursor.text, lineStart)) break;
    if (start === cursor.text.length) break;
    if (start - lineStart < indent) {
      // A line with less indentation ends the block, unless it is empty.
      if (start !== stop) break;
      trailing++;
    } else if (start === stop) trailing++;
    else {
      body.add(trailing, cursor.text.slice(start, stop));
      trailing = 0;
    }
    if ((++count & (PARTS_A_STEP - 1)) === 0) yield;
    cursor.lineStart = lineStart;
    cursor.at = stop;
  }
  return trailing;
}

/** Builds the text of a block: literal, or folded. */
class BlockLines {
  private readonly folded: boolean;
  private readonly parts = new TextParts();
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
