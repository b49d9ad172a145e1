/**
 * JSON values as YAML text, in the layout of a stock server: keys in natural order, two blanks a level,
 * lists not indented under their key, texts plain where that is safe, lines folded at the first blank beyond column 80.
 */

import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import { isNumeric } from '@plat-dev/lib/integers';
import { atOnce, type Work } from '@plat-dev/lib/slices';
import { sortedList } from '@plat-dev/lib/sorted-list';
import type { JsonValue } from '../types.ts';
import { charAt, compareKeys } from './key-order.ts';
import { isPlainString, isWord } from './scalars.ts';
import { asciiEscapes, escapeOf, numberText, plainWord, shapeOf } from './text-forms.ts';

const BLANK = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const foldColumn = 80;
/** Longer keys are not simple: they are written after a question mark. */
const maxKeyLength = 128;

/** The YAML text of a value, with a line end. Browsers have no Buffer: this works without. */
export function stringifyYaml(value: JsonValue): string {
  const writer = new YamlWriter(itself);
  atOnce(writer.value(value));
  return writer.portions().join('');
}
/** The bytes of that text, for a value that may be large. */
export function* yamlBytes(value: JsonValue): Work<Buffer> {
  const writer = new YamlWriter((text) => Buffer.from(text));
  yield* writer.value(value);
  return Buffer.concat(writer.portions());
}
const itself = (text: string): string => text;
/** Characters of a long text after which the work yields, and characters that are buffered before they become bytes. */
const PORTION = 32 * 1024;
const LINES = 4096;

type Position = 'root' | 'value' | 'item';
type JsonMap = { [key: string]: JsonValue };

/** A list or a map whose entries are being written. */
interface Level {
  /** Undefined for a map. */
  readonly list: readonly JsonValue[] | undefined;
  readonly map: JsonMap;
  readonly order: KeyOrder;
  readonly length: number;
  /** The entry that comes next. */
  next: number;
  readonly indent: number;
  readonly place: Position;
}

class YamlWriter<Portion> {
  private out = '';
  private readonly packed: Portion[] = [];
  private readonly portionOf: (text: string) => Portion;
  /** Where in its line the next character goes. */
  private column = 0;

  constructor(portionOf: (text: string) => Portion) {
    this.portionOf = portionOf;
  }

