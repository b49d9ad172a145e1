import { expect, test } from 'vitest';
import { Batch, Frame } from './batch.ts';

/** A frame that counts how often it is encoded. */
function frame(text: string): Frame & { times: () => number } {
  let times = 0;
  const made = new Frame('ADDED', Buffer.from(text), () => {
    times++;
    return Buffer.from(`${text}\n`);
  });
  return Object.assign(made, { times: () => times });
}

test('watchers for whom the same waits share the bytes; the order counts', () => {
  const [a, b, c] = [frame('a'), frame('b'), frame('c')];
  const empty = new Batch();
  expect(empty.and(a).and(b).chunk).toBe(empty.and(a).and(b).chunk);
  expect(empty.and(b).and(a)).not.toBe(empty.and(a).and(b));
  const texts = [empty.and(a).and(b), empty.and(b).and(a), empty.and(a).and(c), empty.and(c), empty.and(a)].map(({ bytes }) => `${bytes}`);
  expect(texts).toEqual(['a\nb\n', 'b\na\n', 'a\nc\n', 'c\n', 'a\n']);
  expect([a, b, c].map(({ times }) => times())).toEqual([1, 1, 1]);
});

test('a chunk begins with its length and ends with the end of a line', () => {
  const batch = new Batch().and(frame('x'.repeat(20))).and(frame('ä'));
  expect(batch.chunk.toString()).toBe(`18\r\n${'x'.repeat(20)}\nä\n\r\n`);
  expect(batch.bytes.toString()).toBe(`${'x'.repeat(20)}\nä\n`);
});

test('nothing is encoded before it is asked for', () => {
  const a = frame('a');
  const batch = new Batch().and(a).and(a);
  expect([batch.size, batch.frames(), a.times()]).toEqual([2, [a, a], 0]);
});
