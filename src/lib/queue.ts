/**
 * Bounded queues. The caller decides what happens at the limit: `push` returns false and the item is not added.
 */

/** First in, first out, in constant time, on a ring that grows up to its limit. */
export class BoundedQueue<T> {
  readonly limit: number;
  private ring: (T | undefined)[] = new Array(8);
  private head = 0;
  private count = 0;

  constructor(limit: number) {
    this.limit = limit;
  }
  get length(): number {
    return this.count;
  }
  get full(): boolean {
    return this.count >= this.limit;
  }
  push(item: T): boolean {
    if (this.full) return false;
    if (this.count === this.ring.length) this.grow();
    this.ring[(this.head + this.count) % this.ring.length] = item;
    this.count++;
    return true;
  }
  peek(): T | undefined {
    return this.count === 0 ? undefined : this.ring[this.head];
  }
  shift(): T | undefined {
    if (this.count === 0) return undefined;
    const item = this.ring[this.head];
    this.ring[this.head] = undefined;
    this.head = (this.head + 1) % this.ring.length;
    this.count--;
    return item;
  }
  /** Takes up to so many items, oldest first. */
  take(most = this.count): T[] {
    const taken: T[] = [];
    while (taken.length < most && this.count > 0) taken.push(this.shift() as T);
    return taken;
  }
  clear(): void {
    this.ring = new Array(8);
    this.head = 0;
    this.count = 0;
  }
  private grow(): void {
    const larger: (T | undefined)[] = new Array(this.ring.length * 2);
    for (let i = 0; i < this.count; i++) larger[i] = this.ring[(this.head + i) % this.ring.length];
    this.ring = larger;
    this.head = 0;
  }
}

/** A bounded queue whose reader waits for items: `for await (const item of queue)`. One reader at a time. */
export class AsyncQueue<T> {
  private readonly items: BoundedQueue<T>;
  private waiting: (() => void) | undefined;
  private closed = false;

  constructor(limit: number) {
    this.items = new BoundedQueue(limit);
  }
  get length(): number {
    return this.items.length;
  }
  /** False when the queue is full or closed. */
  push(item: T): boolean {
    if (this.closed || !this.items.push(item)) return false;
    this.wake();
    return true;
  }
  /** Lets the reader finish what is queued and then end. */
  close(): void {
    this.closed = true;
    this.wake();
  }
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    for (;;) {
      while (this.items.length > 0) yield this.items.shift() as T;
      if (this.closed) return;
      await new Promise<void>((resolve) => {
        this.waiting = resolve;
      });
    }
  }
  private wake(): void {
    const waiting = this.waiting;
    this.waiting = undefined;
    waiting?.();
  }
}

/** Limits concurrency; others wait in a bounded queue. */
export class Gate {
  private readonly line: BoundedQueue<() => void>;
  private free: number;

  constructor(places: number, maxWaiting: number) {
    this.free = places;
    this.line = new BoundedQueue(maxWaiting);
  }
  get waiting(): number {
    return this.line.length;
  }
  /** Resolves to the function that leaves, or undefined when the queue is full. */
  async enter(): Promise<(() => void) | undefined> {
    if (this.free > 0) this.free--;
    else {
      let admitted: () => void = () => {};
      const turn = new Promise<void>((resolve) => {
        admitted = resolve;
      });
      if (!this.line.push(admitted)) return undefined;
      await turn;
    }
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const next = this.line.shift();
      if (next === undefined) this.free++;
      else next();
    };
  }
}
