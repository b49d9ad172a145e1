/**
 * The newest version of every key, visible or not: what expectations are judged against. All keys are held, at about a
 * hundred bytes each, because a look into the file costs as much as the rest of a commit; the values stay in the file.
 */
import type { Version } from './format.ts';
import { NEWEST, type Reader } from './reader.ts';

export class NewestVersions {
  readonly #reader: Reader;
  /** Of deleted keys only those whose deletion is not durable yet. */
  readonly #versions = new Map<string, Version>();

  constructor(reader: Reader) {
    this.#reader = reader;
    for (const [key, version] of reader.newestVersions()) if (!version.deleted) this.#versions.set(key, version);
  }

  /** May answer a version that says that the key is deleted. */
  of(key: string): Version | undefined {
    return this.#versions.get(key);
  }

  set(key: string, version: Version): void {
    this.#versions.set(key, version);
  }

  /** A version is durable: a deletion need not be remembered any longer, unless the key was made anew. */
  durable(key: string, version: Version): void {
    if (version.deleted && this.#versions.get(key) === version) this.#versions.delete(key);
  }

  /** Forgets what was not written after all. `waiting` tells what is durable, but not in the tables. */
  forgetAfter(revision: number, waiting: (key: string) => Version | undefined): void {
    for (const [key, version] of this.#versions) {
      if (version.revision <= revision) continue;
      const written = waiting(key) ?? this.#reader.versionAt(key, NEWEST);
      if (written === undefined || written.deleted) this.#versions.delete(key);
      else this.#versions.set(key, written);
    }
  }
}
