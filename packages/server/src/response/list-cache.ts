/** A cache of list bodies that were sent in one piece, valid until their collection changes; those of Tables for a second. */
import { BoundedCache } from '@plat-dev/lib/bounded-cache';

export interface KeptList {
  /** `changes` of the collection when the body was made. */
  readonly change: number;
  readonly body: Buffer;
  /** Of a Table: whose columns it has, and the second in which the ages in its rows are right. */
  readonly resource?: object;
  readonly second?: number;
}

/** Maximum bytes of cached lists in all; the least recently used is evicted. */
export const KEPT_LISTS_BYTES = 24 * 1024 * 1024;
/**
 * From this size on a list is cached only on the second request before its collection changes: joining megabytes for
 * one client delays all others, and in a collection that changes all the time no other client could use them.
 */
export const KEPT_AT_ONCE = 256 * 1024;
/** Maximum lists remembered as requested once. */
const MOST_ASKED = 1024;
/** A small body may keep a whole shared block of memory alive (`Buffer.poolSize`): it counts as one. */
export const BLOCK = 8 * 1024;
const cost = ({ body }: KeptList): number => Math.max(body.length, BLOCK);

export class KeptLists {
  private readonly lists = new BoundedCache<string, KeptList>(KEPT_LISTS_BYTES / BLOCK, { most: KEPT_LISTS_BYTES, of: cost });

  /** Large lists by the change of the collection at which they were last requested. */
  private readonly requestedOnce = new BoundedCache<string, number>(MOST_ASKED);

  get size(): number {
    return this.lists.size;
  }

  /** Whether a list of that size should be joined and cached. */
  isWorth(id: string, change: number, size: number): boolean {
    if (size <= KEPT_AT_ONCE) return true;
    if (this.requestedOnce.get(id) === change) return true;
    this.requestedOnce.set(id, change);
    return false;
  }

  find(id: string, change: number, resource?: object, second?: number): Buffer | undefined {
    const cachedList = this.lists.use(id);
    if (cachedList === undefined) return undefined;
    if (cachedList.change === change && cachedList.resource === resource && cachedList.second === second) return cachedList.body;
    this.lists.delete(id);
    return undefined;
  }

  keep(id: string, entry: KeptList): void {
    this.lists.set(id, entry);
  }

  /** Drops the lists of a collection that is removed. */
  forget(prefix: string): void {
    for (const id of this.lists.keys()) if (id.startsWith(prefix)) this.lists.delete(id);
  }
}
