/** Conversions between types. */

import { toInteger } from '@plat-dev/lib/integers';
import { own } from '@plat-dev/lib/own';
import { ERROR_UNITS, type Frame } from '../budget.ts';
import { Failure, fail } from '../errors.ts';
import { ONE, type Range, range } from '../estimates.ts';
import { converts, makes, type Price } from '../prices.ts';
import {
  BOOL,
  BYTES,
  CIDR_TYPE,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  IP_TYPE,
  parameter,
  QUANTITY,
  STRING,
  TIMESTAMP,
  TYPE,
  UINT,
} from '../types.ts';
import { checkedInt, checkedUInt, type Duration, type Timestamp, type TypeValue, typeValueOf, UInt } from '../values.ts';
import { cidrText, ipText } from './ip-text.ts';
import { global, type Overload } from './signature.ts';
import { checkedTimestamp } from './time-range.ts';
import { durationText, readDuration, readTimestamp, timestampText } from './time-text.ts';

type Int = number | bigint;
const A = parameter('A');
const BILLION = 1_000_000_000n;

function intOf(value: number): Int {
  // Beyond these a conversion would not come back to the same amount.
  if (!(value > -(2 ** 63) && value < 2 ** 63)) fail('integer overflow');
  return toInteger(BigInt(Math.trunc(value)));
}
function uintOf(value: number): UInt {
  if (!(value >= 0 && value < 2 ** 64)) fail('unsigned integer overflow');
  return new UInt(BigInt(Math.trunc(value)));
}
function parseInteger(frame: Frame, text: string): bigint {
  frame.spend(NUMBER_UNITS);
  return text.length <= 64 && /^[+-]?\d+$/.test(text)
    ? BigInt(text.startsWith('+') ? text.slice(1) : text)
    : fail("type conversion error from 'string' to 'int'");
}
function parseDouble(frame: Frame, text: string): number {
  frame.spend(NUMBER_UNITS + text.length / 10);
  if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return Number(text);
  const special = /^([+-]?)(?:inf(?:inity)?|(nan))$/i.exec(text);
  if (special === null) return fail("type conversion error from 'string' to 'double'");
  return special[2] !== undefined ? Number.NaN : special[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}
const booleans: Readonly<Record<string, boolean>> = {
  1: true,
  t: true,
  T: true,
  true: true,
  TRUE: true,
  True: true,
  0: false,
  f: false,
  F: false,
  false: false,
  FALSE: false,
  False: false,
};
/** Longer texts are none, and need not be looked up. */
const LONGEST_BOOL = 5;
const parseBool = (text: string): boolean =>
  text.length <= LONGEST_BOOL && Object.hasOwn(booleans, text)
    ? (own(booleans, text) as boolean)
    : fail("type conversion error from 'string' to 'bool'");

function textOfBytes(frame: Frame, bytes: Uint8Array): string {
  frame.spend(BYTES_UNITS + bytes.length / 10);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    frame.spend(ERROR_UNITS);
    throw new Failure('invalid UTF-8 in bytes, cannot convert to string');
  }
}
function bytesOfText(frame: Frame, text: string): Uint8Array {
  frame.spend(BYTES_UNITS + text.length / 10);
  return Buffer.from(text);
}

/** Units of reading a number, of writing a value that is no text, of making bytes or text of bytes, and of naming a type. */
const NUMBER_UNITS = 20;
const WRITE_UNITS = 10;
const LONG_WRITE_UNITS = 60;
const BYTES_UNITS = 60;
const TYPE_UNITS = 20;

const textOf =
  <T>(units: number, write: (value: T) => string) =>
  (frame: Frame, value: T): string => {
    frame.spend(units);
    return write(value);
  };

/** A double as text: exponents from 21 digits on, as Go prints them with %g. */
function doubleText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  const exponent = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)));
  if (exponent >= -4 && exponent < 21) {
    const text = String(value);
    return text.includes('e') ? value.toFixed(20).replace(/0+$/, '') : text;
  }
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}

const readsTime =
  <T>(read: (frame: Frame, text: string) => T) =>
  (frame: Frame, text: string): T => {
    frame.spendLength(text.length);
    return read(frame, text);
  };
const same = (_: Frame, value: unknown): unknown => value;

/** What is of the type already. */
const makesIt = makes(([value]) => value?.size ?? range(0, 0));

