/**
 * A connection of HTTP/1.1: requests one after another, each answered before the next is read.
 *
 *   idle       waits for a request; a part of its head may have come      → busy, by the end of the head
 *   busy       a request is handled: its body is read, its response sent  → idle, or lingering
 *   lingering  the response was the last: what the client still sends is dropped until it closes the connection
 *   taken      another protocol has the connection
 *
 * Requests that a client sends before it has its response wait here, up to a limit beyond which the connection is not read.
 */
import type { Socket } from 'node:net';
import { inNextTurn } from '@plat-dev/lib/next-turn';
import type { Upgrade } from '../exchange.ts';
import type { Handle, UpgradeHandle } from '../tunnels/upgrade.ts';
import { ChunkedReader } from './chunked.ts';
import { BadRequest, type Fields, HEAD_BYTES, type RequestLine, readFields, readLine } from './head.ts';
import { type BodyStream, Request } from './request.ts';
import { IDLE_SECONDS, Response } from './response.ts';

/** Seconds for a head, from its first byte or from the start of the connection. */
export const HEAD_SECONDS = 15;
/** Seconds that a client has to take the last bytes of a response, once it is made: as long as stock servers give it. */
export const TAKE_SECONDS = 60;
/** Seconds that a client has to close the connection after the last response. */
export const LINGER_SECONDS = 2;
/** Maximum bytes behind the current request that are read before it is answered. */
export const WAITING_BYTES = 64 * 1024;
/** Empty lines before a request, which some clients send after a body. */
const EMPTY_LINES = 4;
/** Longer headers are not kept for the next request: an idle connection takes little memory. */
const KEPT_CHARACTERS = 4096;
/** No deadline. */
const NEVER = 0x3fffffff;

const nothing = Buffer.alloc(0);
const headEnd = Buffer.from('\r\n\r\n', 'latin1');
const CRLF = Buffer.from('\r\n', 'latin1');
const CR = 0x0d;
const LF = 0x0a;
const TAB = 0x09;
const SPACE = 0x20;

/** What a connection needs of its server. */
export interface ConnectionServer {
  readonly handle: Handle;
  readonly upgrade: UpgradeHandle;
  /** No connection takes another request. */
  readonly closing: boolean;
  /** Seconds that there were connections. */
  readonly tick: number;
  /** The Date header of a response. */
  date(): string;
  forget(connection: Connection): void;
}

export class Connection {
  readonly socket: Socket;
  readonly server: ConnectionServer;
  /** The tick at which it is closed. */
  deadline: number;
  private request: Request | undefined;
  private response: Response | undefined;
  private state: 'open' | 'lingering' | 'taken' = 'open';
  /** Received bytes that are not parsed: `waiting` up to `size`. */
  private waiting: Buffer = nothing;
  private size = 0;
  /** Bytes of `waiting` that are known not to end a head, and to be valid so far. */
  private checked = 0;
  /** The first line of a head in parts is checked. */
  private lineChecked = false;
  private paused = false;
  /** Remaining bytes of the body of the current request, or its reader if it is chunked. */
  private bodyLeft = 0;
  private chunked: ChunkedReader | undefined;
  private body: BodyStream | undefined;
  /** The response was sent before the end of the body. */
  private draining = false;
  /** The client has closed its side. It gets the answers to what it sent before. */
  private isHalfClosed = false;
  /** The headers of the last request: mostly those of the next one are the same. */
  private lastText = '';
  private lastFields: Fields | undefined;
  /** Called when the last byte of a response is sent. */
  readonly flushed: (error?: Error | null) => void;
  private readonly more: () => void;
  private readonly onData = (chunk: Buffer): void => this.receive(chunk);
  private readonly onDrain = (): void => this.response?.drained();
  private readonly onEnd = (): void => this.leave();

  constructor(server: ConnectionServer, socket: Socket) {
    this.server = server;
    this.socket = socket;
    this.deadline = server.tick + HEAD_SECONDS + 1;
    this.flushed = (error) => {
      // Writes of a connection that was broken off end without an error, too.
      if ((error === undefined || error === null) && !socket.destroyed) this.finish();
    };
    this.more = () => this.resume();
    socket.allowHalfOpen = true;
    socket.on('data', this.onData);
    socket.on('drain', this.onDrain);
    socket.on('end', this.onEnd);
    socket.on('error', ignore);
    socket.once('close', () => this.closed());
  }

