/**
 * A JSON parser that reports repeated keys, has the error messages of a stock server, and can pause: it yields after some values.
 */

import { integerOf, isInteger } from '@plat-dev/lib/integers';
import { own, setOwn } from '@plat-dev/lib/own';
import type { Work } from '@plat-dev/lib/slices';
import { DecodeError, maxDepth, numberOutOfRange } from '../errors.ts';
import type { ParserPlace } from '../fields/field-place.ts';
import type { JsonObject, JsonValue } from '../types.ts';
import { toWellFormed } from './plain.ts';

/** Values after which the parser yields, and characters of values. */
const VALUES_A_STEP = 256;
const CHARACTERS_A_STEP = 64 * 1024;

export class JsonParser {
  private readonly text: string;
  private readonly merge: boolean;
  private readonly place: ParserPlace | undefined;
  /** Whether a number that was read is a float: one with a fraction or an exponent, or an integer of more than 64 bits. */
  floats = false;
  private at = 0;
  private depth = 0;
  private values = 0;
  private pausedAt = 0;
  /** Items of the lists that are open, innermost last: a list is made when its length is known, without room for more. */
  private readonly items: JsonValue[] = [];
  private top = 0;

  constructor(text: string, options: { readonly merge?: boolean; readonly place?: ParserPlace | undefined }) {
    this.text = text;
    this.merge = options.merge === true;
    this.place = options.place;
  }

  *value(): Work<JsonValue> {
    this.blank();
    const char = this.text[this.at];
    const value = isOpening(char) ? yield* this.container(char, this.place, undefined) : this.scalar(char);
    this.blank();
    if (this.at < this.text.length) this.fail('after top-level value');
    return value;
  }

  /** An object or a list; `earlier` is the previous value of the same key. Plain values are read without a generator, which costs more. */
  private container(char: '{' | '[', place: ParserPlace | undefined, earlier: JsonValue | undefined): Work<JsonValue> {
    if (char === '[') return this.array(place);
    return this.merge && isObject(earlier) ? this.object(place, earlier, new Set()) : this.object(place, {}, undefined);
  }
  private scalar(char: string | undefined): JsonValue {
    switch (char) {
      case '"':
        return this.string();
      case 't':
        return this.literal('true', true);
      case 'f':
        return this.literal('false', false);
      case 'n':
        return this.literal('null', null);
      default:
        if (char !== undefined && (char === '-' || isDigit(char))) return this.number();
        return this.fail('looking for beginning of value');
    }
  }
  /** Whether to yield: after so many values, or after so many characters of them. */
  private isPauseDue(): boolean {
    if (++this.values < VALUES_A_STEP && this.at - this.pausedAt < CHARACTERS_A_STEP) return false;
    this.values = 0;
    this.pausedAt = this.at;
    return true;
  }

  /** `keysSoFar`: the keys of this text so far, where `into` has others from the previous value. */
  private *object(place: ParserPlace | undefined, into: JsonObject, keysSoFar: Set<string> | undefined): Work<JsonObject> {
    this.enter();
    this.blank();
    if (this.text[this.at] === '}') return this.leave(into);
    for (;;) {
      this.blank();
      if (this.text[this.at] !== '"') this.fail('looking for beginning of object key string');
      const key = this.string();
      this.blank();
      if (this.text[this.at] !== ':') this.fail('after object key');
      this.at++;
      this.blank();
      const exists = Object.hasOwn(into, key);
      const below = place?.field(key, keysSoFar === undefined ? exists : keysSoFar.has(key), this.text, this.at);
      keysSoFar?.add(key);
      const char = this.text[this.at];
      setOwn(into, key, isOpening(char) ? yield* this.container(char, below, exists ? own(into, key) : undefined) : this.scalar(char));
      if (this.isPauseDue()) yield;
      this.blank();
      const next = this.text[this.at];
      if (next === '}') return this.leave(into);
      if (next !== ',') this.fail('after object key:value pair');
      this.at++;
    }
  }

