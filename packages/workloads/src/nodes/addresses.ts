/**
 * Addresses of simulated nodes and pods. Each node has a block of 10.128.0.0/9 for its pods, as large as its number of pods needs,
 * and an address of its own in 172.16.0.0/12, which follows from the block.
 */

const POD_BASE = (10 << 24) + (128 << 16);
const POD_ADDRESSES = 1 << 23;
const NODE_BASE = 172 * 2 ** 24 + (16 << 16);
/** The smallest block of a node: 256 addresses. */
const SMALLEST_BITS = 8;
const LARGEST_BITS = 16;
/** The first address of a block is its name, the second that of its gateway, the last that of all. */
const RESERVED = 3;

const formatAddress = (value: number): string =>
  `${Math.floor(value / 2 ** 24)}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`;

function parseAddress(text: string): number | undefined {
  const parts = text.split('.').map(Number);
  if (parts.length !== 4 || parts.some((part) => !(part >= 0 && part <= 255))) return undefined;
  return parts.reduce((sum, part) => sum * 256 + part, 0);
}

/** Blocks of pod addresses. */
export class PodBlocks {
  private readonly sizesByBlock = new Map<number, number>();
  private next = POD_BASE;
  /** No block of so many bits, or of more, is left. */
  private noneFrom = Number.POSITIVE_INFINITY;

  /** The block for a node with so many pods; undefined if none is left. */
  take(pods: number): string | undefined {
    let bits = SMALLEST_BITS;
    while (bits < LARGEST_BITS && 2 ** bits - RESERVED < pods) bits++;
    if (bits >= this.noneFrom) return undefined;
    const size = 2 ** bits;
    const tries = POD_ADDRESSES / size;
    let at = Math.ceil((this.next - POD_BASE) / size) * size + POD_BASE;
    for (let i = 0; i < tries; i++, at += size) {
      if (at + size > POD_BASE + POD_ADDRESSES) at = POD_BASE;
      if (!this.overlaps(at, size)) {
        this.sizesByBlock.set(at, size);
        this.next = at + size;
        return `${formatAddress(at)}/${32 - bits}`;
      }
    }
    this.noneFrom = bits;
    return undefined;
  }
  /** A block that a node has already. */
  note(cidr: string): void {
    const block = blockOf(cidr);
    if (block !== undefined) this.sizesByBlock.set(block.start, block.size);
  }
  free(cidr: string): void {
    const block = blockOf(cidr);
    if (block === undefined || !this.sizesByBlock.delete(block.start)) return;
    this.noneFrom = Number.POSITIVE_INFINITY;
  }

  /** Blocks begin at multiples of the smallest size, so that few places have to be looked at. */
  private overlaps(start: number, size: number): boolean {
    for (let at = start; at < start + size; at += 2 ** SMALLEST_BITS) if (this.sizesByBlock.has(at)) return true;
    for (let bits = SMALLEST_BITS + 1; bits <= LARGEST_BITS; bits++) {
      const larger = start - (start % 2 ** bits);
      if ((this.sizesByBlock.get(larger) ?? 0) > start - larger) return true;
    }
    return false;
  }
}

function blockOf(cidr: string): { start: number; size: number } | undefined {
  const [address = '', bits = ''] = cidr.split('/');
  const start = parseAddress(address);
  const length = Number(bits);
  if (start === undefined || !Number.isInteger(length) || length < 8 || length > 30) return undefined;
  return { start, size: 2 ** (32 - length) };
}

/** The address of the node that has a block. Blocks from elsewhere have none that is known. */
export function nodeAddress(cidr: string): string {
  const block = blockOf(cidr);
  const index = block === undefined ? 0 : Math.floor((block.start - POD_BASE) / 2 ** SMALLEST_BITS);
  return formatAddress(NODE_BASE + 2 + (index >= 0 && index < 2 ** 19 ? index : 0));
}

/** Addresses of the pods of one node. */
export class PodAddresses {
  private readonly start: number;
  private readonly size: number;
  /** Host parts of addresses, and the uid of their pod. */
  private readonly owners = new Map<number, string>();
  private readonly byPod = new Map<string, number>();
  private next = 2;

  constructor(cidr: string) {
    const block = blockOf(cidr) ?? { start: POD_BASE, size: 2 ** SMALLEST_BITS };
    this.start = block.start;
    this.size = block.size;
  }
  /** The address of a pod, the same until it is released; undefined if none is left. An address is used again as late as possible. */
  take(uid: string): string | undefined {
    const podBlock = this.byPod.get(uid);
    if (podBlock !== undefined) return formatAddress(this.start + podBlock);
    const usable = this.size - RESERVED;
    if (this.owners.size >= usable) return undefined;
    while (this.owners.has(this.next)) this.advance();
    const at = this.next;
    this.advance();
    this.owners.set(at, uid);
    this.byPod.set(uid, at);
    return formatAddress(this.start + at);
  }
  /** The address that a pod has already, by its status. */
  note(uid: string, address: string): void {
    const value = parseAddress(address);
    if (value === undefined || value < this.start || value >= this.start + this.size || this.byPod.has(uid)) return;
    this.owners.set(value - this.start, uid);
    this.byPod.set(uid, value - this.start);
  }
  release(uid: string): void {
    const at = this.byPod.get(uid);
    if (at === undefined) return;
    this.byPod.delete(uid);
    if (this.owners.get(at) === uid) this.owners.delete(at);
  }
  private advance(): void {
    this.next = this.next + 1 >= this.size - 1 ? 2 : this.next + 1;
  }
}
