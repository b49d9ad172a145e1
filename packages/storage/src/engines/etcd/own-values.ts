/**
 * Values that this process has written and not yet seen in the watch. A change with the same bytes is
 * delivered with the same buffer, so that its writer recognizes it without reading it.
 */
import { BoundedCache } from '@plat-dev/lib/bounded-cache';

/** Maximum remembered values; the oldest are dropped first, and then come back as new buffers. */
const MOST_VALUES = 4_096;
const MOST_BYTES = 16 * 1024 * 1024;

export class OwnValues {
  readonly #values = new BoundedCache<string, Buffer>(MOST_VALUES, { most: MOST_BYTES, of: ({ length }) => length });
  /** Whether a watch runs in which they could come back. */
  isEnabled = false;

  wrote(key: string, value: Buffer): void {
    if (!this.isEnabled) return;
    this.#values.set(key, value);
  }

  forget(key: string): void {
    this.#values.delete(key);
  }

  /** The buffer with the same bytes as this part of a message, if this process wrote it. */
  find(key: string, message: Buffer, start: number, end: number): Buffer | undefined {
    const value = this.#values.get(key);
    if (value === undefined || value.length !== end - start || value.compare(message, start, end) !== 0) return undefined;
    this.forget(key);
    return value;
  }
}
