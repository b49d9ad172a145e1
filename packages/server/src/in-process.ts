/**
 * The transport for parts that run in the process of the server: the same pipeline, the same permissions, the same
 * bytes, but no socket, no TLS and no credential to check, because the composition root names the user.
 */

import type { IncomingHttpHeaders } from 'node:http';
import { Readable, Writable } from 'node:stream';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { isPending } from '@plat-dev/lib/when-ready';
import { noteValue } from '@plat-dev/schema/json/parse';
import type { Authenticator, User } from './auth/types.ts';
import type { Incoming, Outgoing, Peer } from './exchange.ts';
import { Request } from './http1/request.ts';
import type { Step } from './pipeline.ts';
import { authenticate } from './steps/authenticate.ts';

/** The shape of `Http` in the client layer, which this layer does not import. */
export interface InProcessRequestOptions {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
  /** What the body is the JSON text of; nobody changes it any more. */
  readonly value?: unknown;
  /** Of an object only the metadata is wanted, as a value. */
  readonly brief?: boolean;
  /** For a watch: objects of its collection are kept for a while as they are written (`InProcessEvent.writersObject`). */
  readonly keepsWritten?: boolean;
}
interface InProcessAnswer {
  readonly status: number;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly body: Buffer;
  /** In place of the body, where it was requested so: nobody may change it. */
  readonly metadata?: (() => ApiObject['metadata']) | undefined;
}
/** A watch event, encoded only on demand. */
export interface InProcessEvent {
  readonly type: string;
  /** JSON of the whole object, whatever part of it the event contains. */
  readonly source: Buffer;
  /** The event as in the stream. */
  readonly bytes: Buffer;
  /** For its receivers, which share it. */
  parsed?: unknown;
  /** The object as it was written, without managedFields; undefined where that is not known. */
  readonly writersObject?: (() => unknown) | undefined;
}
interface InProcessSink {
  data(chunk: Buffer): void;
  /** Receives events one by one if present; else they are `data`. */
  event?(event: InProcessEvent): void;
  end(error?: Error): void;
}
export interface InProcess {
  request(options: InProcessRequestOptions): Promise<InProcessAnswer>;
  stream(options: InProcessRequestOptions, sink: InProcessSink): Promise<{ close(): void }>;
}

/** Uses the user that the request was made with: the first step of the pipeline for in-process requests only. */
export const presetUser: Step = (ctx) => {
  const { req } = ctx as unknown as { req: object };
  if (!(req instanceof InProcessIncoming) || req.user === undefined) throw new Error('a request from outside took the inner way');
  ctx.user = req.user;
  ctx.inProcess = true;
};

/**
 * For clients within the process, as in tests: the user that the request was made with, else the one its credentials
 * authenticate. Everything else is as for a client with a connection.
 */
export function givenUser(authenticator: Authenticator): Step {
  const otherwise = authenticate(authenticator);
  return (ctx) => {
    const user = userGivenWith(ctx.req);
    if (user === undefined) return otherwise(ctx);
    ctx.user = user;
  };
}
/** The user that a request was made with; undefined if it is authenticated by credentials. */
export const userGivenWith = (req: object): User | undefined => (req instanceof InProcessIncoming ? req.user : undefined);

/** Responses in progress, which are aborted when their caller is closed. */
export class OpenAnswers {
  private readonly open = new Set<Writable>();
  private ended = false;

  add(answer: Writable): void {
    if (this.ended) answer.destroy();
    this.open.add(answer);
    answer.once('close', () => this.open.delete(answer));
  }
  /** Aborts all, and future ones. */
  end(): void {
    this.ended = true;
    for (const answer of [...this.open]) answer.destroy();
  }
}

/** `asError` makes the error of a failed response, as the client layer defines it. */
export function inProcess(
  handle: (req: Incoming, res: Outgoing) => void,
  user: User | undefined,
  asError: (status: number, body: Buffer) => Error,
  open?: OpenAnswers,
): InProcess {
  const send = (options: InProcessRequestOptions, outgoing: InProcessOutgoing): void => {
    const { signal } = options;
    const incoming = new InProcessIncoming(options, user);
    if (signal !== undefined) breakOffWith(signal, outgoing);
    outgoing.once('close', () => incoming.destroy());
    open?.add(outgoing);
    handle(incoming, outgoing);
  };
  const request = (options: InProcessRequestOptions): Promise<InProcessAnswer> =>
    new Promise((resolve, reject) => {
      options.signal?.throwIfAborted();
      const chunks: Buffer[] = [];
      const outgoing = new InProcessOutgoing((chunk) => chunks.push(chunk));
      outgoing.brief = options.brief === true;
      let whole = false;
      outgoing.once('finish', () => {
        whole = true;
        const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
        resolve({ status: outgoing.statusCode, headers: outgoing.headers, body, metadata: outgoing.metadata });
      });
      outgoing.once('error', reject);
      outgoing.once('close', () => {
        if (!whole) reject(options.signal?.aborted === true ? options.signal.reason : brokenOff());
      });
      send(options, outgoing);
    });
  const stream: InProcess['stream'] = (options, sink) =>
    new Promise((resolve, reject) => {
      options.signal?.throwIfAborted();
      const refused: Buffer[] = [];
      let closed = false;
      let isStarted = false;
      const outgoing = new InProcessOutgoing(
        (chunk) => {
          if (closed) return;
          if (outgoing.statusCode === 200) sink.data(chunk);
          else refused.push(chunk);
        },
        (event) => {
          if (closed) return;
          if (sink.event !== undefined) sink.event(event);
          else sink.data(event.bytes);
        },
      );
      const close = (): void => {
        closed = true;
        outgoing.destroy();
      };
      outgoing.onHead = () => {
        if (outgoing.statusCode !== 200) return;
        isStarted = true;
        resolve({ close });
      };
      let fault: Error | undefined;
      outgoing.once('error', (error: Error) => {
        fault = error;
      });
      outgoing.once('close', () => {
        if (options.signal?.aborted === true) fault = options.signal.reason;
        if (!isStarted) reject(fault ?? (outgoing.headersSent ? asError(outgoing.statusCode, Buffer.concat(refused)) : brokenOff()));
        else if (!closed) sink.end(outgoing.writableFinished ? undefined : (fault ?? brokenOff()));
      });
      send(options, outgoing);
    });
  return { request, stream };
}

