/**
 * A response of HTTP/1.1: what the server uses of `ServerResponse`. Head and body go to the connection in one write if they are
 * short.
 *
 *   unsent → writeHead → head        the head is kept until the first bytes of the body, `flushHeaders` or `end`
 *   head   → write, end → sent
 *   any    → destroyed               the connection is closed, or taken by another protocol
 *
 * Events: `finish` when the connection has taken the last byte, `close` after that or when the connection is closed, `drain`,
 * `left` when the client has closed its side.
 */
import { EventEmitter } from 'node:events';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

/** Head and body of at most so many bytes are joined for one write; beyond that a copy costs more than another write. */
export const JOINED = 16 * 1024;

/** Longer bodies are not joined with anything. */
const LONG = 128 * 1024;

/** What a response needs of its connection. */
export interface ResponseConnection {
  readonly socket: Socket;
  readonly server: { readonly closing: boolean; date(): string };
  /** Called when the last byte of a response is sent. */
  readonly flushed: (error?: Error | null) => void;
  /** The response is made, and waits for the client to take it. */
  awaitTaking(): void;
}

export class Response extends EventEmitter {
  statusCode = 200;
  headersSent = false;
  writableEnded = false;
  writableFinished = false;
  destroyed = false;
  chunkedEncoding = false;
  /** The client has closed its side of the connection. */
  isHalfClosed = false;
  /** Whether the connection takes another request after this one. */
  keepAlive: boolean;
  private readonly connection: ResponseConnection;
  /** Responses without a body, whatever is written. */
  private bodiless: boolean;
  private readonly minor: 0 | 1;
  /** The head until it is sent. */
  private head = '';
  private trailers = '';
  private needDrain = false;
  private closed = false;

  constructor(connection: ResponseConnection, isHead: boolean, minor: 0 | 1, keepAlive: boolean) {
    super();
    this.connection = connection;
    this.bodiless = isHead;
    this.minor = minor;
    this.keepAlive = keepAlive;
  }

  get socket(): Socket {
    return this.connection.socket;
  }
  /** Bytes that wait for the client. */
  get writableLength(): number {
    return this.connection.socket.writableLength;
  }
  get writableHighWaterMark(): number {
    return this.connection.socket.writableHighWaterMark;
  }
  get writableNeedDrain(): boolean {
    return this.needDrain;
  }

  /** Names and values in turn. Throws if one of them cannot be sent. */
  writeHead(status: number, headers: readonly string[] = []): this {
    if (this.headersSent) throw new Error('the head of the response is sent already');
    let text = '';
    let dated = false;
    let length = false;
    for (let i = 0; i + 1 < headers.length; i += 2) {
      const name = headers[i] as string;
      const value = headers[i + 1] as string;
      if (!token.test(name) || badValue.test(value)) throw new Error(`the header ${name} cannot be sent`);
      switch (name.length) {
        case 4:
          if (name.toLowerCase() === 'date') dated = true;
          break;
        case 10:
          if (name.toLowerCase() === 'connection') {
            if (value.toLowerCase().includes('close')) this.keepAlive = false;
            continue;
          }
          break;
        case 14:
          if (name.toLowerCase() === 'content-length') length = true;
          break;
        case 17:
          // Whether the body is chunked is decided here.
          if (name.toLowerCase() === 'transfer-encoding') continue;
          break;
      }
      text += `${name}: ${value}\r\n`;
    }
    this.start(status, text, length, dated);
    return this;
  }

  /** Sends a whole response of JSON at once. The headers, names and values in turn, are known to be valid. */
  sendJson(status: number, headers: readonly string[], body: Buffer): void {
    let text = '';
    for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`;
    this.start(status, `${text}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`, true, false);
    this.end(body);
  }

  /** Completes the head. */
  private start(status: number, fields: string, hasLength: boolean, isDated: boolean): void {
    const { server } = this.connection;
    this.statusCode = status;
    this.headersSent = true;
    if (status === 204 || status === 304 || status < 200) this.bodiless = true;
    if (server.closing) this.keepAlive = false;
    let framing = '';
    if (!hasLength && !this.bodiless) {
      // The end of a body without a length is the end of the connection for clients of HTTP/1.0.
      if (this.minor === 0) this.keepAlive = false;
      else {
        this.chunkedEncoding = true;
        framing = 'Transfer-Encoding: chunked\r\n';
      }
    }
    const date = isDated ? '' : server.date();
    const connection = this.keepAlive ? KEEP_ALIVE : CLOSE;
    this.head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n${fields}${date}${connection}${framing}\r\n`;
  }

