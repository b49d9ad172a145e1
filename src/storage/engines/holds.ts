/** Revisions that must stay readable for a while: compaction stops before the oldest of them. */
import type { Clock } from '../../lib/clock.ts';

export class Holds {
  readonly #clock: Clock;
  /** Few at a time: whoever holds bounds how many it starts. */
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

  /** How far history may be forgotten: to `revision`, or to the oldest one that is held. */
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
