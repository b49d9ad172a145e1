/** Bytes by their time, to find the time before which there is too much. Those of similar age lie together, so that few must be sorted. */

const BUCKETS_OF_DOUBLING = 16;

interface Amount {
  readonly time: number;
  readonly bytes: number;
}

export class ByteAges {
  total = 0;
  readonly #now: number;
  /** The first bucket holds the youngest; each covers a little more time than the one before. */
  readonly #buckets: { bytes: number; readonly amounts: Amount[] }[] = [];

  constructor(now: number) {
    this.#now = now;
  }

  add(time: number, bytes: number): void {
    const seconds = Math.max(0, this.#now - time) / 1000;
    const number = Math.floor(Math.log2(1 + seconds) * BUCKETS_OF_DOUBLING);
    this.#buckets[number] ??= { bytes: 0, amounts: [] };
    const bucket = this.#buckets[number];
    bucket.bytes += bytes;
    bucket.amounts.push({ time, bytes });
    this.total += bytes;
  }

  /** The time such that what is younger has at most so many bytes; 0 if everything together has no more. */
  cutoff(mostBytes: number): number {
    let room = mostBytes;
    for (const bucket of this.#buckets) {
      if (bucket === undefined) continue;
      if (bucket.bytes <= room) {
        room -= bucket.bytes;
        continue;
      }
      for (const { time, bytes } of bucket.amounts.toSorted((one, other) => other.time - one.time)) {
        if (bytes > room) return time;
        room -= bytes;
      }
    }
    return 0;
  }
}
