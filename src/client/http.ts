/**
 * How a client reaches a server: over HTTPS, or without a socket within the process of the server itself. Both speak the
 * same requests and answers, so that whoever stands on this cannot tell them apart.
 */
import { ApiError, type Status } from '../meta/errors.ts';
import { readAll, type Transport, TransportError } from './transport.ts';

export interface HttpRequest {
  readonly method?: string;
  /** Path and query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
}
export interface HttpAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/** An event of a watch in a server of the same process. */
export interface StreamEvent {
  readonly type: string;
  /** JSON of the whole object, whatever part of it the event shows. */
  readonly source: Buffer;
  /** The event as it would stand in the stream, made when it is asked for. */
  readonly bytes: Buffer;
}

/** Takes an answer as it comes. */
export interface StreamSink {
  data(chunk: Buffer): void;
  /** Takes events that need not become text first; a connection has none. */
  event?(event: StreamEvent): void;
  /** Called once, at the end or with what broke the stream; never after `close`. */
  end(error?: Error): void;
}
export interface HttpStream {
  /** The client wants no more of it. */
  close(): void;
}

export interface Http {
  /** The whole answer, whatever its status. Throws TransportError where there is none. */
  request(request: HttpRequest): Promise<HttpAnswer>;
  /** Resolves when a good answer has begun. Throws the ApiError of an answer that is not good, TransportError where there is none. */
  stream(request: HttpRequest, sink: StreamSink): Promise<HttpStream>;
}

/** Longest wait for an answer that is no stream: longer than any server lets a request take. */
const ANSWER_MS = 75_000;
/** Largest answer that is read whole. */
const BODY_LIMIT = 1 << 30;

/** The way over a connection. Streams take one connection each, so the transport must allow as many as there are watches. */
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

/** The Status of an answer as an error; a plain text is wrapped. */
export function errorFrom(status: number, body: Buffer): ApiError {
  const text = body.toString('utf8', 0, 64 * 1024);
  try {
    const value = JSON.parse(text) as Partial<Status>;
    if (value.kind === 'Status') {
      return new ApiError(value.code ?? status, value.reason ?? '', value.message ?? 'the server gave no reason', value.details);
    }
  } catch {
    // Not JSON: an answer of something in between.
  }
  return new ApiError(status, '', `the server answered ${status}: ${(text.split('\n')[0] ?? '').slice(0, 500)}`);
}

/** Whether an error is an answer of the server with this status. */
export const isStatus = (error: unknown, code: number): error is ApiError => error instanceof ApiError && error.code === code;
export const isNotFound = (error: unknown): boolean => isStatus(error, 404);
/** Somebody else was first: a write that was based on an older state, or a name that is taken. */
export const isConflict = (error: unknown): boolean => isStatus(error, 409);

/** For `catch`: an object that is gone needs nothing more. */
export function unlessGone(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
/** For `catch`: it is gone, or another one has its name by now. */
export function unlessGoneOrReplaced(error: unknown): undefined {
  if (!isNotFound(error) && !isConflict(error)) throw error;
}