  flushHeaders(): void {
    if (this.head === '' || this.destroyed) return;
    this.connection.socket.write(this.head, 'latin1');
    this.head = '';
  }

  /** False: wait for `drain`. What is written after the end is dropped. */
  write(chunk: Buffer | string, onTaken?: () => void): boolean {
    if (this.destroyed || this.writableEnded) return true;
    if (!this.headersSent) this.writeHead(this.statusCode);
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    if (this.bodiless || bytes.length === 0) {
      if (onTaken !== undefined) process.nextTick(onTaken);
      return true;
    }
    const { head } = this;
    this.head = '';
    const more = this.chunkedEncoding
      ? this.put(`${head}${bytes.length.toString(16)}\r\n`, bytes, '\r\n', onTaken)
      : this.put(head, bytes, '', onTaken);
    if (!more) this.needDrain = true;
    return more;
  }

  end(chunk?: Buffer | string): this {
    if (this.destroyed || this.writableEnded) return this;
    const bytes = chunk === undefined ? nothing : typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    if (!this.headersSent) this.writeHead(this.statusCode, ['Content-Length', String(bytes.length)]);
    this.writableEnded = true;
    const { head } = this;
    this.head = '';
    const { flushed } = this.connection;
    this.connection.awaitTaking();
    if (this.bodiless) this.put(head, nothing, '', flushed);
    else if (!this.chunkedEncoding) this.put(head, bytes, '', flushed);
    else if (bytes.length === 0) this.put(`${head}0\r\n${this.trailers}\r\n`, nothing, '', flushed);
    else this.put(`${head}${bytes.length.toString(16)}\r\n`, bytes, `\r\n0\r\n${this.trailers}\r\n`, flushed);
    return this;
  }

  /** Sent after a chunked body; others have none. */
  addTrailers(trailers: Readonly<Record<string, string | readonly string[]>>): void {
    for (const [name, values] of Object.entries(trailers))
      for (const value of typeof values === 'string' ? [values] : values)
        if (token.test(name) && !badValue.test(value)) this.trailers += `${name}: ${value}\r\n`;
  }

  /** Breaks the connection off. */
  destroy(_error?: Error): this {
    if (this.destroyed) return this;
    this.destroyed = true;
    this.connection.socket.destroy();
    return this;
  }

  /** `onTaken` is called when the connection has sent the bytes. */
  private put(prefix: string, bytes: Buffer, after: string, onTaken: ((error?: Error | null) => void) | undefined): boolean {
    const { socket } = this.connection;
    const size = prefix.length + bytes.length + after.length;
    if (size <= JOINED) {
      const all = Buffer.allocUnsafe(size);
      all.write(prefix, 0, prefix.length, 'latin1');
      if (bytes.length > 0) all.set(bytes, prefix.length);
      if (after !== '') all.write(after, prefix.length + bytes.length, after.length, 'latin1');
      return socket.write(all, onTaken);
    }
    // Corked writes are copied into one, which for long ones costs more than a further write.
    const isLong = bytes.length > LONG;
    if (!isLong) socket.cork();
    if (prefix !== '') socket.write(prefix, 'latin1');
    if (after === '') socket.write(bytes, onTaken);
    else {
      socket.write(bytes);
      socket.write(after, 'latin1', onTaken);
    }
    if (!isLong) socket.uncork();
    return !socket.writableNeedDrain;
  }

  /** The connection has taken the last byte. */
  finished(): void {
    this.writableFinished = true;
    this.emit('finish');
    this.close();
  }
  /** The response is finished, or the connection is closed. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.destroyed = true;
    this.emit('close');
  }
  /** The client sends nothing more: it may be gone. */
  leave(): void {
    this.isHalfClosed = true;
    if (!this.closed) this.emit('left');
  }
  drained(): void {
    if (!this.needDrain) return;
    this.needDrain = false;
    this.emit('drain');
  }
}

const nothing = Buffer.alloc(0);
const token = /^[\w!#$%&'*+.^`|~-]+$/;
const badValue = /[^\t\x20-\x7e\x80-\xff]/;

/** How long a connection may be idle, in seconds. */
export const IDLE_SECONDS = 120;
const KEEP_ALIVE = `Connection: keep-alive\r\nKeep-Alive: timeout=${IDLE_SECONDS}\r\n`;
const CLOSE = 'Connection: close\r\n';
