/**
 * The next turn of the event loop, for one piece of long work at a time: however many requests have long work, everything
 * else that waits for the loop is served between two pieces of it.
 *
 *   await nextTurn(owner);   // one waiter continues in each turn
 *
 * Owners, such as the users of requests, are served round-robin, and the work of one owner in order:
 *
 *   a waits with 1, 2 and 3, then b with 4       1, 4, 2, 3
 */
import { BoundedQueue } from './queue.ts';

/**
 * Calls in the next turn of the event loop, after everything that waits for the loop now. No time need pass. Returns what
 * `clearImmediate` takes back; undefined in a browser, which has timers alone.
 */
export function inNextTurn(call: () => void): NodeJS.Immediate | undefined {
  if (typeof setImmediate === 'function') return setImmediate(call);
  setTimeout(call, 0);
  return undefined;
}

/** More than there can be requests; one beyond it continues with the others of its turn. */
const MAX_WAITING = 100_000;
/** The owner of anonymous work, the server itself. */
const nobody = Symbol('the server');
/** By owner, the next one first. */
const waiting = new Map<object | string | symbol, BoundedQueue<() => void>>();
let scheduled = false;

export function nextTurn(owner: object | string | symbol = nobody): Promise<void> {
  return new Promise((resolve) => {
    let own = waiting.get(owner);
    if (own === undefined) {
      own = new BoundedQueue(MAX_WAITING);
      waiting.set(owner, own);
    }
    if (!own.push(resolve)) inNextTurn(resolve);
    else if (!scheduled) schedule();
  });
}

/** Whether long work waits for its turn. */
export const isTurnAwaited = (): boolean => waiting.size > 0;

function schedule(): void {
  scheduled = true;
  inNextTurn(goOn);
}

/** Resumed work runs before the next call of this function, which is in another turn of the loop. */
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

/** An amount of work that one turn of the loop has room for. */
export class TurnBudget {
  private readonly limit: number;
  private used = 0;

  constructor(limit: number) {
    this.limit = limit;
  }
  /** Whether so much more fits into this turn, and counts it. The first in a turn always does. */
  take(amount: number): boolean {
    if (this.used > 0 && this.used + amount > this.limit) return false;
    if (this.used === 0)
      inNextTurn(() => {
        this.used = 0;
      });
    this.used += amount;
    return true;
  }
}

/** Bytes that are written in one turn of the loop before further large responses wait for the next: 4 ms of encryption. */
export const TURN_BYTES = 4 * 1024 * 1024;
const writtenBytes = new TurnBudget(TURN_BYTES);

/**
 * Whether so many bytes may be written in this turn, and counts them. The first in a turn always may, but nobody overtakes work
 * that waits for a turn.
 */
export function fitsTurn(bytes: number): boolean {
  return waiting.size === 0 && writtenBytes.take(bytes);
}