/** The response is aborted by the signal; a signal that outlives it keeps no reference to it. */
function breakOffWith(signal: AbortSignal, outgoing: Writable): void {
  const abort = (): void => void outgoing.destroy();
  signal.addEventListener('abort', abort, { once: true });
  outgoing.once('close', () => signal.removeEventListener('abort', abort));
}

const brokenOff = (): Error => new Error('the server aborted the response');

/** The parts of a request that the pipeline uses. */
export class InProcessIncoming extends Readable implements Incoming {
  readonly user: User | undefined;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly httpVersionMajor = 1;
  readonly socket = ownSocket;
  readonly complete = true;
  readonly keepsWritten: boolean;
  /** The whole body. */
  readonly body: Buffer | undefined;

  constructor(options: InProcessRequestOptions, user: User | undefined) {
    super();
    this.user = user;
    this.keepsWritten = options.keepsWritten === true;
    this.method = options.method ?? 'GET';
    this.url = options.path;
    this.body = typeof options.body === 'string' ? Buffer.from(options.body) : options.body;
    if (this.body !== undefined && options.value !== undefined) noteValue(this.body, options.value);
    const headers = { ...options.headers } as IncomingHttpHeaders;
    if (this.body !== undefined) headers['content-length'] = String(this.body.length);
    this.headers = headers;
  }
  /** For requests that are forwarded to another server. */
  get rawHeaders(): readonly string[] {
    return Object.entries(this.headers).flatMap(([name, value]) =>
      Array.isArray(value) ? value.flatMap((one) => [name, one]) : [name, value ?? ''],
    );
  }
  override _read(): void {
    if (this.body !== undefined) this.push(this.body);
    this.push(null);
  }
}

/** The whole body of a request, if it is here already; undefined if it comes in parts. */
export const wholeBody = (req: object): Buffer | undefined =>
  req instanceof Request || req instanceof InProcessIncoming ? req.body : undefined;

/** Whether a watch is of a part of this process that wants objects as they are written. */
export const keepsWritten = (req: object): boolean => req instanceof InProcessIncoming && req.keepsWritten;

/** The peer address of such requests, for logs. */
const ownSocket: Peer = Object.freeze({ remoteAddress: '127.0.0.1', destroyed: false, destroy: () => {}, encrypted: true });

/** Whether a response goes to a part of this process, which takes events without encoding. */
export const takesFrames = (res: object): res is InProcessOutgoing => res instanceof InProcessOutgoing;

/** Whether only the metadata of an object goes to a part of this process. */
export const takesMetadata = (res: object): res is InProcessOutgoing => res instanceof InProcessOutgoing && res.brief;

/** The parts of a response that the pipeline uses. Writes are passed on at once, so nothing is buffered in between. */
export class InProcessOutgoing extends Writable implements Outgoing {
  statusCode = 0;
  headersSent = false;
  /** Alternating names and values. */
  headers: readonly string[] = [];
  onHead: (() => void) | undefined;
  /** Of an object only the metadata is wanted, which is set instead of written. */
  brief = false;
  metadata: (() => ApiObject['metadata']) | undefined;
  private readonly take: (chunk: Buffer) => unknown;
  private readonly takeEvent: (event: InProcessEvent) => void;

  /** `take` may return a promise: nothing more is written before it resolves. */
  constructor(take: (chunk: Buffer) => unknown, takeEvent: (event: InProcessEvent) => void = (event) => void take(event.bytes)) {
    super({ decodeStrings: true });
    this.take = take;
    this.takeEvent = takeEvent;
  }
  /** Passes watch events on, instead of writing them. Throws what their receiver throws. */
  takeFrames(events: readonly InProcessEvent[]): void {
    if (!this.destroyed) for (const event of events) this.takeEvent(event);
  }
  writeHead(status: number, headers: readonly string[] = []): this {
    this.statusCode = status;
    this.headers = headers;
    this.headersSent = true;
    this.onHead?.();
    return this;
  }
  flushHeaders(): void {}
  addTrailers(): void {}
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    try {
      const taking = this.take(chunk);
      if (isPending(taking)) taking.then(() => done(), done);
      else done();
    } catch (error) {
      done(error as Error);
    }
  }
}
