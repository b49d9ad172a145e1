/**
 * JSON values as YAML text, in the layout of a stock server: keys in natural order, two blanks a level,
 * lists not indented under their key, texts plain where that is safe, lines folded at the first blank beyond column 80.
 */

import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import { type Integer, isNumeric } from '@plat-dev/lib/integers';
import { own } from '@plat-dev/lib/own';
import { atOnce, type Work } from '@plat-dev/lib/slices';
import type { JsonValue } from '../types.ts';
import { isPlainString, isWord } from './scalars.ts';

const foldColumn = 80;
/** Longer keys are not simple: they are written after a question mark. */
const maxKeyLength = 128;

/** The YAML text of a value, with a line end. */
export function stringifyYaml(value: JsonValue): string {
  const writer = new YamlWriter();
  writer.node(value, 0, 'root');
  return writer.finish();
}

/** The bytes of that text for a large value, as work that yields between its entries and within long texts. */
export function* yamlWork(value: JsonValue): Work<Buffer> {
  const writer = new YamlWriter();
  yield* writer.nodeWork(value, 0, 'root');
  return writer.finishBytes();
}
/** Characters of a long text after which the work yields, and characters that are buffered before they become bytes. */
const PORTION = 32 * 1024;
const LINES = 4096;

type Place = 'root' | 'value' | 'item';
type JsonMap = { [key: string]: JsonValue };

const isList = (value: JsonValue): value is JsonValue[] => Array.isArray(value) && value.length > 0;
function isMap(value: JsonValue): value is JsonMap {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  for (const _ in value) return true;
  return false;
}

class YamlWriter {
  private out = '';
  private readonly packed: Buffer[] = [];
  /** Where in its line the next character goes. */
  private column = 0;

  /** What was written so far. */
  get written(): string {
    return this.out;
  }
  finish(): string {
    return `${this.out}\n`;
  }
  finishBytes(): Buffer {
    this.pack();
    return Buffer.concat([...this.packed, Buffer.from('\n')]);
  }
  /** A text of very many parts is slow to read: it is converted to bytes from time to time. */
  private pack(): void {
    this.packed.push(Buffer.from(this.out));
    this.out = '';
  }
  private put(text: string): void {
    this.out += text;
    this.column += text.length;
  }
  private newLine(indent: number): void {
    this.out += lineStarts[indent] ?? `\n${' '.repeat(indent)}`;
    this.column = indent;
  }

  /** A value whose lines begin at `indent`. The cursor stands behind `key:`, behind `-`, or at the very beginning. */
  node(value: JsonValue, indent: number, place: Place): void {
    if (isList(value))
      for (let i = 0; i < value.length; i++) {
        this.dash(i, indent, place);
        this.node(value[i] as JsonValue, indent + 2, 'item');
      }
    else if (isMap(value)) {
      const order = orderOf(Object.keys(value));
      for (let i = 0; i < order.sorted.length; i++) {
        const key = order.sorted[i] as string;
        const item = value[key] as JsonValue;
        const simple = this.key(key, order.texts?.[i], i, indent, place);
        this.node(item, valueIndent(item, indent, simple), simple ? 'value' : 'item');
      }
    } else this.leaf(value, indent, place);
  }

