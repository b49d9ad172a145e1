/** Splits the source into tokens. */

import { toInteger } from '@plat-dev/lib/integers';
import { own } from '@plat-dev/lib/own';
import { UInt } from './values.ts';

export type Token =
  | { readonly token: 'name'; readonly at: number; readonly text: string; readonly quoted: boolean }
  | { readonly token: 'sign'; readonly at: number; readonly text: string }
  | { readonly token: 'number'; readonly at: number; readonly text: string; readonly kind: 'int' | 'uint' | 'double' }
  | { readonly token: 'string'; readonly at: number; readonly text: string; readonly value: string }
  | { readonly token: 'bytes'; readonly at: number; readonly text: string; readonly value: Uint8Array }
  | { readonly token: 'end'; readonly at: number; readonly text: '<EOF>' };

/** The source has text that is no token. */
export class SyntaxFault extends Error {
  readonly at: number;
  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

const blank = /(?:[\t\n\f\r ]|\/\/[^\n]*)*/y;
const name = /[A-Za-z_][A-Za-z0-9_]*/y;
const quotedName = /`[A-Za-z0-9_.\-/ ]+`/y;
const number = /0x[0-9A-Fa-f]+[uU]?|(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)|\d+[uU]?/y;
const stringStart = /(?:[rR][bB]?|[bB][rR]?)?("""|'''|"|')/y;
const sign = /==|!=|<=|>=|&&|\|\||[-+*/%!<>?:.,()[\]{}=]/y;

export function tokens(source: string): Token[] {
  const tokenList: Token[] = [];
  let at = 0;
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(source);
  };
  for (;;) {
    at += (match(blank) as RegExpExecArray)[0].length;
    if (at >= source.length) break;
    const start = match(stringStart);
    let token: Token;
    if (start !== null) token = readString(source, at, start);
    else token = readPlain(at, match);
    tokenList.push(token);
    at += token.text.length;
  }
  tokenList.push({ token: 'end', at: source.length, text: '<EOF>' });
  return tokenList;
}

function readPlain(at: number, match: (pattern: RegExp) => RegExpExecArray | null): Token {
  const word = match(name) ?? match(quotedName);
  if (word !== null) return { token: 'name', at, text: word[0], quoted: word[0].startsWith('`') };
  const digits = match(number);
  if (digits !== null) {
    const text = digits[0];
    const kind = /[uU]$/.test(text) ? 'uint' : text.startsWith('0x') || /^\d+$/.test(text) ? 'int' : 'double';
    return { token: 'number', at, text, kind };
  }
  const signMatch = match(sign);
  if (signMatch !== null) return { token: 'sign', at, text: signMatch[0] };
  throw new SyntaxFault(at, `Syntax error: token recognition error at: '${match(/[\s\S]/uy)?.[0] ?? ''}'`);
}

/** The value of a literal number, with the sign that stands before it. Undefined where it is out of range. */
export function numberOf(token: Token & { token: 'number' }, negative: boolean): unknown {
  if (token.kind === 'double') {
    const value = Number(token.text);
    return Number.isFinite(value) ? (negative ? -value : value) : undefined;
  }
  const digits = BigInt(token.kind === 'uint' ? token.text.slice(0, -1) : token.text);
  if (token.kind === 'uint') return negative || digits >= 2n ** 64n ? undefined : new UInt(digits);
  const value = negative ? -digits : digits;
  return value >= 2n ** 63n || value < -(2n ** 63n) ? undefined : toInteger(value);
}

// ---- strings -----------------------------------------------------------------------------------------------------

function readString(source: string, at: number, start: RegExpExecArray): Token {
  const quote = start[1] as string;
  const prefix = start[0].slice(0, -quote.length).toLowerCase();
  const raw = prefix.includes('r');
  const from = at + start[0].length;
  let end = from;
  for (; ; end++) {
    const char = source[end];
    if (char === undefined || (quote.length === 1 && (char === '\n' || char === '\r')))
      throw new SyntaxFault(at, 'Syntax error: a string is not closed');
    if (char === '\\' && !raw) end++;
    else if (source.startsWith(quote, end)) break;
  }
  const text = source.slice(at, end + quote.length);
  const inner = source.slice(from, end);
  if (prefix.includes('b')) return { token: 'bytes', at, text, value: raw ? Buffer.from(inner) : bytesOf(inner, from) };
  return { token: 'string', at, text, value: raw || !inner.includes('\\') ? inner : stringOf(inner, from) };
}

const escapeSequence = /\\(?:([abfnrtv\\?"'`])|[xX]([0-9A-Fa-f]{2})|([0-3][0-7]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))/y;
const plainEscapes: Readonly<Record<string, string>> = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

/** The parts of a string: text as it is, and numbers of characters, which are those of bytes within bytes. */
function* parts(inner: string, from: number): Generator<string | { readonly code: number; readonly long: boolean }> {
  let at = 0;
  while (at < inner.length) {
    const next = inner.indexOf('\\', at);
    if (next !== at) yield inner.slice(at, next < 0 ? undefined : next);
    if (next < 0) return;
    escapeSequence.lastIndex = next;
    const escapeMatch = escapeSequence.exec(inner);
    if (escapeMatch === null) throw new SyntaxFault(from + next, `Syntax error: invalid escape sequence '${inner.slice(next, next + 2)}'`);
    const [whole, plain, hex, octal, short, long] = escapeMatch;
    if (plain !== undefined) yield own(plainEscapes, plain) ?? plain;
    else if (octal !== undefined) yield { code: Number.parseInt(octal, 8), long: false };
    else yield { code: Number.parseInt((hex ?? short ?? long) as string, 16), long: hex === undefined };
    at = next + whole.length;
  }
}

function stringOf(inner: string, from: number): string {
  let text = '';
  for (const part of parts(inner, from)) {
    if (typeof part === 'string') text += part;
    else if (part.code > 0x10ffff || (part.code >= 0xd800 && part.code <= 0xdfff))
      throw new SyntaxFault(from, 'Syntax error: an escape sequence is no valid code point');
    else text += String.fromCodePoint(part.code);
  }
  return text;
}

function bytesOf(inner: string, from: number): Uint8Array {
  const all: Buffer[] = [];
  for (const part of parts(inner, from)) {
    if (typeof part === 'string') all.push(Buffer.from(part));
    else if (part.long) throw new SyntaxFault(from, 'Syntax error: bytes have no unicode escape sequences');
    else all.push(Buffer.of(part.code));
  }
  return Buffer.concat(all);
}
