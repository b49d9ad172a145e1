/** One HTTP/1.1 connection of undici, with one call at a time. It connects with the first call, and again where it was closed. */
import type { Socket } from 'node:net';
import type { Client, Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import { type Address, connect, type TlsSettings } from './connect.ts';

export interface ConnectionSettings {
  readonly clock: Clock;
  /** Absent: no TLS. */
  readonly tls?: TlsSettings | undefined;
  /** Maximum size of a response body. */
  readonly maxBytes: number;
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
  readonly body?: string | undefined;
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
  private call: WholeReply | undefined;
  /** Whether the current socket has had a response. */
  private isKept = false;

  /** `closed` is called when an idle connection was closed. */
  constructor(ClientClass: typeof Client, address: Address, settings: ConnectionSettings, closed: (connection: Connection) => void) {
    const { clock, tls, maxBytes, idleMillis = IDLE_MILLIS } = settings;
    this.to = keyOf(address);
    this.client = new ClientClass(tls === undefined ? 'http://server' : 'https://server', {
      connect: (_, done) => {
        this.isKept = false;
        this.socket = connect(address, tls, clock, done);
      },
      keepAliveTimeout: idleMillis,
      keepAliveMaxTimeout: idleMillis,
      keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MILLIS,
      maxHeaderSize: MAX_HEAD_BYTES,
      maxResponseSize: maxBytes,
      // The time of a call is limited as a whole.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.client.on('disconnect', () => {
      if (this.call === undefined) closed(this);
    });
  }

  send({ method, path, headers, body }: CallRequest, receiver: ReplyReceiver): void {
    const call = new WholeReply(
      (reply) => {
        if (this.call !== call) return;
        this.call = undefined;
        this.isKept = true;
        receiver.done(reply);
      },
      (error) => {
        if (this.call !== call) return;
        this.close();
        receiver.failed(error, this.isKept && !call.isBegun && isClosed(error));
      },
    );
    this.call = call;
    this.client.dispatch({ method: method as Dispatcher.HttpMethod, path, headers: headers as string[], body: body ?? null }, call);
  }

  /** Nothing is heard of a call in progress after this. */
  close(): void {
    this.call = undefined;
    this.socket?.destroy();
    void this.client.destroy();
  }
}

export const keyOf = ({ host, port }: Address): string => `${host} ${port}`;

const isClosed = ({ code }: NodeJS.ErrnoException): boolean => code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';

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
