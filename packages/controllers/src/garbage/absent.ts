/** Owners that were found to be absent: a deleted object does not come back, so it is not looked up again. */
import { BoundedCache } from '@plat-dev/lib/bounded-cache';

export class AbsentOwners {
  private readonly known: BoundedCache<string, true>;

  constructor(limit = 500) {
    this.known = new BoundedCache(limit);
  }
  has(key: string): boolean {
    return this.known.get(key) === true;
  }
  add(key: string): void {
    this.known.set(key, true);
  }
}
