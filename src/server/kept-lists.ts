/** Bodies of lists that were sent in one piece, kept until their collection changes. */
export interface KeptList {
  /** `changes` of the collection when the body was made. */
  readonly change: number;
  readonly body: Buffer;
}

/** Most bytes of kept lists altogether; the one used longest ago goes first. */
const LIMIT = 24 * 1024 * 1024;

export class KeptLists {
  private readonly kept = new Map<string, KeptList>();
  private bytes = 0;

  find(id: string, change: number): Buffer | undefined {
    const found = this.kept.get(id);
    if (found === undefined) return undefined;
    this.kept.delete(id);
    if (found.change !== change) {
      this.bytes -= found.body.length;
      return undefined;
    }
    this.kept.set(id, found);
    return found.body;
  }

  keep(id: string, entry: KeptList): void {
    this.bytes -= this.kept.get(id)?.body.length ?? 0;
    this.kept.delete(id);
    this.kept.set(id, entry);
    this.bytes += entry.body.length;
    for (const [other, { body }] of this.kept) {
      if (this.bytes <= LIMIT) break;
      this.kept.delete(other);
      this.bytes -= body.length;
    }
  }
}
