/**
 * Amounts of resources as text: `100m`, `1.5`, `512Mi`, `1e3`. A quantity is a decimal number of any size together with
 * the family of suffixes its author chose; its canonical text has no fraction, the largest suffix without loss,
 * and keeps the family.
 *
 *   canonicalQuantity('1000m') → '1'       canonicalQuantity('0.5Gi') → '512Mi'     canonicalQuantity('1024Mi') → '1Gi'
 *   canonicalQuantity('1.5')   → '1500m'   canonicalQuantity('1e3')   → '1e3'       canonicalQuantity('0.5Ki')  → '512'
 *
 * The smallest unit is a billionth; finer amounts are rounded up, away from zero. This file is in `lib` because both the
 * codecs and the rules of kinds need it.
 */
import { TextCache } from './text-cache.ts';

export type QuantityFormat = 'decimal' | 'binary' | 'exponent';

/** The text is not a quantity. The messages are those of a stock server. */
export class QuantityError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'QuantityError';
  }
}
const wrongFormat = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const wrongSuffix = "unable to parse quantity's suffix";
const wrongNumber = 'unable to parse numeric part of quantity';

/** Limits that keep a hostile text from costing time and memory; both are far beyond any real amount. */
const maxDigits = 400;
const maxExponent = 400;

const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const nano = -9;
const maxInt64 = 2n ** 63n - 1n;

export class Quantity {
  readonly format: QuantityFormat;
  /** The amount is `unscaled` × 10^`scale`. */
  readonly unscaled: bigint;
  readonly scale: number;
  /** The original text, if that is printed unchanged. */
  readonly originalText: string | undefined;
  private text: string | undefined;

  constructor(unscaled: bigint, scale: number, format: QuantityFormat = 'decimal', originalText?: string) {
    this.unscaled = unscaled;
    this.scale = scale;
    this.format = format;
    this.originalText = originalText;
    this.text = originalText;
  }

  get isZero(): boolean {
    return this.unscaled === 0n;
  }
  /** -1, 0 or 1. */
  get sign(): number {
    return this.unscaled === 0n ? 0 : this.unscaled < 0n ? -1 : 1;
  }
  /** -1, 0 or 1: whether this amount is less than, equal to or more than the other. */
  compare(other: Quantity): number {
    const quick = difference(this, other);
    if (!Number.isNaN(quick)) return Math.sign(quick);
    const [a, b] = aligned(this, other);
    return a < b ? -1 : a > b ? 1 : 0;
  }
  equals(other: Quantity): boolean {
    return this.compare(other) === 0;
  }
  /** A sum keeps the format of its first part, unless that is zero. */
  add(other: Quantity): Quantity {
    const [a, b, scale] = aligned(this, other);
    return new Quantity(a + b, scale, this.isZero ? other.format : this.format);
  }
  sub(other: Quantity): Quantity {
    const [a, b, scale] = aligned(this, other);
    return new Quantity(a - b, scale, this.isZero ? other.format : this.format);
  }
  negate(): Quantity {
    return new Quantity(-this.unscaled, this.scale, this.format);
  }
  times(factor: number | bigint): Quantity {
    return new Quantity(this.unscaled * BigInt(factor), this.scale, this.format);
  }
  /** The amount in units of 10^scale, rounded up: `'1100u'.scaled(-3) → 2n` (millis), `'1500m'.scaled(0) → 2n`. */
  scaled(scale: number): bigint {
    if (this.scale >= scale) return this.unscaled * 10n ** BigInt(this.scale - scale);
    const divisor = 10n ** BigInt(scale - this.scale);
    const quotient = this.unscaled / divisor;
    return this.unscaled > 0n && quotient * divisor !== this.unscaled ? quotient + 1n : quotient;
  }
  /** Whole units, rounded up. */
  value(): bigint {
    return this.scaled(0);
  }
  /** Thousandths, rounded up. */
  millis(): bigint {
    return this.scaled(-3);
  }
  /** Whether the amount is a whole number of 10^scale. */
  isMultipleOf(scale: number): boolean {
    return this.scale >= scale || this.unscaled % 10n ** BigInt(scale - this.scale) === 0n;
  }
  /** The same amount, rounded away from zero to a multiple of 10^scale. */
  roundUp(scale: number): Quantity {
    if (this.scale >= scale) return this;
    const divisor = 10n ** BigInt(scale - this.scale);
    let quotient = this.unscaled / divisor;
    if (quotient * divisor !== this.unscaled) quotient += this.unscaled > 0n ? 1n : -1n;
    return new Quantity(quotient, scale, this.format);
  }
  /** As a floating-point number, for ratios and metrics. */
  toNumber(): number {
    return Number(this.unscaled) * 10 ** this.scale;
  }
  toString(): string {
    if (this.text === undefined) this.text = print(this);
    return this.text;
  }
  toJSON(): string {
    return this.toString();
  }
}

/** The difference as a number, if that is exact; NaN otherwise. Big integers cost ten times as much. */
function difference(a: Quantity, b: Quantity): number {
  const scale = Math.min(a.scale, b.scale);
  const left = Number(a.unscaled) * 10 ** (a.scale - scale);
  const right = Number(b.unscaled) * 10 ** (b.scale - scale);
  return Number.isSafeInteger(left) && Number.isSafeInteger(right) ? left - right : Number.NaN;
}

function aligned(a: Quantity, b: Quantity): [bigint, bigint, number] {
  if (a.scale === b.scale) return [a.unscaled, b.unscaled, a.scale];
  const scale = Math.min(a.scale, b.scale);
  return [a.unscaled * 10n ** BigInt(a.scale - scale), b.unscaled * 10n ** BigInt(b.scale - scale), scale];
}

