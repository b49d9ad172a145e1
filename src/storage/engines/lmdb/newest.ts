/**
 * The newest version of every key, visible or not: expectations are checked against it. All keys are in memory, at about a
 * hundred bytes each, because a read of the file costs as much as the rest of a commit; the values stay in the file.
 */
import type { PendingChange } from './change.ts';
import type { Version } from './format.ts';
import type { Reader } from './reader.ts';

export class NewestVersions {
  /** Of deleted keys only those whose deletion is not durable yet. */
  readonly #versions = new Map<string, Version>();

  constructor(reader: Reader) {
    for (const [key, version] of reader.newestVersions()) if (!version.deleted) this.#versions.set(key, version);
  }

  /** May return a version that marks the key as deleted. */
  of(key: string): Version | undefined {
    return this.#versions.get(key);
  }

  set(key: string, version: Version): void {
    this.#versions.set(key, version);
  }

  /** A version is durable: a deletion need not be remembered any longer, unless the key was created again. */
  durable(key: string, version: Version): void {
    if (version.deleted && this.#versions.get(key) === version) this.#versions.delete(key);
  }

  /** Drops changes that were not written after all: all that are not durable, in the order in which they were made. */
  takeBack(changes: readonly PendingChange[]): void {
    for (let i = changes.length - 1; i >= 0; i--) {
      const { change, previous } = changes[i] as PendingChange;
      if (previous === undefined) this.#versions.delete(change.key);
      else this.#versions.set(change.key, previous);
    }
  }
}
