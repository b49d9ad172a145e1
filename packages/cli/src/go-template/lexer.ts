/** The tokens of a template: texts, and within `{{` and `}}` those of actions. */
import { type Integer, integerOf } from '@plat-dev/lib/integers';
import { unquote } from './quote.ts';
import { GoFloat } from './values.ts';

export class TemplateError extends Error {}
export const failAt = (line: number, message: string): TemplateError => new TemplateError(`line ${line}: ${message}`);

export type TokenKind =
  | 'text'
  | 'open'
  | 'close'
  | 'space'
  | 'word'
  | 'field'
  | 'variable'
  | 'dot'
  | 'string'
  | 'number'
  | 'symbol'
  | 'end';
export interface Token {
  readonly kind: TokenKind;
  /** As it is written. */
  readonly text: string;
  /** Of strings, characters and numbers. */
  readonly value?: unknown;
  readonly line: number;
}

const leftDelimiter = '{{';
const space = /[ \t\r\n]+/y;
const rightDelimiter = /(?:[ \t\r\n]-)?\}\}/y;
const name = /[\p{L}\p{Nd}_]+/uy;
const quoted = /"((?:\\[^\n]|[^"\\\n])*)"/y;
const raw = /`([^`]*)`/y;
const character = /'((?:\\[^\n]|[^'\\\n])+)'/y;
const number =
  /[+-]?(?:0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?)(i?)(?![\p{L}\p{Nd}_.])/uy;
/** What may follow a name: `.a|b`. */
const terminator = /[ \t\r\n.,|:()}]|$/y;

export function tokensOf(template: string): Token[] {
  return new Lexer(template).all();
}

class Lexer {
  private readonly input: string;
  private readonly tokens: Token[] = [];
  private at = 0;
  private line = 1;

  constructor(input: string) {
    this.input = input;
  }
  all(): Token[] {
    let trim = false;
    for (;;) {
      const open = this.input.indexOf(leftDelimiter, this.at);
      const text = this.input.slice(this.at, open < 0 ? undefined : open);
      const marked = open >= 0 && /^-[ \t\r\n]/.test(this.input.slice(open + 2, open + 4));
      const begin = trim ? text.replace(/^[ \t\r\n]+/, '') : text;
      const outputText = marked ? begin.replace(/[ \t\r\n]+$/, '') : begin;
      if (outputText !== '') this.push('text', outputText);
      this.pass(text);
      if (open < 0) break;
      this.pass(marked ? '{{- ' : '{{');
      trim = this.input.startsWith('/*', this.at) ? this.comment() : this.action();
    }
    this.push('end', '');
    return this.tokens;
  }
  private push(kind: TokenKind, text: string, value?: unknown): void {
    this.tokens.push({ kind, text, line: this.line, ...(value !== undefined && { value }) });
  }
  private pass(text: string): void {
    this.at += text.length;
    this.line += text.split('\n').length - 1;
  }
  private match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    return pattern.exec(this.input);
  }
  /** Returns whether the space after it is dropped. */
  private comment(): boolean {
    const end = this.input.indexOf('*/', this.at);
    if (end < 0) throw failAt(this.line, 'a comment is not closed: */}} is missing');
    this.pass(this.input.slice(this.at, end + 2));
    const close = this.match(rightDelimiter);
    if (close === null) throw failAt(this.line, 'a comment must end with */}}');
    this.pass(close[0]);
    return close[0].length > 2;
  }
  private action(): boolean {
    this.push('open', '{{');
    let depth = 0;
    for (;;) {
      const close = this.match(rightDelimiter);
      if (close !== null) {
        if (depth > 0) throw failAt(this.line, 'a parenthesis is not closed');
        this.push('close', '}}');
        this.pass(close[0]);
        return close[0].length > 2;
      }
      if (this.at >= this.input.length) throw failAt(this.line, 'an action is not closed: }} is missing');
      const symbol = this.token();
      if (symbol === '(') depth++;
      if (symbol === ')' && --depth < 0) throw failAt(this.line, 'there is a ) without its (');
    }
  }
  /** Reads one token; returns its text. */
  private token(): string {
    const spaces = this.match(space);
    if (spaces !== null) {
      // The space before -}} belongs to that.
      const end = /[ \t\r\n]-\}\}/y;
      end.lastIndex = this.at + spaces[0].length - 1;
      const text = end.test(this.input) ? spaces[0].slice(0, -1) : spaces[0];
      return this.take('space', text);
    }
    const c = this.input[this.at] as string;
    if (c === '"') return this.literal(quoted, 'a quoted text does not end');
    if (c === '`') return this.literal(raw, 'a text in backquotes does not end');
    if (c === "'") return this.literal(character, 'a character does not end');
    if (c === '$') return this.named('variable', 1);
    if (/^\.?\d|^[+-]/.test(this.input.slice(this.at, this.at + 2))) return this.number();
    if (c === '.') return this.named('field', 1);
    if (this.match(name) !== null) return this.named('word', 0);
    if (this.input.startsWith(':=', this.at)) return this.take('symbol', ':=');
    if ('|()=,'.includes(c)) return this.take('symbol', c);
    throw failAt(this.line, `${JSON.stringify(String.fromCodePoint(this.input.codePointAt(this.at) as number))} is not expected here`);
  }
  private take(kind: TokenKind, text: string, value?: unknown): string {
    this.push(kind, text, value);
    this.pass(text);
    return text;
  }
  private literal(pattern: RegExp, otherwise: string): string {
    const literalMatch = this.match(pattern);
    if (literalMatch === null) throw failAt(this.line, otherwise);
    const inner = literalMatch[1] as string;
    if (pattern === raw) return this.take('string', literalMatch[0], inner.replaceAll('\r', ''));
    try {
      const value = unquote(inner);
      if (pattern === quoted) return this.take('string', literalMatch[0], value);
      const [only, more] = value;
      if (only === undefined || more !== undefined) throw new Error(`${literalMatch[0]} is not one character`);
      return this.take('number', literalMatch[0], only.codePointAt(0));
    } catch (error) {
      throw failAt(this.line, (error as Error).message);
    }
  }
  /** A name after so many characters: `.name`, `$name`; without a name `.` and `$`. */
  private named(kind: TokenKind, prefix: number): string {
    name.lastIndex = this.at + prefix;
    const word = name.exec(this.input)?.[0] ?? '';
    const text = this.input.slice(this.at, this.at + prefix) + word;
    terminator.lastIndex = this.at + text.length;
    if (!terminator.test(this.input)) {
      const rest = this.input.slice(this.at).split(/[\s|()}]/)[0] ?? '';
      const hint = kind === 'field' && rest.includes('-') ? `; write (index . ${JSON.stringify(rest.slice(1))})` : '';
      throw failAt(this.line, `${JSON.stringify(rest)} is not a name of letters, digits and _${hint}`);
    }
    return this.take(kind === 'field' && word === '' ? 'dot' : kind, text);
  }
  private number(): string {
    const numberMatch = this.match(number);
    const text = numberMatch?.[0] ?? '';
    if (numberMatch === null) {
      const rest = /[^\s|()}]*/.exec(this.input.slice(this.at))?.[0] ?? '';
      throw failAt(this.line, `${JSON.stringify(rest)} is not a number`);
    }
    if (numberMatch[1] !== '') throw failAt(this.line, `${text}: complex numbers are not supported`);
    const value = numberIn(text);
    if (value === undefined) throw failAt(this.line, `${JSON.stringify(text)} is not a number`);
    return this.take('number', text, value);
  }
}

/** A whole number, or a float if it is written as one. */
function numberIn(numberText: string): Integer | GoFloat | undefined {
  const text = numberText.replaceAll('_', '');
  const digits = text.replace(/^[+-]/, '');
  const isFloat = !/^0[xob]/i.test(digits) && /[.e]/i.test(digits);
  const octal = /^0\d/.test(digits) && !isFloat;
  if (octal && !/^[0-7]+$/.test(digits)) return undefined;
  if (Number.isNaN(Number(digits))) return undefined;
  if (isFloat) return new GoFloat(Number(text));
  return integerOf((octal ? text.replace('0', '0o') : text).toLowerCase());
}
