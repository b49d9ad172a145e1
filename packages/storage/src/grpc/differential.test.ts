/**
 * The same calls through this client and through @grpc/grpc-js, to servers that answer in every way that HTTP/2 allows and in some
 * that it does not: both end with the same answer or the same status. Where they differ, the reason stands beside it.
 */
import {
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type Settings,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { seededRandom } from '@plat-dev/lib/random';
import { testSeed } from '@plat-dev/lib/testing/seed.testing';
import { afterEach, describe, expect, test } from 'vitest';
import { type ComparedClient, type ComparedOptions, comparable, libraryClient, type Outcome, ownClient } from './differential.testing.ts';
import type { FailureKind } from './status.ts';

const GRPC = { ':status': 200, 'content-type': 'application/grpc' };
const MB = 1024 * 1024;
const framed = (text: string | Buffer): Buffer => {
  const payload = Buffer.from(text as string);
  const header = Buffer.alloc(5);
  header.writeUInt32BE(payload.length, 1);
  return Buffer.concat([header, payload]);
};
const OK = { 'grpc-status': '0' };

type Handler = (stream: ServerHttp2Stream, session: ServerHttp2Session, headers: IncomingHttpHeaders) => void;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serverThat(handle: Handler, settings: Settings = {}): Promise<number> {
  const server: Http2Server = createServer({ settings, maxSendHeaderBlockLength: 100_000 });
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => sessions.add(session.on('error', () => {})));
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    handle(stream, stream.session as ServerHttp2Session, headers);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    for (const session of sessions) session.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}
function clients(port: number, options?: ComparedOptions): [ComparedClient, ComparedClient] {
  const pair: [ComparedClient, ComparedClient] = [ownClient(`127.0.0.1:${port}`, options), libraryClient(`127.0.0.1:${port}`, options)];
  cleanups.push(() => {
    for (const client of pair) client.close();
  });
  return pair;
}
/** What both clients get of a server. */
async function both(
  handle: Handler,
  { request = Buffer.from('x'), timeoutMs, settings, ...options }: Asked = {},
): Promise<[Outcome, Outcome]> {
  const [own, library] = clients(await serverThat(handle, settings), options);
  const outcomes: [Outcome, Outcome] = [
    await own.call('/test.Test/call', request, timeoutMs),
    await library.call('/test.Test/call', request, timeoutMs),
  ];
  return comparable(...outcomes);
}
interface Asked extends ComparedOptions {
  readonly request?: Buffer;
  readonly timeoutMs?: number;
  readonly settings?: Settings;
}

