/**
 * The next turn of the event loop, for one piece of long work at a time: however many requests have long work to do, between two
 * pieces of it everything else that waits for the loop is served.
 *
 *   await nextTurn();   // of those that wait here one goes on in each turn, in the order in which they asked
 */
import { BoundedQueue } from './queue.ts';

/** More than there can be requests; one beyond it goes on with the others of its turn. */
const MAX_WAITING = 100_000;
const waiting = new BoundedQueue<() => void>(MAX_WAITING);
let scheduled = false;

export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (!waiting.push(resolve)) setImmediate(resolve);
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
  const resume = waiting.shift();
  if (waiting.length > 0) schedule();
  resume?.();
}
