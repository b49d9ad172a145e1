/** Held revisions, which must stay readable for a while: compaction stops before the oldest of them. */
import type { Clock } from '@plat-dev/lib/clock';

export class Holds {
  readonly #clock: Clock;
  /** Few at a time: their users limit how many they start. */
  readonly #held = new Set<{ readonly revision: number; readonly until: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the function that ends it. */
  add(revision: number, milliseconds: number): () => void {
    const one = { revision, until: this.#clock.monotonic() + milliseconds };
    this.#held.add(one);
    return () => this.#held.delete(one);
  }

  /** The revision that may be compacted to: `revision`, or the oldest held one. */
  bound(revision: number): number {
    let bound = revision;
    const now = this.#clock.monotonic();
    for (const one of this.#held) {
      if (one.until <= now) this.#held.delete(one);
      else bound = Math.min(bound, one.revision);
    }
    return bound;
  }
}
