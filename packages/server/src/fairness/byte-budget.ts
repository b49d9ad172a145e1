/**
 * Limits the bytes that are worked on at once. Work that exceeds the remaining bytes waits; owners, such as the users of
 * requests, are served round-robin, and the work of one owner in order.
 *
 *   const budget = new ByteBudget(100);
 *   await budget.enter(60, a);   // goes on
 *   await budget.enter(60, b);   // waits
 *   budget.leave(60);            // b goes on
 *
 * Work that is larger than the whole budget runs alone.
 */
import { BoundedQueue } from '@plat-dev/lib/queue';

/** More than there can be requests; one beyond it does not wait. */
const MAX_WAITING = 100_000;
/** The owner of anonymous work, the server itself. */
const nobody = {};

interface Waiting {
  readonly bytes: number;
  readonly goOn: () => void;
}

export class ByteBudget {
  private readonly limit: number;
  private used = 0;
  /** By owner, the next one first. */
  private readonly waiting = new Map<object, BoundedQueue<Waiting>>();

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Bytes that are worked on now. */
  get inUse(): number {
    return this.used;
  }

  /** Resolves when the work may begin. `leave` must be called with the same bytes when it is done. */
  enter(bytes: number, owner: object = nobody): Promise<void> {
    if (this.waiting.size === 0 && this.fits(bytes)) {
      this.used += bytes;
      return Promise.resolve();
    }
    return new Promise((goOn) => {
      let own = this.waiting.get(owner);
      if (own === undefined) {
        own = new BoundedQueue(MAX_WAITING);
        this.waiting.set(owner, own);
      }
      if (own.push({ bytes, goOn })) return;
      this.used += bytes;
      goOn();
    });
  }

  leave(bytes: number): void {
    this.used -= bytes;
    for (const [owner, own] of this.waiting) {
      const next = own.peek() as Waiting;
      if (!this.fits(next.bytes)) return;
      own.shift();
      this.waiting.delete(owner);
      if (own.length > 0) this.waiting.set(owner, own);
      this.used += next.bytes;
      next.goOn();
    }
  }

  private fits(bytes: number): boolean {
    return this.used === 0 || this.used + bytes <= this.limit;
  }
}
