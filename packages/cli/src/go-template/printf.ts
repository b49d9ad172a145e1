/**
 * `printf` with the verbs of Go.
 *
 *   %v %+v %#v %T %%   %t   %d %b %o %O %x %X %c %q %U   %e %E %f %F %g %G   %s %q %x %X
 *
 * with flags (+ - # 0 and space), width and precision, `*`, and the number of an argument: %[2]d. Faults are shown as Go does:
 * `%!d(string=x)`, `%!d(MISSING)`, `%!(EXTRA int64=1)`, `%!(NOVERB)`.
 */

import { bytesOf } from '@plat-dev/lib/byte-text';
import type { Integer } from '@plat-dev/lib/integers';
import { own } from '@plat-dev/lib/own';
import { quote } from './quote.ts';
import { entriesOf, floatText, type GoMap, goText, kindOf, numberOf, typeName } from './values.ts';

interface Verb {
  readonly letter: string;
  readonly plus: boolean;
  readonly minus: boolean;
  readonly sharp: boolean;
  readonly zero: boolean;
  readonly space: boolean;
  readonly width: number | undefined;
  readonly precision: number | undefined;
}

/** As in Go: a larger width or precision is a fault. */
const mostWidth = 1_000_000;
const shape = /%([+\-# 0]*)((?:\[\d+\])?\*|\d+)?(?:\.((?:\[\d+\])?\*|\d*))?(\[[^\]]*\])?([\s\S]|$)/gu;

export function sprintf(format: string, args: readonly unknown[]): string {
  let next = 0;
  let reordered = false;
  let faults = '';
  const argument = (): unknown => args[next++];
  const choose = (index: string | undefined): boolean => {
    if (index === undefined) return true;
    reordered = true;
    const n = /^\[(\d+)\]$/.exec(index);
    if (n === null || Number(n[1]) < 1 || Number(n[1]) > args.length) return false;
    next = Number(n[1]) - 1;
    return true;
  };
  const star = (text: string | undefined, name: string): number | undefined => {
    if (text === undefined) return undefined;
    if (!text.endsWith('*')) return limited(Number(text), name);
    if (text.startsWith('[')) choose(text.slice(0, -1));
    const value = argument();
    return typeof value === 'number' && Number.isInteger(value) ? limited(value, name) : fault(name);
  };
  const limited = (n: number, name: string): number | undefined => (Math.abs(n) > mostWidth ? fault(name) : n);
  const fault = (name: string): undefined => {
    faults += `%!(BAD${name})`;
    return undefined;
  };
  const text = format.replace(shape, (_, flags: string, wide?: string, precise?: string, index?: string, letter = '') => {
    if (letter === '%') return '%';
    faults = '';
    const width = star(wide, 'WIDTH');
    const precision = precise === '' ? 0 : star(precise, 'PREC');
    if (letter === '') return `${faults}%!(NOVERB)`;
    if (!choose(index)) return `${faults}%!${letter}(BADINDEX)`;
    if (next >= args.length) return `${faults}%!${letter}(MISSING)`;
    const minus = flags.includes('-') || (width !== undefined && width < 0);
    const verb: Verb = {
      letter,
      // With %v it means something that only structs have.
      plus: flags.includes('+') && letter !== 'v',
      minus,
      sharp: flags.includes('#'),
      zero: flags.includes('0') && !minus,
      space: flags.includes(' '),
      width: width === undefined ? undefined : Math.abs(width),
      precision: precision !== undefined && precision < 0 ? undefined : precision,
    };
    return faults + formatted(argument(), verb);
  });
  if (reordered || next >= args.length) return text;
  const extra = args.slice(next).map((value) => (kindOf(value) === 'nil' ? '<nil>' : `${typeName(value)}=${goText(value)}`));
  return `${text}%!(EXTRA ${extra.join(', ')})`;
}

function formatted(value: unknown, verb: Verb): string {
  if (verb.letter === 'T') return padded(typeName(value), verb);
  switch (kindOf(value)) {
    case 'nil':
      return verb.letter === 'v' ? padded('<nil>', verb) : `%!${verb.letter}(<nil>)`;
    case 'bool':
      return 'tv'.includes(verb.letter) ? padded(String(value), verb) : wrong(value, verb);
    case 'int':
      return whole(value as Integer, verb);
    case 'float':
      return float(Number(numberOf(value)), verb) ?? wrong(value, verb);
    case 'string':
      return text(value as string, verb);
    case 'slice':
      return slice(value as readonly unknown[], verb);
    case 'map':
      return map(value as GoMap, verb);
  }
}
const wrong = (value: unknown, verb: Verb): string => `%!${verb.letter}(${typeName(value)}=${goText(value)})`;

/** The elements of lists and maps are formatted each by the same verb. */
function element(value: unknown, verb: Verb): string {
  if (verb.letter === 'v' && verb.sharp && kindOf(value) === 'nil') return 'interface {}(nil)';
  return formatted(value, verb);
}
function slice(value: readonly unknown[], verb: Verb): string {
  const items = value.map((one) => element(one, verb));
  return verb.letter === 'v' && verb.sharp ? `[]interface {}{${items.join(', ')}}` : `[${items.join(' ')}]`;
}
function map(value: GoMap, verb: Verb): string {
  const sharp = verb.letter === 'v' && verb.sharp;
  const items = entriesOf(value).map(([key, one]) => `${text(key, verb)}:${element(one, verb)}`);
  return sharp ? `map[string]interface {}{${items.join(', ')}}` : `map[${items.join(' ')}]`;
}

function text(value: string, verb: Verb): string {
  switch (verb.letter) {
    case 'v':
      return verb.sharp ? padded(quote(value), verb) : padded(cut(value, verb), verb);
    case 's':
      return padded(cut(value, verb), verb);
    case 'q': {
      const text = cut(value, verb);
      const raw = verb.sharp && !/[`\r\n\ufeff]/.test(text);
      return padded(raw ? `\`${text}\`` : quote(text, '"', verb.plus), verb);
    }
    case 'x':
    case 'X': {
      const bytes = [...bytesOf(value)].slice(0, verb.precision).map((byte) => byte.toString(16).padStart(2, '0'));
      const prefix = verb.sharp && bytes.length > 0 ? '0x' : '';
      const joined = verb.space ? bytes.map((byte) => `${prefix}${byte}`).join(' ') : `${prefix}${bytes.join('')}`;
      return padded(verb.letter === 'X' ? joined.toUpperCase() : joined, verb);
    }
    default:
      return wrong(value, verb);
  }
}
const cut = (value: string, { precision }: Verb): string => (precision === undefined ? value : [...value].slice(0, precision).join(''));

const bases: Readonly<Record<string, readonly [base: number, prefix: string]>> = {
  v: [10, ''],
  d: [10, ''],
  b: [2, '0b'],
  o: [8, '0'],
  O: [8, '0o'],
  x: [16, '0x'],
  X: [16, '0X'],
};
function whole(value: Integer, verb: Verb): string {
  const base = own(bases, verb.letter);
  if (base !== undefined) {
    const digits = BigInt(value)
      .toString(base[0])
      .replace('-', '')
      .padStart(verb.precision ?? 0, '0');
    const prefix = verb.letter === 'O' || (verb.sharp && verb.letter !== 'v' && verb.letter !== 'd') ? base[1] : '';
    const digitText = verb.letter === 'X' ? digits.toUpperCase() : digits;
    return signed(value < 0, prefix, verb.precision === 0 && value === 0 ? '' : digitText, verb, verb.precision === undefined);
  }
  const isCodePoint = value >= 0 && value <= 0x10ffff && !(value >= 0xd800 && value <= 0xdfff);
  const character = String.fromCodePoint(isCodePoint ? Number(value) : 0xfffd);
  if (verb.letter === 'c') return padded(character, verb);
  if (verb.letter === 'q') return padded(quote(character, "'", verb.plus), verb);
  if (verb.letter === 'U') {
    const code = `U+${value
      .toString(16)
      .toUpperCase()
      .padStart(Math.max(4, verb.precision ?? 0), '0')}`;
    return padded(verb.sharp ? `${code} '${character}'` : code, verb);
  }
  return wrong(value, verb);
}

function float(value: number, verb: Verb): string | undefined {
  const digits = Math.min(verb.precision ?? 6, 100);
  const size = Math.abs(value);
  if (!Number.isFinite(value)) return 'vgGeEfF'.includes(verb.letter) ? padded(floatText(value), verb) : undefined;
  const negative = value < 0 || Object.is(value, -0);
  switch (verb.letter) {
    case 'v':
    case 'g':
    case 'G': {
      const digitText = verb.precision === undefined ? floatText(size) : general(size, digits);
      return signed(negative, '', verb.letter === 'G' ? digitText.toUpperCase() : digitText, verb);
    }
    case 'e':
    case 'E': {
      const digitText = twoDigits(size.toExponential(digits));
      return signed(negative, '', verb.letter === 'E' ? digitText.toUpperCase() : digitText, verb);
    }
    case 'f':
    case 'F':
      return signed(negative, '', fixed(size, digits), verb);
    default:
      return undefined;
  }
}
/** As `toFixed`, which gives an exponent for large numbers, and rounds what is exactly between two up rather than to the even one. */
function fixed(value: number, digits: number): string {
  if (value >= 1e21) return `${BigInt(value)}${digits > 0 ? `.${'0'.repeat(digits)}` : ''}`;
  const rounded = value.toFixed(digits);
  if (digits > 60) return rounded;
  const exact = value.toFixed(100);
  const end = exact.indexOf('.') + 1 + digits;
  const below = exact.slice(0, digits === 0 ? end - 1 : end);
  return /^50*$/.test(exact.slice(end)) && /[02468]$/.test(below) ? below : rounded;
}
const twoDigits = (text: string): string => text.replace(/e([+-])(\d)$/, 'e$10$2');
/** So many digits in all, without zeros at the end. */
function general(value: number, digits: number): string {
  const precise = Math.max(1, digits);
  const exponent = value === 0 ? 0 : Number(value.toExponential(precise - 1).split('e')[1]);
  if (exponent < -4 || exponent >= precise) return twoDigits(value.toExponential(precise - 1).replace(/\.?0+e/, 'e'));
  return value
    .toFixed(Math.max(0, precise - 1 - exponent))
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '');
}

/** Digits with sign and prefix. Zeros fill the width between these and the digits. */
function signed(negative: boolean, prefix: string, digits: string, verb: Verb, zeros = true): string {
  const sign = negative ? '-' : verb.plus ? '+' : verb.space ? ' ' : '';
  const head = `${sign}${prefix}`;
  if (verb.zero && zeros && verb.width !== undefined) return `${head}${digits.padStart(verb.width - head.length, '0')}`;
  return padded(`${head}${digits}`, verb, ' ');
}
function padded(value: string, verb: Verb, fill = verb.zero ? '0' : ' '): string {
  if (verb.width === undefined) return value;
  const missing = verb.width - [...value].length;
  if (missing <= 0) return value;
  return verb.minus ? value + ' '.repeat(missing) : fill.repeat(missing) + value;
}