  private *array(place: ParserPlace | undefined): Work<JsonValue[]> {
    this.enter();
    this.blank();
    if (this.text[this.at] === ']') return this.leave([]);
    const { items } = this;
    const start = this.top;
    for (;;) {
      this.blank();
      const char = this.text[this.at];
      const item = isOpening(char) ? yield* this.container(char, place?.item(this.top - start), undefined) : this.scalar(char);
      items[this.top++] = item;
      if (this.isPauseDue()) yield;
      this.blank();
      const next = this.text[this.at];
      if (next === ']') {
        const list = items.slice(start, this.top);
        this.top = start;
        return this.leave(list);
      }
      if (next !== ',') this.fail('after array element');
      this.at++;
    }
  }

  private enter(): void {
    if (++this.depth > maxDepth) throw new DecodeError('exceeded max depth');
    this.at++;
  }
  private leave<T>(value: T): T {
    this.depth--;
    this.at++;
    return value;
  }

  private string(): string {
    const { text } = this;
    const start = this.at;
    let halves = false;
    let at = start + 1;
    for (let code = text.charCodeAt(at); code !== 0x22; code = text.charCodeAt(++at)) {
      if (code >= 0x20 && code !== 0x5c) continue;
      if (code === 0x5c && isShortEscape(text.charCodeAt(at + 1))) {
        at++;
        continue;
      }
      this.at = at;
      if (code !== 0x5c) this.fail('in string literal');
      this.longEscape();
      halves = true;
      at = this.at;
    }
    this.at = at + 1;
    const value = JSON.parse(text.slice(start, this.at)) as string;
    return halves ? toWellFormed(value) : value;
  }
  /** Goes to the last character of an escape by number, which may be a lone surrogate. */
  private longEscape(): void {
    if (this.text[++this.at] !== 'u') this.fail('in string escape code');
    for (let i = 0; i < 4; i++) if (!isHexadecimal(this.text.charCodeAt(++this.at))) this.fail('in \\u hexadecimal character escape');
  }

  private number(): number | bigint {
    const start = this.at;
    if (this.text[this.at] === '-') this.at++;
    if (this.text[this.at] === '0') this.at++;
    else this.digits('in numeric literal');
    const whole = this.at;
    if (this.text[this.at] === '.') {
      this.at++;
      this.digits('after decimal point in numeric literal');
    }
    if (this.text[this.at] === 'e' || this.text[this.at] === 'E') {
      this.at++;
      if (this.text[this.at] === '+' || this.text[this.at] === '-') this.at++;
      this.digits('in exponent of numeric literal');
    }
    const token = this.text.slice(start, this.at);
    const value = this.at > whole ? Number(token) : integerOf(token);
    if (this.at > whole || !isInteger(value)) this.floats = true;
    if (typeof value === 'number' && !Number.isFinite(value)) throw numberOutOfRange(token);
    return value;
  }
  private digits(place: string): void {
    const start = this.at;
    for (let code = this.text.charCodeAt(start); code >= 0x30 && code <= 0x39; ) code = this.text.charCodeAt(++this.at);
    if (this.at === start) this.fail(place);
  }

  private literal<T>(word: string, value: T): T {
    for (let i = 0; i < word.length; i++) {
      if (this.text[this.at] !== word[i]) this.fail(`in literal ${word} (expecting '${word[i]}')`);
      this.at++;
    }
    return value;
  }

  private blank(): void {
    const { text } = this;
    let { at } = this;
    for (let code = text.charCodeAt(at); code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09; ) code = text.charCodeAt(++at);
    this.at = at;
  }

  private fail(place: string): never {
    if (this.at >= this.text.length) throw new DecodeError('unexpected end of JSON input');
    throw new DecodeError(`invalid character ${quotedCharacter(this.text, this.at)} ${place}`);
  }
}

const shortEscapes = new Set([...'"\\/bfnrt'].map((char) => char.charCodeAt(0)));
const isShortEscape = (code: number): boolean => shortEscapes.has(code);
const isHexadecimal = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66);
const isOpening = (char: string | undefined): char is '{' | '[' => char === '{' || char === '[';
const isDigit = (char: string): boolean => char >= '0' && char <= '9';
const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A character in quotes. A stock server reads bytes: of a longer character it shows the first one. */
function quotedCharacter(text: string, at: number): string {
  const code = text.codePointAt(at) as number;
  const byte = code > 0x7f ? (new TextEncoder().encode(String.fromCodePoint(code))[0] as number) : code;
  const char = String.fromCharCode(byte);
  if (char === "'") return "'\\''";
  if (char === '"') return `'"'`;
  return `'${JSON.stringify(char).slice(1, -1)}'`;
}
