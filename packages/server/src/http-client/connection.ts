/** One HTTP/1.1 connection of undici, with one request at a time. It connects with the first one, and again where it was closed. */
import type { Socket } from 'node:net';
import type { Duplex, Readable } from 'node:stream';
import type { Client, Dispatcher } from 'undici';
import { type Address, type ConnectSettings, connect } from './connect.ts';
import { isClosedError } from './errors.ts';
import { Exchange, type Outcome } from './exchange.ts';

export interface ConnectionSettings extends ConnectSettings {
  /** Connects to a server within this process. */
  readonly connectLocally?: (() => Duplex) | undefined;
  /** Maximum size of a response body; absent: it is not kept here. */
  readonly maxBytes?: number | undefined;
  /** How long an idle connection is kept; the server may request less. */
  readonly idleMillis?: number | undefined;
}

export interface CallRequest {
  readonly method: string;
  /** Including its query. */
  readonly path: string;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  /** Absent: no body. */
  readonly body?: string | Readable | undefined;
  /** The protocol to switch to. */
  readonly upgrade?: string | undefined;
}

export interface Reply {
  readonly status: number;
  readonly body: Buffer;
  /** The location of a redirect, which is the caller's to follow. */
  readonly location?: string | undefined;
}

/** Receives what becomes of a call: one of these, once. */
export interface ReplyReceiver {
  done(reply: Reply): void;
  /** `stale`: the connection had been kept, and the server closed it before it answered. */
  failed(error: Error, stale: boolean): void;
}

const IDLE_MILLIS = 90_000;
/** A connection is given up a second before the server closes it, so that no call is in transit then. */
const KEEP_ALIVE_MARGIN_MILLIS = 1000;
/** Maximum size of a response head. */
const MAX_HEAD_BYTES = 64 * 1024;

export class Connection {
  /** The address, as a key. */
  readonly to: string;
  private readonly client: Client;
  private socket: Socket | undefined;
  private current: Dispatcher.DispatchHandler | undefined;
  /** Whether the current socket has had a response. */
  isKept = false;

  /** `closed` is called when an idle connection was closed. */
  constructor(ClientClass: typeof Client, address: Address, settings: ConnectionSettings, closed: (connection: Connection) => void) {
    const { tls, connectLocally, maxBytes = -1, idleMillis = IDLE_MILLIS } = settings;
    this.to = keyOf(address);
    this.client = new ClientClass(tls === undefined ? 'http://server' : 'https://server', {
      connect: (_, done) => {
        this.isKept = false;
        if (connectLocally === undefined) {
          this.socket = connect(address, settings, done);
          return;
        }
        const socket = connectLocally() as Socket;
        this.socket = socket;
        process.nextTick(done, null, socket);
      },
      keepAliveTimeout: idleMillis,
      keepAliveMaxTimeout: idleMillis,
      keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MILLIS,
      maxHeaderSize: MAX_HEAD_BYTES,
      maxResponseSize: maxBytes,
      // The owners of requests limit their time.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.client.on('disconnect', () => {
      if (this.current === undefined) closed(this);
    });
  }

  get bytesSent(): number {
    return this.socket?.bytesWritten ?? 0;
  }

  /** Sends a request whose response is collected. */
  send(request: CallRequest, receiver: ReplyReceiver): void {
    const reply = new WholeReply(
      (whole) => {
        if (this.current !== reply) return;
        this.current = undefined;
        this.isKept = true;
        receiver.done(whole);
      },
      (error) => {
        if (this.current !== reply) return;
        this.close();
        receiver.failed(error, this.isKept && !reply.isBegun && isClosedError(error));
      },
    );
    this.dispatch(request, reply, false);
  }

  /** Sends a request whose response is passed on. `isLast`: the connection is not kept after it. */
  exchange(request: CallRequest, isLast: boolean, over: (outcome: Outcome) => void): Exchange {
    const exchange = new Exchange(this, (outcome) => {
      this.current = undefined;
      if (outcome === 'kept') this.isKept = true;
      if (outcome === 'switched') this.socket = undefined;
      over(outcome);
    });
    this.dispatch(request, exchange, isLast);
    return exchange;
  }

  private dispatch({ method, path, headers, body, upgrade }: CallRequest, handler: Dispatcher.DispatchHandler, isLast: boolean): void {
    this.current = handler;
    const request: Dispatcher.DispatchOptions = {
      method: method as Dispatcher.HttpMethod,
      path,
      headers: headers as string[],
      body: body ?? null,
    };
    if (upgrade !== undefined) request.upgrade = upgrade;
    if (isLast) request.reset = true;
    this.client.dispatch(request, handler);
  }

  /** Nothing is heard of a request in progress after this. */
  close(): void {
    this.current = undefined;
    this.socket?.destroy();
    void this.client.destroy();
  }
}

export const keyOf = ({ host, port }: Address): string => `${host} ${port}`;

/** Maximum chunks of a body that are kept apart until it is complete; for a large one some more. */
const FEW_CHUNKS = 1024;

/** Collects a response. */
export class WholeReply implements Dispatcher.DispatchHandler {
  private readonly done: (reply: Reply) => void;
  private readonly failed: (error: Error) => void;
  private status = 0;
  private location: string | undefined;
  private chunks: Buffer[] = [];
  private size = 0;
  /** Whether a part of the response has arrived. */
  isBegun = false;

  constructor(done: (reply: Reply) => void, failed: (error: Error) => void) {
    this.done = done;
    this.failed = failed;
  }

  onRequestStart(): void {}
  onResponseStarted(): void {
    this.isBegun = true;
  }
  onResponseStart(_controller: unknown, status: number, headers: Readonly<Record<string, string | string[] | undefined>>): void {
    this.status = status;
    const { location } = headers;
    this.location = typeof location === 'string' ? location : location?.[0];
  }
  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.chunks.push(chunk);
    this.size += chunk.length;
    // Very small chunks take many times the memory of their content, and each keeps its receive buffer alive.
    if (this.chunks.length > FEW_CHUNKS + this.size / 64) this.chunks = [Buffer.concat(this.chunks, this.size)];
  }
  onResponseEnd(): void {
    const { status, location, chunks } = this;
    const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, this.size);
    this.done(location === undefined ? { status, body } : { status, body, location });
  }
  onResponseError(_controller: unknown, error: Error): void {
    this.failed(error);
  }
}
