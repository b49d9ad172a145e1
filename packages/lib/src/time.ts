/**
 * Points in time as RFC 3339 text, and spans of time as Go prints them (`1h2m3.5s`). The API's canonical forms are UTC with
 * whole seconds (`2024-05-06T07:08:09Z`) and UTC with six digits of fraction. Errors have the text of a stock server.
 * This file is in `lib` because both the codecs and the rules of kinds need it.
 */
import { own } from './own.ts';

export class TimeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TimeError';
  }
}

export interface Instant {
  /** Whole seconds since 1970, rounded down. */
  readonly seconds: number;
  /** 0 to 999,999,999. */
  readonly nanos: number;
}

const secondLayout = '2006-01-02T15:04:05Z07:00';
const microLayout = '2006-01-02T15:04:05.000000Z07:00';

/** Parses RFC 3339 text. Fractions of any length are accepted; `micro` requires exactly six digits. Throws TimeError. */
export function parseInstant(text: string, micro = false): Instant {
  const reader = new Reader(text, micro ? microLayout : secondLayout);
  const year = reader.digits(4, '2006');
  reader.literal('-');
  const month = reader.digits(2, '01');
  reader.literal('-');
  const day = reader.digits(2, '02');
  reader.literal('T');
  const hour = reader.digits(2, '15');
  reader.literal(':');
  const minute = reader.digits(2, '04');
  reader.literal(':');
  const second = reader.digits(2, '05');
  const nanos = reader.fraction(micro);
  const offset = reader.zone();
  if (month < 1 || month > 12) reader.outOfRange('month');
  if (day < 1 || day > daysIn(year, month)) reader.outOfRange('day');
  if (hour > 23) reader.outOfRange('hour');
  if (minute > 59) reader.outOfRange('minute');
  if (second > 59) reader.outOfRange('second');
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  const seconds = date.getTime() / 1000 - offset;
  // An offset can move the time out of the four-digit years that text can hold.
  if (seconds < firstSecond || seconds > lastSecond) reader.outOfRange('year');
  return { seconds, nanos };
}
const firstSecond = -62_167_219_200;
const lastSecond = 253_402_300_799;

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Parses the text along the layout, so that an error can name both at the first mismatch. */
class Reader {
  private readonly text: string;
  private readonly layout: string;
  private at = 0;

