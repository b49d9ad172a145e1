/**
 * Calls to one gRPC server, over one connection that is made again when it is lost:
 *
 *   idle → connecting → ready → idle          the connection was lost, or the server is closing it
 *          connecting → waiting → idle        it could not be made; the next attempt is delayed, each time longer
 *   closed                                    for ever
 */
import type { SecureContext } from 'node:tls';
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import type { Random } from '@plat-dev/lib/random';
import { textOf } from './http2/connection.ts';
import type { MessageStream } from './message-stream.ts';
import { Session, type SessionOptions } from './session.ts';
import { GrpcError } from './status.ts';
import { parseTarget } from './target.ts';

export interface ChannelOptions {
  /** See target.ts. */
  readonly target: string;
  /** TLS options; absent: no TLS. */
  readonly secureContext?: SecureContext | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** Headers of every call: the same object until they change. */
  readonly metadata?: () => Readonly<Record<string, string>>;
  readonly mostRequestBytes?: number;
  readonly mostAnswerBytes?: number;
  readonly windowBytes?: number;
  readonly keepAlive?: SessionOptions['keepAlive'];
  /** Delay after the first failed attempt to connect, and the longest one. */
  readonly reconnect?: { readonly shortestMs: number; readonly longestMs: number };
  /** Called when the state has changed. */
  readonly changed?: () => void;
}

export type ChannelState = 'idle' | 'connecting' | 'ready' | 'waiting' | 'closed';

const NO_METADATA = {};
const DEFAULT_MOST_BYTES = 4 * 1024 * 1024;
const DEFAULT_WINDOW_BYTES = 1024 * 1024;
const DEFAULT_RECONNECT = { shortestMs: 100, longestMs: 3_000 };
/** Each delay is this much longer than the one before, and up to this fraction of it longer or shorter at random. */
const LONGER = 1.6;
const JITTER = 0.2;

export class Channel {
  readonly #options: SessionOptions;
  readonly #random: Random;
  readonly #reconnect: { readonly shortestMs: number; readonly longestMs: number };
  readonly #changed: () => void;
  /** The current connection first, then those that the server is closing while calls end. */
  readonly #sessions = new Set<Session>();
  #session: Session | undefined;
  #state: ChannelState = 'idle';
  #problem = 'not connected';
  #failures = 0;
  #cancelWaiting: Cancel = () => {};
  #waiters: (() => void)[] = [];

  /** Throws TypeError for an invalid target. */
  constructor(options: ChannelOptions) {
    this.#random = options.random;
    this.#reconnect = options.reconnect ?? DEFAULT_RECONNECT;
    this.#changed = options.changed ?? (() => {});
    this.#options = {
      target: parseTarget(options.target),
      secureContext: options.secureContext,
      metadata: options.metadata ?? (() => NO_METADATA),
      mostRequestBytes: options.mostRequestBytes ?? DEFAULT_MOST_BYTES,
      mostAnswerBytes: options.mostAnswerBytes ?? DEFAULT_MOST_BYTES,
      windowBytes: options.windowBytes ?? DEFAULT_WINDOW_BYTES,
      keepAlive: options.keepAlive,
      clock: options.clock,
    };
  }

  get state(): ChannelState {
    return this.#state;
  }
  /** Why there is no connection. */
  get problem(): string {
    return this.#problem;
  }

  /** Begins to connect, unless that is in progress or delayed. */
  connect(): void {
    if (this.#state !== 'idle') return;
    this.#state = 'connecting';
    const session = new Session(this.#options, {
      ready: () => {
        this.#failures = 0;
        this.#become('ready');
      },
      retired: () => this.#retire(session, 'the server is closing the connection'),
      closed: (error) => {
        this.#sessions.delete(session);
        if (this.#session === session && this.#state === 'connecting') this.#delay(error);
        else this.#retire(session, error === undefined ? 'the connection was closed' : textOf(error));
      },
    });
    this.#session = session;
    this.#sessions.add(session);
  }

  /** A call over the connection there is. `trace`: the header `traceparent`. Rejects with GrpcError, `unreachable` when there is none, or with what `decode` throws. */
  call<Answer>(path: string, request: Buffer, timeoutMs: number, decode: (answer: Buffer) => Answer, trace?: string): Promise<Answer> {
    if (this.#state !== 'ready') return Promise.reject(this.#unreachable());
    return (this.#session as Session).unary(path, request, timeoutMs, decode, trace);
  }

  /** A call that waits for the connection, but not for one that could not be made. Rejects with GrpcError. */
  async callWhenReady(path: string, request: Buffer, timeoutMs: number): Promise<Buffer> {
    if (this.#state === 'ready') return this.call(path, request, timeoutMs, asItIs);
    const { clock } = this.#options;
    const began = clock.monotonic();
    this.connect();
    if (this.#state === 'connecting' && !(await this.#settled(timeoutMs)))
      throw new GrpcError('deadline', 'DEADLINE_EXCEEDED', `no connection within ${timeoutMs} ms`);
    return this.call(path, request, Math.max(1, timeoutMs - (clock.monotonic() - began)), asItIs);
  }

  /** Throws GrpcError `unreachable` when there is no connection. */
  stream<Message>(path: string, decode: (message: Buffer) => Message | undefined): MessageStream<Message> {
    if (this.#state !== 'ready') throw this.#unreachable();
    return (this.#session as Session).stream(path, decode);
  }

  /** Ends every call with `cancelled`. */
  close(): void {
    this.#cancelWaiting();
    this.#become('closed');
    this.#problem = 'the channel is closed';
    this.#session = undefined;
    for (const session of [...this.#sessions]) session.close(new GrpcError('cancelled', 'CANCELLED', this.#problem));
  }

  #become(state: ChannelState): void {
    if (this.#state === 'closed') return;
    this.#state = state;
    for (const wake of this.#waiters.splice(0)) wake();
    this.#changed();
  }

  #retire(session: Session, problem: string): void {
    if (this.#session !== session) return;
    this.#session = undefined;
    this.#problem = problem;
    this.#become('idle');
  }

  #delay(error: Error | undefined): void {
    this.#session = undefined;
    this.#problem = error === undefined ? 'the server closed the connection' : textOf(error);
    const { shortestMs, longestMs } = this.#reconnect;
    const delay = Math.min(longestMs, shortestMs * LONGER ** Math.min(this.#failures++, 20));
    this.#become('waiting');
    this.#cancelWaiting = this.#options.clock.after(delay * (1 - JITTER + 2 * JITTER * this.#random.float()), () => {
      if (this.#state === 'waiting') this.#become('idle');
    });
  }

  /** Waits for the end of an attempt to connect; false when that takes too long. Bounded by the concurrent calls. */
  #settled(timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(timeoutMs, () => resolve(false));
      this.#waiters.push(() => {
        cancel();
        resolve(true);
      });
    });
  }

  #unreachable(): GrpcError {
    return new GrpcError('unreachable', 'UNAVAILABLE', this.#problem);
  }
}

const asItIs = (answer: Buffer): Buffer => answer;
