/** Keys of the store in memory that are to be deleted at a time, the next one first. */
import { SortedMap } from '@plat-dev/lib/sorted-map';
import type { Version } from './version.ts';

export class Expiries {
  readonly #versions: SortedMap<Version>;

  constructor(from?: SortedMap<Version>) {
    this.#versions = from?.copy() ?? new SortedMap();
  }
  state(): SortedMap<Version> {
    return this.#versions.copy();
  }
  add(version: Version): void {
    this.#versions.set(placeOf(version), version);
  }
  delete(version: Version): void {
    this.#versions.delete(placeOf(version));
  }

  /** The keys whose time is over, and when that of the next one will be. */
  due(until: number, limit: number): { due: { key: string; revision: number }[]; next: number | undefined } {
    const due: { key: string; revision: number }[] = [];
    let next: number | undefined;
    this.#versions.each('', ({ key, revision, expires }) => {
      if (expires > until || due.length >= limit) {
        next = expires;
        return false;
      }
      due.push({ key, revision });
      return true;
    });
    return { due, next };
  }
}

const placeOf = ({ expires, key }: Version): string => `${String(expires).padStart(16, '0')} ${key}`;
