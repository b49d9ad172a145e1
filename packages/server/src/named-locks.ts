/**
 * Named locks: one holder at a time, in the order of requests.
 *
 *   const release = await locks.take('a');   // at once when it is free
 *   …
 *   release();                               // the next holder continues
 */
export class NamedLocks {
  private readonly waiting = new Map<string, (() => void)[]>();
  private readonly limit: number;

  /** `limit`: maximum waiters of one lock; one more is refused. */
  constructor(limit: number) {
    this.limit = limit;
  }

  /** Returns the function that releases the lock; undefined: too many waiters. It must be called exactly once. */
  take(key: string): (() => void) | Promise<() => void> | undefined {
    const queue = this.waiting.get(key);
    const release = (): void => this.next(key);
    if (queue === undefined) {
      this.waiting.set(key, []);
      return release;
    }
    if (queue.length >= this.limit) return undefined;
    return new Promise((resolve) => {
      queue.push(() => resolve(release));
    });
  }

  private next(key: string): void {
    const first = this.waiting.get(key)?.shift();
    if (first === undefined) this.waiting.delete(key);
    else first();
  }
}
