import { expect, test } from 'vitest';
import { dealHand } from './shuffle.ts';

test('a hand is of different queues, and always the same for a flow', () => {
  for (let i = 0; i < 500; i++) {
    const hand = dealHand(`flow-${i}`, 16, 6);
    expect([new Set(hand).size, Math.min(...hand) >= 0, Math.max(...hand) < 16]).toEqual([6, true, true]);
    expect(dealHand(`flow-${i}`, 16, 6)).toEqual(hand);
  }
  expect(dealHand('a', 3, 8).sort()).toEqual([0, 1, 2]);
  expect(dealHand('a', 0, 8)).toEqual([]);
});

test('hands are spread: every queue is dealt about as often, and few flows have all queues in common with another', () => {
  const counts = new Array<number>(128).fill(0);
  const heavy = new Set(dealHand('heavy', 128, 6));
  let covered = 0;
  for (let i = 0; i < 4000; i++) {
    const hand = dealHand(`user-${i}`, 128, 6);
    for (const queue of hand) counts[queue] = (counts[queue] as number) + 1;
    if (hand.every((queue) => heavy.has(queue))) covered++;
  }
  const mean = (4000 * 6) / 128;
  expect([Math.min(...counts) > mean * 0.6, Math.max(...counts) < mean * 1.5, covered]).toEqual([true, true, 0]);
});
