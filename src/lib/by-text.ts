/**
 * What was made of a text before, for texts that come again and again (queries, options). Of too many the oldest makes room;
 * long texts are not kept. What is kept is shared and must not be changed.
 */
import { BoundedCache } from './bounded-cache.ts';

export class ByText<V> {
  private readonly made: BoundedCache<string, V>;
  private readonly longest: number;

  constructor(most = 256, longest = 200) {
    this.made = new BoundedCache(most);
    this.longest = longest;
  }

  /** `make` may throw: nothing is kept then. */
  get(text: string, make: (text: string) => V): V {
    const known = this.made.get(text);
    if (known !== undefined) return known;
    const value = make(text);
    if (text.length <= this.longest) this.made.set(text, value);
    return value;
  }
}
