/**
 * A map with a limit: beyond a number of entries, or a weight, the oldest are evicted.
 *
 *   const cache = new BoundedCache<string, number>(2);
 *   cache.set('a', 1); cache.set('b', 2); cache.set('c', 3);     b, c
 *   cache.get('b'); cache.set('d', 4);                           c, d      get does not change the order
 *   cache.use('c'); cache.set('e', 5);                           c, e      use makes an entry the newest
 *
 * With a weight, such as bytes, the sum of all weights is limited as well; an entry that exceeds the limit by itself
 * is not kept.
 */
export interface Weight<K, V> {
  /** Maximum weight of all entries. */
  readonly most: number;
  /** The weight of an entry: always the same for the same entry. */
  readonly of: (value: V, key: K) => number;
}

export class BoundedCache<K, V> {
  private readonly entries = new Map<K, V>();
  private readonly most: number;
  private readonly weight: Weight<K, V> | undefined;
  private weighs = 0;

  constructor(most: number, weight?: Weight<K, V>) {
    this.most = most;
    this.weight = weight;
  }

  get size(): number {
    return this.entries.size;
  }
  /** The weight of all entries. */
  get total(): number {
    return this.weighs;
  }

  get(key: K): V | undefined {
    return this.entries.get(key);
  }
  /** The same for a cache that evicts the least recently used entry. */
  use(key: K): V | undefined {
    const value = this.entries.get(key);
    if (value === undefined) return undefined;
    this.entries.delete(key);
    this.entries.set(key, value);
    return value;
  }

  /** Makes an entry the newest. */
  set(key: K, value: V): void {
    const { entries, weight } = this;
    this.delete(key);
    if (weight !== undefined) {
      const addedWeight = weight.of(value, key);
      if (addedWeight > weight.most) return;
      this.weighs += addedWeight;
    }
    entries.set(key, value);
    if (entries.size <= this.most && (weight === undefined || this.weighs <= weight.most)) return;
    for (const oldest of entries.keys()) {
      this.delete(oldest);
      if (entries.size <= this.most && (weight === undefined || this.weighs <= weight.most)) return;
    }
  }

  delete(key: K): boolean {
    const { entries, weight } = this;
    if (weight === undefined) return entries.delete(key);
    const value = entries.get(key);
    if (value === undefined) return false;
    this.weighs -= weight.of(value, key);
    return entries.delete(key);
  }
  clear(): void {
    this.entries.clear();
    this.weighs = 0;
  }

  /** From the oldest to the newest. An entry may be deleted on the way. */
  [Symbol.iterator](): MapIterator<[K, V]> {
    return this.entries[Symbol.iterator]();
  }
  keys(): MapIterator<K> {
    return this.entries.keys();
  }
}
