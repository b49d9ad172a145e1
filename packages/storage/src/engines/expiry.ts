/**
 * Deletes expired keys. The engine keeps the index of expiries; this keeps one timer
 * for the first of them.
 */

import type { Clock } from '@plat-dev/lib/clock';
import { inNextTurn } from '@plat-dev/lib/next-turn';
import { CommitConflict } from '../engine.ts';

export interface Due {
  readonly due: readonly { key: string; revision: number }[];
  readonly next: number | undefined;
}

export interface ExpiryIndex {
  /** Keys that have expired at `until`, the oldest first, at most `limit`; and when the next one after those expires. */
  due(until: number, limit: number): Promise<Due>;
  /** Deletes a key if it still has the revision. */
  expire(key: string, revision: number): Promise<void>;
}

/** Maximum concurrent deletions; the others wait. */
const BATCH = 200;
/** Delay after the store refused a deletion. */
const RETRY_MS = 5_000;

export class Expiry {
  readonly #clock: Clock;
  readonly #index: ExpiryIndex;
  /** When the timer goes off; infinity while there is none. */
  #armed = Number.POSITIVE_INFINITY;
  #cancel: () => void = () => {};
  #running = false;
  /** The timer fired during a run, which may not have seen the key that it was set for. */
  #again = false;
  #stopped = false;

  constructor(clock: Clock, index: ExpiryIndex) {
    this.#clock = clock;
    this.#index = index;
  }

  /** Some key expires at this time. */
  expect(at: number): void {
    if (this.#stopped || at >= this.#armed) return;
    this.#cancel();
    this.#armed = at;
    const wait = at - this.#clock.now();
    if (wait > 0) this.#cancel = this.#clock.after(wait, () => void this.#run());
    else inNextTurn(() => void this.#run());
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  async #run(): Promise<void> {
    this.#armed = Number.POSITIVE_INFINITY;
    if (this.#stopped) return;
    if (this.#running) {
      this.#again = true;
      return;
    }
    this.#running = true;
    let next: number | undefined;
    try {
      const dueKeys = await this.#index.due(this.#clock.now(), BATCH);
      next = dueKeys.next;
      await Promise.all(dueKeys.due.map(({ key, revision }) => this.#expire(key, revision)));
    } catch {
      next = this.#clock.now() + RETRY_MS;
    } finally {
      this.#running = false;
    }
    if (this.#again) next = this.#clock.now();
    this.#again = false;
    if (next !== undefined) this.expect(next);
  }

  async #expire(key: string, revision: number): Promise<void> {
    try {
      await this.#index.expire(key, revision);
    } catch (error) {
      // On a conflict the key was written meanwhile, with a new expiry.
      if (!(error instanceof CommitConflict)) throw error;
    }
  }
}
