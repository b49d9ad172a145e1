/**
 * Buffers that are cut from larger blocks: a block of its own for each costs more than filling it, and the pool of the platform
 * mixes what lives for a moment with what is kept. A buffer that is kept keeps its whole block, so that a slab is for values that
 * are dropped, or kept, together.
 *
 *   const slab = new Slab(65_536);
 *   slab.take(1000)     bytes 0–999 of a block
 *   slab.take(500)      bytes 1000–1499 of the same block
 *   slab.take(20_000)   a block of its own: it is larger than a quarter of one
 */
export class Slab {
  readonly #size: number;
  #block: Buffer;
  #used = 0;

  constructor(size: number) {
    this.#size = size;
    this.#block = Buffer.alloc(0);
  }

  /** A buffer of any content. */
  take(length: number): Buffer {
    if (length > this.#size / 4) return Buffer.allocUnsafeSlow(length);
    if (this.#used + length > this.#block.length) {
      this.#block = Buffer.allocUnsafeSlow(this.#size);
      this.#used = 0;
    }
    const start = this.#used;
    this.#used += length;
    return this.#block.subarray(start, this.#used);
  }
}
