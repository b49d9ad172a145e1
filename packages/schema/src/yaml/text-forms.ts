/** How texts and numbers are spelled in YAML: without quotes, in quotes, with escapes, in lines of their own. */
import type { Integer } from '@plat-dev/lib/integers';
import { own } from '@plat-dev/lib/own';

/** The forms that a text may have. */
export interface TextShape {
  readonly plain: boolean;
  readonly singleQuoted: boolean;
  readonly literal: boolean;
}

const indicatorFirst = /^(?:---|\.\.\.|[#,[\]{}&*!|>'"%@`]|[?:-](?:[ \t\n]|$))/;
const indicatorInside = /:(?:[ \t\n]|$)|[ \t\n]#/;

export function shapeOf(text: string): TextShape {
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
/** Texts that need no quotes, unless they are words of another type. */
export const plainWord = /^[A-Za-z/_](?:[\w/.-]|:(?=[\w/.-]))*$/;

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

export const escapeOf = (char: string): string | undefined => own(escapes, char) ?? (unprintable.test(char) ? escapeCode(char) : undefined);
/** Of characters by their code. */
export const asciiEscapes: readonly (string | undefined)[] = Array.from({ length: 0x80 }, (_, code) => escapeOf(String.fromCharCode(code)));

/** A number as Go prints it in its shortest form. */
export function numberText(value: Integer): string {
  if (typeof value === 'bigint') return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e21) return String(value);
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6 && !Number.isInteger(value)) return String(value);
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}
