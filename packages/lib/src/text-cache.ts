/**
 * Caches a function of texts that are repeated often (queries, options). Beyond the limit the oldest is evicted;
 * long texts are not cached. Results are shared and must not be changed.
 */
import { BoundedCache } from './bounded-cache.ts';

export class TextCache<V> {
  private readonly valuesByText: BoundedCache<string, V>;
  private readonly longest: number;

  constructor(most = 256, longest = 200) {
    this.valuesByText = new BoundedCache(most);
    this.longest = longest;
  }

  /** `make` may throw: nothing is cached then. */
  get(text: string, make: (text: string) => V): V {
    const cachedValue = this.valuesByText.get(text);
    if (cachedValue !== undefined) return cachedValue;
    const value = make(text);
    if (text.length <= this.longest) this.valuesByText.set(text, value);
    return value;
  }
}
