import { EventEmitter } from 'node:events';
import { constants } from 'node:http2';
import { expect, test } from 'vitest';
import { GIVEN_UP_BYTES, noteGivenUp, watchGivenUp } from './http2-memory.ts';

class FakeSession {
  closed = false;
  closings = 0;
  close(): void {
    this.closed = true;
    this.closings++;
  }
}

test('a connection is closed, once, when more was given up on it than the bound, and no other', () => {
  const [one, other] = [new FakeSession(), new FakeSession()];
  noteGivenUp(other, GIVEN_UP_BYTES);
  noteGivenUp(one, GIVEN_UP_BYTES - 1);
  noteGivenUp(one, 1);
  expect(one.closings).toBe(0);
  noteGivenUp(one, 1);
  noteGivenUp(one, GIVEN_UP_BYTES);
  expect([one.closings, other.closings]).toEqual([1, 0]);
});

class FakeStream extends EventEmitter {
  rstCode: number = constants.NGHTTP2_NO_ERROR;
  writableFinished = false;
  writableLength = 0;
}
/** Whether the connection is closed by so many streams that end in this way. */
function isClosedBy(count: number, end: (stream: FakeStream) => void): boolean {
  const session = new FakeSession();
  for (let i = 0; i < count; i++) {
    const stream = new FakeStream();
    watchGivenUp(session, stream as never);
    end(stream);
  }
  return session.closed;
}
const many = GIVEN_UP_BYTES / (256 * 1024) + 1;

test.each([true, false])('what is buffered when a stream is aborted counts, whether it still is when it is closed: %s', (isKept) => {
  const abort = (stream: FakeStream): void => {
    stream.writableLength = 256 * 1024;
    stream.emit('aborted');
    if (!isKept) stream.writableLength = 0;
    stream.emit('close');
  };
  expect([isClosedBy(many, abort), isClosedBy(many - 1, abort)]).toEqual([true, false]);
});

test('a response that was ended and not sent counts as a piece, one that was sent or never begun as nothing', () => {
  const close = (changes: Partial<FakeStream>) => (stream: FakeStream) => void Object.assign(stream, changes).emit('close');
  expect(isClosedBy(many, close({ rstCode: constants.NGHTTP2_CANCEL }))).toBe(true);
  expect(isClosedBy(many, close({ rstCode: constants.NGHTTP2_CANCEL, writableFinished: true }))).toBe(false);
  expect(isClosedBy(many, close({}))).toBe(false);
  const cancel = (stream: FakeStream): void => {
    stream.emit('aborted');
    close({ rstCode: constants.NGHTTP2_CANCEL })(stream);
  };
  expect(isClosedBy(many, cancel)).toBe(false);
});
