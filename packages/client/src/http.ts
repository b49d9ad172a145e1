/**
 * The transports of a client: HTTPS, or calls within the process of the server itself. Both have the
 * same requests and responses, so that their users need not distinguish them.
 */

import type { ApiObject } from '@plat-dev/kinds/kind';
import { ApiError, type Status } from '@plat-dev/meta/errors';
import { parseExact } from '@plat-dev/schema/json/parse';
import { readAll, type Transport, TransportError } from './transport.ts';

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
  /** For a watch within the process of the server: objects are kept for a while as they are written (`StreamEvent.written`). */
  readonly keepsWritten?: boolean;
}
export interface HttpAnswer {
  readonly status: number;
  readonly body: Buffer;
  /** In place of the body of a `brief` request within the process of the server: nobody may change it. */
  readonly metadata?: (() => ApiObject['metadata']) | undefined;
}

/** An event of a watch in a server of the same process. */
export interface StreamEvent {
  readonly type: string;
  /** JSON of the whole object, whatever part of it the event contains. */
  readonly source: Buffer;
  /** The event as in the stream, made on demand. */
  readonly bytes: Buffer;
  /** The event as the first of those that share it has parsed it. Nobody may change it. */
  parsed?: unknown;
  /** Makes the object as it was written, without managedFields, if that is known: keys may come in another order than in its text. */
  readonly written?: (() => unknown) | undefined;
}

/** Receives a response as it arrives. */
export interface StreamSink {
  data(chunk: Buffer): void;
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
const ANSWER_MS = 75_000;
/** Maximum size of a response that is read whole. */
const BODY_LIMIT = 1 << 30;

/** The transport over HTTPS. Streams take one connection each, so its limit must allow as many as there are watches. */
export function httpOver(transport: Pick<Transport, 'open'>): Http {
  return {
    async request(request) {
      const answer = await transport.open({ ...request, timeout: ANSWER_MS });
      try {
        return { status: answer.status, body: await readAll(answer.body, BODY_LIMIT) };
      } catch (error) {
        throw new TransportError(`the answer broke off: ${(error as Error).message}`, 'ECONNRESET', error);
      }
    },
    async stream(request, sink) {
      const answer = await transport.open(request);
      if (answer.status !== 200) throw errorFrom(answer.status, await readAll(answer.body, BODY_LIMIT));
      const { body } = answer;
      let closed = false;
      const end = (error?: Error): void => {
        if (closed) return;
        closed = true;
        sink.end(error);
      };
      body.on('data', (chunk: Buffer) => {
        if (!closed) sink.data(chunk);
      });
      body.once('end', () => end());
      body.once('error', end);
      body.once('close', () => end());
      return {
        close: () => {
          closed = true;
          body.destroy();
        },
      };
    },
  };
}

/** The Status of a response as an error; a plain text is wrapped. */
export function errorFrom(status: number, body: Buffer): ApiError {
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
