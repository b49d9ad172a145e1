/**
 * Which numbers of a range are in use, one bit each. The store reports uses to a pool (`AllocationTable`); what it
 * hands out is only a proposal, which the commit of the write makes true or refuses.
 */

/** How long a proposal is avoided by others in this process, and how many are remembered. Neither bound is needed for safety. */
const PROPOSAL_MS = 10_000;
const MAX_PROPOSALS = 4096;

export class Pool {
  readonly size: number;
  private readonly bits: Uint8Array;
  private readonly proposals = new Map<number, number>();
  private usedCount = 0;

  constructor(size: number) {
    this.size = size;
    this.bits = new Uint8Array((size + 7) >> 3);
  }
  get used(): number {
    return this.usedCount;
  }
  has(index: number): boolean {
    return ((this.bits[index >> 3] as number) & (1 << (index & 7))) !== 0;
  }
  set(index: number, used: boolean): void {
    if (this.has(index) === used) return;
    this.bits[index >> 3] = (this.bits[index >> 3] as number) ^ (1 << (index & 7));
    this.usedCount += used ? 1 : -1;
    this.proposals.delete(index);
  }

  /**
   * A number that is free, at random so that one given back is not at once another's. Numbers proposed a moment ago are
   * avoided, since their writes are probably under way; they are proposed again only when nothing else is left.
   */
  propose(randomBelow: (limit: number) => number, now: number): number | undefined {
    if (this.usedCount >= this.size) return undefined;
    this.forgetProposals(now);
    const start = randomBelow(this.size);
    const index = this.scan(start, true) ?? this.scan(start, false);
    if (index !== undefined) {
      this.proposals.delete(index);
      this.proposals.set(index, now + PROPOSAL_MS);
    }
    return index;
  }

  private scan(start: number, avoidProposals: boolean): number | undefined {
    for (let i = 0; i < this.size; i++) {
      const index = (start + i) % this.size;
      // Whole bytes that are in use are passed over at once.
      if ((index & 7) === 0 && this.bits[index >> 3] === 0xff) {
        i += 7;
        continue;
      }
      if (!this.has(index) && !(avoidProposals && this.proposals.has(index))) return index;
    }
    return undefined;
  }

  private forgetProposals(now: number): void {
    for (const [index, until] of this.proposals) {
      if (until > now && this.proposals.size <= MAX_PROPOSALS) break;
      this.proposals.delete(index);
    }
  }
}
