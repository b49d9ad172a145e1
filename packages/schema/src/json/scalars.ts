/** Decoders of scalars from JSON values. */
import { isNumeric, MAX_INT64, MIN_INT64, toInteger } from '@plat-dev/lib/integers';
import { jsonText } from '@plat-dev/lib/json-text';
import { canonicalQuantity, QuantityError } from '@plat-dev/lib/quantity';
import { canonicalDuration, canonicalMicroTime, canonicalTime, TimeError } from '@plat-dev/lib/time';
import * as types from '../types.ts';
import { Mismatch, outOfRange, unreadable } from './mismatch.ts';
import { checkDepth, cloneJson } from './plain.ts';

/** Longer texts are not quantities; refusing them early bounds the work of parsing one. */
const maxQuantityLength = 512;

export function scalarDecoder(name: types.ScalarName): (value: unknown) => unknown {
  return decoders[name];
}

const decoders: Readonly<Record<types.ScalarName, (value: unknown) => unknown>> = {
  string(value) {
    if (typeof value !== 'string') throw unreadable(value, types.string);
    return value;
  },
  bool(value) {
    if (typeof value !== 'boolean') throw unreadable(value, types.bool);
    return value;
  },
  int32(value) {
    if (!isNumeric(value)) throw unreadable(value, types.int32);
    const int = typeof value === 'number' ? value | 0 : 0;
    if (int !== value) throw outOfRange(value, types.int32);
    return int;
  },
  int64(value) {
    if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
    if (!isNumeric(value)) throw unreadable(value, types.int64);
    // A strategic merge patch may set a whole float, as in a stock server.
    const whole = Number.isInteger(value) ? BigInt(value) : value;
    if (typeof whole !== 'bigint' || whole > MAX_INT64 || whole < MIN_INT64) throw outOfRange(value, types.int64);
    return toInteger(whole);
  },
  double(value) {
    if (!isNumeric(value)) throw unreadable(value, types.double);
    const float = Number(value);
    if (!Number.isFinite(float)) throw outOfRange(value, types.double);
    return float;
  },
  bytes(value) {
    if (typeof value !== 'string') throw unreadable(value, types.bytes);
    return canonicalBase64(value);
  },
  quantity(value) {
    // A value that is not a string is parsed from its JSON text, as in a stock server: numbers are accepted, other values are not.
    const text = typeof value === 'string' ? value : jsonText(value);
    return canonicalText(text.length > maxQuantityLength ? 'x' : text, canonicalQuantity);
  },
  time(value) {
    const text = canonicalText(plainText(value), canonicalTime);
    return text === zeroTime ? undefined : text;
  },
  microTime(value) {
    const text = canonicalText(plainText(value), canonicalMicroTime);
    return text === zeroMicroTime ? undefined : text;
  },
  duration: (value) => canonicalText(plainText(value), canonicalDuration),
  intOrString(value) {
    if (typeof value === 'string') return value;
    // A value that is not a string is decoded as a number, with the errors of one.
    return decoders.int32(value);
  },
  raw: (value) => cloneJson(value),
  json: (value) => cloneJson(value),
  // Sets of fields are the largest part of many objects, and are never changed in place: they are shared rather than copied.
  fieldsV1: (value) => checkDepth(value),
};

/** The zero time counts as absent. */
const zeroTime = '0001-01-01T00:00:00Z';
const zeroMicroTime = '0001-01-01T00:00:00.000000Z';

/** Types that are parsed from a string: any other JSON type is a mismatch; an invalid string has an error of its own. */
function plainText(value: unknown): string {
  if (typeof value !== 'string') throw unreadable(value, types.string);
  return value;
}
function canonicalText(text: string, canonical: (text: string) => string): string {
  try {
    return canonical(text);
  } catch (error) {
    if (error instanceof QuantityError || error instanceof TimeError) throw new Mismatch(undefined, undefined, error.message);
    throw error;
  }
}

const base64Text = /^[A-Za-z0-9+/]*={0,2}$/;

/** Base64 in its one canonical spelling: line ends are dropped, unused bits cleared. */
function canonicalBase64(base64: string): string {
  const text = base64.includes('\n') || base64.includes('\r') ? base64.replace(/[\r\n]/g, '') : base64;
  if (text.length % 4 !== 0 || !base64Text.test(text))
    throw new Mismatch(undefined, undefined, `illegal base64 data at input byte ${firstIllegal(text)}`);
  if (!text.endsWith('=')) return text;
  const tail = text.slice(-4);
  const canonical = Buffer.from(tail, 'base64').toString('base64');
  return canonical === tail ? text : text.slice(0, -4) + canonical;
}
function firstIllegal(text: string): number {
  const at = text.search(/[^A-Za-z0-9+/]/);
  return at >= 0 ? at : text.length - (text.length % 4);
}
