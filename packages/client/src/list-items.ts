/**
 * The text of a list, read one item at a time: parsing a long list at once would hold the event loop. A text that is not
 * in the form of a list is parsed as a whole.
 */
import type { Work } from '@plat-dev/lib/slices';
import type { TextBytes } from '@plat-dev/lib/text-bytes';
import { parseExact } from '@plat-dev/schema/json/parse';

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
/** Bytes that are looked at before the work yields. */
const BYTES_A_STEP = 64 * 1024;

export interface ListText {
  readonly metadata: unknown;
  readonly items: unknown[] | null;
}

export function* listItems(text: TextBytes): Work<ListText> {
  const list: { [field: string]: unknown } = {};
  const reader = new Reader(text);
  if (!reader.skip(OPEN_OBJECT)) return parseExact(text.toString()) as ListText;
  while (!reader.skip(CLOSE_OBJECT)) {
    const name: unknown = parseExact(yield* reader.value());
    if (!reader.skip(COLON)) return parseExact(text.toString()) as ListText;
    if (name === 'items' && reader.skip(OPEN_LIST)) {
      const items: unknown[] = [];
      while (!reader.skip(CLOSE_LIST)) {
        items.push(parseExact(yield* reader.value()));
        yield;
        reader.skip(COMMA);
      }
      list.items = items;
    } else if (name === 'items' || name === 'metadata') list[name] = parseExact(yield* reader.value());
    else yield* reader.value();
    reader.skip(COMMA);
  }
  return list as unknown as ListText;
}

class Reader {
  private readonly text: TextBytes;
  private at = 0;

  constructor(text: TextBytes) {
    this.text = text;
  }
  /** Whether the next sign is this one, which is passed then. */
  skip(sign: number): boolean {
    while ((this.text[this.at] ?? 0x21) <= 0x20) this.at++;
    if (this.text[this.at] !== sign) return false;
    this.at++;
    return true;
  }
  /** The text of the next value; of what is not valid anything, which its parser refuses. */
  *value(): Work<string> {
    const { text } = this;
    this.skip(-1);
    const start = this.at;
    let pause = start + BYTES_A_STEP;
    for (let depth = 0; this.at < text.length; this.at++) {
      const sign = text[this.at];
      if (sign === QUOTE) this.passText();
      else if (sign === OPEN_LIST || sign === OPEN_OBJECT) depth++;
      else if (sign === CLOSE_LIST || sign === CLOSE_OBJECT) depth--;
      else if (depth === 0 && (sign === COMMA || sign === COLON)) break;
      if (depth < 0) break;
      if (this.at >= pause) {
        pause = this.at + BYTES_A_STEP;
        yield;
      }
    }
    return text.toString('utf8', start, this.at);
  }
  /** From a quote to the one that ends the text. */
  private passText(): void {
    const { text } = this;
    for (let end = text.indexOf(QUOTE, this.at + 1); ; end = text.indexOf(QUOTE, end + 1)) {
      this.at = end === -1 ? text.length : end;
      let slashes = 0;
      while (text[this.at - 1 - slashes] === BACKSLASH) slashes++;
      if (end === -1 || slashes % 2 === 0) return;
    }
  }
}
