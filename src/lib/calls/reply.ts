/**
 * Parses HTTP/1.1 responses of a connection, one after the other. It is strict: an ambiguous response is
 * an error, after which the connection cannot be used any more.
 */
import { own, setOwn } from '../own.ts';

export interface Reply {
  readonly status: number;
  readonly body: Buffer;
  /** The location of a redirect. */
  readonly location?: string | undefined;
}

/** Names in lower case. */
export type ReplyHeaders = Readonly<Record<string, string>>;

/** Receives a response as it arrives, instead of whole. */
export interface ReplySink {
  head(status: number, headers: ReplyHeaders): void;
  piece(bytes: Buffer): void;
  /** The connection has another protocol from here on. */
  switched(headers: ReplyHeaders, rest: Buffer): void;
}

/** Not a valid response, or larger than allowed. */
export class BadReply extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BadReply';
  }
}

/** Maximum size of a response head, and of a line and trailer of a chunked body. */
const MAX_HEAD = 64 * 1024;
const MAX_LINE = 4096;
/** Maximum chunks of a body that are kept apart until it is complete; for a large one some more. */
const FEW_PIECES = 1024;
const nothing = Buffer.alloc(0);
const headEnd = Buffer.from('\r\n\r\n', 'latin1');
const lineEnd = Buffer.from('\r\n', 'latin1');

/** How the end of a body is found. */
type Framing = 'length' | 'pieces' | 'until-closed';

interface Head {
  readonly status: number;
  readonly framing: Framing;
  readonly length: number;
  readonly keep: boolean;
  readonly keepMillis: number;
  readonly location?: string | undefined;
}

export class ReplyReader {
  private readonly maxBytes: number;
  private readonly sink: ReplySink | undefined;
  /** Received bytes that are not parsed yet. */
  private pending: Buffer = nothing;
  private head: Head | undefined;
  private pieces: Buffer[] = [];
  private size = 0;
  /** Of a chunked body: remaining bytes of the current chunk, or what comes instead. */
  private left: number | 'size' | 'line-end' | 'trailer' = 'size';
  private trailer = 0;
  /** The last head and its parsed form: consecutive short responses of one service mostly have the same. */
  private lastText = '';
  private lastHead: Head | undefined;

  constructor(maxBytes: number, sink?: ReplySink) {
    this.maxBytes = maxBytes;
    this.sink = sink;
  }

  /** Whether the connection can take another request after the last answer. */
  keep = false;
  /** How long the server keeps it open, in milliseconds; 0: not known. */
  keepMillis = 0;

  /** Whether a part of a response has arrived. */
  get begun(): boolean {
    return this.head !== undefined || this.pending.length > 0;
  }

  /** Responses to HEAD have no body, whatever they say about it. */
  withoutBody = false;

  /** Takes received bytes; returns the response once it is complete, without a body where a sink has it. Throws BadReply. */
  push(chunk: Buffer): Reply | undefined {
    this.pending = this.pending.length === 0 ? chunk : Buffer.concat([this.pending, chunk]);
    while (this.head === undefined) {
      const found = this.readHead();
      if (found === undefined) return undefined;
      // Interim responses precede the final one.
      if (found.status >= 200) this.head = this.withoutBody ? { ...found, framing: 'length', length: 0 } : found;
      else if (found.status === 101) {
        if (this.sink === undefined) throw new BadReply('the answer changes the protocol');
        this.sink.switched(headersOf(this.lastText), this.pending);
        return undefined;
      }
      if (this.head !== undefined) this.sink?.head(found.status, headersOf(this.lastText));
    }
    const { framing, length } = this.head;
    if (framing === 'pieces') return this.readPieces() ? this.finish() : undefined;
    if (framing === 'until-closed') {
      this.take(this.pending.length);
      return undefined;
    }
    this.take(Math.min(this.pending.length, length - this.size));
    return this.size === length ? this.finish() : undefined;
  }

  /** The server sends no more. Returns a response that is delimited by that; throws BadReply if something is missing. */
  end(): Reply {
    if (this.head?.framing !== 'until-closed') throw new BadReply('the answer was cut off');
    return this.finish();
  }

  private finish(): Reply {
    const { status, keep, keepMillis, location } = this.head as Head;
    const body = this.pieces.length === 1 ? (this.pieces[0] as Buffer) : Buffer.concat(this.pieces, this.size);
    // There is no request that further bytes could be the response to.
    this.keep = keep && this.pending.length === 0;
    this.keepMillis = keepMillis;
    this.head = undefined;
    this.pending = nothing;
    this.pieces = [];
    this.size = 0;
    this.left = 'size';
    this.trailer = 0;
    return location === undefined ? { status, body } : { status, body, location };
  }

  private take(count: number): void {
    if (count === 0) return;
    this.size += count;
    if (this.size > this.maxBytes) throw new BadReply('the answer is too large');
    const piece = this.pending.subarray(0, count);
    this.pending = this.pending.subarray(count);
    if (this.sink !== undefined) {
      this.sink.piece(piece);
      return;
    }
    this.pieces.push(piece);
    // Very small chunks take many times the memory of their content, and each keeps its receive buffer alive.
    if (this.pieces.length > FEW_PIECES + this.size / 64) this.pieces = [Buffer.concat(this.pieces, this.size)];
  }

