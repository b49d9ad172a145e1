/**
 * The head of a request of HTTP/1.1 (RFC 9112), read strictly: where two programs might understand a head differently, it is
 * refused, so that no request can be hidden in another one.
 *
 *   GET /api HTTP/1.1          → readLine     method, target, version
 *   Host: a                    → readFields   headers, and what they say about the body and the connection
 *   Content-Length: 5
 */

import type { IncomingHttpHeaders } from 'node:http';
import { METHODS } from 'node:http';
import type { HeadNotes } from '../request/request-headers.ts';

/** Maximum bytes of a head. */
export const HEAD_BYTES = 64 * 1024;
/** Maximum headers of a request. */
export const HEADER_COUNT = 2000;

/** A request that is not answered but with an error of the protocol, after which the connection ends. */
export class BadRequest extends Error {
  readonly status: number;
  constructor(message: string, status = 400) {
    super(message);
    this.name = 'BadRequest';
    this.status = status;
  }
}

export interface RequestLine {
  readonly method: string;
  /** Path and query, or `*`. */
  readonly target: string;
  /** The second digit of the version, of which the first is 1. */
  readonly minor: 0 | 1;
}

// Tunnels to anywhere are not for this server.
const methods: ReadonlySet<string> = new Set(METHODS.filter((method) => method !== 'CONNECT'));
/** Neither spaces nor control characters, nor bytes beyond ASCII. */
const badTarget = /[^!-~]/;
const absolute = /^https?:\/\/[^/?#]*/i;

/** The first line, without its end. */
export function readLine(line: string): RequestLine {
  const first = line.indexOf(' ');
  const second = line.indexOf(' ', first + 1);
  const method = line.slice(0, first);
  if (first < 0 || second < 0 || !methods.has(method)) throw new BadRequest('malformed request line');
  const minor = minorOf(line.slice(second + 1));
  const target = own(line, first + 1, second);
  if (badTarget.test(target)) throw new BadRequest('malformed request target');
  return { method, target: pathOf(target), minor };
}

function minorOf(version: string): 0 | 1 {
  if (version === 'HTTP/1.1') return 1;
  if (version === 'HTTP/1.0') return 0;
  if (/^HTTP\/\d\.\d$/.test(version)) throw new BadRequest('unsupported protocol version', 505);
  throw new BadRequest('malformed HTTP version');
}

function pathOf(target: string): string {
  if (target.charCodeAt(0) === SLASH || target === '*') return target;
  // The form for proxies, which every server must take (RFC 9112, 3.2.2).
  const start = absolute.exec(target)?.[0].length;
  if (start === undefined) throw new BadRequest('malformed request target');
  const path = target.slice(start);
  return path.charCodeAt(0) === SLASH ? path : `/${path}`;
}
const SLASH = 0x2f;

/**
 * A part of a text. The engine keeps the whole text as long as a part of it is used, and some parts are kept for long, in caches:
 * those of a long text are copied.
 */
function own(text: string, start: number, end: number): string {
  const part = text.slice(start, end);
  return text.length <= SHORT ? part : Buffer.from(part, 'latin1').toString('latin1');
}
const SHORT = 4096;

export interface Fields {
  /** Names in lower case; those that come twice are joined as `node:http` does it. Shared by requests: never changed. */
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  /** Whether there is a Host header. */
  readonly host: boolean;
  /** Bytes of the body; 0 also where it is chunked. */
  readonly length: number;
  readonly chunked: boolean;
  /** By the Connection header. */
  readonly close: boolean;
  readonly keepAlive: boolean;
  readonly upgrade: boolean;
  notes: HeadNotes | undefined;
}

const token = /^[\w!#$%&'*+.^`|~-]+$/;
const badValue = /[^\t\x20-\x7e\x80-\xff]/;
const badHost = /[^\w!$%&'()*+,\-.:;=[\]~]/;
/** Of these only the first counts. */
const single: ReadonlySet<string> = new Set([
  'age',
  'authorization',
  'content-type',
  'etag',
  'expires',
  'from',
  'if-modified-since',
  'if-unmodified-since',
  'last-modified',
  'location',
  'max-forwards',
  'proxy-authorization',
  'referer',
  'retry-after',
  'server',
  'user-agent',
]);

/** The lines after the first, without the end of the last one. */
export function readFields(text: string): Fields {
  // Without a prototype: no header can be mistaken for one of its members, nor hide one.
  const headers = { __proto__: null } as unknown as IncomingHttpHeaders;
  const rawHeaders: string[] = [];
  for (let at = 0; at < text.length; ) {
    const lineEnd = text.indexOf('\r\n', at);
    const end = lineEnd < 0 ? text.length : lineEnd;
    const colon = text.indexOf(':', at);
    // A line that begins with a space would continue the one before, which is obsolete (RFC 9112, 5.2).
    if (colon < 0 || colon > end) throw new BadRequest('malformed header line');
    const name = own(text, at, colon);
    if (!token.test(name)) throw new BadRequest('invalid header name');
    const value = trimmed(text, colon + 1, end);
    if (badValue.test(value)) throw new BadRequest('invalid header value');
    rawHeaders.push(name, value);
    if (rawHeaders.length > 2 * HEADER_COUNT) throw new BadRequest('too many headers', 431);
    const lower = name.toLowerCase();
    if (isFraming(lower) && text.slice(colon, end).includes('\t')) throw new BadRequest(`malformed ${name} header`);
    add(headers, lower, value);
    at = end + 2;
  }
  const { connection, host } = headers;
  const chunked = isChunked(headers);
  return {
    headers,
    rawHeaders,
    host: host !== undefined,
    length: lengthOf(headers),
    chunked,
    close: connection !== undefined && names(connection, 'close'),
    keepAlive: connection !== undefined && names(connection, 'keep-alive'),
    upgrade: headers.upgrade !== undefined && connection !== undefined && names(connection, 'upgrade'),
    notes: undefined,
  };
}

/** Headers that say where the body ends: not every server takes tabs around their values. */
const isFraming = (name: string): boolean => name === 'content-length' || name === 'transfer-encoding';

/** Without spaces and tabs around it; `trim` would remove others, too. */
function trimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return own(text, start, end);
}
const isSpace = (code: number): boolean => code === 0x20 || code === 0x09;

function add(headers: IncomingHttpHeaders, name: string, value: string): void {
  const existing = headers[name];
  if (existing === undefined) {
    if (name === 'host' && badHost.test(value)) throw new BadRequest('malformed Host header');
    headers[name] = name === 'set-cookie' ? [value] : value;
  } else if (name === 'host') throw new BadRequest('too many Host headers');
  else if (name === 'content-length') throw new BadRequest('too many Content-Length headers');
  else if (Array.isArray(existing)) existing.push(value);
  else if (!single.has(name)) headers[name] = `${existing}${name === 'cookie' ? '; ' : ', '}${value}`;
}

/** Digits, of which so many can be counted exactly. */
const count = /^\d{1,15}$/;

function lengthOf({ 'content-length': length, 'transfer-encoding': coding }: IncomingHttpHeaders): number {
  if (length === undefined) return 0;
  if (!count.test(length)) throw new BadRequest('malformed Content-Length header');
  // Which of them counts is understood differently by different servers.
  if (coding !== undefined) throw new BadRequest('both Content-Length and Transfer-Encoding');
  return Number(length);
}

function isChunked({ 'transfer-encoding': coding }: IncomingHttpHeaders): boolean {
  if (coding === undefined) return false;
  if (coding.toLowerCase() !== 'chunked') throw new BadRequest('Unsupported transfer encoding', 501);
  return true;
}

const names = (list: string, name: string): boolean => list.split(',').some((one) => one.trim().toLowerCase() === name);