  *nodeWork(value: JsonValue, indent: number, place: Place): Work<void> {
    if (isList(value))
      for (let i = 0; i < value.length; i++) {
        this.dash(i, indent, place);
        yield* this.nodeWork(value[i] as JsonValue, indent + 2, 'item');
      }
    else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      // Keys of a wide map take long to list: once is enough.
      const keys = Object.keys(value);
      if (keys.length === 0) this.leaf(value, indent, place);
      else if (keys.length > SORTED_AT_ONCE) yield;
      const order = keys.length > SORTED_AT_ONCE ? { keys, sorted: yield* sortWork(keys) } : orderOf(keys);
      yield;
      for (let i = 0; i < order.sorted.length; i++) {
        const key = order.sorted[i] as string;
        const item = value[key] as JsonValue;
        const simple = this.key(key, order.texts?.[i], i, indent, place);
        yield* this.nodeWork(item, valueIndent(item, indent, simple), simple ? 'value' : 'item');
      }
    } else if (typeof value === 'string' && value.length > PORTION) {
      if (place !== 'root') this.put(' ');
      const work = this.text(value, Math.max(indent, 2), false);
      if (work !== undefined) yield* this.packing(work);
      yield;
    } else this.leaf(value, indent, place);
    if (this.out.length > PORTION) this.pack();
    yield;
  }
  private *packing(work: Work<void>): Work<void> {
    while (!work.next().done) {
      this.pack();
      yield;
    }
  }

  private dash(i: number, indent: number, place: Place): void {
    // The first item of a list in a list stands on the same line as the dash before it.
    if (i === 0 && place === 'item') this.put(' -');
    else {
      if (i > 0 || place === 'value') this.newLine(indent);
      this.put('-');
    }
  }

  /** Writes a key and its colon. Returns whether it is a simple key. `written`: its text, if that is known. */
  private key(key: string, written: string | undefined, i: number, indent: number, place: Place): boolean {
    if (i === 0 && place === 'item') this.put(' ');
    else if (i > 0 || place === 'value') this.newLine(indent);
    if (written !== undefined) {
      this.put(written);
      return true;
    }
    const simple = isSimpleKey(key);
    if (!simple) this.put('? ');
    this.write(key, indent + 2, simple);
    if (!simple) this.newLine(indent);
    this.put(':');
    return simple;
  }

  private leaf(value: JsonValue, indent: number, place: Place): void {
    if (place !== 'root') this.put(' ');
    this.scalar(value, indent);
  }

  private scalar(value: JsonValue, indent: number): void {
    // An empty scalar's continuation lines would be indented like those of the text it is.
    if (typeof value === 'string') this.write(value, Math.max(indent, 2), false);
    else if (isNumeric(value)) this.put(numberText(value));
    else if (Array.isArray(value)) this.put('[]');
    else this.put(typeof value === 'object' && value !== null ? '{}' : String(value));
  }

  /** Writes a text at once. */
  write(text: string, indent: number, simpleKey: boolean): void {
    const work = this.text(text, indent, simpleKey);
    if (work !== undefined) atOnce(work);
  }

  /** Writes a text, or returns the work that does. */
  private text(text: string, indent: number, simpleKey: boolean): Work<void> | undefined {
    if (plainWord.test(text) && !isWord(text)) {
      this.put(text);
      return undefined;
    }
    const shape = shapeOf(text);
    const lines = text.includes('\n');
    if (lines && shape.literal && !simpleKey) return this.literal(text, indent);
    if (lines || !isPlainString(text)) return this.doubleQuoted(text, indent, !simpleKey);
    if (shape.plain) this.folded(text, indent, !simpleKey);
    else if (shape.singleQuoted) {
      this.put("'");
      this.folded(text.replaceAll("'", "''"), indent, !simpleKey);
      this.put("'");
    } else return this.doubleQuoted(text, indent, !simpleKey);
    return undefined;
  }

  /** Text of one line. It may be broken at a single blank once its line is full. */
  private folded(text: string, indent: number, mayBreak: boolean): void {
    let start = 0;
    if (mayBreak)
      for (let i = text.indexOf(' ', 1); i > 0 && i < text.length - 1; i = text.indexOf(' ', i + 1)) {
        if (text[i - 1] === ' ' || text[i + 1] === ' ' || this.column + (i - start) <= foldColumn) continue;
        this.put(text.slice(start, i));
        this.newLine(indent);
        start = i + 1;
      }
    this.put(start === 0 ? text : text.slice(start));
  }

  /** Characters without escapes are copied together. */
  private *doubleQuoted(text: string, indent: number, mayBreak: boolean): Work<void> {
    this.put('"');
    let start = 0;
    for (let i = 0; i < text.length; i++) {
      if (i % PORTION === PORTION - 1) yield;
      const code = text.charCodeAt(i);
      if (code > BLANK && code < 0x7f && code !== QUOTE && code !== BACKSLASH) continue;
      if (code === BLANK) {
        const inside = mayBreak && i > 0 && i + 1 < text.length && text.charCodeAt(i - 1) !== BLANK;
        if (!inside || this.column + (i - start) <= foldColumn) continue;
        this.put(text.slice(start, i));
        this.newLine(indent);
        // A blank at the beginning of a line would be lost.
        if (text.charCodeAt(i + 1) === BLANK) this.put('\\');
        start = i + 1;
      } else {
        const char = code < ascii.length ? '' : charAt(text, i);
        const escaped = char === '' ? ascii[code] : escapeOf(char);
        if (escaped === undefined) continue;
        this.put(start < i ? text.slice(start, i) + escaped : escaped);
        if (char.length > 1) i++;
        start = i + 1;
      }
    }
    this.put(text.slice(start));
    this.put('"');
  }

  private *literal(text: string, indent: number): Work<void> {
    const lines = text.split('\n');
    const ending = lines.at(-1) !== '' ? '-' : text.length === 1 || lines.at(-2) === '' ? '+' : '';
    this.put(`|${/^[ \n]/.test(text) ? '2' : ''}${ending}`);
    if (ending !== '-') lines.pop();
    for (const [i, line] of lines.entries()) {
      if (i % LINES === LINES - 1) yield;
      if (line === '') this.newLine(0);
      else {
        this.newLine(indent);
        this.put(line);
      }
    }
  }
}

