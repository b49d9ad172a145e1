/**
 * Large JSON text by the engine's parser, one part of it at a time: that parser never yields, and our own takes three times as long.
 * Entries of objects and lists that are longer than a part are found first, and parsed together as long as they fit into one:
 *
 *   {"kind":"Pod","metadata":{…},"spec":{"containers":[…]}}      {"kind":"Pod","metadata":{…}}, then the containers
 */
import { own, setOwn } from '@plat-dev/lib/own';
import type { Work } from '@plat-dev/lib/slices';
import type { TextBytes } from '@plat-dev/lib/text-bytes';
import { maxDepth } from '../errors.ts';
import { parseExact } from './parse.ts';

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
/** Characters of a part: at most a millisecond of the parser. */
const PART_LENGTH = 32 * 1024;

/** As `parseExact`, for large text. It yields first: many texts may come in one turn. */
export function* parsedExact(bytes: TextBytes): Work<unknown> {
  yield;
  const text = bytes.toString();
  if (text.length <= PART_LENGTH) return parseExact(text);
  yield;
  const reader = new Reader(text);
  try {
    const value = yield* reader.value(0);
    reader.expectEnd();
    return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // Its error is about the whole text.
    return parseExact(text);
  }
}

type Container = { [key: string]: unknown } | unknown[];
/** The place of entries that are parsed together. */
interface Part {
  readonly start: number;
  readonly end: number;
}

class Reader {
  private readonly text: string;
  private at = 0;

  constructor(text: string) {
    this.text = text;
  }
  expectEnd(): void {
    this.passBlanks();
    if (this.at < this.text.length) throw new SyntaxError('text after the value');
  }
  *value(depth: number): Work<unknown> {
    this.passBlanks();
    const start = this.at;
    const end = this.endOfEntry();
    const sign = this.text.charCodeAt(start);
    if (end !== undefined) this.at = end;
    else if (sign === OPEN_OBJECT) return yield* this.entries('{}', {}, depth);
    else if (sign === OPEN_LIST) return yield* this.entries('[]', [], depth);
    else yield* this.passString();
    return parseExact(this.text.slice(start, this.at));
  }
  /** Reads the entries of an object or list, which begins here, into `whole`. */
  private *entries(signs: '{}' | '[]', whole: Container, depth: number): Work<unknown> {
    if (depth > maxDepth) throw new SyntaxError('nested too deeply');
    const close = signs.charCodeAt(1);
    this.at++;
    if (this.passes(close)) return whole;
    let part: Part | undefined;
    do {
      this.passBlanks();
      const start = this.at;
      const end = this.endOfEntry();
      if (part !== undefined && (end === undefined || end - part.start > PART_LENGTH)) {
        this.addPart(whole, signs, part);
        part = undefined;
        yield;
      }
      if (end === undefined) yield* this.largeEntry(whole, depth);
      else {
        part = { start: part?.start ?? start, end };
        this.at = end;
      }
      if (this.at === start) throw new SyntaxError('an entry is missing');
    } while (this.passes(COMMA));
    if (!this.passes(close)) throw new SyntaxError('the end is missing');
    if (part !== undefined) this.addPart(whole, signs, part);
    yield;
    return whole;
  }
  private addPart(whole: Container, [open, close]: string, { start, end }: Part): void {
    const entries = parseExact(open + this.text.slice(start, end) + close) as Container;
    if (Array.isArray(whole)) for (const item of entries as unknown[]) whole.push(item);
    else for (const key of Object.keys(entries)) setOwn(whole, key, own(entries as Readonly<Record<string, unknown>>, key));
  }
  private *largeEntry(whole: Container, depth: number): Work<void> {
    if (Array.isArray(whole)) {
      whole.push(yield* this.value(depth + 1));
      return;
    }
    const start = this.at;
    yield* this.passString();
    const key = parseExact(this.text.slice(start, this.at)) as string;
    if (!this.passes(COLON)) throw new SyntaxError('the value is missing');
    setOwn(whole, key, yield* this.value(depth + 1));
  }
  /** Where the entry that begins here ends; undefined if that is not within a part. Its parser refuses what is not valid. */
  private endOfEntry(): number | undefined {
    const { text } = this;
    const limit = Math.min(text.length, this.at + PART_LENGTH);
    let depth = 0;
    let at = this.at;
    for (; at < limit; at++) {
      const sign = text.charCodeAt(at);
      if (sign === QUOTE) at = endOfString(text, at + 1, limit);
      else if (sign === OPEN_OBJECT || sign === OPEN_LIST) depth++;
      else if (sign === CLOSE_OBJECT || sign === CLOSE_LIST) {
        if (depth === 0) return at;
        depth--;
      } else if (sign === COMMA && depth === 0) return at;
    }
    return at === text.length && depth === 0 ? at : undefined;
  }
  /** Passes a string, which begins here and may be long. */
  private *passString(): Work<void> {
    const { text } = this;
    if (text.charCodeAt(this.at) !== QUOTE) throw new SyntaxError('a string is missing');
    let end = this.at + 1;
    for (let limit = end; end >= limit; yield) {
      if (limit > text.length) throw new SyntaxError('the end of a string is missing');
      limit += PART_LENGTH;
      end = endOfString(text, end, limit);
    }
    this.at = end + 1;
  }
  private passBlanks(): void {
    while (isBlank(this.text.charCodeAt(this.at))) this.at++;
  }
  /** Whether the next sign is this one, which is passed then. */
  private passes(sign: number): boolean {
    this.passBlanks();
    if (this.text.charCodeAt(this.at) !== sign) return false;
    this.at++;
    return true;
  }
}

const isBlank = (sign: number): boolean => sign === 0x20 || sign === 0x0a || sign === 0x0d || sign === 0x09;

/** The quote that ends a string; `limit` or a place after it where that is not before it, from which on it can be looked for again. */
function endOfString(text: string, start: number, limit: number): number {
  const quote = text.indexOf('"', start);
  if (quote !== -1 && text.charCodeAt(quote - 1) !== BACKSLASH) return quote;
  let at = start;
  for (; at < limit && text.charCodeAt(at) !== QUOTE; at++) if (text.charCodeAt(at) === BACKSLASH) at++;
  return at;
}
