/** Owners that were found to be absent: a deleted object does not come back, so it is not looked up again. */
import { BoundedCache } from '@plat-dev/lib/bounded-cache';

export class AbsentOwners {
  private readonly absentUids: BoundedCache<string, true>;

  constructor(limit = 500) {
    this.absentUids = new BoundedCache(limit);
  }
  has(key: string): boolean {
    return this.absentUids.get(key) === true;
  }
  add(key: string): void {
    this.absentUids.set(key, true);
  }
}
