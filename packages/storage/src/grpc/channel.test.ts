/** The client with a server of another maker: @grpc/grpc-js. */
import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { type Metadata, Server, ServerCredentials, type ServerDuplexStream, type ServerUnaryCall, status } from '@grpc/grpc-js';
import { FakeClock, systemClock } from '@plat-dev/lib/clock';
import { seededRandom } from '@plat-dev/lib/random';
import { testSeed } from '@plat-dev/lib/testing/seed.testing';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { issueClient, issueServing, newAuthority, readAuthority } from '@plat-dev/pki';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Channel, type ChannelOptions } from './channel.ts';

const MB = 1024 * 1024;
/** Longer than any answer here takes. */
const LONG_MS = 60_000;
const socket = join(temporaryDirectory('plat-grpc'), 'grpc.sock');
const authority = newAuthority('grpc test authority', Date.now());
const issuer = readAuthority(authority);
const serving = issueServing(issuer, { commonName: 'grpc', addresses: ['127.0.0.1'], dns: ['localhost'] }, Date.now());
const client = issueClient(issuer, 'plat', [], Date.now());

let server: Server;
let port: number;
let securePort: number;
const channels: Channel[] = [];
const seen: { metadata: Metadata; deadline: number }[] = [];
/** Emits `call` for every call that is never answered, with its end. */
const hangs = new EventEmitter();

type Unary = ServerUnaryCall<Buffer, Buffer>;
type Answer = (error: { code: status; details: string } | null, answer?: Buffer) => void;
const methods = {
  echo: (call: Unary, done: Answer) => {
    seen.push({ metadata: call.metadata, deadline: Number(call.getDeadline()) });
    done(null, call.request);
  },
  refuse: (_: Unary, done: Answer) => done({ code: status.FAILED_PRECONDITION, details: 'ein Text mit Ümlaut, 100% \n und mehr' }),
  hang: (call: Unary) => {
    const end = new Promise((resolve) => call.once('cancelled', resolve));
    hangs.emit('call', end);
  },
  chat: (stream: ServerDuplexStream<Buffer, Buffer>) => {
    stream.on('error', () => {});
    stream.on('data', (request: Buffer) => {
      if (request.toString() === 'end') return stream.end();
      if (request.toString() === 'fail') return stream.emit('error', { code: status.ABORTED, details: 'chat failed' });
      const [count = 1, bytes = 1] = request.toString().split('x').map(Number);
      for (let index = 0; index < count; index++) stream.write(Buffer.alloc(bytes, String(index % 10)));
    });
  },
};

beforeAll(async () => {
  server = new Server({ 'grpc.max_receive_message_length': 8 * MB });
  const same = (bytes: Buffer): Buffer => bytes;
  const shape = { requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same };
  const definition = Object.fromEntries(
    Object.keys(methods).map((name) => {
      const streams = name === 'chat';
      return [name, { path: `/test.Test/${name}`, requestStream: streams, responseStream: streams, ...shape }];
    }),
  );
  server.addService(definition as never, methods as never);
  const bind = (address: string, credentials: ServerCredentials): Promise<number> =>
    new Promise((resolve, reject) => server.bindAsync(address, credentials, (error, bound) => (error ? reject(error) : resolve(bound))));
  const pair = { cert_chain: Buffer.from(serving.certificate), private_key: Buffer.from(serving.key) };
  port = await bind('127.0.0.1:0', ServerCredentials.createInsecure());
  securePort = await bind('127.0.0.1:0', ServerCredentials.createSsl(Buffer.from(authority.certificate), [pair], true));
  await bind(`unix://${socket}`, ServerCredentials.createInsecure());
});
afterEach(() => {
  for (const channel of channels.splice(0)) channel.close();
  seen.length = 0;
});
afterAll(() => server.forceShutdown());

function open(options: Partial<ChannelOptions> = {}): Channel {
  const channel = new Channel({ target: `127.0.0.1:${port}`, clock: systemClock, random: seededRandom(testSeed), ...options });
  channels.push(channel);
  return channel;
}
function call(channel: Channel, method: string, request: string | Buffer = '', timeoutMs = LONG_MS): Promise<string> {
  const answer = channel.callWhenReady(`/test.Test/${method}`, Buffer.from(request), timeoutMs).then((bytes) => bytes.toString());
  // A failure may come before a test looks at it.
  answer.catch(() => {});
  return answer;
}
/** Messages on a stream, once there is a connection. */
async function chat(channel: Channel) {
  await call(channel, 'echo');
  return channel.stream('/test.Test/chat', (message) => message);
}

