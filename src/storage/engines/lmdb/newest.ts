/**
 * The newest version of a key, visible or not: what expectations are judged against. Versions that are not durable yet
 * are held here until they are; of the others, those written last, because what was written is soon written again.
 */
import type { Version } from './format.ts';
import { NEWEST, type Reader } from './reader.ts';

/** Most durable versions that are held, a few megabytes. */
const HELD = 20_000;

export class NewestVersions {
  readonly #reader: Reader;
  /** In the order in which they were written. */
  readonly #versions = new Map<string, Version>();

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** May answer a version that says that the key is deleted. */
  of(key: string): Version | undefined {
    return this.#versions.get(key) ?? this.#reader.versionAt(key, NEWEST);
  }

  set(key: string, version: Version): void {
    this.#versions.delete(key);
    this.#versions.set(key, version);
  }

  /** Lets go of the oldest that are durable, if there are too many. */
  trim(durable: number): void {
    if (this.#versions.size <= HELD) return;
    for (const [key, { revision }] of this.#versions) {
      if (this.#versions.size <= HELD || revision > durable) return;
      this.#versions.delete(key);
    }
  }

  /** Forgets what was not written after all. */
  forgetAfter(revision: number): void {
    for (const [key, version] of this.#versions) if (version.revision > revision) this.#versions.delete(key);
  }
}
