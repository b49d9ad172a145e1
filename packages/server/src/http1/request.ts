/** A request of HTTP/1.1: what the server uses of `IncomingMessage`. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { Fields, RequestLine } from './head.ts';

export class Request {
  readonly method: string;
  readonly url: string;
  readonly httpVersionMajor = 1;
  readonly httpVersionMinor: 0 | 1;
  headers: IncomingHttpHeaders;
  rawHeaders: readonly string[];
  readonly socket: Socket;
  readonly fields: Fields;
  /** The whole body has come, or there is none. */
  complete = true;
  /** The whole body, if it came with the head. Empty if there is none. */
  body: Buffer | undefined = nothing;
  private pieces: BodyStream | undefined;

  constructor({ method, target, minor }: RequestLine, fields: Fields, socket: Socket) {
    this.method = method;
    this.url = target;
    this.httpVersionMinor = minor;
    this.headers = fields.headers;
    this.rawHeaders = fields.rawHeaders;
    this.fields = fields;
    this.socket = socket;
  }

  get httpVersion(): string {
    return this.httpVersionMinor === 1 ? '1.1' : '1.0';
  }

  /** The body comes in pieces: `more` is called when they are read. */
  open(more: () => void): BodyStream {
    this.complete = false;
    this.body = undefined;
    this.pieces = new BodyStream(more);
    return this.pieces;
  }
  /** The connection is closed. */
  abort(): void {
    if (this.complete) return;
    this.pieces?.emit('aborted');
    this.pieces?.destroy();
  }

  /** The body as a stream, which few requests need: mostly it is here as a whole. */
  private get readable(): BodyStream {
    if (this.pieces === undefined) {
      this.pieces = new BodyStream(() => {});
      if (this.body !== undefined && this.body.length > 0) this.pieces.push(this.body);
      this.pieces.push(null);
    }
    return this.pieces;
  }
  // biome-ignore lint/suspicious/noExplicitAny: listeners of all events, as streams have them.
  on(event: string, listener: (...args: any[]) => void): this {
    this.readable.on(event, listener);
    return this;
  }
  // biome-ignore lint/suspicious/noExplicitAny: listeners of all events, as streams have them.
  once(event: string, listener: (...args: any[]) => void): this {
    this.readable.once(event, listener);
    return this;
  }
  // biome-ignore lint/suspicious/noExplicitAny: listeners of all events, as streams have them.
  off(event: string, listener: (...args: any[]) => void): this {
    this.readable.off(event, listener);
    return this;
  }
  removeAllListeners(event: string): this {
    this.readable.removeAllListeners(event);
    return this;
  }
  resume(): this {
    this.readable.resume();
    return this;
  }
  pipe<T extends NodeJS.WritableStream>(to: T): T {
    return this.readable.pipe(to);
  }
}
const nothing = Buffer.alloc(0);

/** A body in pieces. */
export class BodyStream extends Readable {
  private readonly more: () => void;
  constructor(more: () => void) {
    super();
    this.more = more;
  }
  override _read(): void {
    this.more();
  }
}
