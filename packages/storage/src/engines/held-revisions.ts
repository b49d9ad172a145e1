/** Held revisions, which must stay readable for a while: compaction stops before the oldest of them. */
import type { Clock } from '@plat-dev/lib/clock';

export class HeldRevisions {
  readonly #clock: Clock;
  /** Few at a time: their users limit how many they start. */
  readonly #holds = new Set<{ readonly revision: number; readonly until: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the function that ends it. */
  add(revision: number, milliseconds: number): () => void {
    const one = { revision, until: this.#clock.monotonic() + milliseconds };
    this.#holds.add(one);
    return () => this.#holds.delete(one);
  }

  /** The revision that may be compacted to: `revision`, or the oldest held one. */
  bound(revision: number): number {
    let bound = revision;
    const now = this.#clock.monotonic();
    for (const one of this.#holds) {
      if (one.until <= now) this.#holds.delete(one);
      else bound = Math.min(bound, one.revision);
    }
    return bound;
  }
}
