/** Servers that break the rules of gRPC or of HTTP/2, close connections, or are silent: each call ends, and says what is known of it. */
import { EventEmitter, once } from 'node:events';
import {
  constants,
  createServer as createHttp2Server,
  type Http2Server,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type Settings,
} from 'node:http2';
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { FakeClock, systemClock } from '@plat-dev/lib/clock';
import { seededRandom } from '@plat-dev/lib/random';
import { testSeed } from '@plat-dev/lib/testing/seed.testing';
import { afterEach, expect, test } from 'vitest';
import { Channel, type ChannelOptions } from './channel.ts';
import { withHeader } from './messages.ts';
import { CONNECT_TIMEOUT_MS } from './session.ts';

/** Longer than any answer here takes. */
const LONG_MS = 60_000;
const GRPC = { ':status': 200, 'content-type': 'application/grpc' };
const CANCEL = 8;
const REFUSED_STREAM = 7;
const ENHANCE_YOUR_CALM = 11;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

type Handler = (stream: ServerHttp2Stream, session: ServerHttp2Session) => void;
interface Fake {
  readonly port: number;
  handle: Handler;
  readonly sessions: ServerHttp2Session[];
  readonly events: EventEmitter;
}

/** A server of HTTP/2 whose answers a test gives. */
async function startFake(handle: Handler, settings: Settings = {}): Promise<Fake> {
  const server: Http2Server = createHttp2Server({
    settings,
    maxSendHeaderBlockLength: 100_000,
    paddingStrategy: constants.PADDING_STRATEGY_MAX,
  });
  const sessions: ServerHttp2Session[] = [];
  const events = new EventEmitter();
  server.on('session', (session) => {
    sessions.push(session);
    session.on('error', () => {});
    session.on('ping', () => events.emit('ping'));
  });
  server.on('stream', (stream) => {
    stream.on('error', () => {});
    stream.resume();
    fake.handle(stream, stream.session as ServerHttp2Session);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    for (const session of sessions) session.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  const fake: Fake = { port: (server.address() as AddressInfo).port, handle, sessions, events };
  return fake;
}

/** A server that sends bytes of its own. */
async function startRaw(talk: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server: TcpServer = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    talk(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

/** Calls when the headers of the first request have come. */
function onRequest(socket: Socket, call: () => void): void {
  const preface = 24;
  let bytes = Buffer.alloc(0);
  socket.on('data', function look(chunk: Buffer) {
    bytes = Buffer.concat([bytes, chunk]);
    for (let at = preface; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
      if (bytes[at + 3] !== HEADERS) continue;
      socket.off('data', look);
      socket.resume();
      call();
      return;
    }
  });
}

function open(port: number, options: Partial<ChannelOptions> = {}): Channel {
  const channel = new Channel({ target: `127.0.0.1:${port}`, clock: systemClock, random: seededRandom(testSeed), ...options });
  cleanups.push(() => channel.close());
  return channel;
}
function call(channel: Channel, request = 'x'): Promise<string> {
  const answer = channel.callWhenReady('/test.Test/call', Buffer.from(request), LONG_MS).then((bytes) => bytes.toString());
  // A failure may come before a test looks at it.
  answer.catch(() => {});
  return answer;
}

function answer(stream: ServerHttp2Stream, text = 'ok'): void {
  stream.respond(GRPC, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(withHeader(Buffer.from(text), 100_000));
}
/** Messages, and then trailers. */
function answerWith(stream: ServerHttp2Stream, body: Buffer, trailers: Record<string, string>, headers: OutgoingHttpHeaders = GRPC): void {
  stream.respond(headers, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  stream.end(body);
}

test('a stream without a status is lost, however it ends', async () => {
  const ends: Handler[] = [
    (stream) => {
      stream.respond(GRPC);
      stream.end();
    },
    (stream) => {
      stream.respond(GRPC);
      stream.end(withHeader(Buffer.from('ok'), 10));
    },
    (stream) => answerWith(stream, withHeader(Buffer.from('ok'), 10), { other: 'x' }),
    (stream, session) => {
      stream.respond(GRPC);
      stream.write(withHeader(Buffer.from('ok'), 10), () => session.destroy());
    },
    (_, session) => session.destroy(),
    (stream) => stream.close(CANCEL),
    // A write may have been made before the server lost its patience.
    (stream) => stream.close(ENHANCE_YOUR_CALM),
  ];
  for (const end of ends) {
    const fake = await startFake(end);
    await expect(call(open(fake.port)), String(end)).rejects.toMatchObject({ kind: 'lost' });
  }
});

test('a refused stream was not processed', async () => {
  const fake = await startFake((stream) => stream.close(REFUSED_STREAM));
  const channel = open(fake.port);
  await expect(call(channel)).rejects.toMatchObject({ kind: 'refused', code: 'UNAVAILABLE' });
  fake.handle = (stream) => answer(stream);
  expect(await call(channel)).toBe('ok');
  expect(fake.sessions).toHaveLength(1);
});

test('a stream that is reset after the response began may have been processed', async () => {
  const fake = await startFake((stream) => {
    stream.respond(GRPC);
    stream.write(withHeader(Buffer.from('ok'), 10), () => stream.close(REFUSED_STREAM));
  });
  await expect(call(open(fake.port))).rejects.toMatchObject({ kind: 'lost' });
});

test('GOAWAY: calls in progress end well, new ones use a new connection', async () => {
  const held: ServerHttp2Stream[] = [];
  const arrived = new EventEmitter();
  const fake = await startFake((stream) => {
    held.push(stream);
    arrived.emit('call');
  });
  const channel = open(fake.port);
  const first = call(channel);
  await once(arrived, 'call');
  const idle = new Promise<void>((resolve) => {
    const look = setInterval(() => {
      if (channel.state === 'ready') return;
      clearInterval(look);
      resolve();
    }, 1);
  });
  fake.sessions[0]?.goaway(0);
  await idle;
  const second = call(channel);
  await once(arrived, 'call');
  expect(fake.sessions).toHaveLength(2);
  answer(held[1] as ServerHttp2Stream, 'new');
  answer(held[0] as ServerHttp2Stream, 'old');
  expect(await Promise.all([first, second])).toEqual(['old', 'new']);
});

test('GOAWAY with an error: what was in progress is lost', async () => {
  const fake = await startFake((_, session) => session.goaway(ENHANCE_YOUR_CALM));
  const channel = open(fake.port);
  await expect(call(channel)).rejects.toMatchObject({ kind: 'lost' });
  fake.handle = (stream) => answer(stream);
  expect(await call(channel)).toBe('ok');
});

test('GOAWAY: streams above the last one that the server names were not processed', async () => {
  const port = await startRaw((socket) => {
    socket.write(frame(SETTINGS, 0, 0));
    // The last stream is 0: none was processed.
    onRequest(socket, () => socket.write(frame(GOAWAY, 0, 0, Buffer.alloc(8))));
  });
  await expect(call(open(port))).rejects.toMatchObject({ kind: 'refused' });
});

test('answers that are not of gRPC are refused with what they are', async () => {
  const answers: [Handler, object][] = [
    [
      (s) => answerWith(s, Buffer.from('<html>'), {}, { ':status': 200, 'content-type': 'text/html' }),
      { message: /content-type "text\/html"/ },
    ],
    [(s) => answerWith(s, Buffer.from('{}'), {}, { ':status': 503, 'content-type': 'application/json' }), { code: 'UNAVAILABLE' }],
    [(s) => answerWith(s, Buffer.from('no'), {}, { ':status': 404 }), { code: 'UNIMPLEMENTED', message: /HTTP status 404/ }],
    [(s) => s.respond({ ':status': 403 }, { endStream: true }), { code: 'PERMISSION_DENIED' }],
    [(s) => answerWith(s, Buffer.from('babble'), { 'grpc-status': '0' }), { code: 'INTERNAL' }],
    [(s) => answerWith(s, Buffer.from('010000000161', 'hex'), { 'grpc-status': '0' }), { message: /compression is not supported/ }],
    [(s) => answerWith(s, Buffer.from('000000000561', 'hex'), { 'grpc-status': '0' }), { message: /middle of a message/ }],
    [(s) => answerWith(s, Buffer.alloc(0), { 'grpc-status': '0' }), { message: /no message/ }],
    [(s) => answerWith(s, Buffer.concat([framed('a'), framed('b')]), { 'grpc-status': '0' }), { message: /more than one message/ }],
    [(s) => answerWith(s, framed('a'), { 'grpc-status': '99' }), { message: /unknown grpc-status "99"/ }],
    [(s) => answerWith(s, framed('a'), { 'grpc-status': 'well' }), { message: /unknown grpc-status "well"/ }],
  ];
  const fake = await startFake(() => {});
  const channel = open(fake.port);
  for (const [handle, expected] of answers) {
    fake.handle = handle;
    const error = await call(channel).catch((failure: unknown) => failure);
    const { message, ...rest } = expected as { message?: RegExp };
    expect(error, String(handle)).toMatchObject({ kind: 'invalid', ...rest });
    if (message !== undefined) expect((error as Error).message).toMatch(message);
  }
  // None of them costs the connection.
  expect(fake.sessions).toHaveLength(1);
});

test('a status without a message, with details that are not read, and one whose text is not encoded well', async () => {
  const fake = await startFake((stream) => {
    stream.respond({ ...GRPC, 'grpc-status': '5', 'grpc-message': 'not%20here', 'grpc-status-details-bin': 'AAAA' }, { endStream: true });
  });
  const channel = open(fake.port);
  await expect(call(channel)).rejects.toMatchObject({ kind: 'status', code: 'NOT_FOUND', message: 'not here' });
  fake.handle = (stream) => answerWith(stream, framed('a'), { 'grpc-status': '13', 'grpc-message': '100%' });
  await expect(call(channel)).rejects.toMatchObject({ kind: 'status', code: 'INTERNAL', message: '100%' });
  fake.handle = (stream) => answerWith(stream, framed('a'), { 'grpc-status': '2' });
  await expect(call(channel)).rejects.toMatchObject({ kind: 'status', code: 'UNKNOWN', message: '' });
});

test('an answer that is announced as too large is not read', async () => {
  let written = 0;
  const fake = await startFake((stream) => {
    stream.respond(GRPC);
    stream.write(Buffer.from('0004000000', 'hex'));
    const more = (): void => {
      if (stream.destroyed || stream.closed) return;
      written += 10_000;
      stream.write(Buffer.alloc(10_000), more);
    };
    more();
  });
  await expect(call(open(fake.port, { mostAnswerBytes: 1_000_000 }))).rejects.toMatchObject({ kind: 'answer-too-large' });
  expect(written).toBeLessThan(0x04000000);
});

test('a call ends when its trailers come, however late, and at its deadline without them', async () => {
  const clock = new FakeClock();
  const held: ServerHttp2Stream[] = [];
  const arrived = new EventEmitter();
  const fake = await startFake((stream) => {
    stream.respond(GRPC, { waitForTrailers: true });
    stream.write(framed('slow'), () => {
      held.push(stream);
      arrived.emit('call');
    });
  });
  const channel = open(fake.port, { clock });
  const slow = call(channel);
  await once(arrived, 'call');
  await clock.advance(LONG_MS - 1);
  held[0]?.on('wantTrailers', () => held[0]?.sendTrailers({ 'grpc-status': '0' }));
  held[0]?.end();
  expect(await slow).toBe('slow');
  const never = call(channel);
  await once(arrived, 'call');
  await clock.advance(LONG_MS);
  await expect(never).rejects.toMatchObject({ kind: 'deadline' });
  expect(channel.state).toBe('ready');
});

test('a peer that is gone without a word is noticed by pings, during calls only', async () => {
  const clock = new FakeClock();
  const arrived = new EventEmitter();
  const port = await startRaw((socket) => {
    socket.write(frame(SETTINGS, 0, 0));
    onRequest(socket, () => arrived.emit('request'));
  });
  const channel = open(port, { clock, keepAlive: { everyMs: 10_000, timeoutMs: 5_000 } });
  const silent = call(channel);
  await once(arrived, 'request');
  await clock.advance(14_999);
  expect(channel.state).toBe('ready');
  await clock.advance(1);
  await expect(silent).rejects.toMatchObject({ kind: 'lost', message: expect.stringContaining('does not respond to pings') });
});

test('a peer that answers pings may take its time, and one without calls is not pinged', async () => {
  const clock = new FakeClock();
  let held: ServerHttp2Stream | undefined;
  let pings = 0;
  const fake = await startFake((stream) => {
    if (held === undefined) held = stream;
    else answer(stream);
  });
  fake.events.on('ping', () => pings++);
  const channel = open(fake.port, { clock, keepAlive: { everyMs: 10_000, timeoutMs: 5_000 } });
  const patient = channel.callWhenReady('/test.Test/call', Buffer.from('x'), 10 * LONG_MS);
  while (held === undefined) await new Promise((resolve) => setImmediate(resolve));
  for (let round = 1; round <= 3; round++) {
    const pinged = once(fake.events, 'ping');
    await clock.advance(10_000);
    await pinged;
    // The answer to the ping comes before that to a later call.
    expect(await call(channel)).toBe('ok');
  }
  answer(held, 'at last');
  expect((await patient).toString()).toBe('at last');
  await clock.advance(100_000);
  expect(await call(channel)).toBe('ok');
  expect([pings, channel.state]).toEqual([3, 'ready']);
});

test('a server that never sends its settings is given up after a while', async () => {
  const clock = new FakeClock();
  const arrived = new EventEmitter();
  const port = await startRaw((socket) => socket.on('data', () => arrived.emit('data')));
  const channel = open(port, { clock });
  const waiting = call(channel);
  await once(arrived, 'data');
  await clock.advance(CONNECT_TIMEOUT_MS);
  await expect(waiting).rejects.toMatchObject({
    kind: 'unreachable',
    message: `the server did not respond within ${CONNECT_TIMEOUT_MS} ms`,
  });
});

test('bytes that are not of HTTP/2 end the connection', async () => {
  for (const garbage of [Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), Buffer.alloc(100, 0xff), frame(SETTINGS, 0, 1)]) {
    const port = await startRaw((socket) => socket.write(garbage));
    await expect(call(open(port)), garbage.toString('latin1')).rejects.toMatchObject({ kind: 'unreachable' });
  }
});

test('frames against the rules of HTTP/2 end a connection at once, and the call on it', async () => {
  const broken: Record<string, Buffer> = {
    'headers that cannot be decompressed': frame(HEADERS, 0x4, 1, Buffer.alloc(6, 0xff)),
    'a stream that never was': frame(DATA, 0, 99, Buffer.from('x')),
    'a stream of the server': frame(HEADERS, 0x4, 2, Buffer.from([0x88])),
    'a body before its headers': frame(DATA, 0, 1, Buffer.from('x')),
    'a frame that is too large': frame(DATA, 0, 1, Buffer.alloc(16_385)),
    'headers that are interrupted': Buffer.concat([frame(HEADERS, 0, 1, Buffer.from([0x88])), frame(SETTINGS, 0, 0)]),
    'headers that begin with their continuation': frame(9, 0x4, 1, Buffer.from([0x88])),
    'endless headers': Buffer.concat([
      frame(HEADERS, 0, 1, Buffer.from([0x88])),
      ...Array.from({ length: 5 }, () => frame(9, 0, 1, Buffer.alloc(16_384, 0x88))),
    ]),
    'a window that grows by nothing': frame(8, 0, 0, Buffer.alloc(4)),
    'a window that grows too far': frame(8, 0, 1, Buffer.from('7fffffff', 'hex')),
    'settings of half a pair': frame(SETTINGS, 0, 0, Buffer.alloc(3)),
    'a ping of another length': frame(6, 0, 0, Buffer.alloc(3)),
    'a pushed response': frame(5, 0x4, 1, Buffer.alloc(5)),
    'padding that is longer than its frame': frame(HEADERS, 0x4 | 0x8, 1, Buffer.from([200, 0x88])),
  };
  for (const [what, bytes] of Object.entries(broken)) {
    const port = await startRaw((socket) => {
      socket.write(frame(SETTINGS, 0, 0));
      onRequest(socket, () => socket.write(bytes));
    });
    await expect(call(open(port)), what).rejects.toMatchObject({ kind: 'lost' });
  }
});

test('frames that mean nothing to this client are ignored', async () => {
  const fake = await startFake((stream) => answer(stream));
  expect(await call(open(fake.port))).toBe('ok');
  const port = await startRaw((socket) => {
    // An unknown frame, a priority, a setting that is not known, and a window for a stream that is over.
    socket.write(frame(SETTINGS, 0, 0, Buffer.from('00ff00000001', 'hex')));
    onRequest(socket, () => {
      socket.write(Buffer.concat([frame(42, 0xff, 1, Buffer.from('x')), frame(2, 0, 1, Buffer.alloc(5))]));
      const status = Buffer.concat([Buffer.from([0x88, 0x0f, 0x10, 16]), Buffer.from('application/grpc')]);
      const trailers = Buffer.concat([Buffer.from([0x00, 11]), Buffer.from('grpc-status'), Buffer.from([1, 0x30])]);
      socket.write(Buffer.concat([frame(HEADERS, 0x4, 1, status), frame(DATA, 0, 1, framed('raw')), frame(HEADERS, 0x5, 1, trailers)]));
      socket.write(frame(8, 0, 1, Buffer.from('00000001', 'hex')));
    });
  });
  expect(await call(open(port))).toBe('raw');
});

test('the settings of the server hold: streams at a time, windows, and the table of headers', async () => {
  let most = 0;
  let current = 0;
  const sizes: number[] = [];
  const fake = await startFake(
    (stream) => {
      most = Math.max(most, ++current);
      let size = 0;
      stream.on('data', (chunk: Buffer) => {
        size += chunk.length;
      });
      stream.on('end', () => {
        sizes.push(size);
        current--;
        answer(stream, String(size));
      });
    },
    { maxConcurrentStreams: 2, initialWindowSize: 100, headerTableSize: 0 },
  );
  const channel = open(fake.port);
  const large = 'x'.repeat(200_000);
  const answers = await Promise.all(Array.from({ length: 10 }, () => call(channel, large)));
  expect(answers).toEqual(Array(10).fill('200005'));
  expect([most, sizes.length]).toEqual([2, 10]);
});

test('calls of different lengths that wait for a stream, or for a window, keep their messages', async () => {
  const echo: Handler = (stream) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => answerWith(stream, Buffer.concat(chunks), { 'grpc-status': '0' }));
  };
  const fake = await startFake(echo, { maxConcurrentStreams: 2, initialWindowSize: 100 });
  const channel = open(fake.port);
  const texts = Array.from({ length: 20 }, (_, index) => String(index).repeat(1 + 7 * index));
  await call(channel);
  expect(await Promise.all(texts.map((text) => call(channel, text)))).toEqual(texts);
});

test('a server whose messages are not read must wait', async () => {
  let written = 0;
  const fake = await startFake((stream) => {
    if (written > 0) return answer(stream);
    stream.respond(GRPC, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    const more = (): void => {
      if (written++ < 100) stream.write(withHeader(Buffer.alloc(10_000), 10_000), more);
      else stream.end();
    };
    more();
  });
  const channel = open(fake.port, { windowBytes: 64 * 1024 });
  channel.connect();
  while (channel.state !== 'ready') await new Promise((resolve) => setImmediate(resolve));
  const stream = channel.stream('/test.Test/many', (message) => message.length);
  expect((await stream.next()).value).toBe(10_000);
  for (let round = 0; round < 10; round++) expect(await call(channel)).toBe('ok');
  // 16 unread messages and a window are the most, and what the server itself holds back.
  expect(written).toBeLessThan(50);
  let count = 1;
  for await (const length of stream) count += length / 10_000;
  expect(count).toBe(100);
});

test('a call that waits until the server allows a stream was not sent when the connection is lost', async () => {
  const arrived = new EventEmitter();
  const fake = await startFake(() => void arrived.emit('call'), { maxConcurrentStreams: 1 });
  const channel = open(fake.port);
  const first = call(channel);
  await once(arrived, 'call');
  const waiting = call(channel);
  fake.sessions[0]?.destroy();
  await expect(first).rejects.toMatchObject({ kind: 'lost' });
  await expect(waiting).rejects.toMatchObject({ kind: 'refused' });
});

test('headers in several frames, and padded frames', async () => {
  const fake = await startFake(
    (stream) =>
      answerWith(stream, framed('large'), { 'grpc-status': '0', more: 'y'.repeat(30_000) }, { ...GRPC, large: 'x'.repeat(30_000) }),
    {},
  );
  const channel = open(fake.port);
  for (let round = 0; round < 3; round++) expect(await call(channel)).toBe('large');
});

test('a connection that cannot be made is tried again after a delay, each time a longer one', async () => {
  const clock = new FakeClock();
  const port = await startRaw((socket) => socket.destroy());
  const states: string[] = [];
  const events = new EventEmitter();
  const channel = open(port, {
    clock,
    reconnect: { shortestMs: 100, longestMs: 400 },
    changed: () => {
      states.push(channel.state);
      events.emit(channel.state);
    },
  });
  for (const longest of [120, 192, 308, 480, 480]) {
    const waiting = once(events, 'waiting');
    channel.connect();
    await waiting;
    await expect(call(channel)).rejects.toMatchObject({ kind: 'unreachable' });
    // 20 percent more or less, at random.
    await clock.advance((longest / 120) * 80 - 1);
    expect(channel.state).toBe('waiting');
    await clock.advance(longest - (longest / 120) * 80 + 1);
    expect(channel.state).toBe('idle');
  }
  expect(states).toEqual(Array.from({ length: 5 }, () => ['waiting', 'idle']).flat());
});

const framed = (text: string): Buffer => withHeader(Buffer.from(text), 1_000);

const DATA = 0;
const HEADERS = 1;
const SETTINGS = 4;
const GOAWAY = 7;
/** A frame of HTTP/2. */
function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}