function print(q: Quantity): string {
  if (q.isZero) return '0';
  if (q.format === 'binary' && q.isMultipleOf(0)) {
    let amount = q.scaled(0);
    // Below one Ki the decimal form is the same, and also shows fractions.
    if (amount <= -1024n || amount >= 1024n) {
      let step = 0;
      while (amount % 1024n === 0n && step < binarySuffixes.length - 1) {
        amount /= 1024n;
        step++;
      }
      return `${amount}${binarySuffixes[step]}`;
    }
  }
  let amount = q.unscaled;
  let exponent = q.scale;
  while (amount % 10n === 0n) {
    amount /= 10n;
    exponent++;
  }
  while (exponent % 3 !== 0) {
    amount *= 10n;
    exponent--;
  }
  if (q.format === 'exponent') return exponent === 0 ? String(amount) : `${amount}e${exponent}`;
  // There is no suffix above E: the number itself grows.
  if (exponent > 18) {
    amount *= 10n ** BigInt(exponent - 18);
    exponent = 18;
  }
  return `${amount}${decimalSuffixes[exponent / 3 + 3]}`;
}

interface Suffix {
  readonly format: QuantityFormat;
  /** Power of ten, or of two for the binary family. */
  readonly exponent: number;
}
const knownSuffixes = new Map<string, Suffix>([
  ...decimalSuffixes.map((s, i) => [s, { format: 'decimal', exponent: (i - 3) * 3 }] as const),
  ...binarySuffixes.slice(1).map((s, i) => [s, { format: 'binary', exponent: (i + 1) * 10 }] as const),
]);
const exponentSuffix = /^[eE]([+-]?[0-9]+)$/;

function readSuffix(text: string): Suffix {
  const knownSuffix = knownSuffixes.get(text);
  if (knownSuffix !== undefined) return knownSuffix;
  const match = exponentSuffix.exec(text);
  if (match === null) throw new QuantityError(wrongSuffix);
  return { format: 'exponent', exponent: Number(match[1]) };
}

// The digits may all be missing, as in a stock server: `-` and `.` are zero.
const shape = /^([+-]?)([0-9]*)(?:\.([0-9]*))?((?:[eEinumkKMGTP]+[-+]?[0-9]*|[-+][0-9]*)?)$/;
/** Longer texts are not quantities: so the work of parsing one is bounded. */
const maxLength = 512;

/** Reads a quantity; throws QuantityError. */
export function parseQuantity(text: string): Quantity {
  const match = text === '' || text.length > maxLength ? null : shape.exec(text);
  if (match === null) throw new QuantityError(wrongFormat);
  const [, sign, integerDigits = '', fraction = '', suffixText = ''] = match;
  const whole = integerDigits.startsWith('0') ? integerDigits.replace(/^0+/, '') : integerDigits;
  const suffix = readSuffix(suffixText);
  if (whole.length + fraction.length > maxDigits || Math.abs(suffix.exponent) > maxExponent) throw new QuantityError(wrongNumber);
  const digits = BigInt(`${whole === '' ? '0' : whole}${fraction}`);
  if (digits === 0n) return new Quantity(0n, 0, suffix.format, text === '0' ? text : undefined);
  const signed = sign === '-' ? -digits : digits;
  if (suffix.format !== 'binary') {
    const scale = suffix.exponent - fraction.length;
    const canonical = isCanonicalDecimal(whole, fraction, scale);
    return rounded(new Quantity(signed, scale, suffix.format, canonical ? text : undefined));
  }
  const amount = signed << BigInt(suffix.exponent);
  if (fraction === '') return capped(new Quantity(amount, 0, 'binary', (digits & 7n) !== 0n ? text : undefined));
  const q = rounded(new Quantity(amount, -fraction.length, 'binary'));
  return q.compare(one) < 0 && q.compare(minusOne) > 0 ? new Quantity(q.unscaled, q.scale, 'decimal') : capped(q);
}

/**
 * A stock server prints a decimal text unchanged when it looks canonical to a quick test; `+1` and `1.500` pass it.
 * Clients compare texts, so the same test is made here.
 */
function isCanonicalDecimal(whole: string, fraction: string, scale: number): boolean {
  if (scale % 3 !== 0 || scale < nano || whole === '' || whole.length + fraction.length > 18) return false;
  return fraction === '' ? !whole.endsWith('000') : !`${whole}${fraction}`.endsWith('000');
}
function rounded(q: Quantity): Quantity {
  return q.scale >= nano ? q : q.roundUp(nano);
}
function capped(q: Quantity): Quantity {
  if (q.value() > maxInt64) return new Quantity(maxInt64, 0, q.format);
  if (q.value() < -maxInt64) return new Quantity(-maxInt64, 0, q.format);
  return q;
}

/** A quantity of whole units. */
export function quantityOf(amount: number | bigint, format: QuantityFormat = 'decimal'): Quantity {
  return new Quantity(BigInt(amount), 0, format);
}
/** A quantity of thousandths. */
export function milliQuantity(amount: number | bigint, format: QuantityFormat = 'decimal'): Quantity {
  return new Quantity(BigInt(amount), -3, format);
}
export const zero = new Quantity(0n, 0);
const one = quantityOf(1);
const minusOne = quantityOf(-1);

/** Recently seen texts: pods repeat a handful of amounts. */
const canonicalTexts = new TextCache<string>(2048, 32);

/** The canonical text of a quantity, ignoring blanks around it; throws QuantityError. */
export const canonicalQuantity = (text: string): string => canonicalTexts.get(text, canonical);
const canonical = (text: string): string => parseQuantity(text.trim()).toString();

export function compareQuantities(a: string, b: string): number {
  return parseQuantity(a).compare(parseQuantity(b));
}
