/**
 * Which numbers of a range are in use, one bit each. The store reports uses to a pool (`AllocationTable`); what it
 * hands out is only a proposal, which the commit of the write makes true or refuses.
 */

/** How long a proposal is avoided by others in this process, and how many are remembered. Neither bound is needed for safety. */
const PROPOSAL_MS = 10_000;
const MAX_PROPOSALS = 4096;

export class Pool {
  readonly size: number;
  /** Numbers below it are proposed only when all others are in use. */
  private readonly reserved: number;
  private readonly bits: Uint8Array;
  private readonly proposals = new Map<number, number>();
  private usedCount = 0;

  constructor(size: number, reserved = 0) {
    this.size = size;
    this.reserved = reserved < size ? reserved : 0;
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
   * avoided, since their writes are probably in progress; they are proposed again only when nothing else is left.
   */
  propose(randomBelow: (limit: number) => number, now: number): number | undefined {
    if (this.usedCount >= this.size) return undefined;
    this.forgetProposals(now);
    const { reserved, size } = this;
    const index = this.proposeIn(reserved, size, randomBelow) ?? (reserved > 0 ? this.proposeIn(0, reserved, randomBelow) : undefined);
    if (index !== undefined) {
      this.proposals.delete(index);
      this.proposals.set(index, now + PROPOSAL_MS);
    }
    return index;
  }

  private proposeIn(from: number, to: number, randomBelow: (limit: number) => number): number | undefined {
    const start = randomBelow(to - from);
    return this.scan(from, to, start, true) ?? this.scan(from, to, start, false);
  }

  /** The first free number of `from` to below `to`, beginning `start` numbers after `from`. */
  private scan(from: number, to: number, start: number, avoidProposals: boolean): number | undefined {
    const size = to - from;
    for (let i = 0; i < size; i++) {
      const index = from + ((start + i) % size);
      // Whole bytes that are in use are passed over at once.
      if ((index & 7) === 0 && index + 8 <= to && this.bits[index >> 3] === 0xff) {
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