/** Lists are not indented under their key; everything else is, and so are lists under a key that is not simple. */
const valueIndent = (value: JsonValue, indent: number, simple: boolean): number => (Array.isArray(value) && simple ? indent : indent + 2);
const isSimpleKey = (key: string): boolean => key.length <= maxKeyLength && !key.includes('\n');
const lineStarts: readonly string[] = Array.from({ length: 64 }, (_, indent) => `\n${' '.repeat(indent)}`);

// ---- forms of texts --------------------------------------------------------------------------------------------

interface Shape {
  readonly plain: boolean;
  readonly singleQuoted: boolean;
  readonly literal: boolean;
}

const indicatorFirst = /^(?:---|\.\.\.|[#,[\]{}&*!|>'"%@`]|[?:-](?:[ \t\n]|$))/;
const indicatorInside = /:(?:[ \t\n]|$)|[ \t\n]#/;

function shapeOf(text: string): Shape {
  const special = unprintable.test(text) || / \n/.test(text);
  const outerSpace = /^[ \n]|[ \n]$/.test(text);
  const indicators = indicatorFirst.test(text) || indicatorInside.test(text);
  return {
    plain: !special && !outerSpace && !indicators && text !== '',
    singleQuoted: !special && !/\n /.test(text),
    literal: !special && !text.endsWith(' '),
  };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const unprintable = /[\0-\x09\x0b-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufeff\ufffe\uffff]/;
const BLANK = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Texts that need no quotes, unless they are words of another type. */
const plainWord = /^[A-Za-z/_](?:[\w/.-]|:(?=[\w/.-]))*$/;

const escapes: Readonly<Record<string, string>> = {
  '\0': '\\0',
  '\x07': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '\x1b': '\\e',
  '"': '\\"',
  '\\': '\\\\',
  '\x85': '\\N',
  '\u2028': '\\L',
  '\u2029': '\\P',
};
function escapeCode(char: string): string {
  const code = char.codePointAt(0) as number;
  if (code <= 0xff) return `\\x${code.toString(16).toUpperCase().padStart(2, '0')}`;
  if (code <= 0xffff) return `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`;
  return `\\U${code.toString(16).toUpperCase().padStart(8, '0')}`;
}

const escapeOf = (char: string): string | undefined => own(escapes, char) ?? (unprintable.test(char) ? escapeCode(char) : undefined);
/** By code. */
const ascii: readonly (string | undefined)[] = Array.from({ length: 0x80 }, (_, code) => escapeOf(String.fromCharCode(code)));

/** A number as Go prints it in its shortest form. */
function numberText(value: Integer): string {
  if (typeof value === 'bigint') return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e21) return String(value);
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6 && !Number.isInteger(value)) return String(value);
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

interface Order {
  readonly keys: readonly string[];
  readonly sorted: readonly string[];
  /** The keys as they are written, with their colons; undefined for those that are not simple. */
  readonly texts?: readonly (string | undefined)[];
}
/** Objects of one kind have the same keys: most orders are known from the object before. By their first key, newest first. */
const MAX_FIRST_KEYS = 500;
const orders = new BoundedCache<string, Order[]>(MAX_FIRST_KEYS);
const MAX_ORDERS_OF_KEY = 8;
/** Orders of more keys, or of longer ones, are not kept. */
const MAX_ORDER_KEYS = 40;
const MAX_KEPT_KEY = 200;
const NO_KEYS: Order = { keys: [], sorted: [] };

/** More keys are sorted in steps. */
const SORTED_AT_ONCE = 512;

/** The keys in natural order, as work that yields after some comparisons: short runs are sorted, then merged two by two. */
function* sortWork(keys: readonly string[]): Work<string[]> {
  let from: string[] = [];
  for (let at = 0; at < keys.length; at += SORTED_AT_ONCE) {
    for (const key of keys.slice(at, at + SORTED_AT_ONCE).sort(byNature)) from.push(key);
    yield;
  }
  for (let width = SORTED_AT_ONCE; width < keys.length; width *= 2) {
    const merged: string[] = [];
    for (let left = 0; left < keys.length; left += 2 * width) {
      const middle = Math.min(left + width, keys.length);
      const end = Math.min(middle + width, keys.length);
      let a = left;
      let b = middle;
      while (a < middle || b < end) {
        const first = b >= end || (a < middle && byNature(from[a] as string, from[b] as string) <= 0);
        merged.push(from[first ? a++ : b++] as string);
        if (merged.length % SORTED_AT_ONCE === 0) yield;
      }
    }
    from = merged;
  }
  return from;
}

function orderOf(keys: readonly string[]): Order {
  if (keys.length === 0) return NO_KEYS;
  const first = keys[0] as string;
  const known = orders.get(first);
  if (known !== undefined) for (const order of known) if (sameKeys(order.keys, keys)) return order;
  const sorted = keys.length < 2 ? keys : [...keys].sort(byNature);
  if (keys.length > MAX_ORDER_KEYS || keys.some((key) => key.length > MAX_KEPT_KEY)) return { keys, sorted };
  const order = { keys, sorted, texts: sorted.map(keyText) };
  if (known !== undefined) {
    if (known.unshift(order) > MAX_ORDERS_OF_KEY) known.pop();
  } else orders.set(first, [order]);
  return order;
}
function sameKeys(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
function keyText(key: string): string | undefined {
  if (!isSimpleKey(key)) return undefined;
  const writer = new YamlWriter();
  writer.write(key, 0, true);
  return `${writer.written}:`;
}

/** Natural order: numbers inside keys count by their value, and signs come before letters. */
function byNature(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  let i = 0;
  while (i < end && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  if (i === end) return a.length - b.length;
  // A difference in the second half of a character is one of the whole character.
  if (i > 0 && isHighSurrogate(a.charCodeAt(i - 1))) i--;
  const p = charAt(a, i);
  const q = charAt(b, i);
  const letter = isLetter(p);
  const otherLetter = isLetter(q);
  if (letter && otherLetter) return p < q ? -1 : 1;
  if (letter || otherLetter) return letter === (i > 0 && isDigit(a[i - 1] as string)) ? -1 : 1;
  // A run that began earlier counts from here: what came before agreed. Zeros within a number count, those before it do not.
  const before = (p === '0' || q === '0') && isWithinNumber(a, i) ? '1' : '';
  return compareDigits(before + digitsFrom(a, i), before + digitsFrom(b, i)) || (p < q ? -1 : 1);
}
function isWithinNumber(text: string, at: number): boolean {
  for (let i = at - 1; i >= 0 && isDigit(text[i] as string); i--) if (text[i] !== '0') return true;
  return false;
}
const isDigit = (char: string): boolean => char >= '0' && char <= '9';
const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
const charAt = (text: string, at: number): string => String.fromCodePoint(text.codePointAt(at) as number);
function isLetter(char: string): boolean {
  const code = char.charCodeAt(0);
  if (code < 0x80) return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a);
  return /\p{L}/u.test(char);
}
/** Digits of longer numbers do not count. */
const MAX_DIGITS = 400;
function digitsFrom(text: string, start: number): string {
  let end = start;
  while (end < text.length && end < start + MAX_DIGITS && isDigit(text[end] as string)) end++;
  return text.slice(start, end);
}
/** By value, then by length. */
function compareDigits(a: string, b: string): number {
  if (a === b) return 0;
  const x = a[0] === '0' ? a.replace(/^0+/, '') : a;
  const y = b[0] === '0' ? b.replace(/^0+/, '') : b;
  if (x.length !== y.length) return x.length - y.length;
  if (x !== y) return x < y ? -1 : 1;
  return a.length - b.length;
}
