/**
 * Shuffle sharding: every flow is dealt a hand of a few queues out of many, always the same ones. Two flows seldom share all
 * queues, so that a heavy one leaves most others a queue without it.
 */
import { createHash } from 'node:crypto';

/** Different numbers below `queues`, as many as the hand holds, that depend on the flow alone. */
export function dealHand(flow: string, queues: number, handSize: number): number[] {
  let remainingBits = createHash('sha256').update(flow).digest().readBigUInt64LE(0);
  const hand: number[] = [];
  const size = Math.min(handSize, queues);
  for (let dealt = 0; dealt < size; dealt++) {
    const remaining = BigInt(queues - dealt);
    let card = Number(remainingBits % remaining);
    remainingBits /= remaining;
    // The card is counted among those that are still in the deck.
    for (const earlier of [...hand].sort((a, b) => a - b)) if (card >= earlier) card++;
    hand.push(card);
  }
  return hand;
}
