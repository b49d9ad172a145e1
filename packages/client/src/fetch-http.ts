/**
 * The transport of browsers, over `fetch`. It runs in Node as well, without what `fetch` has no settings for: client certificates,
 * CAs of a configuration, proxies.
 */
import type { Clock } from '@plat-dev/lib/clock';
import { joined, type TextBytes, textBytes } from '@plat-dev/lib/text-bytes';
import { ANSWER_MS, BODY_LIMIT, errorFrom, type Http, type HttpRequest, TransportError } from './http.ts';
import { isReadable } from './paths.ts';

export interface FetchTarget {
  /** Address of the server, such as `https://127.0.0.1:6443`; a path in it comes before those of the API. */
  readonly server: string;
  /** The bearer token, asked for before each request. Absent: browsers send what they have for the server, such as cookies. */
  readonly token?: () => string | Promise<string>;
  readonly fetch?: typeof fetch;
}

export function fetchHttp(target: FetchTarget, clock: Clock): Http {
  return {
    async request(request) {
      const ending = new AbortController();
      const cancel = clock.after(ANSWER_MS, () => ending.abort(new Error('it gave no answer in time')));
      try {
        const response = await open(target, request, ending.signal);
        return { status: response.status, body: await bodyOf(response) };
      } finally {
        cancel();
      }
    },
    async stream(request, sink) {
      const ending = new AbortController();
      const response = await open(target, request, ending.signal);
      if (response.status !== 200 || response.body === null) throw errorFrom(response.status, await bodyOf(response));
      void handOn(chunksOf(response.body), ending.signal, sink);
      return { close: () => ending.abort() };
    },
  };
}

/** Resolves when a response has begun. Throws TransportError. */
async function open({ server, token, fetch: send = fetch }: FetchTarget, request: HttpRequest, ending: AbortSignal): Promise<Response> {
  const { method = 'GET', path, headers = {}, body = null } = request;
  // Browsers name themselves, and would ask servers whether they accept this header.
  const { 'user-agent': _, ...sent }: Record<string, string> = headers;
  if (token !== undefined && isReadable(server)) throw new Error(`the token is not sent to ${server}: it does not use HTTPS`);
  if (token !== undefined) sent.authorization = `Bearer ${await token()}`;
  const signal = request.signal === undefined ? ending : AbortSignal.any([request.signal, ending]);
  try {
    return await send(`${server.replace(/\/+$/, '')}${path}`, {
      method,
      headers: sent,
      body,
      signal,
      redirect: 'error',
    });
  } catch (error) {
    throw new TransportError(`the connection to ${server} failed: ${(error as Error).message}`, codeOf(error), error, server);
  }
}

async function handOn(chunks: AsyncIterable<TextBytes>, closed: AbortSignal, sink: Parameters<Http['stream']>[1]): Promise<void> {
  try {
    for await (const chunk of chunks) {
      if (closed.aborted) return;
      sink.data(chunk);
    }
    if (!closed.aborted) sink.end();
  } catch (error) {
    if (!closed.aborted) sink.end(error as Error);
  }
}

/** A reader instead of `for await` over the body itself, which not all browsers have. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<TextBytes> {
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield textBytes(value);
  }
}

async function bodyOf({ body }: Response): Promise<TextBytes> {
  const chunks: TextBytes[] = [];
  let size = 0;
  try {
    for await (const chunk of body === null ? [] : chunksOf(body)) {
      size += chunk.length;
      if (size > BODY_LIMIT) throw new Error(`it is larger than ${BODY_LIMIT} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw new TransportError(`the answer broke off: ${(error as Error).message}`, codeOf(error), error);
  }
  return joined(chunks);
}

/** Node names the cause within the error; browsers name none. */
const codeOf = (error: unknown): string => {
  const { name, cause } = error as { name?: string; cause?: { code?: unknown } };
  if (name === 'AbortError') return 'ABORT_ERR';
  return typeof cause?.code === 'string' ? cause.code : 'ECONNRESET';
};
