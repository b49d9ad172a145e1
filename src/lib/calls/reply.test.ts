import { expect, test } from 'vitest';
import { BadReply, ReplyReader } from './reply.ts';

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
const reader = (maxBytes = 1000): ReplyReader => new ReplyReader(maxBytes);

interface Read {
  readonly status: number;
  readonly body: string;
  readonly keep: boolean;
}
/** Reads an answer that comes in chunks of one size. */
function read(text: string, size: number, closed = false): Read | undefined {
  const one = reader();
  let reply: ReturnType<ReplyReader['push']>;
  for (let i = 0; i < text.length && reply === undefined; i += size) reply = one.push(bytes(text.slice(i, i + size)));
  if (closed) reply ??= one.end();
  return reply && { status: reply.status, body: reply.body.toString('latin1'), keep: one.keep };
}
const sizes = [1, 2, 3, 7, 10_000];

test.each([
  ['a length', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello', { status: 200, body: 'hello', keep: true }],
  ['no reason behind the code', 'HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nok', { status: 200, body: 'ok', keep: true }],
  ['an empty body', 'HTTP/1.1 500 Oh\r\ncontent-length:0\r\n\r\n', { status: 500, body: '', keep: true }],
  ['the same length twice', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\nx', { status: 200, body: 'x', keep: true }],
  ['no body by its code', 'HTTP/1.1 204 No Content\r\nX: y\r\n\r\n', { status: 204, body: '', keep: true }],
  [
    'pieces',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n1;x=y\r\ne\r\n0\r\n\r\n',
    { status: 200, body: 'abcde', keep: true },
  ],
  [
    'pieces with a trailer',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\nA\r\n0123456789\r\n0\r\nSum: 1\r\n\r\n',
    { status: 200, body: '0123456789', keep: true },
  ],
  [
    'interim answers before it',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 201 Created\r\ncontent-length: 1\r\n\r\nx',
    { status: 201, body: 'x', keep: true },
  ],
  [
    'a connection that ends with it',
    'HTTP/1.1 200 OK\r\nConnection: Close\r\ncontent-length: 1\r\n\r\nx',
    { status: 200, body: 'x', keep: false },
  ],
  ['the older protocol', 'HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\nx', { status: 200, body: 'x', keep: false }],
  [
    'the older protocol, kept',
    'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\ncontent-length: 1\r\n\r\nx',
    { status: 200, body: 'x', keep: true },
  ],
])('an answer with %s', (_, text, expected) => {
  for (const size of sizes) expect(read(text, size), `chunks of ${size}`).toEqual(expected);
});

test('an answer without a length lasts until the connection ends', () => {
  const text = 'HTTP/1.1 200 OK\r\n\r\nas much as there is';
  for (const size of sizes) {
    expect(read(text, size)).toBeUndefined();
    expect(read(text, size, true)).toEqual({ status: 200, body: 'as much as there is', keep: false });
  }
});

test.each([
  ['no HTTP', 'SSH-2.0-x\r\n\r\n'],
  ['another version', 'HTTP/2.0 200 OK\r\n\r\n'],
  ['no code', 'HTTP/1.1 OK\r\n\r\n'],
  ['a code of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
  ['another protocol', 'HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n'],
  ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx'],
  ['a length that is no number', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n'],
  ['a length in a list', 'HTTP/1.1 200 OK\r\ncontent-length: 1, 1\r\n\r\nx'],
  ['a length and pieces', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['an encoding nobody asked for', 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n'],
  ['a folded header', 'HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n'],
  ['a space before the colon', 'HTTP/1.1 200 OK\r\ncontent-length : 1\r\n\r\nx'],
  ['a header without a colon', 'HTTP/1.1 200 OK\r\nnothing\r\n\r\n'],
  ['a bare line feed in a header', 'HTTP/1.1 200 OK\r\nX: a\nY: b\r\n\r\n'],
  ['a piece without a size', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n'],
  ['a piece of negative size', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-1\r\n'],
  ['a piece that is longer than it says', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n'],
])('%s is refused', (_, text) => {
  for (const size of sizes) expect(() => read(text, size), `chunks of ${size}`).toThrow(BadReply);
});

test.each([
  ['nothing', ''],
  ['half a head', 'HTTP/1.1 200 OK\r\ncont'],
  ['half a body', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'],
  ['half the pieces', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nabcd\r\n'],
])('%s before the connection ends is no answer', (_, text) => {
  expect(() => read(text, 3, true)).toThrow('the answer was cut off');
});

test('what is too large is refused as soon as that is known', () => {
  const head = 'HTTP/1.1 200 OK\r\n';
  expect(() => reader(10).push(bytes(`${head}content-length: 11\r\n\r\n`))).toThrow('too large');
  expect(() => reader(10).push(bytes(`${head}transfer-encoding: chunked\r\n\r\nb\r\n`))).toThrow('too large');
  expect(() => reader(10).push(bytes(`${head}\r\n${'x'.repeat(11)}`))).toThrow('too large');
  const endless = reader();
  expect(() => {
    for (let i = 0; i < 100; i++) endless.push(bytes(`${i === 0 ? head : ''}x: ${'y'.repeat(1000)}\r\n`));
  }).toThrow('the head of the answer is too large');
  const line = reader();
  line.push(bytes(`${head}transfer-encoding: chunked\r\n\r\n`));
  expect(() => line.push(bytes(`1;${'x'.repeat(5000)}`))).toThrow('a line without an end');
  const trailer = reader();
  trailer.push(bytes(`${head}transfer-encoding: chunked\r\n\r\n0\r\n`));
  expect(() => {
    for (let i = 0; i < 100; i++) trailer.push(bytes(`x: ${'y'.repeat(1000)}\r\n`));
  }).toThrow('the trailer of the answer is too large');
});

test('answers follow each other on one connection; more than was asked for ends it', () => {
  const one = reader();
  const text = 'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5, max=9\r\ncontent-length: 1\r\n\r\nx';
  for (let i = 0; i < 3; i++) {
    expect(one.begun).toBe(false);
    expect(one.push(bytes(text))?.body.toString()).toBe('x');
    expect([one.keep, one.keepMillis]).toEqual([true, 5000]);
  }
  expect(one.push(bytes(`${text}more`))?.status).toBe(200);
  expect(one.keep).toBe(false);
});

test('a body in very many pieces is put together as it comes', () => {
  const one = reader(100_000);
  one.push(bytes('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'));
  let most = 0;
  for (let i = 0; i < 1000; i++) {
    one.push(bytes(`1\r\n${i % 10}\r\n`.repeat(50)));
    most = Math.max(most, (Reflect.get(one, 'pieces') as Buffer[]).length);
  }
  expect(most).toBeLessThan(3000);
  const body = one.push(bytes('0\r\n\r\n'))?.body.toString();
  expect(body).toBe(Array.from({ length: 1000 }, (_, i) => String(i % 10).repeat(50)).join(''));
});
