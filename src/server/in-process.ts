/**
 * The way into the server for the parts that run in its own process: the same pipeline, the same permissions, the same
 * bytes, but no socket, no TLS and no credential to check, because the composition root vouches for who asks.
 */
import { Readable, Writable } from 'node:stream';
import type { Authenticator, User } from '../auth/types.ts';
import type { Incoming, Outgoing } from './context.ts';
import type { Step } from './pipeline.ts';
import { authenticate } from './steps/authenticate.ts';

/** The shape of `Http` in the client layer, which this layer does not know. */
export interface InProcessRequestOptions {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
}
export interface InProcessAnswer {
  readonly status: number;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}
/** An event of a watch. What does not want it never has it encoded. */
export interface InProcessEvent {
  readonly type: string;
  /** JSON of the whole object, whatever part of it the event shows. */
  readonly source: Buffer;
  /** The event as it would stand in the stream. */
  readonly bytes: Buffer;
}
export interface InProcessSink {
  data(chunk: Buffer): void;
  /** Takes events one by one where it is there; else they are `data`. */
  event?(event: InProcessEvent): void;
  end(error?: Error): void;
}
export interface InProcess {
  request(options: InProcessRequestOptions): Promise<InProcessAnswer>;
  stream(options: InProcessRequestOptions, sink: InProcessSink): Promise<{ close(): void }>;
}

/** Takes the user that the request was made with: the first step of the pipeline for requests of this kind, and only them. */
export const presetUser: Step = (ctx) => {
  const { req } = ctx as unknown as { req: object };
  if (!(req instanceof InProcessIncoming) || req.user === undefined) throw new Error('a request from outside took the inner way');
  ctx.user = req.user;
  ctx.inProcess = true;
};

/**
 * For clients within the process, as tests have them: the user that the request was made with, else whoever its credentials
 * prove. All else is as for a client that comes over a connection.
 */
export function givenUser(authenticator: Authenticator): Step {
  const otherwise = authenticate(authenticator);
  return (ctx) => {
    const user = userGivenWith(ctx.req);
    if (user === undefined) return otherwise(ctx);
    ctx.user = user;
  };
}
/** The user that a request was made with; undefined where credentials say who makes it. */
export const userGivenWith = (req: object): User | undefined => (req instanceof InProcessIncoming ? req.user : undefined);

/** Answers that are under way, to be broken off when whoever asked has ended. */
export class OpenAnswers {
  private readonly open = new Set<Writable>();
  private ended = false;

  add(answer: Writable): void {
    if (this.ended) answer.destroy();
    this.open.add(answer);
    answer.once('close', () => this.open.delete(answer));
  }
  /** Breaks off all, and those that are still to come. */
  end(): void {
    this.ended = true;
    for (const answer of [...this.open]) answer.destroy();
  }
}

/** `asError` makes the error of an answer that is not good, as the client layer has them. */
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
    handle(incoming as unknown as Incoming, outgoing as unknown as Outgoing);
  };
  const request = (options: InProcessRequestOptions): Promise<InProcessAnswer> =>
    new Promise((resolve, reject) => {
      options.signal?.throwIfAborted();
      const chunks: Buffer[] = [];
      const outgoing = new InProcessOutgoing((chunk) => chunks.push(chunk));
      let whole = false;
      outgoing.once('finish', () => {
        whole = true;
        const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
        resolve({ status: outgoing.statusCode, headers: outgoing.headers, body });
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
      let begun = false;
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
        begun = true;
        resolve({ close });
      };
      let fault: Error | undefined;
      outgoing.once('error', (error: Error) => {
        fault = error;
      });
      outgoing.once('close', () => {
        if (options.signal?.aborted === true) fault = options.signal.reason;
        if (!begun) reject(fault ?? (outgoing.headersSent ? asError(outgoing.statusCode, Buffer.concat(refused)) : brokenOff()));
        else if (!closed) sink.end(outgoing.writableFinished ? undefined : (fault ?? brokenOff()));
      });
      send(options, outgoing);
    });
  return { request, stream };
}

/** The answer is broken off when the signal is aborted; a signal that outlives it keeps nothing of it. */
function breakOffWith(signal: AbortSignal, outgoing: Writable): void {
  const abort = (): void => void outgoing.destroy();
  signal.addEventListener('abort', abort, { once: true });
  outgoing.once('close', () => signal.removeEventListener('abort', abort));
}

const brokenOff = (): Error => new Error('the server broke the answer off');

/** As much of a request as the pipeline looks at. */
export class InProcessIncoming extends Readable {
  readonly user: User | undefined;
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string | readonly string[]>;
  readonly httpVersion = '1.1';
  readonly httpVersionMajor = 1;
  readonly socket = ownSocket;
  private readonly body: Buffer | undefined;

  constructor(options: InProcessRequestOptions, user: User | undefined) {
    super();
    this.user = user;
    this.method = options.method ?? 'GET';
    this.url = options.path;
    this.body = typeof options.body === 'string' ? Buffer.from(options.body) : options.body;
    this.headers = this.body === undefined ? { ...options.headers } : { ...options.headers, 'content-length': String(this.body.length) };
  }
  /** For requests that go on to another server. */
  get rawHeaders(): readonly string[] {
    return Object.entries(this.headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [name, value] : value.flatMap((one) => [name, one]),
    );
  }
  override _read(): void {
    if (this.body !== undefined) this.push(this.body);
    this.push(null);
  }
}

/** Where such requests come from, for those who write it down. */
const ownSocket = Object.freeze({ remoteAddress: '127.0.0.1', remotePort: 0, encrypted: true });

/** Whether an answer goes to a part of this process, to whom events can be handed as they are. */
export const takesFrames = (res: object): res is InProcessOutgoing => res instanceof InProcessOutgoing;

/** As much of a response as the pipeline writes to. What is written is handed on at once, so nothing waits in between. */
export class InProcessOutgoing extends Writable {
  statusCode = 0;
  headersSent = false;
  /** Names and values in turn. */
  headers: readonly string[] = [];
  onHead: (() => void) | undefined;
  private readonly take: (chunk: Buffer) => unknown;
  private readonly takeEvent: (event: InProcessEvent) => void;

  /** `take` may answer a promise: nothing more is written before it resolves. */
  constructor(take: (chunk: Buffer) => unknown, takeEvent: (event: InProcessEvent) => void = (event) => void take(event.bytes)) {
    super({ decodeStrings: true });
    this.take = take;
    this.takeEvent = takeEvent;
  }
  /** The events of a watch, instead of writing them. Throws what their taker throws. */
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
      if (taking instanceof Promise) taking.then(() => done(), done);
      else done();
    } catch (error) {
      done(error as Error);
    }
  }
}
