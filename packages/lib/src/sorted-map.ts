/**
 * A map whose keys are kept in byte order. Keys and values are in chunks of bounded size, so that an insertion moves
 * at most one chunk, and a scan over a hundred thousand entries walks flat arrays.
 *
 *   put b, a, c; each('', (v) => …) → a, b, c        each('b', …) → b, c
 */
const CHUNK = 512;

interface Chunk<V> {
  readonly keys: string[];
  readonly values: V[];
}

export class SortedMap<V> {
  private readonly byKey = new Map<string, V>();
  private readonly chunks: Chunk<V>[] = [];

  get size(): number {
    return this.byKey.size;
  }
  get(key: string): V | undefined {
    return this.byKey.get(key);
  }

  set(key: string, value: V): void {
    const isKnown = this.byKey.has(key);
    this.byKey.set(key, value);
    if (this.chunks.length === 0) {
      this.chunks.push({ keys: [key], values: [value] });
      return;
    }
    const at = this.chunkFor(key);
    const chunk = this.chunks[at] as Chunk<V>;
    const i = lowerBound(chunk.keys, key);
    if (isKnown) {
      chunk.values[i] = value;
      return;
    }
    chunk.keys.splice(i, 0, key);
    chunk.values.splice(i, 0, value);
    if (chunk.keys.length > CHUNK) this.split(at);
  }

  delete(key: string): boolean {
    if (!this.byKey.delete(key)) return false;
    const at = this.chunkFor(key);
    const chunk = this.chunks[at] as Chunk<V>;
    const i = lowerBound(chunk.keys, key);
    chunk.keys.splice(i, 1);
    chunk.values.splice(i, 1);
    if (chunk.keys.length === 0) this.chunks.splice(at, 1);
    return true;
  }

  /** Calls `visit` in key order from `from` (inclusive) until it returns false. */
  each(from: string, visit: (value: V, key: string) => boolean | undefined): void {
    if (this.chunks.length === 0) return;
    let at = from === '' ? 0 : this.chunkFor(from);
    let i = from === '' ? 0 : lowerBound((this.chunks[at] as Chunk<V>).keys, from);
    for (; at < this.chunks.length; at++, i = 0) {
      const { keys, values } = this.chunks[at] as Chunk<V>;
      for (; i < keys.length; i++) if (visit(values[i] as V, keys[i] as string) === false) return;
    }
  }

  /** A map with the same entries that changes independently; `value` copies values that are changed in place. */
  copy(value?: (value: V) => V): SortedMap<V> {
    const copied = new SortedMap<V>();
    for (const { keys, values } of this.chunks) {
      const own = value === undefined ? values.slice() : values.map(value);
      copied.chunks.push({ keys: keys.slice(), values: own });
      for (let i = 0; i < keys.length; i++) copied.byKey.set(keys[i] as string, own[i] as V);
    }
    return copied;
  }

  /** Values whose keys start with `prefix`, in order. */
  withPrefix(prefix: string): V[] {
    const values: V[] = [];
    this.each(prefix, (value, key) => {
      if (!key.startsWith(prefix)) return false;
      values.push(value);
      return true;
    });
    return values;
  }

  /** The first `limit` values whose keys start with `prefix`, from the key `from` on, which is not before the prefix. */
  take(from: string, prefix: string, limit: number): V[] {
    const values: V[] = [];
    this.each(from, (value, key) => values.length < limit && key.startsWith(prefix) && values.push(value) > 0);
    return values;
  }

  /** Counts the keys that start with `prefix`, from `from` on, which is not before the prefix. Whole chunks are not walked. */
  countFrom(from: string, prefix: string): number {
    if (this.chunks.length === 0) return 0;
    let count = 0;
    let at = this.chunkFor(from);
    let i = lowerBound((this.chunks[at] as Chunk<V>).keys, from);
    for (; at < this.chunks.length; at++, i = 0) {
      const { keys } = this.chunks[at] as Chunk<V>;
      if ((keys[keys.length - 1] as string).startsWith(prefix)) count += keys.length - i;
      else {
        const countBefore = i;
        while (i < keys.length && (keys[i] as string).startsWith(prefix)) i++;
        count += i - countBefore;
        // The next chunk can have such keys only if this one ends before `from`.
        if (i < keys.length) break;
      }
    }
    return count;
  }

  /** All values in key order. */
  all(): V[] {
    const values: V[] = [];
    for (const chunk of this.chunks) for (const value of chunk.values) values.push(value);
    return values;
  }

  private split(at: number): void {
    const chunk = this.chunks[at] as Chunk<V>;
    const half = chunk.keys.length >> 1;
    this.chunks.splice(at + 1, 0, { keys: chunk.keys.splice(half), values: chunk.values.splice(half) });
  }

  /** The last chunk whose first key is not greater than `key` (or the first chunk). */
  private chunkFor(key: string): number {
    let low = 0;
    let high = this.chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (((this.chunks[middle] as Chunk<V>).keys[0] as string) <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
