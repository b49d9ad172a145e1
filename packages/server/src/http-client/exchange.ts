/**
 * A request whose body and response are passed on as they come. Both flow no faster than their reader reads, and nothing is kept.
 *
 *   const exchange = await client.open(address, { method: 'GET', path: '/', headers: ['host', 'x'] });
 *   const head = await exchange.head;
 *   if (head instanceof Answer) head.pipe(elsewhere);
 */
import { type Duplex, Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { isClosedError } from './errors.ts';

/** How an exchange ended: its connection can have another one, or not, or has another protocol now. */
export type Outcome = 'kept' | 'broken' | 'switched';

export interface ExchangeConnection {
  /** Whether an earlier request was answered on it. */
  readonly isKept: boolean;
  readonly bytesSent: number;
}

/** The server switched to the protocol of the upgrade that was requested. */
export interface Switched {
  /** Alternating names and values. */
  readonly rawHeaders: readonly string[];
  readonly socket: Duplex;
}

/** Names in lower case. */
export type Trailers = Readonly<Record<string, string | string[] | undefined>>;

/** A response. Destroying it before its end breaks the connection. */
export class Answer extends Readable {
  readonly status: number;
  /** Alternating names and values. */
  readonly rawHeaders: readonly string[];
  trailers: Trailers = {};
  /** Whether all of it has arrived. */
  isComplete = false;
  private readonly resumeReceiving: () => void;
  private readonly breakOff: () => void;

  constructor(status: number, rawHeaders: readonly string[], resumeReceiving: () => void, breakOff: () => void) {
    super();
    this.status = status;
    this.rawHeaders = rawHeaders;
    this.resumeReceiving = resumeReceiving;
    this.breakOff = breakOff;
  }

  finish(trailers: Trailers): void {
    this.trailers = trailers;
    this.isComplete = true;
    this.push(null);
  }
  override _read(): void {
    this.resumeReceiving();
  }
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.breakOff();
    // A reader that has gone has no listener.
    done(this.listenerCount('error') === 0 ? null : error);
  }
}

export class Exchange implements Dispatcher.DispatchHandler {
  /** Rejects if there is no response. */
  readonly head: Promise<Answer | Switched>;
  /** The server closed the connection, which had been kept, before it answered. */
  isStale = false;
  private readonly connection: ExchangeConnection;
  private readonly over: (outcome: Outcome) => void;
  private resolve!: (head: Answer | Switched) => void;
  private reject!: (error: Error) => void;
  private sent: (() => void) | undefined;
  private answer: Answer | undefined;
  private isSent = false;
  private isBegun = false;
  private isOver = false;

  constructor(connection: ExchangeConnection, over: (outcome: Outcome) => void) {
    this.connection = connection;
    this.over = over;
    this.head = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.head.catch(() => {});
  }

  /** Bytes that the connection has taken. */
  get bytesSent(): number {
    return this.connection.bytesSent;
  }
  /** Calls when the connection is ready and the request goes out. */
  whenSent(call: () => void): void {
    if (this.isSent) call();
    else this.sent = call;
  }
  /** Breaks the connection, unless the response is complete. */
  destroy(error: Error = new Error('the request was given up')): void {
    if (this.isOver) return;
    this.isOver = true;
    this.isStale = this.connection.isKept && !this.isBegun && isClosedError(error);
    this.over('broken');
    if (this.answer === undefined) this.reject(error);
    else this.answer.destroy(error);
  }

  onRequestStart(): void {
    this.isSent = true;
    this.sent?.();
  }
  onResponseStarted(): void {
    this.isBegun = true;
  }
  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    // Interim responses precede the final one.
    if (status < 200) return;
    this.answer = new Answer(
      status,
      textsOf(controller.rawHeaders),
      () => controller.resume(),
      () => this.destroy(),
    );
    this.resolve(this.answer);
  }
  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.answer?.push(chunk) === false) controller.pause();
  }
  onResponseEnd(_controller: unknown, trailers: Trailers): void {
    this.isOver = true;
    this.over('kept');
    this.answer?.finish(trailers);
  }
  onRequestUpgrade(controller: Dispatcher.DispatchController, _status: number, _headers: unknown, socket: Duplex): void {
    this.isOver = true;
    this.over('switched');
    this.resolve({ rawHeaders: textsOf(controller.rawHeaders), socket });
  }
  onResponseError(_controller: unknown, error: Error): void {
    this.destroy(error);
  }
}

/** Of HTTP/1.1, which has them as a list. */
const textsOf = (raw: Dispatcher.DispatchController['rawHeaders']): string[] =>
  Array.isArray(raw) ? raw.map((text) => (typeof text === 'string' ? text : text.toString('latin1'))) : [];
