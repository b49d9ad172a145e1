/**
 * A bounded queue. The caller decides what happens at the limit: `push` returns false and the item is not added.
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
    const items: T[] = [];
    while (items.length < most && this.count > 0) items.push(this.shift() as T);
    return items;
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