  private readHead(): Head | undefined {
    const end = this.pending.indexOf(headEnd);
    if (end < 0 ? this.pending.length > MAX_HEAD : end > MAX_HEAD) throw new BadReply('the head of the answer is too large');
    if (end < 0) {
      if (!mayBecomeHttp(this.pending)) throw new BadReply('the answer is not HTTP');
      return undefined;
    }
    const text = this.pending.toString('latin1', 0, end);
    this.pending = this.pending.subarray(end + headEnd.length);
    const head = text === this.lastText && this.lastHead !== undefined ? this.lastHead : parseHead(text);
    this.lastText = text;
    this.lastHead = head;
    if (head.length > this.maxBytes) throw new BadReply('the answer is too large');
    return head;
  }

  /** Returns whether the last chunk and the trailer are complete. */
  private readPieces(): boolean {
    for (;;) {
      if (typeof this.left === 'number') {
        const count = Math.min(this.left, this.pending.length);
        this.take(count);
        this.left -= count;
        if (this.left > 0) return false;
        this.left = 'line-end';
      }
      const end = this.pending.indexOf(lineEnd);
      if (end < 0 ? this.pending.length > MAX_LINE : end > MAX_LINE) throw new BadReply('the answer has a line without an end');
      if (end < 0) return false;
      const line = this.pending.toString('latin1', 0, end);
      this.pending = this.pending.subarray(end + lineEnd.length);
      if (this.left === 'line-end') {
        if (line !== '') throw new BadReply('the answer has a piece of another size than it says');
        this.left = 'size';
      } else if (this.left === 'size') {
        const size = /^([0-9a-f]{1,8})[ \t]*(?:;.*)?$/i.exec(line);
        if (size === null) throw new BadReply('the answer has a piece without a size');
        const count = Number.parseInt(size[1] as string, 16);
        if (this.size + count > this.maxBytes) throw new BadReply('the answer is too large');
        this.left = count === 0 ? 'trailer' : count;
      } else {
        if (line === '') return true;
        this.trailer += line.length;
        if (this.trailer > MAX_HEAD) throw new BadReply('the trailer of the answer is too large');
      }
    }
  }
}

const start = Buffer.from('HTTP/1.', 'latin1');
const mayBecomeHttp = (bytes: Buffer): boolean => {
  const count = Math.min(start.length, bytes.length);
  return start.compare(bytes, 0, count, 0, count) === 0;
};

/** The headers of a head that was parsed. Those that are there several times are joined, as lists are. */
function headersOf(text: string): ReplyHeaders {
  const headers: Record<string, string> = Object.create(null);
  for (const line of text.split('\r\n').slice(1)) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const earlier = own(headers, name);
    setOwn(headers, name, earlier === undefined ? value : `${earlier}, ${value}`);
  }
  return headers;
}

function parseHead(text: string): Head {
  const [first, ...lines] = text.split('\r\n') as [string, ...string[]];
  const status = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/.exec(first);
  if (status === null) throw new BadReply('the answer is not HTTP');
  const code = Number(status[2]);
  let length: string | undefined;
  let coding: string | undefined;
  let keep = status[1] === '1';
  let keepMillis = 0;
  let location: string | undefined;
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon)).toLowerCase();
    if (!/^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(name)) throw new BadReply('the answer has a header that is none');
    if (/[\0\r\n]/.test(line)) throw new BadReply('the answer has a header that is none');
    const value = line.slice(colon + 1).trim();
    if (name === 'content-length') {
      if (!/^\d{1,15}$/.test(value) || (length !== undefined && length !== value)) throw new BadReply('the answer has no clear length');
      length = value;
    } else if (name === 'transfer-encoding') {
      if (coding !== undefined || value.toLowerCase() !== 'chunked')
        throw new BadReply('the answer has an encoding that was not requested');
      coding = value;
    } else if (name === 'connection') {
      const options = value
        .toLowerCase()
        .split(',')
        .map((option) => option.trim());
      if (options.includes('close')) keep = false;
      else if (options.includes('keep-alive')) keep = true;
    } else if (name === 'keep-alive') {
      const seconds = /(?:^|[\s,])timeout=(\d{1,6})(?:[\s,]|$)/i.exec(value);
      if (seconds !== null) keepMillis = Number(seconds[1]) * 1000;
    } else if (name === 'location') location = value;
  }
  if (length !== undefined && coding !== undefined) throw new BadReply('the answer has no clear length');
  const common = { status: code, keepMillis, location };
  if (code < 200 || code === 204 || code === 304) return { ...common, framing: 'length', length: 0, keep };
  if (coding !== undefined) return { ...common, framing: 'pieces', length: 0, keep };
  if (length === undefined) return { ...common, framing: 'until-closed', length: 0, keep: false };
  return { ...common, framing: 'length', length: Number(length), keep };
}
