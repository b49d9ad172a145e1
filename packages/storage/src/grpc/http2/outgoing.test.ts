import { expect, test } from 'vitest';
import { Outgoing } from './outgoing.ts';

test('everything of a turn goes out in one piece, however much it is', () => {
  const outgoing = new Outgoing();
  outgoing.append(Buffer.from('begin '));
  const at = outgoing.reserve(4);
  outgoing.bytes.writeUInt32BE(0x61626364, at);
  const large = Buffer.alloc(100_000, 'x');
  outgoing.append(large);
  expect(outgoing.length).toBe(100_010);
  const taken = outgoing.take();
  expect(taken.toString('latin1', 0, 10)).toBe('begin abcd');
  expect(taken.subarray(10).equals(large)).toBe(true);
  expect(outgoing.length).toBe(0);
});

test('what was taken is never overwritten', () => {
  const outgoing = new Outgoing();
  const turns = Array.from({ length: 50 }, (_, turn) => {
    for (let part = 0; part < 3; part++) outgoing.append(Buffer.alloc(333 * turn, turn));
    return outgoing.take();
  });
  for (const [turn, taken] of turns.entries()) expect(taken.equals(Buffer.alloc(3 * 333 * turn, turn))).toBe(true);
});
