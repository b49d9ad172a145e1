/**
 * Which keys have grown by so many bytes of kept versions that these are to be counted: counting reads all versions of a key, so that it
 * is not done for each. A key that is not counted has grown by less than a quarter of its bound since it was.
 */
const FRACTION = 4;
/** Keys whose growth is remembered; beyond them the one that came first is counted. */
const MOST_KEYS = 65_536;

export class KeyGrowth {
  readonly #bytes = new Map<string, number>();
  #grown = new Set<string>();

  add(key: string, bytes: number, mostBytesPerKey: number): void {
    if (bytes === 0) return;
    const grownBytes = (this.#bytes.get(key) ?? 0) + bytes;
    if (grownBytes < mostBytesPerKey / FRACTION) this.#bytes.set(key, grownBytes);
    else this.#count(key);
    const [first] = this.#bytes.size > MOST_KEYS ? this.#bytes.keys() : [];
    if (first !== undefined) this.#count(first);
  }

  take(): string[] {
    const keys = [...this.#grown];
    this.#grown = new Set();
    return keys;
  }

  #count(key: string): void {
    this.#bytes.delete(key);
    this.#grown.add(key);
  }
}

/** To how many bytes a key with too many is cut: until it is counted again it cannot exceed its bound. */
export const bytesAfterCut = (mostBytesPerKey: number): number => mostBytesPerKey - mostBytesPerKey / FRACTION;
