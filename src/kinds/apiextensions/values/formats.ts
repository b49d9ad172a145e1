/** Formats of texts in custom objects. A format that is not here is not checked. */
import { ipFamily, parseCIDR } from '../../../meta/ip.ts';

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
  byte: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
  email: /^[^\s@<>()[\]\\,;:"]+@[^\s@<>()[\]\\,;:"]+$/,
  hostname:
    /^(?=.{1,255}$)([\p{L}\p{N}_]|[\p{L}\p{N}_][\p{L}\p{N}_-]{0,61}[\p{L}\p{N}_])(\.([\p{L}\p{N}_]|[\p{L}\p{N}_][\p{L}\p{N}_-]{0,61}[\p{L}\p{N}_]))*$/u,
  uri: /^([A-Za-z][A-Za-z0-9+.-]*:\S+|\/\S*)$/,
};

const dateTime = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
const date = /^(\d{4})-(\d{2})-(\d{2})$/;
/** `1h30m`, or a number and a word: `3 days`. */
const duration = /^[+-]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))*$/;
const wordyDuration =
  /^\d+\s*(nanoseconds?|nanos?|ns|microseconds?|micros?|us|µs|milliseconds?|millis?|ms|seconds?|sec|s|minutes?|min|m|hours?|hr|h|days?|d|weeks?|wk|w)$/i;

function isDate(text: string): boolean {
  const match = date.exec(text);
  if (match === null) return false;
  const [, year = '', month = '', day = ''] = match;
  const made = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return made.getUTCMonth() === Number(month) - 1 && made.getUTCDate() === Number(day);
}

function isDateTime(text: string): boolean {
  const match = dateTime.exec(text);
  return match !== null && isDate(match[1] as string) && Number(match[2]) < 24 && Number(match[3]) < 60 && Number(match[4]) < 61;
}

/** The last figure of such a number is a sum of the others. */
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

const withoutDashes = (format: string): string => format.replaceAll('-', '');

/** Whether the format is one that is checked; dashes in its name say nothing. A password may be any text, but it is a text. */
export function isFormat(format: string): boolean {
  const name = withoutDashes(format);
  return Object.hasOwn(checks, name) || Object.hasOwn(patterns, name) || name === 'password';
}

/** Whether a text has the format. */
export function hasFormat(format: string, text: string): boolean {
  const name = withoutDashes(format);
  if (Object.hasOwn(checks, name)) return (checks[name] as (text: string) => boolean)(text);
  return Object.hasOwn(patterns, name) ? (patterns[name] as RegExp).test(text) : true;
}
