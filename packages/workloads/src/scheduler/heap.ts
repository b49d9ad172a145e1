/** A list whose first element is always at hand: adding and taking cost the logarithm of its length. */
export class Heap<T> {
  private readonly items: T[] = [];
  private readonly isBefore: (a: T, b: T) => boolean;

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.isBefore = isBefore;
  }
  get size(): number {
    return this.items.length;
  }
  get first(): T | undefined {
    return this.items[0];
  }
  add(item: T): void {
    const { items, isBefore } = this;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!isBefore(item, items[above] as T)) break;
      items[at] = items[above] as T;
      at = above;
    }
    items[at] = item;
  }
  take(): T | undefined {
    const { items } = this;
    const first = items[0];
    const last = items.pop();
    if (items.length > 0) this.sink(last as T);
    return first;
  }
  private sink(item: T): void {
    const { items, isBefore } = this;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= items.length) break;
      if (below + 1 < items.length && isBefore(items[below + 1] as T, items[below] as T)) below++;
      if (!isBefore(items[below] as T, item)) break;
      items[at] = items[below] as T;
      at = below;
    }
    items[at] = item;
  }
}