export const conversions: readonly Overload[] = [
  global('int', [INT], INT, same),
  global('int', [UINT], INT, (_, value: UInt) => checkedInt(value.value)),
  global('int', [DOUBLE], INT, (_, value: number) => intOf(value)),
  global('int', [STRING], INT, (frame, text: string) => checkedInt(parseInteger(frame, text))),
  global('int', [TIMESTAMP], INT, (_, { nanos }: Timestamp) => toInteger((nanos - (((nanos % BILLION) + BILLION) % BILLION)) / BILLION)),
  global('uint', [UINT], UINT, same),
  global('uint', [INT], UINT, (frame, value: Int) => {
    frame.spend(WRITE_UNITS);
    return checkedUInt(BigInt(value));
  }),
  global('uint', [DOUBLE], UINT, (_, value: number) => uintOf(value)),
  global('uint', [STRING], UINT, (frame, text: string) => checkedUInt(parseInteger(frame, text))),
  global('double', [DOUBLE], DOUBLE, same),
  global('double', [INT], DOUBLE, (_, value: Int) => Number(value)),
  global('double', [UINT], DOUBLE, (_, value: UInt) => Number(value.value)),
  global('double', [STRING], DOUBLE, parseDouble),
  global('string', [STRING], STRING, same, makesIt),
  global('string', [BOOL], STRING, (_, value: boolean) => String(value), short(5)),
  global(
    'string',
    [INT],
    STRING,
    textOf(WRITE_UNITS, (value: Int) => String(value)),
    short(20),
  ),
  global(
    'string',
    [UINT],
    STRING,
    textOf(WRITE_UNITS, (value: UInt) => String(value.value)),
    short(20),
  ),
  global(
    'string',
    [DOUBLE],
    STRING,
    textOf(LONG_WRITE_UNITS, (value: number) => doubleText(value)),
    short(25),
  ),
  global(
    'string',
    [BYTES],
    STRING,
    textOfBytes,
    converts(
      (min) => min / 4,
      (max) => max,
    ),
  ),
  global(
    'string',
    [TIMESTAMP],
    STRING,
    textOf(LONG_WRITE_UNITS, (value: Timestamp) => timestampText(value)),
    short(30),
  ),
  global(
    'string',
    [DURATION],
    STRING,
    textOf(LONG_WRITE_UNITS, (value: Duration) => durationText(value)),
    short(30),
  ),
  global('bytes', [BYTES], BYTES, same, makesIt),
  global(
    'bytes',
    [STRING],
    BYTES,
    bytesOfText,
    converts(
      (min) => min,
      (max) => 4 * max,
    ),
  ),
  global('bool', [BOOL], BOOL, same),
  global('bool', [STRING], BOOL, (_, text: string) => parseBool(text)),
  global('timestamp', [TIMESTAMP], TIMESTAMP, same),
  global('timestamp', [STRING], TIMESTAMP, readsTime(readTimestamp)),
  global('timestamp', [INT], TIMESTAMP, (_, seconds: Int) => checkedTimestamp(BigInt(seconds) * BILLION)),
  global('duration', [DURATION], DURATION, same),
  global('duration', [STRING], DURATION, readsTime(readDuration)),
  global('dyn', [A], DYN, same, { estimate: ([value]) => ({ cost: ONE, ...value }), cost: 1 }),
  global('type', [A], TYPE, (frame, value: unknown): TypeValue => {
    frame.spend(TYPE_UNITS);
    return typeValueOf(value);
  }),
];
/** A value as text has some length, which a stock server does not know. */
function short(size: number): Price {
  return makes((): Range => range(1, size));
}
/** Those of the libraries of addresses. */
export const addressConversions: readonly Overload[] = [
  global(
    'string',
    [IP_TYPE],
    STRING,
    textOf(LONG_WRITE_UNITS, (value: { bytes: Uint8Array }) => ipText(value.bytes)),
    short(39),
  ),
  global(
    'string',
    [CIDR_TYPE],
    STRING,
    textOf(LONG_WRITE_UNITS, (value: { bytes: Uint8Array; bits: number }) => cidrText(value)),
    short(43),
  ),
];
/** Not of any stock server. */
export const quantityConversions: readonly Overload[] = [
  global(
    'string',
    [QUANTITY],
    STRING,
    textOf(LONG_WRITE_UNITS, (value: object) => String(value)),
    short(500),
  ),
];
