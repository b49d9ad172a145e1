/**
 * A call with messages in both directions:
 *
 *   const stream = channel.stream('/etcdserverpb.Watch/Watch', decode);
 *   stream.write(request);
 *   for await (const message of stream) …      // ends with the status OK, throws GrpcError otherwise
 *   stream.cancel();
 *
 * The server is slowed down when messages are not read: from some on, bytes are not confirmed, and the window of the stream fills up.
 */
import { Call } from './call.ts';
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
  readonly #decode: (message: Buffer) => Message;
  readonly #done: (call: MessageStream<Message>) => void;
  #unread: Message[] = [];
  #paused = false;
  #waiter: Waiter<Message> | undefined;
  #error: GrpcError | undefined;

  constructor(
    connection: Http2Connection,
    limits: StreamLimits,
    decode: (message: Buffer) => Message,
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
    const message = this.#decode(bytes);
    const waiter = this.#waiter;
    if (waiter !== undefined) {
      this.#waiter = undefined;
      waiter.resolve({ done: false, value: message });
      return;
    }
    this.#unread.push(message);
    if (this.#unread.length < MOST_UNREAD || this.#paused) return;
    this.#paused = true;
    if (this.stream !== undefined) this.connection.pause(this.stream);
  }

  protected override finish(error: GrpcError | undefined): void {
    this.#error = error;
    this.#done(this);
    const waiter = this.#waiter;
    this.#waiter = undefined;
    if (waiter === undefined) return;
    if (error === undefined) waiter.resolve(DONE);
    else waiter.reject(error);
  }

  #resume(): void {
    this.#paused = false;
    if (this.stream !== undefined) this.connection.resume(this.stream);
  }
}
