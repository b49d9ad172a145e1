import { FakeClock } from '@plat-dev/lib/clock';
import { ApiError } from '@plat-dev/meta/errors';
import { expect, test } from 'vitest';
import { fetchHttp } from './fetch-http.ts';
import { ANSWER_MS, TransportError } from './http.ts';

interface Sent {
  readonly url: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: unknown;
  readonly signal: AbortSignal;
}

/** A server that answers with what it is told to, and what was sent to it. */
function server(answer: (sent: Sent) => Response | Promise<Response>) {
  const sent: Sent[] = [];
  const fetch = (async (url: string, init: Omit<Sent, 'url'>) => {
    const request = { ...init, url, headers: Object.fromEntries(new Headers(init.headers)) };
    sent.push(request);
    return answer(request);
  }) as unknown as typeof globalThis.fetch;
  return { sent, fetch };
}
const status = (code: number, reason: string) =>
  new Response(JSON.stringify({ kind: 'Status', apiVersion: 'v1', code, reason, message: `no: ${reason}` }), { status: code });
/** A body that stays open, as that of a watch; it ends with its request. */
function openBody({ signal }: Sent) {
  let send: (text: string) => void = () => {};
  let end: () => void = () => {};
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      send = (text) => controller.enqueue(new TextEncoder().encode(text));
      end = () => controller.close();
      signal.addEventListener('abort', () => controller.error(signal.reason));
    },
  });
  return { response: new Response(body), send: (text: string) => send(text), end: () => end() };
}

test('a request has the address of the server, its path and a token, and leaves the user agent to the browser', async () => {
  const { sent, fetch } = server(() => new Response('{"a":1}', { status: 201 }));
  const http = fetchHttp({ server: 'https://api.example/prefix/', token: async () => 'secret', fetch }, new FakeClock());
  const answer = await http.request({ method: 'POST', path: '/api/v1/pods?x=1', headers: { accept: 'a', 'user-agent': 'u' }, body: '{}' });
  expect([answer.status, answer.body.toString()]).toEqual([201, '{"a":1}']);
  expect(sent[0]).toMatchObject({ url: 'https://api.example/prefix/api/v1/pods?x=1', method: 'POST', body: '{}' });
  expect(sent[0]?.headers).toEqual({ accept: 'a', authorization: 'Bearer secret' });
});

test('a token is not sent where anyone on the network can read it', async () => {
  const { sent, fetch } = server(() => new Response('{}'));
  const to = (address: string) => fetchHttp({ server: address, token: () => 'secret', fetch }, new FakeClock()).request({ path: '/' });
  await expect(to('http://api.example')).rejects.toThrow('the token is not sent to http://api.example: it does not use HTTPS');
  expect(sent).toEqual([]);
  await to('http://127.0.0.1:8080');
  await to('https://api.example');
  expect(sent).toHaveLength(2);
});

test('a server that cannot be reached is named, with the code that Node has for it', async () => {
  const { fetch } = server(() => Promise.reject(new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })));
  const request = fetchHttp({ server: 'http://127.0.0.1:1', fetch }, new FakeClock()).request({ path: '/' });
  await expect(request).rejects.toMatchObject({ name: 'TransportError', code: 'ECONNREFUSED', server: 'http://127.0.0.1:1' });
});

test('an answer that does not come ends with the time for it', async () => {
  const clock = new FakeClock();
  const { sent, fetch } = server(({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))));
  const request = fetchHttp({ server: 'https://api.example', fetch }, clock).request({ path: '/' });
  const outcome = expect(request).rejects.toThrow('the connection to https://api.example failed: it gave no answer in time');
  await expect.poll(() => sent.length).toBe(1);
  await clock.advance(ANSWER_MS);
  await outcome;
  expect(clock.pending).toBe(0);
});

test('a stream hands on what comes, and its end', async () => {
  let body: ReturnType<typeof openBody> | undefined;
  const { fetch } = server((sent) => {
    body = openBody(sent);
    return body.response;
  });
  const seen: string[] = [];
  const ended = new Promise<unknown>((resolve) => {
    const sink = { data: (chunk: { toString(): string }) => void seen.push(chunk.toString()), end: resolve };
    void fetchHttp({ server: 'https://api.example', fetch }, new FakeClock()).stream({ path: '/' }, sink);
  });
  await expect.poll(() => body).toBeDefined();
  body?.send('one\n');
  body?.send('two\n');
  await expect.poll(() => seen).toEqual(['one\n', 'two\n']);
  body?.end();
  expect(await ended).toBeUndefined();
});

test('a stream that is closed ends its request, and its sink hears no more', async () => {
  let request: Sent | undefined;
  const { fetch } = server((sent) => {
    request = sent;
    return openBody(sent).response;
  });
  const sink = { data: () => {}, end: () => expect.fail('nothing ends after close') };
  const stream = await fetchHttp({ server: 'https://api.example', fetch }, new FakeClock()).stream({ path: '/' }, sink);
  stream.close();
  expect(request?.signal.aborted).toBe(true);
});

test('a stream that the server refuses is its error, and one that breaks off says so to its sink', async () => {
  const { fetch } = server(() => status(403, 'Forbidden'));
  const http = fetchHttp({ server: 'https://api.example', fetch }, new FakeClock());
  const sink = { data: () => {}, end: () => {} };
  const error = await http.stream({ path: '/' }, sink).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ code: 403, reason: 'Forbidden' });

  const broken = new ReadableStream({ start: (controller) => controller.error(new TypeError('terminated')) });
  const breaking = fetchHttp({ server: 'https://api.example', fetch: server(() => new Response(broken)).fetch }, new FakeClock());
  await expect(new Promise((resolve) => void breaking.stream({ path: '/' }, { data: () => {}, end: resolve }))).resolves.toMatchObject({
    message: 'terminated',
  });
  await expect(breaking.request({ path: '/' })).rejects.toBeInstanceOf(TransportError);
});