test('a call is answered, over TCP and over a Unix socket', async () => {
  expect(await call(open(), 'echo', 'hello')).toBe('hello');
  expect(await call(open({ target: `unix:${socket}` }), 'echo', 'hello')).toBe('hello');
});

test('many calls share one connection, and each gets its own answer', async () => {
  const channel = open();
  const texts = Array.from({ length: 200 }, (_, index) => `call ${index}`);
  expect(await Promise.all(texts.map((text) => call(channel, 'echo', text)))).toEqual(texts);
});

test('an empty message and large ones, up to the limits of both directions', async () => {
  const channel = open({ mostRequestBytes: 2 * MB, mostAnswerBytes: MB });
  expect(await call(channel, 'echo')).toBe('');
  const large = Buffer.alloc(MB, 'x');
  expect((await channel.callWhenReady('/test.Test/echo', large, LONG_MS)).equals(large)).toBe(true);
  await expect(call(channel, 'echo', Buffer.alloc(MB + 1))).rejects.toMatchObject({ kind: 'answer-too-large', code: 'RESOURCE_EXHAUSTED' });
  await expect(call(channel, 'echo', Buffer.alloc(2 * MB + 1))).rejects.toMatchObject({ kind: 'request-too-large' });
  expect(await call(channel, 'echo', 'again')).toBe('again');
});

test('a request that the server finds too large is answered with its status, though not all of it was sent', async () => {
  const channel = open({ mostRequestBytes: 64 * MB });
  await expect(call(channel, 'echo', Buffer.alloc(32 * MB))).rejects.toMatchObject({
    kind: 'status',
    code: 'RESOURCE_EXHAUSTED',
    message: expect.stringContaining('larger than max'),
  });
  expect(await call(channel, 'echo', 'again')).toBe('again');
});

test('a status has its code and its text', async () => {
  await expect(call(open(), 'refuse')).rejects.toMatchObject({
    kind: 'status',
    code: 'FAILED_PRECONDITION',
    message: 'ein Text mit Ümlaut, 100% \n und mehr',
  });
  await expect(call(open(), 'absent')).rejects.toMatchObject({ kind: 'status', code: 'UNIMPLEMENTED' });
});

test('the server gets metadata and the deadline', async () => {
  const before = Date.now();
  await call(open({ metadata: () => ({ token: 'secret', hasleader: 'true' }) }), 'echo', '', 30_000);
  const [{ metadata, deadline } = expect.fail('no call')] = seen;
  expect([metadata.get('token'), metadata.get('hasleader')]).toEqual([['secret'], ['true']]);
  expect(deadline).toBeGreaterThan(before + 20_000);
  expect(deadline).toBeLessThan(Date.now() + 31_000);
});

test('a call without an answer ends at its deadline, and the server is notified', async () => {
  const clock = new FakeClock();
  const channel = open({ clock });
  await call(channel, 'echo');
  const hanging = call(channel, 'hang');
  const [cancelled] = await new Promise<readonly [Promise<void>]>((resolve) => hangs.once('call', (end) => resolve([end])));
  await clock.advance(LONG_MS);
  await expect(hanging).rejects.toMatchObject({ kind: 'deadline', code: 'DEADLINE_EXCEEDED' });
  await cancelled;
  expect(await call(channel, 'echo', 'after')).toBe('after');
});

