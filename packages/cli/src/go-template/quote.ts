/** Quoted texts of Go: reading their escapes, and writing them. */

import { bytesOf, textOf } from '@plat-dev/lib/byte-text';
import { own } from '@plat-dev/lib/own';

const simple: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
};
const escapes = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{3})|([abfnrtv\\'"])|([\s\S]|$))/g;

/** The text between two quotation marks. Throws an Error for an escape that Go does not have. */
export function unquote(inner: string): string {
  if (!inner.includes('\\')) return inner;
  let bytes = false;
  const text = inner.replace(escapes, (whole, hex?: string, short?: string, long?: string, octal?: string, letter?: string) => {
    if (letter !== undefined) return own(simple, letter) as string;
    if (hex === undefined && short === undefined && long === undefined && octal === undefined)
      throw new Error(`there is no escape ${whole}`);
    const code = Number.parseInt((hex ?? short ?? long ?? octal) as string, octal === undefined ? 16 : 8);
    if (hex !== undefined || octal !== undefined) {
      if (code > 0xff) throw new Error(`there is no escape ${whole}`);
      bytes ||= code >= 0x80;
      return String.fromCharCode(code >= 0x80 ? 0xdc00 + code : code);
    }
    if (code > 0x10ffff) throw new Error(`there is no escape ${whole}`);
    return String.fromCodePoint(code);
  });
  // Bytes that were written one by one may be a character together.
  return bytes ? textOf(bytesOf(text)) : text;
}

const short: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
};
const hexOf = (code: number, digits: number): string => code.toString(16).padStart(digits, '0');
const isPrintable = (character: string): boolean => character === ' ' || /[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(character);

/** A text in quotation marks, as `%q` shows it. `ascii`: other characters are escaped. */
export function quote(text: string, mark = '"', ascii = false): string {
  let out = mark;
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    if (character === mark) out += `\\${character}`;
    else if (own(short, character) !== undefined) out += own(short, character);
    else if (code >= 0xdc80 && code <= 0xdcff) out += `\\x${hexOf(code - 0xdc00, 2)}`;
    else if (isPrintable(character) && (!ascii || code < 0x80)) out += character;
    else if (code < 0x80) out += `\\x${hexOf(code, 2)}`;
    else out += code > 0xffff ? `\\U${hexOf(code, 8)}` : `\\u${hexOf(code, 4)}`;
  }
  return out + mark;
}
