/** Reads the text form of protobuf messages, without their schema: every field is a list of what it was given. */

export interface Message {
  readonly [field: string]: readonly Value[];
}
type Value = string | Uint8Array | Message;

/** Strings are bytes until someone knows better; names and numbers are text. */
export function parseTextProto(text: string): Message {
  const reader = new Reader(text);
  const message = reader.fields(false);
  return message;
}

const blank = /(?:\s|#[^\n]*|,|;)*/y;
const name = /[A-Za-z_][A-Za-z0-9_]*|\[[^\]]+\]/y;
const scalar = /[-+A-Za-z0-9_.]+/y;

class Reader {
  private readonly text: string;
  private at = 0;

  constructor(text: string) {
    this.text = text;
  }
  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    if (found !== undefined) this.at += found.length;
    return found;
  }
  private peek(): string {
    this.match(blank);
    return this.text[this.at] ?? '';
  }
  private take(char: string): boolean {
    if (this.peek() !== char) return false;
    this.at++;
    return true;
  }

  fields(nested: boolean): Message {
    const message: Record<string, Value[]> = {};
    for (;;) {
      const next = this.peek();
      if (next === '' && !nested) return message;
      if (nested && (next === '}' || next === '>')) {
        this.at++;
        return message;
      }
      const field = this.match(name);
      if (field === undefined) throw new Error(`a field is missing at ${this.at}: ${this.text.slice(this.at, this.at + 40)}`);
      this.take(':');
      message[field] ??= [];
      if (this.take('[')) {
        while (!this.take(']')) message[field].push(this.value());
      } else message[field].push(this.value());
    }
  }
  private value(): Value {
    const next = this.peek();
    if (next === '{' || next === '<') {
      this.at++;
      return this.fields(true);
    }
    if (next === '"' || next === "'") return this.strings();
    const found = this.match(scalar);
    if (found === undefined) throw new Error(`a value is missing at ${this.at}: ${this.text.slice(this.at, this.at + 40)}`);
    return found;
  }
  /** Adjacent strings are one. */
  private strings(): Uint8Array {
    const parts: Buffer[] = [];
    for (let quote = this.peek(); quote === '"' || quote === "'"; quote = this.peek()) parts.push(this.string(quote));
    return Buffer.concat(parts);
  }
  private string(quote: string): Buffer {
    const parts: Buffer[] = [];
    this.at++;
    for (;;) {
      const char = this.text[this.at++];
      if (char === undefined) throw new Error('a string is not closed');
      if (char === quote) return Buffer.concat(parts);
      if (char === '\\') parts.push(this.escape());
      else {
        const whole = String.fromCodePoint(this.text.codePointAt(this.at - 1) as number);
        this.at += whole.length - 1;
        parts.push(Buffer.from(whole));
      }
    }
  }
  private escape(): Buffer {
    const found = this.match(/x[0-9A-Fa-f]{1,2}|[0-7]{1,3}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[\s\S]/y) as string;
    const rest = found.slice(1);
    if (found.startsWith('x') && rest !== '') return Buffer.of(Number.parseInt(rest, 16));
    if (/^[uU]./.test(found)) return Buffer.from(String.fromCodePoint(Number.parseInt(rest, 16)));
    if (/^[0-7]/.test(found)) return Buffer.of(Number.parseInt(found, 8));
    const plain: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v' };
    return Buffer.from(plain[found] ?? found);
  }
}

/** The one value of a field; undefined where there is none. */
const one = (message: Message, field: string): Value | undefined => message[field]?.[0];
export const messageAt = (message: Message, field: string): Message | undefined => {
  const value = one(message, field);
  return typeof value === 'object' && !(value instanceof Uint8Array) ? value : undefined;
};
export const textAt = (message: Message, field: string): string | undefined => {
  const value = one(message, field);
  return value instanceof Uint8Array ? Buffer.from(value).toString() : typeof value === 'string' ? value : undefined;
};
