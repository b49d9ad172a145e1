/**
 * JSON values as YAML text, laid out as clients know it from a stock server: keys in natural order, two blanks a level,
 * lists not indented under their key, texts plain where that is safe, lines folded at the first blank beyond column 80.
 */
import type { JsonValue } from './types.ts';
import { isPlainString } from './yaml-scalars.ts';

const foldColumn = 80;
/** Longer keys are not simple: they are written after a question mark. */
const maxKeyLength = 128;

/** The YAML text of a value, with a line end. */
export function stringifyYaml(value: JsonValue): string {
  const writer = new YamlWriter();
  writer.node(value, 0, 'root');
  return writer.finish();
}

type Place = 'root' | 'value' | 'item';

class YamlWriter {
  private readonly parts: string[] = [];
  /** Where in its line the next character goes. */
  private column = 0;

  finish(): string {
    return `${this.parts.join('')}\n`;
  }
  private put(text: string): void {
    this.parts.push(text);
    this.column += text.length;
  }
  private newLine(indent: number): void {
    this.parts.push('\n', ' '.repeat(indent));
    this.column = indent;
  }

  /** A value whose lines begin at `indent`. The cursor stands behind `key:`, behind `-`, or at the very beginning. */
  node(value: JsonValue, indent: number, place: Place): void {
    if (Array.isArray(value) && value.length > 0) this.list(value, indent, place);
    else if (typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0)
      this.map(value, indent, place);
    else {
      if (place !== 'root') this.put(' ');
      this.scalar(value, indent);
    }
  }

  private list(items: JsonValue[], indent: number, place: Place): void {
    for (const [i, item] of items.entries()) {
      // The first item of a list in a list stands on the same line as the dash before it.
      if (i === 0 && place === 'item') this.put(' ');
      else if (i > 0 || place === 'value') this.newLine(indent);
      this.put('-');
      this.node(item, indent + 2, 'item');
    }
  }

  private map(map: { [key: string]: JsonValue }, indent: number, place: Place): void {
    for (const [i, key] of sortedKeys(map).entries()) {
      if (i === 0 && place === 'item') this.put(' ');
      else if (i > 0 || place === 'value') this.newLine(indent);
      const simple = key.length <= maxKeyLength && !key.includes('\n');
      if (!simple) this.put('? ');
      this.text(key, indent + 2, simple);
      if (!simple) this.newLine(indent);
      this.put(':');
      const value = map[key] as JsonValue;
      // Lists are not indented under their key; everything else is, and so are lists under a key that is not simple.
      this.node(value, Array.isArray(value) && simple ? indent : indent + 2, simple ? 'value' : 'item');
    }
  }

  private scalar(value: JsonValue, indent: number): void {
    // An empty scalar's continuation lines would be indented like those of the text it is.
    if (typeof value === 'string') this.text(value, Math.max(indent, 2), false);
    else if (typeof value === 'number') this.put(numberText(value));
    else if (Array.isArray(value)) this.put('[]');
    else this.put(typeof value === 'object' && value !== null ? '{}' : String(value));
  }

  private text(text: string, indent: number, simpleKey: boolean): void {
    const shape = shapeOf(text);
    if (text.includes('\n') && shape.literal && !simpleKey) this.literal(text, indent);
    else if (!text.includes('\n') && isPlainString(text) && shape.plain) this.folded(text, indent, !simpleKey);
    else if ((text.includes('\n') || isPlainString(text)) && shape.singleQuoted && !text.includes('\n')) {
      this.put("'");
      this.folded(text.replaceAll("'", "''"), indent, !simpleKey);
      this.put("'");
    } else this.doubleQuoted(text, indent, !simpleKey);
  }

