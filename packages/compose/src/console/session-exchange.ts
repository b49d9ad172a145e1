/** Requests of sessions of the console as the pipeline gets them, and answers that are read as a stream. */
import type { IncomingHttpHeaders } from 'node:http';
import { PassThrough } from 'node:stream';
import type { ApiCall } from '@plat-dev/console-gateway';
import type { Incoming, Outgoing } from '@plat-dev/server/exchange';

/** The request of a browser with another path and other headers. */
export class SessionRequest implements Incoming {
  readonly url: string;
  readonly headers: Readonly<IncomingHttpHeaders>;
  readonly rawHeaders: readonly string[];
  readonly caller: ApiCall['caller'];
  private readonly request: Incoming;

  constructor(request: Incoming, { url, headers, rawHeaders, caller }: ApiCall) {
    this.request = request;
    this.url = url;
    this.headers = headers;
    this.rawHeaders = rawHeaders;
    this.caller = caller;
  }
  get method(): string | undefined {
    return this.request.method;
  }
  get httpVersionMajor(): number {
    return this.request.httpVersionMajor;
  }
  get socket(): Incoming['socket'] {
    return this.request.socket;
  }
  get stream(): Incoming['stream'] {
    return this.request.stream;
  }
  get complete(): boolean {
    return this.request.complete;
  }
  on(event: string, listener: (value: never) => void): this {
    this.request.on(event as 'end', listener as () => void);
    return this;
  }
  once(event: 'end' | 'close', listener: () => void): this {
    this.request.once(event, listener);
    return this;
  }
  removeAllListeners(event: 'data'): this {
    this.request.removeAllListeners(event);
    return this;
  }
  resume(): this {
    this.request.resume();
    return this;
  }
  pipe(to: NodeJS.WritableStream): unknown {
    return this.request.pipe(to);
  }
}

/** An answer of the pipeline as a stream of bytes. */
export class StreamedAnswer extends PassThrough implements Outgoing {
  statusCode = 0;
  headersSent = false;
  private readonly onHead: (status: number, contentType: string) => void;

  constructor(onHead: StreamedAnswer['onHead']) {
    super();
    this.onHead = onHead;
  }
  writeHead(status: number, headers: readonly string[] = []): this {
    this.statusCode = status;
    this.headersSent = true;
    const at = headers.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === 'content-type');
    this.onHead(status, at < 0 ? '' : (headers[at + 1] as string));
    return this;
  }
  addTrailers(): void {}
}
