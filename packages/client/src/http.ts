/**
 * What a client needs of a transport: HTTPS of Node (http-over.ts), `fetch` of browsers (fetch-http.ts), or calls within the process
 * of the server itself. All have the same requests and responses, so that their users need not distinguish them.
 */

import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Work } from '@plat-dev/lib/slices';
import type { TextBytes } from '@plat-dev/lib/text-bytes';
import { ApiError, type Status } from '@plat-dev/meta/errors';
import { parseExact } from '@plat-dev/schema/json/parse';

export interface HttpRequest {
  readonly method?: string;
  /** Path and query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
  /** What the body is the JSON text of, which nobody changes any more: within the process of the server it need not be parsed. */
  readonly value?: unknown;
  /** Of an object only the metadata is wanted. */
  readonly brief?: boolean;
  /** For a watch within the process of the server: objects are kept for a while as they are written (`StreamEvent.writersObject`). */
  readonly keepsWritten?: boolean;
}
export interface HttpAnswer {
  readonly status: number;
  readonly body: TextBytes;
  /** In place of the body of a `brief` request within the process of the server: nobody may change it. */
  readonly metadata?: (() => ApiObject['metadata']) | undefined;
}

/** An event of a watch in a server of the same process. */
export interface StreamEvent {
  readonly type: string;
  /** JSON of the whole object, whatever part of it the event contains. */
  readonly source: TextBytes;
  /** The event as in the stream, made on demand. */
  readonly bytes: TextBytes;
  /** The event as those that share it have parsed it, and their work on that. Nobody may change it. */
  parsed?: unknown;
  parsing?: Work<void>;
  /** Makes the object as it was written, without managedFields, if that is known: keys may come in another order than in its text. */
  readonly writersObject?: (() => unknown) | undefined;
}

/** Receives a response as it arrives. */
export interface StreamSink {
  data(chunk: TextBytes): void;
  /** Receives events without encoding; only within the process of the server. */
  event?(event: StreamEvent): void;
  /** Called once, at the end or with the error of the stream; never after `close`. */
  end(error?: Error): void;
}
export interface HttpStream {
  /** Ends the stream. */
  close(): void;
}

export interface Http {
  /** The whole response, whatever its status. Throws TransportError if there is none. */
  request(request: HttpRequest): Promise<HttpAnswer>;
  /** Resolves when a successful response has begun. Throws the ApiError of any other response, TransportError if there is none. */
  stream(request: HttpRequest, sink: StreamSink): Promise<HttpStream>;
}

/** Timeout of a response other than a stream: longer than the request timeout of any server. */
export const ANSWER_MS = 75_000;
/** Maximum size of a response that is read whole. */
export const BODY_LIMIT = 1 << 30;

/** The server could not be reached or broke the connection. The message says what to check. */
export class TransportError extends Error {
  readonly code: string;
  /** Address of the server, if it could not be reached. */
  readonly server: string | undefined;
  constructor(message: string, code: string, cause: unknown, server?: string) {
    super(message, { cause });
    this.name = 'TransportError';
    this.code = code;
    this.server = server;
  }
}

/** The Status of a response as an error; a plain text is wrapped. */
export function errorFrom(status: number, body: TextBytes): ApiError {
  const text = body.toString('utf8', 0, 64 * 1024);
  try {
    const value = parseExact(text) as Partial<Status>;
    if (value.kind === 'Status') {
      return new ApiError(value.code ?? status, value.reason ?? '', value.message ?? 'the server gave no reason', value.details);
    }
  } catch {
    // Not JSON: the response of a proxy.
  }
  return new ApiError(status, '', `the server answered ${status}: ${(text.split('\n')[0] ?? '').slice(0, 500)}`);
}

/** Whether an error is a response of the server with this status. */
export const isStatus = (error: unknown, code: number): error is ApiError => error instanceof ApiError && error.code === code;
export const isNotFound = (error: unknown): boolean => isStatus(error, 404);
/** A conflict: a write that was based on an older state, or a name that exists. */
export const isConflict = (error: unknown): boolean => isStatus(error, 409);

/** For `catch`: a deleted object needs nothing more. */
export function unlessGone(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
/** For `catch`: it is deleted, or another object has its name by now. */
export function unlessGoneOrReplaced(error: unknown): undefined {
  if (!isNotFound(error) && !isConflict(error)) throw error;
}
