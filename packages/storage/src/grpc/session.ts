/** One connection to a gRPC server, over TCP, TLS or a Unix socket, and the calls on it. */
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext, TLSSocket } from 'node:tls';
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import type { Call } from './call.ts';
import { Http2Connection } from './http2/connection.ts';
import { Stream } from './http2/stream.ts';
import { MessageStream, type StreamLimits } from './message-stream.ts';
import { headerOf } from './messages.ts';
import { GrpcError } from './status.ts';
import type { Target } from './target.ts';
import { UnaryCall } from './unary-call.ts';

export interface SessionOptions extends StreamLimits {
  readonly target: Target;
  /** TLS options; absent: no TLS. */
  readonly secureContext?: SecureContext | undefined;
  /** Headers of every call: the same object until they change. */
  readonly metadata: () => Readonly<Record<string, string>>;
  /** Maximum unread bytes of one stream. */
  readonly windowBytes: number;
  /** A ping is sent this often while there are calls; absent: never. */
  readonly keepAlive?: { readonly everyMs: number; readonly timeoutMs: number } | undefined;
  readonly clock: Clock;
}

export interface SessionEvents {
  /** The server has accepted the connection. */
  ready(): void;
  /** No new calls are possible; those in progress may go on. */
  retired(): void;
  /** The connection is closed; before `ready` with the reason. */
  closed(error: Error | undefined): void;
}

type Headers = readonly (readonly [name: string, value: string])[];

/** Time for connecting, the TLS handshake and the settings of the server. */
export const CONNECT_TIMEOUT_MS = 5_000;

export class Session {
  readonly #options: SessionOptions;
  readonly #connection: Http2Connection;
  readonly #calls = new Set<Call>();
  readonly #done = (call: Call): void => void this.#calls.delete(call);
  /** By path, with the same metadata; a program calls few. */
  readonly #headers = new Map<string, Headers>();
  #metadata: Readonly<Record<string, string>> | undefined;
  #cancelTimer: Cancel;
  /** When the timer for the deadlines of calls is due: never later than the first of them. */
  #expireAt = Number.POSITIVE_INFINITY;
  #cancelExpiry: Cancel = () => {};
  #beating = false;

  constructor(options: SessionOptions, events: SessionEvents) {
    this.#options = options;
    const { target, secureContext, windowBytes, clock } = options;
    const socket = socketTo(target, secureContext);
    const connection = new Http2Connection(socket, windowBytes, clock, {
      open: () => {
        if (socket instanceof TLSSocket && socket.alpnProtocol !== 'h2')
          return connection.close(new Error('the server does not support HTTP/2 (ALPN)'));
        this.#cancelTimer();
        events.ready();
      },
      draining: events.retired,
      closed: (error) => {
        this.#cancelTimer();
        this.#cancelExpiry();
        events.closed(error);
      },
    });
    this.#connection = connection;
    this.#cancelTimer = clock.after(CONNECT_TIMEOUT_MS, () => {
      connection.close(new Error(`the server did not respond within ${CONNECT_TIMEOUT_MS} ms`));
    });
  }

  /** `trace`: the header `traceparent`. Rejects with GrpcError, or with what `decode` throws. */
  unary<Answer>(path: string, request: Buffer, timeoutMs: number, decode: (answer: Buffer) => Answer, trace?: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { mostRequestBytes, mostAnswerBytes, clock } = this.#options;
      const call = new UnaryCall(this.#connection, mostAnswerBytes, decode, resolve, reject, this.#done);
      call.deadline = clock.monotonic() + timeoutMs;
      call.timeoutMs = timeoutMs;
      try {
        const header = headerOf(request, mostRequestBytes);
        const timeout = ['grpc-timeout', timeoutText(timeoutMs)] as const;
        const ownHeaders = trace === undefined ? [timeout] : [timeout, ['traceparent', trace] as const];
        this.#begin(call, new Stream(call, this.#headersOf(path), ownHeaders), header, request);
      } catch (error) {
        call.fail(error as GrpcError);
        return;
      }
      if (call.deadline < this.#expireAt) this.#expireLater(call.deadline, timeoutMs);
    });
  }

  /** Throws GrpcError `refused`. */
  stream<Message>(path: string, decode: (message: Buffer) => Message | undefined): MessageStream<Message> {
    const call = new MessageStream(this.#connection, this.#options, decode, this.#done);
    this.#begin(call, new Stream(call, this.#headersOf(path)));
    return call;
  }

  /** Ends the connection and every call on it. */
  close(error: GrpcError): void {
    for (const call of [...this.#calls]) call.fail(error);
    this.#connection.close();
  }

  #begin(call: Call, stream: Stream, header?: Buffer, request?: Buffer): void {
    this.#calls.add(call);
    try {
      call.begin(stream, header, request);
    } catch (error) {
      this.#calls.delete(call);
      throw error;
    }
    if (!this.#beating) this.#beat();
  }

  /** One timer serves the deadlines of all calls: nearly every call is answered long before its own. */
  #expireLater(at: number, delayMs: number): void {
    this.#cancelExpiry();
    this.#expireAt = at;
    this.#cancelExpiry = this.#options.clock.after(delayMs, () => this.#expire());
  }
  #expire(): void {
    const now = this.#options.clock.monotonic();
    let next = Number.POSITIVE_INFINITY;
    for (const call of [...this.#calls]) {
      if (call.deadline <= now) call.fail(new GrpcError('deadline', 'DEADLINE_EXCEEDED', `no response within ${call.timeoutMs} ms`));
      else if (call.deadline < next) next = call.deadline;
    }
    this.#expireAt = Number.POSITIVE_INFINITY;
    if (next < Number.POSITIVE_INFINITY) this.#expireLater(next, next - now);
  }

  #headersOf(path: string): Headers {
    const metadata = this.#options.metadata();
    if (metadata !== this.#metadata) this.#headers.clear();
    this.#metadata = metadata;
    let headers = this.#headers.get(path);
    if (headers === undefined) {
      const { target, secureContext } = this.#options;
      headers = [
        [':method', 'POST'],
        [':scheme', secureContext === undefined ? 'http' : 'https'],
        [':authority', target.authority],
        [':path', path],
        ['te', 'trailers'],
        ['content-type', 'application/grpc'],
        ...Object.entries(metadata),
      ];
      this.#headers.set(path, headers);
    }
    return headers;
  }

  /** Pings as long as there are calls: a server that is gone without a word would leave them waiting. */
  #beat(): void {
    const { keepAlive, clock } = this.#options;
    if (keepAlive === undefined) return;
    this.#beating = true;
    this.#cancelTimer();
    this.#cancelTimer = clock.after(keepAlive.everyMs, () => {
      this.#beating = this.#calls.size > 0;
      if (!this.#beating) return;
      this.#cancelTimer = clock.after(keepAlive.timeoutMs, () => this.#connection.close(new Error('the server does not respond to pings')));
      this.#connection.ping(() => this.#beat());
    });
  }
}

function socketTo({ address, serverName }: Target, secureContext: SecureContext | undefined): Socket {
  const socket =
    secureContext === undefined
      ? connectPlain(address)
      : connectTls({ ...address, secureContext, ALPNProtocols: ['h2'], ...(serverName !== undefined && { servername: serverName }) });
  socket.setNoDelay(true);
  return socket;
}

/** At most eight digits and a unit. */
function timeoutText(milliseconds: number): string {
  const whole = Math.max(1, Math.ceil(milliseconds));
  return whole < 100_000_000 ? `${whole}m` : `${Math.ceil(whole / 1000)}S`;
}