  /** Text of one line. It may be broken at a single blank once its line is full. */
  private folded(text: string, indent: number, mayBreak: boolean): void {
    let start = 0;
    for (let i = 0; mayBreak && i < text.length; i++) {
      if (text[i] !== ' ' || i === 0 || i === text.length - 1) continue;
      if (text[i - 1] === ' ' || text[i + 1] === ' ' || this.column + (i - start) <= foldColumn) continue;
      this.put(text.slice(start, i));
      this.newLine(indent);
      start = i + 1;
    }
    this.put(text.slice(start));
  }

  private doubleQuoted(text: string, indent: number, mayBreak: boolean): void {
    this.put('"');
    const chars = [...text];
    for (const [i, char] of chars.entries()) {
      const inside = i > 0 && i < chars.length - 1;
      if (char === ' ' && mayBreak && inside && chars[i - 1] !== ' ' && this.column > foldColumn) {
        this.newLine(indent);
        // A blank at the beginning of a line would be lost.
        if (chars[i + 1] === ' ') this.put('\\');
      } else this.put(escapes[char] ?? (isPrintable(char) ? char : escapeCode(char)));
    }
    this.put('"');
  }

  private literal(text: string, indent: number): void {
    const lines = text.split('\n');
    const ending = lines.at(-1) !== '' ? '-' : text.length === 1 || lines.at(-2) === '' ? '+' : '';
    this.put(`|${/^[ \n]/.test(text) ? '2' : ''}${ending}`);
    if (ending !== '-') lines.pop();
    for (const line of lines) {
      if (line === '') this.newLine(0);
      else {
        this.newLine(indent);
        this.put(line);
      }
    }
  }
}

// ---- what texts may look like ----------------------------------------------------------------------------------

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
const isPrintable = (char: string): boolean => !unprintable.test(char) && char !== '"' && char !== '\\';

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

/** A number as Go prints it in its shortest form. */
function numberText(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e21) return String(value);
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 21 && !Number.isInteger(value)) return String(value);
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

/** Objects of one kind have the same keys: most orders are known from the object before. */
const orders = new Map<string, readonly string[]>();
const MAX_ORDERS = 1000;
/** Longer texts of keys are not kept. */
const MAX_ORDER_LENGTH = 500;

function sortedKeys(map: { [key: string]: JsonValue }): readonly string[] {
  const keys = Object.keys(map);
  if (keys.length < 2) return keys;
  const id = keys.length < 40 ? keys.join('\0') : '';
  const known = orders.get(id);
  if (known !== undefined) return known;
  keys.sort(byNature);
  if (id === '' || id.length > MAX_ORDER_LENGTH) return keys;
  if (orders.size >= MAX_ORDERS) orders.clear();
  orders.set(id, keys);
  return keys;
}

/** Natural order: numbers inside keys count by their value, and signs come before letters. */
function byNature(a: string, b: string): number {
  const x = [...a];
  const y = [...b];
  let afterDigit = false;
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const p = x[i] as string;
    const q = y[i] as string;
    if (p === q) {
      afterDigit = isDigit(p);
      continue;
    }
    const letters = [isLetter(p), isLetter(q)];
    if (letters[0] && letters[1]) return p < q ? -1 : 1;
    if (letters[0] || letters[1]) return letters[0] === afterDigit ? -1 : 1;
    const first = digitsFrom(x, i);
    const second = digitsFrom(y, i);
    if (first !== second && (first !== '' || second !== '')) {
      const difference = BigInt(first || '0') - BigInt(second || '0');
      if (difference !== 0n) return difference < 0n ? -1 : 1;
      if (first.length !== second.length) return first.length - second.length;
    }
    return p < q ? -1 : 1;
  }
  return x.length - y.length;
}
const isDigit = (char: string): boolean => char >= '0' && char <= '9';
const isLetter = (char: string): boolean => /\p{L}/u.test(char);
function digitsFrom(chars: string[], start: number): string {
  let end = start;
  while (end < chars.length && isDigit(chars[end] as string)) end++;
  // A run that began earlier counts as a whole: in `10` and `1a0` the ones already agreed.
  return chars.slice(start, Math.min(end, start + 400)).join('');
}
