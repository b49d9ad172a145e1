/** Formats of texts in custom objects. A format that is not here is not checked. */
import { type Integer, isInteger, MAX_INT64, MIN_INT64 } from '@plat-dev/lib/integers';
import { own } from '@plat-dev/lib/own';
import { apiRelease, isAtLeast } from '@plat-dev/lib/version';
import { ipFamily, parseCIDR } from '@plat-dev/meta/ip';
import { nameIsLabel, nameIsSubdomain } from '@plat-dev/meta/names';
import type { JSONSchemaProps } from '../schema/json-schema.ts';
import { CHARACTERS_A_STEP, spend } from './effort.ts';

/** The largest float of 32 bits. */
const MAX_FLOAT = 3.4028234663852886e38;

const uuid = (version: string): RegExp => new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$`, 'i');
const patterns: Readonly<Record<string, RegExp>> = {
  bsonobjectid: /^[0-9a-f]{24}$/i,
  mac: /^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$|^([0-9a-f]{4}\.){2}[0-9a-f]{4}$/i,
  uuid: uuid('[0-9a-f]'),
  uuid3: uuid('3'),
  uuid4: /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i,
  uuid5: /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i,
  ssn: /^\d{3}[- ]?\d{2}[- ]?\d{4}$/,
  hexcolor: /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i,
  rgbcolor:
    /^rgb\(\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*\)$/,
  hostname:
    /^(?=.{1,255}$)([\p{L}\p{N}_]|[\p{L}\p{N}_][\p{L}\p{N}_-]{0,61}[\p{L}\p{N}_])(\.([\p{L}\p{N}_]|[\p{L}\p{N}_][\p{L}\p{N}_-]{0,61}[\p{L}\p{N}_]))*$/u,
};
const email = /^[^\s@<>()[\]\\,;:"]+@[^\s@<>()[\]\\,;:"]+$/;
const uri = /^([A-Za-z][A-Za-z0-9+.-]*:\S+|\/\S*)$/;

/** Base64: letters and digits in groups of four, the last one padded. */
function isBase64(text: string): boolean {
  if (text.length % 4 !== 0) return false;
  const filled = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return !notBase64.test(filled === 0 ? text : text.slice(0, -filled));
}
const notBase64 = /[^A-Za-z0-9+/]/;

const dateTime = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/;
const date = /^\d{4}-\d{2}-\d{2}$/;
/** `1h30m`, or a number and a word: `3 days`. */
const duration = /^[+-]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))*$/;
const wordyDuration =
  /^\d+\s*(nanoseconds?|nanos?|ns|microseconds?|micros?|us|µs|milliseconds?|millis?|ms|seconds?|sec|s|minutes?|min|m|hours?|hr|h|days?|d|weeks?|wk|w)$/i;

/** Two digits as a number. */
function pair(text: string, at: number): number {
  return (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48;
}

/** Whether a text that begins like a date names an existing day. */
function isDay(text: string): boolean {
  const month = pair(text, 5);
  const day = pair(text, 8);
  if (month < 1 || month > 12 || day < 1) return false;
  if (month !== 2) return day <= (month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31);
  const century = pair(text, 0);
  const year = pair(text, 2);
  const isLeap = year === 0 ? century % 4 === 0 : year % 4 === 0;
  return day <= (isLeap ? 29 : 28);
}
const isDate = (text: string): boolean => date.test(text) && isDay(text);
const isDateTime = (text: string): boolean =>
  dateTime.test(text) && isDay(text) && pair(text, 11) < 24 && pair(text, 14) < 60 && pair(text, 17) < 61;

/** The last digit of such a number is a checksum of the others. */
function isIsbn(text: string, length: 10 | 13): boolean {
  const figures = text.replace(/[\s-]/g, '');
  if (!(length === 10 ? /^\d{9}[\dX]$/i : /^\d{13}$/).test(figures)) return false;
  const value = (c: string): number => (c.toUpperCase() === 'X' ? 10 : Number(c));
  const sum = [...figures].reduce((total, c, i) => total + value(c) * (length === 10 ? i + 1 : i % 2 === 0 ? 1 : 3), 0);
  return sum % (length === 10 ? 11 : 10) === 0;
}

function isCreditCard(text: string): boolean {
  const figures = text.replace(/[\s-]/g, '');
  if (!/^\d{13,16}$/.test(figures)) return false;
  const sum = [...figures].reverse().reduce((total, c, i) => {
    const doubled = Number(c) * (i % 2 === 0 ? 1 : 2);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
}

/** Formats of texts of any length. Each reads a character a few times at most. */
const longChecks: Readonly<Record<string, (text: string) => boolean>> = {
  password: () => true,
  byte: isBase64,
  email: (text) => email.test(text),
  uri: (text) => uri.test(text),
};
const checks: Readonly<Record<string, (text: string) => boolean>> = {
  datetime: isDateTime,
  date: isDate,
  duration: (text) => text === '0' || duration.test(text) || wordyDuration.test(text),
  ipv4: (text) => !text.includes(':') && ipFamily(text) === 'IPv4',
  ipv6: (text) => text.includes(':') && ipFamily(text) !== undefined,
  cidr: (text) => parseCIDR(text) !== undefined,
  isbn: (text) => isIsbn(text, 10) || isIsbn(text, 13),
  isbn10: (text) => isIsbn(text, 10),
  isbn13: (text) => isIsbn(text, 13),
  creditcard: isCreditCard,
};

/** Formats of names, by the release that brought them. */
const NAMES_SINCE = '1.35';
const nameChecks: Readonly<Record<string, (text: string) => boolean>> = {
  k8sshortname: (text) => nameIsLabel(text).length === 0,
  k8slongname: (text) => nameIsSubdomain(text).length === 0,
};

/** Ranges of numbers, which are checked from a release on. */
const RANGES_SINCE = '1.36';
type Range = readonly [least: Integer, most: Integer];
const int64: Range = [MIN_INT64, MAX_INT64];
const integers: Readonly<Record<string, Range>> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  uint32: [0, 2 ** 32 - 1],
  uint64: [0, 2n ** 64n - 1n],
};
const floats: Readonly<Record<string, Range>> = { float: [-MAX_FLOAT, MAX_FLOAT], float32: [-MAX_FLOAT, MAX_FLOAT] };
/** The check of the numbers of a schema: integers without a format have 64 bits. Undefined where every number fits. */
export function numberCheck(
  { type, format = '' }: JSONSchemaProps,
  release: string = apiRelease,
): ((value: Integer) => boolean) | undefined {
  if (!isAtLeast(release, RANGES_SINCE)) return undefined;
  const isWhole = type === 'integer';
  const range = isWhole ? (own(integers, format) ?? int64) : own(floats, format);
  return range && ((value) => value >= range[0] && value <= range[1] && (!isWhole || isInteger(value)));
}
const numberFormats = new Set(['float', 'double', 'int32', 'int64']);
/** The format of a schema, if its release does not know it. */
export function unrecognizedFormat({ format = '', type = '' }: JSONSchemaProps, release: string): string | undefined {
  if (format === '') return undefined;
  if (type === '' || type === 'string') return formatCheck(format, release) === undefined ? format : undefined;
  const isNumber = type === 'integer' || type === 'number';
  return isNumber && numberFormats.has(format) && (type === 'integer') === format.startsWith('int') ? undefined : format;
}

/** A longer text is not a date, number, color, name or address. */
const LONGEST_FORMATTED = 4096;

/** The check of a format; dashes in its name are ignored. Undefined for one that is not checked. */
export function formatCheck(format: string, release: string = apiRelease): ((text: string) => boolean) | undefined {
  const name = format.replaceAll('-', '');
  const nameCheck = isAtLeast(release, NAMES_SINCE) ? own(nameChecks, name) : undefined;
  if (nameCheck !== undefined) return nameCheck;
  const longCheck = own(longChecks, name);
  if (longCheck !== undefined) return counted(longCheck);
  const check = own(checks, name);
  if (check !== undefined) return (text) => text.length <= LONGEST_FORMATTED && check(text);
  const pattern = own(patterns, name);
  return pattern === undefined ? undefined : (text) => text.length <= LONGEST_FORMATTED && pattern.test(text);
}
/** Cache of results: branches of a schema may check the same text many times. */
function counted(check: (text: string) => boolean): (text: string) => boolean {
  return (text) => {
    if (text.length > CHARACTERS_A_STEP) spend(text.length / CHARACTERS_A_STEP);
    return check(text);
  };
}

/** Whether a text has the format. */
export function hasFormat(format: string, text: string, release?: string): boolean {
  return formatCheck(format, release)?.(text) ?? true;
}
