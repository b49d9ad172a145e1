/**
 * Turns: of those that want the same thing one has it at a time, in the order in which they asked.
 *
 *   const release = await turns.take('a');   // at once when nobody has it
 *   …
 *   release();                               // the next one's turn
 */
export class Turns {
  private readonly waiting = new Map<string, (() => void)[]>();
  private readonly limit: number;

  /** `limit`: those that may wait for one thing; one more is refused. */
  constructor(limit: number) {
    this.limit = limit;
  }

  /** Returns the function that gives the turn on; undefined: too many wait already. It must be called exactly once. */
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
