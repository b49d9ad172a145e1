/** `'%s is %d'.format([a, b])`. */
import { isInteger } from '@plat-dev/lib/integers';
import { Quantity } from '@plat-dev/lib/quantity';
import type { Frame } from '../budget.ts';
import { fail } from '../errors.ts';
import {
  type CelMap,
  CIDRValue,
  Double,
  Duration,
  IPValue,
  isMap,
  keysOf,
  lookUp,
  Timestamp,
  TypeValue,
  UInt,
  UrlValue,
} from '../values.ts';
import { cidrText, ipText } from './ip-text.ts';
import { durationText, timestampText } from './time-text.ts';

const clause = /%(?:%|(?:\.(\d{1,4}))?([sdfeboxX]))/y;
const DEFAULT_PLACES = 6;
/** Units of a clause without what its value takes. */
const CLAUSE_UNITS = 80;
/** JavaScript prints no more places than these. */
const MAX_PLACES = 100;

export const format = (frame: Frame, pattern: string, args: readonly unknown[]): string => formatted(frame, pattern, args, fraction);
/** The same, with numbers as stock servers write them: in groups of three digits, and powers of ten. */
export const formatLocal = (frame: Frame, pattern: string, args: readonly unknown[]): string =>
  formatted(frame, pattern, args, localFraction);

type Fraction = (verb: string, places: number, value: unknown) => string;
function formatted(frame: Frame, pattern: string, args: readonly unknown[], fractionText: Fraction): string {
  frame.spendLength(pattern.length);
  let text = '';
  let used = 0;
  for (let at = 0; at < pattern.length; ) {
    const next = pattern.indexOf('%', at);
    text += pattern.slice(at, next < 0 ? undefined : next);
    if (next < 0) break;
    clause.lastIndex = next;
    const clauseMatch = clause.exec(pattern);
    if (clauseMatch === null)
      fail(`could not parse formatting clause: unrecognized formatting clause "${pattern.slice(next + 1, next + 2)}"`);
    const [whole, places, verb] = clauseMatch as RegExpExecArray;
    at = next + (whole as string).length;
    if (verb === undefined) text += '%';
    else {
      if (used >= args.length) fail(`index ${used} out of range`);
      text += print(frame, verb, places === undefined ? undefined : Number(places), args[used++], fractionText);
    }
  }
  frame.spendLength(text.length);
  return text;
}

function print(frame: Frame, verb: string, places: number | undefined, value: unknown, fractionText: Fraction): string {
  frame.spend(CLAUSE_UNITS);
  switch (verb) {
    case 's':
      return plain(frame, value, 0);
    case 'd':
      return decimal(value);
    case 'f':
    case 'e':
      return fractionText(verb, places ?? DEFAULT_PLACES, value);
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      return integer(value).toString(2);
    case 'o':
      return integer(value).toString(8);
    default: {
      const text = hexadecimal(frame, value);
      return verb === 'X' ? text.toUpperCase() : text;
    }
  }
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (value instanceof Double) return value.value;
  return undefined;
}
function integer(value: unknown): bigint {
  if (isInteger(value)) return BigInt(value);
  if (value instanceof UInt) return value.value;
  return fail('only ints and uints can be formatted so');
}
const infinity = (value: number): string => (Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity');

function decimal(value: unknown): string {
  if (isInteger(value) || value instanceof UInt) return String(integer(value));
  const number = numberOf(value);
  return number === undefined
    ? fail('decimal clause can only be used on numbers')
    : Number.isFinite(number)
      ? String(number)
      : infinity(number);
}
function fraction(verb: string, places: number, value: unknown): string {
  const number = value instanceof UInt ? Number(value.value) : typeof value === 'bigint' ? Number(value) : numberOf(value);
  if (number === undefined || places > MAX_PLACES) return fail('fixed-point and scientific clauses can only be used on numbers');
  if (!Number.isFinite(number)) return infinity(number);
  if (verb === 'f') return fixed(number, places);
  return number.toExponential(places).replace(/e([+-])(\d)$/, 'e$10$2');
}
const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹';
/** `1,234.500000`, and `1.234500 × 10⁰³` with narrow spaces. */
function localFraction(verb: string, places: number, value: unknown): string {
  const text = fraction(verb, places, value);
  if (text.endsWith('Infinity')) return text.replace('Infinity', '∞');
  if (verb === 'f') return text.replace(/^(-?\d+)/, (whole) => whole.replace(/\B(?=(?:\d{3})+$)/g, ','));
  return text.replace(/e([+-])(\d+)$/, (_, sign: string, digits: string) => {
    const exponent = [...digits].map((digit) => superscripts[Number(digit)]).join('');
    return `\u202f×\u202f10${sign === '-' ? '⁻' : ''}${exponent}`;
  });
}

/** What stands in the middle between two goes to the even one. */
function fixed(number: number, places: number): string {
  const text = number.toFixed(places);
  const exact = number.toFixed(Math.min(MAX_PLACES, places + 30));
  const cut = exact.indexOf('.') + (places === 0 ? 0 : places + 1);
  const head = exact.slice(0, cut);
  return places + 30 <= MAX_PLACES && /^\.?50*$/.test(exact.slice(cut)) && /[02468]$/.test(head) ? head : text;
}
function hexadecimal(frame: Frame, value: unknown): string {
  if (typeof value === 'string' || value instanceof Uint8Array) {
    frame.spendLength(value.length);
    return Buffer.from(value as string).toString('hex');
  }
  return integer(value).toString(16);
}

/** Units of a value that is shown. */
const VALUE_UNITS = 5;
/** Values within values are shown so deep. */
const MAX_DEPTH = 50;

function plain(frame: Frame, value: unknown, depth: number): string {
  frame.spend(VALUE_UNITS);
  if (depth > MAX_DEPTH) fail('the value nests too deeply to be formatted');
  if (typeof value === 'string') {
    frame.spendLength(value.length);
    return value;
  }
  if (value === null || typeof value === 'boolean') return String(value);
  if (value instanceof Uint8Array) {
    frame.spendLength(value.length);
    return Buffer.from(value).toString();
  }
  if (Array.isArray(value)) return `[${value.map((item) => plain(frame, item, depth + 1)).join(', ')}]`;
  if (isMap(value)) return mapText(frame, value, depth);
  return scalarText(value);
}
function mapText(frame: Frame, map: CelMap | Readonly<Record<string, unknown>>, depth: number): string {
  const entries = [...keysOf(map)].map((key) => [plain(frame, key, depth + 1), plain(frame, lookUp(map, key), depth + 1)] as const);
  frame.spend(VALUE_UNITS * entries.length);
  entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${entries.map(([key, value]) => `${key}: ${value}`).join(', ')}}`;
}
function scalarText(value: unknown): string {
  if (value instanceof Timestamp) return timestampText(value);
  if (value instanceof Duration) return durationText(value);
  if (value instanceof TypeValue) return value.name;
  if (value instanceof IPValue) return ipText(value.bytes);
  if (value instanceof CIDRValue) return cidrText(value);
  if (value instanceof UrlValue) return value.text;
  if (value instanceof Quantity) return value.toString();
  const number = numberOf(value);
  if (number !== undefined && !isInteger(value)) return Number.isFinite(number) ? String(number) : infinity(number);
  if (isInteger(value) || value instanceof UInt) return String(integer(value));
  return fail('string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps');
}