/** Headers, a body in pieces, trailers. */
const answering =
  (body: Buffer | readonly Buffer[], trailers: OutgoingHttpHeaders = OK, headers: OutgoingHttpHeaders = GRPC): Handler =>
  (stream) => {
    stream.resume();
    stream.respond(headers, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    const pieces = Buffer.isBuffer(body) ? [body] : [...body];
    const next = (): void => {
      const piece = pieces.shift();
      if (piece === undefined) stream.end();
      else stream.write(piece, () => setImmediate(next));
    };
    next();
  };
const echo: Handler = (stream, session, headers) => {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.on('end', () => answering(Buffer.concat(chunks))(stream, session, headers));
};
const onlyTrailers =
  (headers: OutgoingHttpHeaders): Handler =>
  (stream) => {
    stream.resume();
    stream.respond(headers, { endStream: true });
  };

const withoutTrailers: Handler = (stream) => {
  stream.respond(GRPC);
  stream.end(framed('a'));
};

describe('the same answer', () => {
  test.each([
    ['an empty message', Buffer.alloc(0)],
    ['a short one', Buffer.from('hello')],
    ['one of a frame', Buffer.alloc(16_384 - 5, 'a')],
    ['one of more than a frame', Buffer.alloc(16_384, 'b')],
    ['one of more than the window of a stream', Buffer.alloc(100_000, 'c')],
    ['4 MiB', Buffer.alloc(4 * MB, 'd')],
  ])('to %s', async (_, request) => {
    const [own, library] = await both(echo, { request, mostAnswerBytes: 8 * MB, mostRequestBytes: 8 * MB });
    expect(own).toEqual({ answer: request.toString('latin1') });
    expect(library).toEqual(own);
  });

  test('from servers with small frames and windows', async () => {
    const request = Buffer.alloc(70_000, 'x');
    const [own, library] = await both(echo, {
      request,
      settings: { initialWindowSize: 1000, maxConcurrentStreams: 1, headerTableSize: 0 },
    });
    expect(own).toEqual({ answer: request.toString('latin1') });
    expect(library).toEqual(own);
  });

  test('from a server that closes the connection after it', async () => {
    const handle: Handler = (stream, session, headers) => {
      session.goaway(0);
      setImmediate(() => answering(framed('last'))(stream, session, headers));
    };
    expect(await both(handle)).toEqual(Array(2).fill({ answer: 'last' }));
  });

  test('however the frames are split', async () => {
    const random = seededRandom(testSeed);
    const payload = Buffer.from(Array.from({ length: 500 }, () => random.below(256)));
    for (let round = 0; round < 30; round++) {
      const body = framed(payload);
      const pieces: Buffer[] = [];
      for (let at = 0; at < body.length; ) {
        const size = round === 0 ? 1 : 1 + random.below(round * 20);
        pieces.push(body.subarray(at, at + size));
        at += size;
      }
      const few = round === 0 ? pieces.slice(0, 20).concat(body.subarray(20)) : pieces;
      expect(await both(answering(few)), `seed ${testSeed}, round ${round}`).toEqual(Array(2).fill({ answer: payload.toString('latin1') }));
    }
  });
});

describe('the same status', () => {
  const codes = Array.from({ length: 16 }, (_, i) => i + 1);
  test.each(codes)('grpc-status %i, in trailers and without messages', async (code) => {
    for (const handle of [
      answering([], { 'grpc-status': String(code), 'grpc-message': 'why%20%C3%A4 100%25' }),
      answering(framed('a'), { 'grpc-status': String(code), 'grpc-message': 'after a message' }),
      onlyTrailers({ ...GRPC, 'grpc-status': String(code), 'grpc-message': 'at once' }),
      onlyTrailers({ ...GRPC, 'grpc-status': String(code) }),
    ]) {
      const [own, library] = await both(handle);
      expect(own).toEqual({ code: expect.any(String), message: expect.any(String) });
      expect(library).toEqual(own);
    }
  });

  test.each([
    ...[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13].map((code) => [`a reset with ${code}`, (stream: ServerHttp2Stream) => stream.close(code)]),
    ['a status of HTTP: 400', onlyTrailers({ ':status': 400 })],
    ['401', onlyTrailers({ ':status': 401 })],
    ['403', onlyTrailers({ ':status': 403 })],
    ['404', onlyTrailers({ ':status': 404 })],
    ['429', onlyTrailers({ ':status': 429 })],
    ['500', onlyTrailers({ ':status': 500 })],
    ['502', onlyTrailers({ ':status': 502 })],
    ['503', onlyTrailers({ ':status': 503 })],
    ['504', onlyTrailers({ ':status': 504 })],
    ['a connection that breaks', (_: ServerHttp2Stream, session: ServerHttp2Session) => session.destroy()],
    [
      'a connection that breaks within the answer',
      (stream: ServerHttp2Stream, session: ServerHttp2Session) => {
        stream.respond(GRPC);
        stream.write(framed('a').subarray(0, 3), () => session.destroy());
      },
    ],
    ['an answer that is too large', answering(framed(Buffer.alloc(2000)))],
  ] as [string, Handler][])('of %s', async (_, handle) => {
    const [own, library] = await both(handle, { mostAnswerBytes: 1000 });
    expect(own).toEqual({ code: expect.any(String) });
    expect(library).toEqual(own);
  });

  test('of a request that is too large, of which nothing is sent', async () => {
    let requests = 0;
    const [own, library] = await both(() => requests++, { request: Buffer.alloc(2000), mostRequestBytes: 1000 });
    expect([own, library]).toEqual(Array(2).fill({ code: 'RESOURCE_EXHAUSTED' }));
  });

  test('of a call that takes too long, which the server is told', async () => {
    const timeouts: unknown[] = [];
    const handle: Handler = (stream) => {
      stream.on('close', () => timeouts.push(stream.rstCode));
      stream.resume();
    };
    expect(await both(handle, { timeoutMs: 2000 })).toEqual(Array(2).fill({ code: 'DEADLINE_EXCEEDED' }));
    while (timeouts.length < 2) await new Promise((resolve) => setImmediate(resolve));
    expect(timeouts).toEqual([8, 8]);
  });
});

test('the same headers of requests, but for who sends them and what it can decompress', async () => {
  const seen: Record<string, unknown>[] = [];
  const port = await serverThat((stream, session, headers) => {
    const {
      'user-agent': _agent,
      'grpc-accept-encoding': _encodings,
      'accept-encoding': _encoding,
      'grpc-timeout': timeout,
      ...rest
    } = headers;
    seen.push({ ...rest, isLimited: timeout !== undefined });
    answering(framed('a'))(stream, session, headers);
  });
  for (const client of clients(port, { metadata: { hasleader: 'true' } })) await client.call('/test.Test/call', Buffer.from('x'));
  expect(seen[0]).toMatchObject({ ':path': '/test.Test/call', te: 'trailers', hasleader: 'true', isLimited: true });
  expect(seen[1]).toEqual(seen[0]);
});

/** Why the codes differ. Callers look at the kind of a failure; the code of one that has no status is only shown. */
const LOST = 'without a status the call is lost, and may have been processed, whatever the reset says';
const differences: [string, Handler, { kind: FailureKind; code: string }, string, string][] = [
  ['a reset because of too many requests', (stream) => stream.close(11), { kind: 'lost', code: 'INTERNAL' }, 'RESOURCE_EXHAUSTED', LOST],
  ['a reset because of weak TLS', (stream) => stream.close(12), { kind: 'lost', code: 'INTERNAL' }, 'PERMISSION_DENIED', LOST],
  ['an answer without trailers', withoutTrailers, { kind: 'lost', code: 'UNAVAILABLE' }, 'INTERNAL', LOST],
  ['trailers without a status', answering(framed('a'), { other: 'x' }), { kind: 'lost', code: 'UNAVAILABLE' }, 'UNKNOWN', LOST],
  ['headers alone', (stream) => stream.respond(GRPC, { endStream: true }), { kind: 'lost', code: 'UNAVAILABLE' }, 'UNKNOWN', LOST],
  ['GOAWAY with an error', (_, session) => session.goaway(11), { kind: 'lost', code: 'UNAVAILABLE' }, 'RESOURCE_EXHAUSTED', LOST],
  [
    'an unknown status',
    answering(framed('a'), { 'grpc-status': '99' }),
    { kind: 'invalid', code: 'UNKNOWN' },
    '99',
    'there is no such code',
  ],
  ['a status that is no number', answering(framed('a'), { 'grpc-status': 'x' }), { kind: 'invalid', code: 'UNKNOWN' }, 'NaN', 'the same'],
  ['no message', answering([]), { kind: 'invalid', code: 'INTERNAL' }, 'UNIMPLEMENTED', 'the same failure, another code'],
  ['half a message', answering(framed('abc').subarray(0, 6)), { kind: 'invalid', code: 'INTERNAL' }, 'UNIMPLEMENTED', 'the same'],
  [
    'two messages',
    answering(Buffer.concat([framed('a'), framed('b')])),
    { kind: 'invalid', code: 'INTERNAL' },
    'DEADLINE_EXCEEDED',
    'it waits',
  ],
  [
    'HTML',
    answering(Buffer.from('<html>'), {}, { ':status': 200 }),
    { kind: 'invalid', code: 'UNKNOWN' },
    'RESOURCE_EXHAUSTED',
    'it reads a length',
  ],
  [
    'a compressed message',
    answering(Buffer.concat([Buffer.from([1]), framed('a').subarray(1)])),
    { kind: 'invalid', code: 'INTERNAL' },
    'undefined',
    'it was not offered',
  ],
];
test.each(differences)('a difference: %s', async (_name, handle, own, library) => {
  // Only what waits for its time takes long.
  const timeoutMs = library === 'DEADLINE_EXCEEDED' ? 2000 : 60_000;
  const port = await serverThat(handle);
  const [ours, theirs] = clients(port);
  expect(await ours.call('/test.Test/call', Buffer.from('x'), timeoutMs)).toEqual(own);
  expect(await theirs.call('/test.Test/call', Buffer.from('x'), timeoutMs)).toMatchObject({ code: library });
});

describe('streams', () => {
  const chat: Handler = (stream) => {
    stream.respond(GRPC, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    let rest = Buffer.alloc(0);
    stream.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
        const request = rest.toString('latin1', 5, 5 + rest.readUInt32BE(1));
        rest = rest.subarray(5 + rest.readUInt32BE(1));
        if (request === 'end') stream.end();
        else if (request === 'reset') stream.close(2);
        else for (let i = 0; i < Number(request); i++) stream.write(framed(Buffer.alloc(1000, String(i % 10))));
      }
    });
  };
  test.each([
    ['many messages, and the end', ['100', '200', 'end'], undefined],
    ['an end without messages', ['end'], undefined],
    ['a reset', ['reset'], undefined],
    ['an end by the client', ['100'], 50],
  ])('%s', async (_, requests, most) => {
    const [own, library] = clients(await serverThat(chat));
    const bytes = requests.map((text) => Buffer.from(text));
    const ours = await own.talk('/test.Test/chat', bytes, most);
    const theirs = await library.talk('/test.Test/chat', bytes, most);
    expect(ours.messages).toEqual(theirs.messages);
    const [ourEnd, theirEnd] = comparable(ours.end, theirs.end);
    expect(ourEnd).toEqual(theirEnd);
  });
});