  /** Its deadline has passed. */
  expire(): void {
    if (this.state === 'open' && this.request === undefined && this.size > 0)
      this.refuse(new BadRequest('the head of the request did not come in time', 408));
    else this.socket.destroy();
  }
  /** The response is made, and waits for the client to take it. */
  awaitTaking(): void {
    this.deadline = this.server.tick + TAKE_SECONDS + 1;
  }
  /** Ends a connection without a request. */
  endIfIdle(): void {
    if (this.state === 'open' && this.request === undefined) this.socket.destroySoon();
  }

  /** Nothing more will come. What waits is answered, unless it goes on without end. */
  private leave(): void {
    const { request, response } = this;
    this.isHalfClosed = true;
    if (this.state !== 'open') return;
    // Without the rest of its body a request cannot be answered.
    if (request?.complete) response?.leave();
    else this.socket.destroySoon();
  }

  private receive(chunk: Buffer): void {
    if (this.state === 'lingering') return;
    try {
      if (this.request === undefined) {
        this.readRequest(this.size === 0 ? chunk : this.keep(chunk, 0));
        return;
      }
      const at = this.request.complete ? 0 : this.readBody(chunk, 0);
      if (at < chunk.length) this.keep(chunk, at);
      if (this.size > WAITING_BYTES) this.pause();
      if (this.draining && this.request.complete) this.goOn();
    } catch (error) {
      this.refuse(error);
    }
  }

