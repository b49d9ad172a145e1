/** One connection to a gRPC server: HTTP/2 over TCP, TLS or a Unix socket, and the calls on it. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2, type OutgoingHttpHeaders } from 'node:http2';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext, type TLSSocket } from 'node:tls';
import type { Cancel, Clock } from '../clock.ts';
import type { Call } from './call.ts';
import { MessageStream, type StreamLimits } from './message-stream.ts';
import { withHeader } from './messages.ts';
import { GrpcError } from './status.ts';
import type { Target } from './target.ts';
import { UnaryCall } from './unary-call.ts';

export interface SessionOptions extends StreamLimits {
  readonly target: Target;
  /** TLS options; absent: no TLS. */
  readonly secureContext?: SecureContext | undefined;
  /** Headers of every call. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Maximum unread bytes of one stream. */
  readonly windowBytes: number;
  /** A ping is sent this often while there are calls; absent: never. */
  readonly keepAlive?: { readonly everyMs: number; readonly timeoutMs: number } | undefined;
  readonly clock: Clock;
}

export interface SessionEvents {
  /** The server has accepted the connection. */
  ready(session: Session): void;
  /** No new calls are possible; those in progress may go on. */
  retired(session: Session): void;
  /** The connection is closed; before `ready` with the reason. */
  closed(session: Session, error: Error | undefined): void;
}

/** Time for connecting, the TLS handshake and the settings of the server. */
export const CONNECT_TIMEOUT_MS = 5_000;
/** Unread bytes of all streams together: a stream that is not read must not stop the others. */
const CONNECTION_WINDOW_BYTES = 64 * 1024 * 1024;
/** Node refuses new streams while more megabytes wait to be sent; requests are bounded by their callers. */
const MOST_MEGABYTES = 1_024;

export class Session {
  readonly #options: SessionOptions;
  readonly #events: SessionEvents;
  readonly #session: ClientHttp2Session;
  readonly #headers: OutgoingHttpHeaders;
  readonly #calls = new Set<Call>();
  readonly #done = (call: Call): void => void this.#calls.delete(call);
  #ready = false;
  #closed = false;
  #error: Error | undefined;
  #cancelTimer: Cancel;
  #beating = false;

  constructor(options: SessionOptions, events: SessionEvents) {
    this.#options = options;
    this.#events = events;
    const { target, metadata, secureContext, windowBytes, clock } = options;
    const scheme = secureContext === undefined ? 'http' : 'https';
    this.#headers = {
      ':method': 'POST',
      ':scheme': scheme,
      ':authority': target.authority,
      te: 'trailers',
      'content-type': 'application/grpc',
      ...metadata,
    };
    const socket = socketTo(target, secureContext);
    const session = connectHttp2(`${scheme}://${target.authority}`, {
      createConnection: () => socket,
      settings: { initialWindowSize: windowBytes, enablePush: false },
      maxSessionMemory: MOST_MEGABYTES,
    });
    this.#session = session;
    session.on('connect', () => session.setLocalWindowSize(CONNECTION_WINDOW_BYTES));
    session.on('remoteSettings', () => this.#becomeReady(socket));
    session.on('goaway', () => this.#events.retired(this));
    session.on('error', (error) => {
      this.#error ??= error;
    });
    session.on('close', () => this.#end());
    // A session whose socket fails after the handshake, since the server refuses the certificate, reports nothing by itself.
    socket.on('error', (error) => {
      this.#error ??= error;
      session.destroy(error);
      this.#end();
    });
    this.#cancelTimer = clock.after(CONNECT_TIMEOUT_MS, () => {
      session.destroy(new Error(`the server did not respond within ${CONNECT_TIMEOUT_MS} ms`));
    });
  }

  unary(path: string, request: Buffer, timeoutMs: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const { mostRequestBytes, mostAnswerBytes, clock } = this.#options;
      let framed: Buffer;
      let stream: ClientHttp2Stream;
      try {
        framed = withHeader(request, mostRequestBytes);
        stream = this.#request(path, timeoutMs);
      } catch (error) {
        return reject(error);
      }
      const call = new UnaryCall(mostAnswerBytes, resolve, reject, this.#done);
      this.#calls.add(call);
      const expire = (): void => call.fail(new GrpcError('deadline', 'DEADLINE_EXCEEDED', `no response within ${timeoutMs} ms`));
      call.follow(stream, clock.after(timeoutMs, expire));
      stream.end(framed);
    });
  }

  /** Throws GrpcError `refused`. */
  stream<Message>(path: string, decode: (message: Buffer) => Message): MessageStream<Message> {
    const stream = this.#request(path);
    const call = new MessageStream(this.#options, decode, this.#done);
    this.#calls.add(call);
    call.follow(stream);
    return call;
  }

  /** Ends the connection and every call on it. */
  close(error: GrpcError): void {
    for (const call of [...this.#calls]) call.fail(error);
    this.#session.destroy();
  }

  #request(path: string, timeoutMs?: number): ClientHttp2Stream {
    const headers: OutgoingHttpHeaders = { ...this.#headers, ':path': path };
    if (timeoutMs !== undefined) headers['grpc-timeout'] = timeoutText(timeoutMs);
    try {
      const stream = this.#session.request(headers);
      if (!this.#beating) this.#beat();
      return stream;
    } catch (error) {
      throw new GrpcError('refused', 'UNAVAILABLE', `the connection takes no more calls: ${(error as Error).message}`, { cause: error });
    }
  }

  #becomeReady(socket: Socket | TLSSocket): void {
    if (this.#ready || this.#closed) return;
    if ('alpnProtocol' in socket && socket.alpnProtocol !== 'h2')
      return void this.#session.destroy(new Error('the server does not support HTTP/2 (ALPN)'));
    this.#ready = true;
    this.#cancelTimer();
    this.#events.ready(this);
  }

  /** Pings as long as there are calls: a server that is gone without a word would leave them waiting. */
  #beat(): void {
    const { keepAlive, clock } = this.#options;
    if (keepAlive === undefined) return;
    this.#beating = true;
    this.#cancelTimer();
    this.#cancelTimer = clock.after(keepAlive.everyMs, () => {
      this.#beating = false;
      if (this.#calls.size === 0 || this.#session.destroyed) return;
      this.#beating = true;
      this.#cancelTimer = clock.after(keepAlive.timeoutMs, () => this.#session.destroy(new Error('the server does not respond to pings')));
      this.#session.ping((error) => {
        if (error === null) this.#beat();
      });
    });
  }

  #end(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#cancelTimer();
    for (const call of [...this.#calls])
      call.fail(
        new GrpcError('lost', 'UNAVAILABLE', `the connection was lost${this.#error === undefined ? '' : `: ${textOf(this.#error)}`}`),
      );
    this.#events.closed(this, this.#error);
  }
}

function socketTo({ address, serverName }: Target, secureContext: SecureContext | undefined): Socket | TLSSocket {
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

/** A host with several addresses, none of which responds, fails with an error for each and no text of its own. */
export function textOf(error: Error): string {
  return error instanceof AggregateError && error.message === '' ? String((error.errors[0] as Error | undefined)?.message) : error.message;
}
