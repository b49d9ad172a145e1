/**
 * The next turn of the event loop, for one piece of long work at a time: however many requests have long work to do, between two
 * pieces of it everything else that waits for the loop is served.
 *
 *   await nextTurn(owner);   // of those that wait here one goes on in each turn
 *
 * Owners, such as the users whose requests they are, take turns; what one owner asked for goes on in the order in which it asked:
 *
 *   a asks for 1, 2 and 3, then b for 4       1, 4, 2, 3
 */
import { BoundedQueue } from './queue.ts';

/** Calls in the next turn of the event loop, when everything that waits for the loop now has had its turn. No time need pass. */
export function inNextTurn(call: () => void): NodeJS.Immediate {
  return setImmediate(call);
}

/** More than there can be requests; one beyond it goes on with the others of its turn. */
const MAX_WAITING = 100_000;
/** Whoever asks without a name, the server itself. */
const nobody = Symbol('the server');
/** By owner, the one whose turn is next first. */
const waiting = new Map<object | string | symbol, BoundedQueue<() => void>>();
let scheduled = false;

export function nextTurn(owner: object | string | symbol = nobody): Promise<void> {
  return new Promise((resolve) => {
    let own = waiting.get(owner);
    if (own === undefined) {
      own = new BoundedQueue(MAX_WAITING);
      waiting.set(owner, own);
    }
    if (!own.push(resolve)) setImmediate(resolve);
    else if (!scheduled) schedule();
  });
}

function schedule(): void {
  scheduled = true;
  setImmediate(goOn);
}

/** What is resumed runs before the next call of this function, which is in another turn of the loop. */
function goOn(): void {
  scheduled = false;
  for (const [owner, own] of waiting) {
    waiting.delete(owner);
    const resume = own.shift();
    if (own.length > 0) waiting.set(owner, own);
    if (waiting.size > 0) schedule();
    resume?.();
    return;
  }
}
