/** A request and its answer, whatever they come over. */
import type { IncomingHttpHeaders } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { MaybePromise } from '@plat-dev/lib/when-ready';
import type { User } from '@plat-dev/meta/user';
import type { HeadNotes } from './request/request-headers.ts';

/** What the server uses of a request, whatever it came over: HTTP/1.1 (`http1/`), HTTP/2 (`node:http2`) or none (`in-process.ts`). */
export interface Incoming {
  readonly method?: string | undefined;
  /** Path and query. */
  readonly url?: string | undefined;
  readonly httpVersionMajor: number;
  /** Names in lower case. Requests of a connection may share them. */
  readonly headers: Readonly<IncomingHttpHeaders>;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  readonly socket: Peer;
  /** Shared by all requests that share their headers. */
  readonly fields?: { notes: HeadNotes | undefined } | undefined;
  /** The whole body has come. */
  readonly complete: boolean;
  /** Of HTTP/2. */
  readonly stream?: ServerHttp2Stream | undefined;
  /** Says who makes the request, where its own credentials do not: those of a session do. Throws when they prove nothing any more. */
  readonly caller?: (() => MaybePromise<User>) | undefined;
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end' | 'aborted', listener: () => void): unknown;
  once(event: 'end' | 'close', listener: () => void): unknown;
  removeAllListeners(event: 'data'): unknown;
  resume(): unknown;
  pipe(to: NodeJS.WritableStream): unknown;
}

/** The client of a request. */
export type Peer = Pick<Socket, 'remoteAddress' | 'destroyed'> & { destroy(): unknown; readonly encrypted?: boolean };

/** What the server uses of a response. */
export interface Outgoing {
  readonly statusCode: number;
  readonly headersSent: boolean;
  readonly destroyed: boolean;
  readonly writableEnded: boolean;
  readonly writableFinished: boolean;
  /** Bytes that wait for the client. */
  readonly writableLength: number;
  readonly writableHighWaterMark: number;
  /** False: wait for `drain`. `onTaken` is called when the bytes are no longer needed. */
  write(bytes: Buffer, onTaken?: () => void): boolean;
  end(): unknown;
  end(bytes: Buffer): unknown;
  destroy(error?: Error): unknown;
  flushHeaders?(): void;
  addTrailers(trailers: Record<string, string>): void;
  /** The client of HTTP/1.1 has closed its side of the connection. */
  readonly isHalfClosed?: boolean | undefined;
  /** Of HTTP/2. */
  readonly stream?: ServerHttp2Stream | undefined;
  on(event: OutgoingEvent, listener: () => void): unknown;
  once(event: OutgoingEvent, listener: () => void): unknown;
  off(event: OutgoingEvent, listener: () => void): unknown;
  prependOnceListener(event: OutgoingEvent, listener: () => void): unknown;
}

/** `left`: see `whenLeft`. */
type OutgoingEvent = 'close' | 'finish' | 'drain' | 'left';

/** A connection that may be taken over. */
export interface Upgrade {
  /** The protocol that the client requests. */
  readonly protocol: string;
  /** Bytes that arrived right behind the request. */
  readonly head: Buffer;
  /**
   * Takes the connection; undefined if it is closed. From then on nothing is sent over HTTP, and the request ends when
   * the connection does.
   */
  take(): Socket | undefined;
}
