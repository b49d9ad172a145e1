/**
 * A call with messages in both directions:
 *
 *   const stream = channel.stream('/etcdserverpb.Watch/Watch', decode);
 *   stream.write(request);
 *   for await (const message of stream) …      // ends with the status OK, throws GrpcError otherwise
 *   stream.cancel();
 *
 * Messages are decoded in the turn of the event loop after the one in which they came: calls that were answered meanwhile go first,
 * and a message that their results have made superfluous is skipped, by a `decode` that returns undefined.
 *
 * The server is slowed down when messages are not read: from some on, bytes are not confirmed, and the window of the stream fills up.
 */
import { inNextTurn } from '@plat-dev/lib/next-turn';
import { Call, failureOf } from './call.ts';
import type { Http2Connection } from './http2/connection.ts';
import { withHeader } from './messages.ts';
import { GrpcError } from './status.ts';

/** Unread messages at which what comes is no longer confirmed; at most a window of bytes follows. */
const MOST_UNREAD = 16;

export interface StreamLimits {
  readonly mostRequestBytes: number;
  readonly mostAnswerBytes: number;
}

interface Waiter<Message> {
  readonly resolve: (result: IteratorResult<Message, undefined>) => void;
  readonly reject: (error: Error) => void;
}
const DONE = { done: true, value: undefined } as const;

export class MessageStream<Message> extends Call implements AsyncIterableIterator<Message> {
  readonly #limits: StreamLimits;
  readonly #decode: (message: Buffer) => Message | undefined;
  readonly #done: (call: MessageStream<Message>) => void;
  /** Messages that came in this turn. */
  #arrived: Buffer[] = [];
  #unread: Message[] = [];
  #paused = false;
  #waiter: Waiter<Message> | undefined;
  #error: GrpcError | undefined;

  constructor(
    connection: Http2Connection,
    limits: StreamLimits,
    decode: (message: Buffer) => Message | undefined,
    /** Called at the end of the call. */
    done: (call: MessageStream<Message>) => void,
  ) {
    super(connection, limits.mostAnswerBytes);
    this.#limits = limits;
    this.#decode = decode;
    this.#done = done;
  }

  /** Without effect after the end. Throws GrpcError `request-too-large`. */
  write(message: Buffer): void {
    const framed = withHeader(message, this.#limits.mostRequestBytes);
    if (!this.ended && this.stream !== undefined) this.connection.write(this.stream, framed);
  }

  /** Messages that were not read are dropped. */
  cancel(): void {
    this.#arrived = [];
    this.#unread = [];
    this.fail(new GrpcError('cancelled', 'CANCELLED', 'the call was cancelled'));
  }

  /** One reader at a time. */
  next(): Promise<IteratorResult<Message, undefined>> {
    const message = this.#unread.shift();
    if (message !== undefined) {
      if (this.#paused && this.#unread.length === 0) this.#resume();
      return Promise.resolve({ done: false, value: message });
    }
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.ended) return Promise.resolve(DONE);
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
    });
  }

  return(): Promise<IteratorResult<Message, undefined>> {
    this.cancel();
    return Promise.resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  protected override message(bytes: Buffer): void {
    if (this.#arrived.push(bytes) === 1) inNextTurn(() => this.#decodeArrived());
    if (this.#paused || this.#arrived.length + this.#unread.length < MOST_UNREAD) return;
    this.#paused = true;
    if (this.stream !== undefined) this.connection.pause(this.stream);
  }

  #decodeArrived(): void {
    const arrived = this.#arrived;
    if (arrived.length === 0) return;
    this.#arrived = [];
    try {
      for (const bytes of arrived) {
        const message = this.#decode(bytes);
        if (message !== undefined) this.#unread.push(message);
      }
    } catch (error) {
      const failure = failureOf(error);
      if (this.ended) this.#error = failure;
      else this.fail(failure);
    }
    this.#give();
  }

  /** Gives the reader who waits the next message, or the end. */
  #give(): void {
    const waiter = this.#waiter;
    if (waiter !== undefined && (this.#unread.length > 0 || this.ended)) {
      this.#waiter = undefined;
      const message = this.#unread.shift();
      if (message !== undefined) waiter.resolve({ done: false, value: message });
      else if (this.#error !== undefined) waiter.reject(this.#error);
      else waiter.resolve(DONE);
    }
    if (this.#paused && this.#unread.length === 0) this.#resume();
  }

  protected override finish(error: GrpcError | undefined): void {
    this.#error = error;
    // What came before the end is read before it.
    this.#decodeArrived();
    this.#done(this);
    this.#give();
  }

  #resume(): void {
    this.#paused = false;
    if (this.stream !== undefined) this.connection.resume(this.stream);
  }
}
