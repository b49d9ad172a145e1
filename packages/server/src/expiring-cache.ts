/** A cache with a maximum number of entries and a TTL; the least recently used is evicted. */
import { BoundedCache } from '@plat-dev/lib/bounded-cache';

interface Entry<V> {
  readonly value: V;
  readonly until: number;
}

export class ExpiringCache<V> {
  private readonly entries: BoundedCache<string, Entry<V>>;
  private readonly now: () => number;

  constructor(most: number, now: () => number) {
    this.entries = new BoundedCache(most);
    this.now = now;
  }
  get size(): number {
    return this.entries.size;
  }
  get(key: string): V | undefined {
    const entry = this.entries.use(key);
    if (entry === undefined) return undefined;
    if (this.now() < entry.until) return entry.value;
    this.entries.delete(key);
    return undefined;
  }
  set(key: string, value: V, milliseconds: number): void {
    if (milliseconds <= 0) this.entries.delete(key);
    else this.entries.set(key, { value, until: this.now() + milliseconds });
  }
  delete(key: string): void {
    this.entries.delete(key);
  }
  clear(): void {
    this.entries.clear();
  }
}
