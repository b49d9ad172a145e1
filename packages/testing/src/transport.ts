/**
 * The way from a test to the server in its process: the handler that connections have, without a connection. Requests are
 * authenticated, authorized, admitted and queued like those of any client; only the user is given, not authenticated.
 */

import { errorFrom, type Http } from '@plat-dev/client/http';
import { jsonText } from '@plat-dev/lib/json-text';
import { setOwn } from '@plat-dev/lib/own';
import type { MaybePromise } from '@plat-dev/lib/when-ready';
import { parseExact } from '@plat-dev/schema/json/parse';
import type { User } from '@plat-dev/server/auth/types';
import { InProcessIncoming, InProcessOutgoing, inProcess, OpenAnswers } from '@plat-dev/server/in-process';
import type { Handle } from '@plat-dev/server/tunnels/upgrade';
import type { RequestChoice, TestAnswer, TestFetchInit } from './answers.ts';
import type { KeepAlive } from './keep-alive.ts';
import { userOf } from './users.ts';

/** Maximum unread bytes of a response before the server is paused, and of a watch before it is ended. */
const WAITING_BYTES = 1024 * 1024;
const UNREAD_WATCH_BYTES = 16 * 1024 * 1024;
/** Status codes of responses without a body. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

export class TestTransport {
  private readonly handle: Handle;
  private readonly answers = new OpenAnswers();
  private readonly keepAlive: KeepAlive;
  private closed = false;

  constructor(handle: Handle, keepAlive: KeepAlive) {
    this.handle = handle;
    this.keepAlive = keepAlive;
  }

  /** For the clients of `packages/client/src`. `readError`: for bodies that are not JSON. */
  http(user: User, readError: typeof errorFrom = errorFrom): Http {
    const { request, stream } = inProcess(this.handle, user, readError, this.answers);
    return {
      request: async (options) => {
        this.checkOpen();
        return this.keepAlive.during(request(options));
      },
      stream: async (options, sink) => {
        this.checkOpen();
        return this.keepAlive.during(stream(options, sink));
      },
    };
  }

  /** Sends a request and reads the whole response, whatever its status. */
  async request(method: string, path: string, choice: RequestChoice = {}): Promise<TestAnswer> {
    this.checkOpen();
    const [body, type] = bodyOf(choice.body);
    const headers = lowerCase({ ...(type !== undefined && { 'content-type': type }) }, choice.headers);
    const user = callerOf(choice, headers.authorization !== undefined);
    const response = inProcess(this.handle, user, errorFrom, this.answers).request({
      method,
      path,
      headers,
      ...(body !== undefined && { body }),
      ...(choice.signal !== undefined && { signal: choice.signal }),
    });
    const answer = await this.keepAlive.during(response);
    const text = answer.body.toString();
    const received = headersOf(answer.headers);
    return { status: answer.status, headers: received, text, body: isJson(received) && text !== '' ? parseExact(text) : text };
  }

  /** Like the global `fetch`; the host of the address is ignored. The body is streamed, as watches need it. */
  readonly fetch = async (input: string | URL | Request, init: TestFetchInit = {}): Promise<Response> => {
    this.checkOpen();
    const { user, groups, ...rest } = init;
    const request = new Request(typeof input === 'string' ? new URL(input, 'https://server.invalid') : input, rest);
    const { pathname, search } = new URL(request.url);
    const headers = Object.fromEntries(request.headers);
    const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer());
    const caller = callerOf({ user, groups }, headers.authorization !== undefined);
    const options = { method: request.method, path: `${pathname}${search}`, headers, ...(body !== undefined && { body }) };
    return this.open(new InProcessIncoming(options, caller), request.signal);
  };

  /** Ends the requests in progress; later ones fail. */
  close(): void {
    this.closed = true;
    this.answers.end();
  }

  private checkOpen(): void {
    if (this.closed) throw new Error('the test server is closed');
  }

  private open(incoming: InProcessIncoming, signal: AbortSignal): Promise<Response> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const body = new StreamedBody(() => outgoing.destroy());
      const outgoing = new InProcessOutgoing(
        (chunk) => body.put(chunk),
        (event) => {
          if (!body.putEvent(event.bytes)) outgoing.destroy(new Error('the watch was ended: its events were not read'));
        },
      );
      const abort = (): void => void outgoing.destroy(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      outgoing.onHead = () => {
        const { statusCode: status, headers } = outgoing;
        resolve(new Response(bodiless.has(status) ? null : body.readable, { status, headers: headersOf(headers) }));
      };
      // As long as the response is open, like a connection.
      const release = this.keepAlive.hold();
      let fault: Error | undefined;
      outgoing.once('error', (error: Error) => {
        fault = error;
      });
      outgoing.once('close', () => {
        release();
        signal.removeEventListener('abort', abort);
        incoming.destroy();
        const error = outgoing.writableFinished ? undefined : (fault ?? new Error('the server aborted the response'));
        reject(error);
        body.end(error);
      });
      this.answers.add(outgoing);
      this.handle(incoming, outgoing);
    });
  }
}

/** The body of a `Response` while it is written. */
class StreamedBody {
  readonly readable: ReadableStream<Uint8Array>;
  private controller!: ReadableStreamDefaultController<Uint8Array>;
  private more: (() => void) | undefined;
  private ended = false;

  constructor(cancel: () => void) {
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.controller = controller;
        },
        pull: () => {
          this.more?.();
          this.more = undefined;
        },
        cancel: () => {
          this.ended = true;
          this.more?.();
          cancel();
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: WAITING_BYTES }),
    );
  }
  /** Returns a promise if the buffer is full: the writer waits. */
  put(chunk: Buffer): MaybePromise<void> {
    if (this.ended) return;
    this.controller.enqueue(new Uint8Array(chunk));
    if ((this.controller.desiredSize ?? 0) > 0) return;
    return new Promise((resolve) => {
      this.more = resolve;
    });
  }
  /** False if too many events are unread. */
  putEvent(bytes: Buffer): boolean {
    if (this.ended) return true;
    this.controller.enqueue(new Uint8Array(bytes));
    return (this.controller.desiredSize ?? 0) > -UNREAD_WATCH_BYTES;
  }
  end(error: Error | undefined): void {
    if (this.ended) return;
    this.ended = true;
    this.more?.();
    if (error === undefined) this.controller.close();
    else this.controller.error(error);
  }
}

/** Undefined: the user of the credentials. */
function callerOf({ user, groups }: RequestChoice, hasCredentials: boolean): User | undefined {
  return user === undefined && hasCredentials ? undefined : userOf(user, groups);
}

function bodyOf(body: unknown): [body: string | Buffer | undefined, type: string | undefined] {
  if (body === undefined) return [undefined, undefined];
  if (typeof body === 'string') return [body, 'application/json'];
  if (body instanceof Uint8Array) return [Buffer.from(body), 'application/json'];
  return [jsonText(body), 'application/json'];
}

function lowerCase(...headerSets: readonly (Readonly<Record<string, string>> | undefined)[]): Record<string, string> {
  const all: Record<string, string> = {};
  for (const headers of headerSets) for (const [name, value] of Object.entries(headers ?? {})) setOwn(all, name.toLowerCase(), value);
  return all;
}

function headersOf(flat: readonly string[]): Headers {
  const headers = new Headers();
  for (let i = 0; i + 1 < flat.length; i += 2) headers.append(flat[i] as string, flat[i + 1] as string);
  return headers;
}

const isJson = (headers: Headers): boolean => /^application\/(?:[\w.+-]+\+)?json\b/.test(headers.get('content-type') ?? '');
