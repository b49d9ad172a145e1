/**
 * Addresses of load balancers, each of one service at most. A service may name its address, from anywhere; others get the next free
 * one of the range of their family.
 *
 *   take web  198.18.0.1      take shop  198.18.0.2      release web      take api  198.18.0.3
 */
import type { IPFamily } from '@plat-dev/meta/ip';
import type { AddressRange } from '@plat-dev/meta/ranges';

export class BalancerAddresses {
  private readonly ranges: readonly AddressRange[];
  /** Keys of services by address. */
  private readonly holders = new Map<string, string>();
  private readonly addressesByService = new Map<string, Set<string>>();
  /** Where the search for a free address of a range begins: one is used again as late as possible. */
  private readonly next = new Map<AddressRange, number>();
  /** Addresses of each range in use. */
  private readonly used = new Map<AddressRange, number>();

  constructor(ranges: readonly AddressRange[]) {
    this.ranges = ranges;
  }
  has(family: IPFamily): boolean {
    return this.ranges.some((range) => range.family === family);
  }
  /** The ranges of a family, as text. */
  textOf(family: IPFamily): string {
    return this.ranges.flatMap((range) => (range.family === family ? [range.text] : [])).join(', ');
  }
  of(service: string): ReadonlySet<string> {
    return this.addressesByService.get(service) ?? none;
  }
  /** The service that has an address. */
  holderOf(address: string): string | undefined {
    return this.holders.get(address);
  }
  /** Gives an address to a service; false if another has it. */
  hold(service: string, address: string): boolean {
    const holder = this.holders.get(address);
    if (holder !== undefined) return holder === service;
    this.holders.set(address, service);
    const addresses = this.addressesByService.get(service) ?? new Set();
    this.addressesByService.set(service, addresses.add(address));
    this.count(address, 1);
    return true;
  }
  /** A free address of the family; undefined if none is left. */
  take(service: string, family: IPFamily): string | undefined {
    for (const range of this.ranges) {
      if (range.family !== family || (this.used.get(range) ?? 0) >= range.size) continue;
      let index = this.next.get(range) ?? 0;
      while (this.holders.has(range.at(index))) index = (index + 1) % range.size;
      this.next.set(range, (index + 1) % range.size);
      const address = range.at(index);
      this.hold(service, address);
      return address;
    }
    return undefined;
  }
  /** Takes from a service what it has besides these. Returns whether that was anything. */
  keepOnly(service: string, keptAddresses: readonly string[]): boolean {
    let isChanged = false;
    for (const address of this.of(service)) {
      if (keptAddresses.includes(address)) continue;
      this.holders.delete(address);
      this.addressesByService.get(service)?.delete(address);
      this.count(address, -1);
      isChanged = true;
    }
    if (this.of(service).size === 0) this.addressesByService.delete(service);
    return isChanged;
  }

  private count(address: string, change: number): void {
    const range = this.ranges.find((one) => one.indexOf(address) !== undefined);
    if (range !== undefined) this.used.set(range, (this.used.get(range) ?? 0) + change);
  }
}

const none: ReadonlySet<string> = new Set();
