/** How much a JSON text holds, counted before it is parsed: the text need not be valid. */
import type { Work } from '@plat-dev/lib/slices';
import { DecodeError, maxContainers, maxDepth, maxKeys, tooManyContainers, tooManyKeys } from '../errors.ts';

/** Bytes after which counting yields: less than a millisecond of it. */
const BYTES_A_STEP = 64 * 1024;

/** Shorter text cannot exceed the limits of objects, lists and keys: an item takes two characters, and a key five. */
export const COUNTED_FROM = 2 * maxContainers;

/** The number of keys and values, about. Throws DecodeError for too many objects, lists or keys, and for too deep nesting. */
export function* countedParts(bytes: Uint8Array): Work<number> {
  const counts = new PartCounts();
  for (let end = BYTES_A_STEP; end < bytes.length; end += BYTES_A_STEP) {
    counts.read(bytes, end);
    yield;
  }
  counts.read(bytes, bytes.length);
  return counts.total();
}

/** Counts the parts of JSON text, one piece of it at a time. */
class PartCounts {
  private at = 0;
  private inString = false;
  private containers = 0;
  private keys = 0;
  private depth = 0;
  private commas = 0;

  /** Reads on to `end`. */
  read(bytes: Uint8Array, end: number): void {
    let { at, inString, containers, keys, depth, commas } = this;
    while (at < end) {
      const byte = bytes[at++];
      if (inString) {
        if (byte === 0x5c) at++;
        else if (byte === 0x22) inString = false;
      } else if (byte === 0x22) inString = true;
      else if (byte === 0x3a) keys++;
      else if (byte === 0x2c) commas++;
      else if (byte === 0x7b || byte === 0x5b) {
        containers++;
        if (++depth > maxDepth) throw new DecodeError('exceeded max depth');
      } else if (byte === 0x7d || byte === 0x5d) depth--;
    }
    this.at = at;
    this.inString = inString;
    this.containers = containers;
    this.keys = keys;
    this.depth = depth;
    this.commas = commas;
  }

  /** Throws TooLargeError. */
  total(): number {
    const { containers, keys, commas } = this;
    if (containers > maxContainers) throw tooManyContainers();
    if (keys > maxKeys) throw tooManyKeys();
    return containers + keys + commas;
  }
}