test('calls end at their own deadlines, for which there is one timer, and none after the connection', async () => {
  const clock = new FakeClock();
  const channel = open({ clock });
  await call(channel, 'echo', '', LONG_MS);
  const ends: string[] = [];
  // The server counts real time, in which none of them passes.
  const hang = (timeoutMs: number): Promise<void> => {
    const begun = new Promise<void>((resolve) => hangs.once('call', () => resolve()));
    call(channel, 'hang', '', timeoutMs).catch((error: Error) => ends.push(`${error.message} at ${clock.monotonic()}`));
    return begun;
  };
  await hang(30 * LONG_MS);
  await hang(20 * LONG_MS);
  await hang(25 * LONG_MS);
  expect(clock.pending).toBe(1);
  await clock.advance(20 * LONG_MS - 1);
  expect(ends).toEqual([]);
  await clock.advance(1);
  await hang(LONG_MS);
  await clock.advance(LONG_MS);
  await clock.advance(20 * LONG_MS);
  const expected = [
    [20, 20],
    [1, 21],
    [25, 25],
    [30, 30],
  ] as const;
  expect(ends).toEqual(expected.map(([within, at]) => `no response within ${within * LONG_MS} ms at ${at * LONG_MS}`));
  expect(clock.pending).toBe(0);
  void hang(LONG_MS);
  channel.close();
  expect(clock.pending).toBe(0);
});

test('closing a channel ends its calls, and refuses new ones', async () => {
  const channel = open();
  await call(channel, 'echo');
  const hanging = call(channel, 'hang');
  channel.close();
  await expect(hanging).rejects.toMatchObject({ kind: 'cancelled' });
  await expect(call(channel, 'echo')).rejects.toMatchObject({ kind: 'unreachable', message: 'the channel is closed' });
  expect(channel.state).toBe('closed');
});

test('a stream has messages in both directions, and ends with the status', async () => {
  const stream = await chat(open());
  stream.write(Buffer.from('2x3'));
  expect(String((await stream.next()).value)).toBe('000');
  expect(String((await stream.next()).value)).toBe('111');
  stream.write(Buffer.from('end'));
  expect(await stream.next()).toEqual({ done: true, value: undefined });
  const failing = await chat(open());
  failing.write(Buffer.from('1x1'));
  failing.write(Buffer.from('fail'));
  const read = async () => {
    for await (const message of failing) expect(String(message)).toBe('0');
  };
  await expect(read()).rejects.toMatchObject({ kind: 'status', code: 'ABORTED', message: 'chat failed' });
});

test('a stream that is not read slows the server down, stops no other call, and loses nothing', async () => {
  const channel = open({ windowBytes: 64 * 1024 });
  const stream = await chat(channel);
  stream.write(Buffer.from('300x10000'));
  stream.write(Buffer.from('end'));
  expect(await call(channel, 'echo', 'meanwhile')).toBe('meanwhile');
  let count = 0;
  for await (const message of stream) expect([message.length, message[0]]).toEqual([10_000, 48 + (count++ % 10)]);
  expect(count).toBe(300);
});

test('a cancelled stream ends at both sides', async () => {
  const stream = await chat(open());
  const next = stream.next();
  stream.cancel();
  await expect(next).rejects.toMatchObject({ kind: 'cancelled' });
  await expect(stream.next()).rejects.toMatchObject({ kind: 'cancelled' });
  stream.write(Buffer.from('1x1'));
});

test('what a cancelled stream has not read is dropped', async () => {
  const channel = open();
  const stream = await chat(channel);
  stream.write(Buffer.from('3x1'));
  expect(String((await stream.next()).value)).toBe('0');
  // The others have come meanwhile, or come after the end.
  await call(channel, 'echo');
  stream.cancel();
  await expect(stream.next()).rejects.toMatchObject({ kind: 'cancelled' });
});

test('TLS, with the certificates of both sides', async () => {
  const target = `localhost:${securePort}`;
  const ca = authority.certificate;
  const secureContext = createSecureContext({ ca, cert: client.certificate, key: client.key });
  expect(await call(open({ target, secureContext }), 'echo', 'secret')).toBe('secret');
  expect(await call(open({ target: `127.0.0.1:${securePort}`, secureContext }), 'echo', 'secret')).toBe('secret');
  const unknown = createSecureContext({ ca: newAuthority('another', Date.now()).certificate, cert: client.certificate, key: client.key });
  await expect(call(open({ target, secureContext: unknown }), 'echo')).rejects.toMatchObject({
    kind: 'unreachable',
    message: expect.stringContaining('certificate'),
  });
  await expect(call(open({ target, secureContext: createSecureContext({ ca }) }), 'echo')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});