  constructor(text: string, layout: string) {
    this.text = text;
    this.layout = layout;
  }
  private fail(rest: string, element: string): never {
    throw new TimeError(`parsing time ${quote(this.text)} as ${quote(this.layout)}: cannot parse ${quote(rest)} as ${quote(element)}`);
  }
  outOfRange(what: string): never {
    throw new TimeError(`parsing time ${quote(this.text)}: ${what} out of range`);
  }
  literal(char: string): void {
    if (this.text[this.at] !== char) this.fail(this.text.slice(this.at), char);
    this.at++;
  }
  digits(count: number, element: string): number {
    let value = 0;
    for (let i = 0; i < count; i++) {
      const digit = this.text.charCodeAt(this.at + i) - 48;
      if (!(digit >= 0 && digit <= 9)) this.fail(this.text.slice(this.at), element);
      value = value * 10 + digit;
    }
    this.at += count;
    return value;
  }
  fraction(micro: boolean): number {
    const start = this.at;
    if (this.text[start] !== '.' || !isDigit(this.text.charCodeAt(start + 1))) {
      if (micro) this.fail(this.text.slice(start), '.000000');
      return 0;
    }
    let end = start + 1;
    while (isDigit(this.text.charCodeAt(end))) end++;
    if (micro && end - start !== 7) this.fail(this.text.slice(start), '.000000');
    this.at = end;
    return Number(this.text.slice(start + 1, Math.min(end, start + 10)).padEnd(9, '0'));
  }
  /** Seconds east of UTC. */
  zone(): number {
    const rest = this.text.slice(this.at);
    if (rest[0] === 'Z') {
      if (rest.length > 1) throw new TimeError(`parsing time ${quote(this.text)}: extra text: ${quote(rest.slice(1))}`);
      return 0;
    }
    const match = /^([+-])(\d\d):(\d\d)(.*)$/s.exec(rest);
    if (match === null) this.fail(rest, 'Z07:00');
    if (match[4] !== '') throw new TimeError(`parsing time ${quote(this.text)}: extra text: ${quote(match[4] as string)}`);
    const hours = Number(match[2]);
    const minutes = Number(match[3]);
    if (hours > 24) this.outOfRange('time zone offset hour');
    if (minutes > 60) this.outOfRange('time zone offset minute');
    return (match[1] === '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
  }
}
const isDigit = (code: number): boolean => code >= 48 && code <= 57;
const quote = (text: string): string => JSON.stringify(text);

/** `2024-05-06T07:08:09Z` from milliseconds since 1970; parts of a second are dropped. */
export function formatTime(millis: number): string {
  const second = Math.floor(millis / 1000);
  if (second !== lastFormatted) {
    lastText = `${new Date(second * 1000).toISOString().slice(0, -5)}Z`;
    lastFormatted = second;
  }
  return lastText;
}
/** Most formatted times are of the current second. */
let lastFormatted = 0;
let lastText = '1970-01-01T00:00:00Z';
/** `2024-05-06T07:08:09.000123Z` */
export function formatMicroTime(instant: Instant): string {
  const micros = String(Math.floor(instant.nanos / 1000)).padStart(6, '0');
  return `${formatTime(instant.seconds * 1000).slice(0, -1)}.${micros}Z`;
}
/** Microsecond text of a point in milliseconds since 1970. */
export function microTimeOf(millis: number): string {
  const seconds = Math.floor(millis / 1000);
  return formatMicroTime({ seconds, nanos: Math.floor((millis - seconds * 1000) * 1e6) });
}

const canonicalSeconds = /^[12]\d\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;

/** The API's form of a time: UTC, whole seconds. Throws TimeError. */
export function canonicalTime(text: string): string {
  if (canonicalSeconds.test(text)) return text;
  return formatTime(parseInstant(text).seconds * 1000);
}
/** The API's form of a time in microseconds. Throws TimeError. */
export function canonicalMicroTime(text: string): string {
  return formatMicroTime(parseInstant(text, true));
}
/** Milliseconds since 1970 of any RFC 3339 text. Throws TimeError. */
export function timeMillis(text: string): number {
  const { seconds, nanos } = parseInstant(text);
  return seconds * 1000 + Math.floor(nanos / 1e6);
}

// ---- durations -------------------------------------------------------------------------------------------------

const nanosPerUnit: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const maxDuration = 2n ** 63n - 1n;

/** Nanoseconds of `1h2m3.5s`, `-1.5h`, `300ms`, `0`. Throws TimeError. */
export function parseDuration(text: string): bigint {
  const invalid = (): TimeError => new TimeError(`time: invalid duration ${quote(text)}`);
  let rest = text;
  const negative = rest[0] === '-';
  if (negative || rest[0] === '+') rest = rest.slice(1);
  if (rest === '0') return 0n;
  if (rest === '') throw invalid();
  let total = 0n;
  while (rest !== '') {
    const match = /^(\d{0,20})(?:\.(\d{0,40}))?/.exec(rest) as RegExpExecArray;
    const [number, whole = '', fraction = ''] = match;
    if (whole === '' && fraction === '') throw invalid();
    rest = rest.slice(number.length);
    const unit = (/^[^\d.]*/.exec(rest) as RegExpExecArray)[0];
    if (unit === '') throw new TimeError(`time: missing unit in duration ${quote(text)}`);
    const size = own(nanosPerUnit, unit);
    if (size === undefined || !Object.hasOwn(nanosPerUnit, unit)) {
      throw new TimeError(`time: unknown unit ${quote(unit)} in duration ${quote(text)}`);
    }
    rest = rest.slice(unit.length);
    total += BigInt(whole === '' ? '0' : whole) * size + (BigInt(fraction === '' ? '0' : fraction) * size) / 10n ** BigInt(fraction.length);
    if (total > maxDuration) throw invalid();
  }
  return negative ? -total : total;
}

/** Prints nanoseconds as Go does: `1h2m3.5s`, `1m0s`, `1.5ms`, `0s`. */
export function formatDuration(nanos: bigint | number): string {
  const signed = BigInt(nanos);
  if (signed === 0n) return '0s';
  const sign = signed < 0n ? '-' : '';
  const n = signed < 0n ? -signed : signed;
  if (n < 1_000n) return `${sign}${n}ns`;
  if (n < 1_000_000n) return `${sign}${decimal(n, 1_000n)}µs`;
  if (n < 1_000_000_000n) return `${sign}${decimal(n, 1_000_000n)}ms`;
  const hours = n / 3_600_000_000_000n;
  const minutes = (n / 60_000_000_000n) % 60n;
  const seconds = decimal(n % 60_000_000_000n, 1_000_000_000n);
  if (hours > 0n) return `${sign}${hours}h${minutes}m${seconds}s`;
  return minutes > 0n ? `${sign}${minutes}m${seconds}s` : `${sign}${seconds}s`;
}
function decimal(n: bigint, unit: bigint): string {
  const fraction = n % unit;
  if (fraction === 0n) return String(n / unit);
  const places = String(unit).length - 1;
  return `${n / unit}.${String(fraction).padStart(places, '0').replace(/0+$/, '')}`;
}

/** Milliseconds of a duration text, rounded down. Throws TimeError. */
export function durationMillis(text: string): number {
  return Number(parseDuration(text) / 1_000_000n);
}
/** The text Go would print for the same duration: `90s` → `1m30s`. Throws TimeError. */
export function canonicalDuration(text: string): string {
  return formatDuration(parseDuration(text));
}
