/**
 * The newest version of every key, visible or not: expectations are checked against it. All keys are in memory, at about a
 * hundred bytes each, because a read of the file costs as much as the rest of a commit; the values stay in the file.
 *
 *   empty ──`fill`: all keys are read, some milliseconds at a time──▶ complete
 *
 * A file that was closed cleanly is opened before its keys are read, which takes as long as all the rest of opening it. Until
 * then the versions of keys that are not here are read from the file.
 */
import { nextTurn } from '@plat-dev/lib/next-turn';
import { workTime } from '@plat-dev/lib/slices';
import type { PendingChange } from './change.ts';
import type { Version } from './format.ts';
import type { Reader } from './reader.ts';

/** How long `fill` may block the event loop at a time, in milliseconds. */
const TURN_MS = 3;
/** Keys between two reads of the clock. */
const STEPS = 32;
/** Stands for a key that is not there, though the file may still have it: its deletion may be in the journal only. */
const ABSENT: Version = { revision: 0, index: 0, created: 0, deleted: true, expires: 0 };

export class NewestVersions {
  readonly #reader: Reader;
  readonly #failed: (error: unknown) => Error;
  /** Of deleted keys only those whose deletion is not durable yet, and before it is complete all that were deleted. */
  readonly #versions = new Map<string, Version>();
  /** Deleted keys that are not needed any more when it is complete; undefined when it is. */
  #deleted: Map<string, Version> | undefined = new Map();

  /** `atOnce`: all keys are read now; otherwise by `fill`. Throws IndexDamage. `failed`: the error to throw for one of a later read. */
  constructor(reader: Reader, atOnce: boolean, failed: (error: unknown) => Error) {
    this.#reader = reader;
    this.#failed = failed;
    if (!atOnce) return;
    for (const [key, version] of reader.newestVersions()) if (!version.deleted) this.#versions.set(key, version);
    this.#deleted = undefined;
  }

  get isComplete(): boolean {
    return this.#deleted === undefined;
  }

  /**
   * Reads all keys, unless it is stopped. Throws IndexDamage, and StoreUnavailable when the file cannot be read now: it can be
   * called again.
   */
  async fill(isStopped: () => boolean): Promise<void> {
    for (let after: string | undefined; !this.isComplete && !isStopped(); await nextTurn()) {
      after = this.#fillFor(after);
      if (after !== undefined) continue;
      for (const [key, version] of this.#deleted ?? []) if (this.#versions.get(key) === version) this.#versions.delete(key);
      this.#deleted = undefined;
    }
  }
  /** Reads keys for some milliseconds; returns the last one if others follow. */
  #fillFor(after: string | undefined): string | undefined {
    const until = workTime() + TURN_MS;
    let steps = 0;
    for (const [key, version] of this.#reader.newestVersions(after)) {
      // What is here already is newer, or the same.
      if (!version.deleted && !this.#versions.has(key)) this.#versions.set(key, version);
      if (++steps % STEPS === 0 && workTime() > until) return key;
    }
    return undefined;
  }

  /** May return a version that marks the key as deleted. */
  of(key: string): Version | undefined {
    const newestVersion = this.#versions.get(key);
    return newestVersion !== undefined || this.#deleted === undefined ? newestVersion : this.#read(key);
  }
  #read(key: string): Version | undefined {
    const stored = this.#stored(key);
    if (stored === undefined || stored.deleted) return undefined;
    this.#versions.set(key, stored);
    return stored;
  }

  #stored(key: string): Version | undefined {
    try {
      return this.#reader.newestVersion(key);
    } catch (error) {
      throw this.#failed(error);
    }
  }

  set(key: string, version: Version): void {
    this.#versions.set(key, version);
  }

  /** A version is durable: a deletion need not be remembered any longer, unless the key was created again. */
  durable(key: string, version: Version): void {
    if (version.deleted && this.#versions.get(key) === version) this.#forget(key, version);
  }
  #forget(key: string, version: Version): void {
    if (this.#deleted === undefined) {
      this.#versions.delete(key);
      return;
    }
    this.#versions.set(key, version);
    this.#deleted.set(key, version);
  }

  /** Drops changes that were not written after all: all that are not durable, in the order in which they were made. */
  takeBack(changes: readonly PendingChange[]): void {
    for (let i = changes.length - 1; i >= 0; i--) {
      const { change, previous } = changes[i] as PendingChange;
      if (previous === undefined) this.#forget(change.key, ABSENT);
      else this.#versions.set(change.key, previous);
    }
  }
}
