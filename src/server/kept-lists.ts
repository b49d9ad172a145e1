/** Bodies of lists that were sent in one piece, kept until their collection changes. */
import { BoundedCache } from '../lib/bounded-cache.ts';

export interface KeptList {
  /** `changes` of the collection when the body was made. */
  readonly change: number;
  readonly body: Buffer;
}

/** Most bytes of kept lists altogether; the one used longest ago goes first. */
export const KEPT_LISTS_BYTES = 24 * 1024 * 1024;
/**
 * From this size on a list is kept only when it is asked for a second time before its collection changes: joining megabytes for
 * one client holds all others up, and in a collection that changes all the time no other client could use them.
 */
export const KEPT_AT_ONCE = 256 * 1024;
/** So many lists are remembered as asked for once. */
const MOST_ASKED = 1024;
/** A small body may be all that is left of a block of memory that it shared with others (`Buffer.poolSize`): it counts as one. */
export const BLOCK = 8 * 1024;
const cost = ({ body }: KeptList): number => Math.max(body.length, BLOCK);

export class KeptLists {
  private readonly kept = new BoundedCache<string, KeptList>(KEPT_LISTS_BYTES / BLOCK, { most: KEPT_LISTS_BYTES, of: cost });

  /** Large lists by the change of the collection at which they were last asked for. */
  private readonly asked = new BoundedCache<string, number>(MOST_ASKED);

  get size(): number {
    return this.kept.size;
  }

  /** Whether a list of that size is worth being joined and kept. */
  isWorth(id: string, change: number, size: number): boolean {
    if (size <= KEPT_AT_ONCE) return true;
    if (this.asked.get(id) === change) return true;
    this.asked.set(id, change);
    return false;
  }

  find(id: string, change: number): Buffer | undefined {
    const found = this.kept.use(id);
    if (found === undefined) return undefined;
    if (found.change === change) return found.body;
    this.kept.delete(id);
    return undefined;
  }

  keep(id: string, entry: KeptList): void {
    this.kept.set(id, entry);
  }

  /** Drops the lists of a collection that is gone. */
  forget(prefix: string): void {
    for (const id of this.kept.keys()) if (id.startsWith(prefix)) this.kept.delete(id);
  }
}
