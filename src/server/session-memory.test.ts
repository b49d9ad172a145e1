import { expect, test } from 'vitest';
import { GIVEN_UP_BYTES, noteGivenUp } from './session-memory.ts';

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