  /** Adds bytes to those that wait. Their buffer grows by its own size: a head that comes byte by byte is not copied for each. */
  private keep(chunk: Buffer, from: number): Buffer {
    const size = this.size + chunk.length - from;
    if (size > this.waiting.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(1024, 2 * this.waiting.length, size));
      larger.set(this.waiting.subarray(0, this.size));
      this.waiting = larger;
    }
    this.waiting.set(chunk.subarray(from), this.size);
    this.size = size;
    return this.waiting.subarray(0, size);
  }

  /** Reads the head at the start of the bytes, and begins its request; keeps what follows. What was searched is not searched again. */
  private readRequest(bytes: Buffer): void {
    const size = bytes.length;
    const start = afterEmptyLines(bytes);
    if (start === size) {
      this.size = this.checked = 0;
      return;
    }
    const from = Math.max(start, this.checked - 3);
    const end = bytes.indexOf(headEnd, from);
    if (end < 0) {
      this.awaitHead(bytes, start);
      return;
    }
    if (end - start > HEAD_BYTES) throw tooLarge();
    const lineEnd = bytes.indexOf(CRLF, start);
    // Two texts: what is kept of one keeps nothing of the other.
    const line = readLine(bytes.toString('latin1', start, lineEnd));
    const fields = this.fieldsOf(lineEnd === end ? '' : bytes.toString('latin1', lineEnd + 2, end));
    this.size = this.checked = 0;
    this.lineChecked = false;
    this.begin(line, fields, bytes, end + 4);
  }

  private fieldsOf(text: string): Fields {
    if (this.lastFields !== undefined && text === this.lastText) return this.lastFields;
    const fields = readFields(text);
    const isKept = text.length <= KEPT_CHARACTERS;
    this.lastText = isKept ? text : '';
    this.lastFields = isKept ? fields : undefined;
    return fields;
  }

  /** Keeps a part of a head, which is refused as soon as it cannot become a valid one. */
  private awaitHead(bytes: Buffer, start: number): void {
    if (bytes.length - start > HEAD_BYTES) throw tooLarge();
    checkPart(bytes, Math.max(start, this.checked - 1));
    if (!this.lineChecked) {
      const end = bytes.indexOf(LF, Math.max(start, this.checked));
      if (end >= 0) {
        readLine(bytes.toString('latin1', start, end - 1));
        this.lineChecked = true;
      }
    }
    if (this.size === 0) {
      this.deadline = this.server.tick + HEAD_SECONDS + 1;
      this.keep(bytes, 0);
    }
    this.checked = bytes.length;
  }

  private begin(line: RequestLine, fields: Fields, bytes: Buffer, from: number): void {
    const { method, minor } = line;
    if (minor === 1 && !fields.host) throw new BadRequest('missing required Host header');
    // A client of HTTP/1.0 cannot mean it (RFC 9112, 6.1).
    if (minor === 0 && fields.chunked) throw new BadRequest('Transfer-Encoding in HTTP/1.0');
    this.deadline = NEVER;
    const request = new Request(line, fields, this.socket);
    const keepAlive = minor === 1 ? !fields.close : fields.keepAlive && !fields.close;
    const response = new Response(this, method === 'HEAD', minor, keepAlive && !fields.upgrade);
    this.request = request;
    this.response = response;
    let at = from;
    if (fields.length > 0) at = this.beginBody(request, fields.length, bytes, from);
    else if (fields.chunked) at = this.beginChunked(request, bytes, from);
    // The buffer is read from its start, and filled again.
    this.waiting = nothing;
    if (at < bytes.length) this.keep(bytes, at);
    if (this.size > WAITING_BYTES) this.pause();
    const { expect } = fields.headers;
    if (expect !== undefined && minor === 1 && !this.expected(expect, response)) return;
    // One with a body is answered like all others: bytes of the body are not those of another protocol.
    const isBare = fields.length === 0 && !fields.chunked;
    if (fields.upgrade && minor === 1) this.server.upgrade(request, response, isBare ? this.upgradeOf(fields, response) : undefined);
    else this.server.handle(request, response);
  }

  /** Whether the request is handled; what the client expects else is not known here. */
  private expected(expect: string, response: Response): boolean {
    if (expect.toLowerCase() === '100-continue') {
      this.socket.write('HTTP/1.1 100 Continue\r\n\r\n', 'latin1');
      return true;
    }
    response.writeHead(417, ['Content-Length', '0', 'Connection', 'close']);
    response.end();
    return false;
  }

  /** Returns where the body ends. */
  private beginBody(request: Request, length: number, bytes: Buffer, from: number): number {
    if (bytes.length - from >= length) {
      request.body = bytes.subarray(from, from + length);
      return from + length;
    }
    this.body = request.open(this.more);
    this.bodyLeft = length;
    return this.readBody(bytes, from);
  }
  private beginChunked(request: Request, bytes: Buffer, from: number): number {
    const reader = new ChunkedReader();
    const pieces: Buffer[] = [];
    const at = reader.read(bytes, from, (piece) => void pieces.push(piece));
    if (reader.done) {
      request.body = joined(pieces);
      return at;
    }
    this.body = request.open(this.more);
    this.chunked = reader;
    this.put(joined(pieces));
    return at;
  }

  /** Passes bytes of the body on; returns where they end. */
  private readBody(bytes: Buffer, from: number): number {
    let at: number;
    if (this.chunked !== undefined) {
      const pieces: Buffer[] = [];
      at = this.chunked.read(bytes, from, (piece) => void pieces.push(piece));
      this.put(joined(pieces));
      if (!this.chunked.done) return at;
    } else {
      at = Math.min(bytes.length, from + this.bodyLeft);
      this.bodyLeft -= at - from;
      this.put(bytes.subarray(from, at));
      if (this.bodyLeft > 0) return at;
    }
    (this.request as Request).complete = true;
    this.body?.push(null);
    this.body = undefined;
    this.chunked = undefined;
    return at;
  }
  private put(piece: Buffer): void {
    const { body } = this;
    if (piece.length > 0 && body !== undefined && !body.destroyed && !body.push(piece)) this.pause();
  }

  private pause(): void {
    if (this.paused) return;
    this.paused = true;
    this.socket.pause();
  }
  private resume(): void {
    if (!this.paused || this.size > WAITING_BYTES) return;
    this.paused = false;
    this.socket.resume();
  }

  /** The response is sent. */
  private finish(): void {
    const { request, response } = this;
    if (response === undefined || request === undefined || this.state !== 'open') return;
    this.response = undefined;
    response.finished();
    if (!response.keepAlive) this.linger();
    else if (request.complete) this.goOn();
    else {
      // The rest of the body is dropped.
      this.draining = true;
      request.resume();
    }
  }

  /** A request that has come already is handled in the next turn of the loop: those of one client do not delay others. */
  private goOn(): void {
    this.draining = false;
    if (this.size === 0) this.next();
    else
      inNextTurn(() => {
        if (this.state === 'open') this.next();
      });
  }

  /** The next request, of which some may have come already. */
  private next(): void {
    this.request = undefined;
    if (this.server.closing || (this.isHalfClosed && this.size === 0)) {
      this.socket.destroySoon();
      return;
    }
    this.deadline = this.server.tick + IDLE_SECONDS + 1;
    this.resume();
    if (this.size > 0) {
      const bytes = this.waiting.subarray(0, this.size);
      this.waiting = nothing;
      this.size = 0;
      try {
        this.readRequest(bytes);
      } catch (error) {
        this.refuse(error);
      }
      // What came before the end.
      if (this.isHalfClosed) this.leave();
    }
  }

  /** The connection ends. It is read until the client closes it: closing it with unread bytes could truncate the response. */
  private linger(): void {
    const isRead = this.size === 0 && this.request?.complete !== false;
    this.state = 'lingering';
    this.waiting = nothing;
    this.size = 0;
    if (isRead) {
      this.socket.destroySoon();
      return;
    }
    this.deadline = this.server.tick + LINGER_SECONDS + 1;
    this.socket.end();
    this.resume();
  }

  /** Answers bytes that are no request, and ends the connection. */
  private refuse(error: unknown): void {
    if (!(error instanceof BadRequest)) throw error;
    const { response } = this;
    this.state = 'lingering';
    // One request has one answer.
    if (response?.headersSent || this.draining) {
      this.socket.destroy();
      return;
    }
    this.waiting = nothing;
    this.size = 0;
    this.deadline = this.server.tick + LINGER_SECONDS + 1;
    this.socket.end(refusal(error), 'latin1');
    this.request?.abort();
    response?.close();
    this.resume();
  }

  private upgradeOf({ headers }: Fields, response: Response): Upgrade {
    const connection = this;
    return {
      protocol: headers.upgrade ?? '',
      get head() {
        return connection.waiting.subarray(0, connection.size);
      },
      take: () => this.take(response),
    };
  }
  private take(response: Response): Socket | undefined {
    const { socket } = this;
    if (this.state !== 'open' || response.headersSent || response.destroyed || socket.destroyed || this.isHalfClosed) return undefined;
    this.state = 'taken';
    socket.off('data', this.onData);
    socket.off('drain', this.onDrain);
    socket.off('end', this.onEnd);
    socket.allowHalfOpen = false;
    // A late response must not be written into a connection that is no longer HTTP.
    response.destroyed = true;
    // It begins in the next turn, when the other protocol listens.
    socket.resume();
    return socket;
  }

  private closed(): void {
    this.server.forget(this);
    const { request, response } = this;
    this.request = this.response = undefined;
    this.state = this.state === 'taken' ? 'taken' : 'lingering';
    request?.abort();
    response?.close();
  }
}