  /** The text of a key and its colon, if nothing else was written. */
  label(): string {
    return `${this.out}:`;
  }
  /** All that was written, and a line end. */
  portions(): readonly Portion[] {
    this.out += '\n';
    this.pack();
    return this.packed;
  }
  /** A text of very many parts is slow to read: it is put away from time to time. */
  private pack(): void {
    this.packed.push(this.portionOf(this.out));
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

  /** Writes a value. It yields after some characters, and while it sorts the keys of a wide map. */
  *value(root: JsonValue): Work<void> {
    const levels: Level[] = [];
    // The cursor stands behind `key:`, behind `-`, or at the very beginning; further lines of the value begin at `indent`.
    let value = root;
    let indent = 0;
    let place: Position = 'root';
    for (;;) {
      if (typeof value === 'object' && value !== null) {
        const list = Array.isArray(value) ? value : undefined;
        const keys = list === undefined ? Object.keys(value) : [];
        const order = keys.length > SORTED_AT_ONCE ? { keys, sorted: yield* sortedList(keys, compareKeys) } : orderOf(keys);
        const length = list === undefined ? keys.length : list.length;
        if (length === 0) this.leaf(value, indent, place);
        else levels.push({ list, map: value as JsonMap, order, length, next: 0, indent, place });
      } else if (typeof value === 'string' && value.length > PORTION) yield* this.longText(value, indent, place);
      else this.leaf(value, indent, place);
      if (this.out.length > PORTION) {
        this.pack();
        yield;
      }
      while (levels.length > 0 && isDone(levels.at(-1) as Level)) levels.pop();
      const level = levels.at(-1);
      if (level === undefined) return;
      const i = level.next++;
      if (level.list !== undefined) {
        this.dash(i, level.indent, level.place);
        value = level.list[i] as JsonValue;
        indent = level.indent + 2;
        place = 'item';
      } else {
        const key = level.order.sorted[i] as string;
        value = level.map[key] as JsonValue;
        const simple = this.key(key, level.order.labels?.[i], i, level.indent, level.place);
        indent = valueIndent(value, level.indent, simple);
        place = simple ? 'value' : 'item';
      }
    }
  }
  private *longText(text: string, indent: number, place: Position): Work<void> {
    if (place !== 'root') this.put(' ');
    const work = this.textWork(text, Math.max(indent, 2), false);
    if (work !== undefined) yield* this.packing(work);
    yield;
  }
  private *packing(work: Work<void>): Work<void> {
    while (!work.next().done) {
      this.pack();
      yield;
    }
  }

  private dash(i: number, indent: number, place: Position): void {
    // The first item of a list in a list stands on the same line as the dash before it.
    if (i === 0 && place === 'item') this.put(' -');
    else {
      if (i > 0 || place === 'value') this.newLine(indent);
      this.put('-');
    }
  }

  /** Writes a key and its colon. Returns whether it is a simple key. `label`: its text with the colon, if that is known. */
  private key(key: string, label: string | undefined, i: number, indent: number, place: Position): boolean {
    if (i === 0 && place === 'item') this.put(' ');
    else if (i > 0 || place === 'value') this.newLine(indent);
    if (label !== undefined) {
      this.put(label);
      return true;
    }
    const simple = isSimpleKey(key);
    if (!simple) this.put('? ');
    this.write(key, indent + 2, simple);
    if (!simple) this.newLine(indent);
    this.put(':');
    return simple;
  }

  private leaf(value: JsonValue, indent: number, place: Position): void {
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
    const work = this.textWork(text, indent, simpleKey);
    if (work !== undefined) atOnce(work);
  }

  /** Writes a text, or returns the work that does. */
  private textWork(text: string, indent: number, simpleKey: boolean): Work<void> | undefined {
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
        const char = code < asciiEscapes.length ? '' : charAt(text, i);
        const escaped = char === '' ? asciiEscapes[code] : escapeOf(char);
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

const isDone = (level: Level): boolean => level.next === level.length;
/** Lists are not indented under their key; everything else is, and so are lists under a key that is not simple. */
const valueIndent = (value: JsonValue, indent: number, simple: boolean): number => (Array.isArray(value) && simple ? indent : indent + 2);
const isSimpleKey = (key: string): boolean => key.length <= maxKeyLength && !key.includes('\n');
const lineStarts: readonly string[] = Array.from({ length: 64 }, (_, indent) => `\n${' '.repeat(indent)}`);

// ---- orders of keys --------------------------------------------------------------------------------------------

interface KeyOrder {
  readonly keys: readonly string[];
  readonly sorted: readonly string[];
  /** The keys as they are written, with their colons; undefined for those that are not simple. */
  readonly labels?: readonly (string | undefined)[];
}
/** Objects of one kind have the same keys: most orders are cached from the object before. By their first key, newest first. */
const MAX_FIRST_KEYS = 500;
const orders = new BoundedCache<string, KeyOrder[]>(MAX_FIRST_KEYS);
const MAX_ORDERS_OF_KEY = 8;
/** Orders of more keys, or of longer ones, are not cached. */
const MAX_ORDER_KEYS = 40;
const MAX_CACHED_KEY = 200;
const NO_KEYS: KeyOrder = { keys: [], sorted: [] };

/** More keys are sorted with pauses. */
const SORTED_AT_ONCE = 512;

function orderOf(keys: readonly string[]): KeyOrder {
  if (keys.length === 0) return NO_KEYS;
  const first = keys[0] as string;
  const cachedOrders = orders.get(first);
  if (cachedOrders !== undefined) for (const order of cachedOrders) if (sameKeys(order.keys, keys)) return order;
  const sorted = keys.length < 2 ? keys : [...keys].sort(compareKeys);
  if (keys.length > MAX_ORDER_KEYS || keys.some((key) => key.length > MAX_CACHED_KEY)) return { keys, sorted };
  const order = { keys, sorted, labels: sorted.map(labelOf) };
  if (cachedOrders !== undefined) {
    if (cachedOrders.unshift(order) > MAX_ORDERS_OF_KEY) cachedOrders.pop();
  } else orders.set(first, [order]);
  return order;
}
function sameKeys(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
function labelOf(key: string): string | undefined {
  if (!isSimpleKey(key)) return undefined;
  const writer = new YamlWriter(itself);
  writer.write(key, 0, true);
  return writer.label();
}
