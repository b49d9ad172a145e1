/** Bodies of lists that were sent in one piece, kept until their collection changes. */
export interface KeptList {
  /** `changes` of the collection when the body was made. */
  readonly change: number;
  readonly body: Buffer;
}

/** Most bytes of kept lists altogether; the one used longest ago goes first. */
export const KEPT_LISTS_BYTES = 24 * 1024 * 1024;
/** A small body may be all that is left of a block of memory that it shared with others (`Buffer.poolSize`): it counts as one. */
export const BLOCK = 8 * 1024;
const cost = ({ body }: KeptList): number => Math.max(body.length, BLOCK);

export class KeptLists {
  private readonly kept = new Map<string, KeptList>();
  private bytes = 0;

  get size(): number {
    return this.kept.size;
  }

  find(id: string, change: number): Buffer | undefined {
    const found = this.kept.get(id);
    if (found === undefined) return undefined;
    this.kept.delete(id);
    if (found.change !== change) {
      this.bytes -= cost(found);
      return undefined;
    }
    this.kept.set(id, found);
    return found.body;
  }

  keep(id: string, entry: KeptList): void {
    this.drop(id);
    this.kept.set(id, entry);
    this.bytes += cost(entry);
    for (const other of this.kept.keys()) {
      if (this.bytes <= KEPT_LISTS_BYTES) break;
      this.drop(other);
    }
  }

  /** Drops the lists of a collection that is gone. */
  forget(prefix: string): void {
    for (const id of this.kept.keys()) if (id.startsWith(prefix)) this.drop(id);
  }

  private drop(id: string): void {
    const known = this.kept.get(id);
    if (known === undefined) return;
    this.kept.delete(id);
    this.bytes -= cost(known);
  }
}