function ignore(): void {}

/** Chunks that came together: small ones would take many times the memory of their content. */
const joined = (pieces: readonly Buffer[]): Buffer => (pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces));

const tooLarge = (): BadRequest => new BadRequest('the head of the request is too large', 431);

function afterEmptyLines(bytes: Buffer): number {
  let at = 0;
  while (at < 2 * EMPTY_LINES && at + 1 < bytes.length && bytes[at] === CR && bytes[at + 1] === LF) at += 2;
  return at;
}

/** Throws if a part of a head contains what no head may. */
function checkPart(bytes: Buffer, from: number): void {
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === LF ? at === 0 || bytes[at - 1] !== CR : byte === 0x7f || (byte < SPACE && byte !== CR && byte !== TAB))
      throw new BadRequest('invalid character in the head of the request');
    if (byte === CR && at + 1 < bytes.length && bytes[at + 1] !== LF) throw new BadRequest('invalid line end in the head of the request');
  }
}

/** In the form of stock servers, which name the reason of some refusals in both lines. */
function refusal({ status, message }: BadRequest): string {
  const reason = `${status} ${reasons[status] ?? 'Bad Request'}`;
  const line = status === 431 || status === 501 ? reason : `${reason}: ${message}`;
  const text = status === 501 ? message : line;
  return `HTTP/1.1 ${line}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${text}`;
}
const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
  501: 'Not Implemented',
  505: 'HTTP Version Not Supported',
};
